"""CpuPartition: a compiled partition by the CPU's kernels, where there is no device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...kernels.register import BuiltinOpResolver
from ...lite.errors import InvokeError, ModelError
from ...lite.model import Model
from ...lite.runtime import Runtime
from ...lite.settings import Settings
from ...lite.subgraph_builder import SubgraphBuilder

if TYPE_CHECKING:
    from ...lite.context import Context
    from ...lite.node import Node


class CpuPartition:
    """The partition's own model, with inputs and outputs in the order of the operator's."""

    def __init__(self, content: bytes, outer: Context) -> None:
        settings = Settings(outer.numerics, outer.num_threads)
        builder = SubgraphBuilder(Model(content), BuiltinOpResolver())
        runtime = Runtime(builder, outer.library, settings, cancellation=outer.cancellation)
        self._inner = runtime.subgraphs[0]

    def prepare(self, context: Context, node: Node) -> None:
        """Give the outputs their shapes."""
        inner = self._inner
        for t, x in zip(inner.inputs, node.inputs, strict=True):
            inner.resize_input(t, context.tensor(x).shape)
        inner.allocate_tensors()
        if not inner.outputs_known:
            raise ModelError("compiled partition: its outputs' shapes must be known before it runs")
        for t, y in zip(inner.outputs, node.outputs, strict=True):
            context.resize_tensor(context.tensor(y), inner.tensors[t].shape)

    def invoke(self, context: Context, node: Node) -> None:
        inner = self._inner
        for t, x in zip(inner.inputs, node.inputs, strict=True):
            source, target = context.tensor(x), inner.tensors[t]
            if source.data is None or target.data is None:
                raise InvokeError(f"tensor {source!r}: it must have a value before it is read")
            target.data[: source.nbytes] = source.data[: source.nbytes]
        inner.invoke()
        for t, y in zip(inner.outputs, node.outputs, strict=True):
            context.tensor(y).array()[...] = inner.tensors[t].array()

    def free(self) -> None:
        """Let go of the model: its subgraph and its runtime know each other."""
        self._inner.runtime.subgraphs.clear()
