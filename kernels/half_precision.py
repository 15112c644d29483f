"""float16 and bfloat16 tensors of operators whose kernels take float32: widened before, rounded behind."""

from __future__ import annotations

from collections.abc import Sequence

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from .widened import place, read, size_outputs, wide_inputs, wide_outputs, widened, write

_HALVES = {"f16": TensorType.FLOAT16, "bf16": TensorType.BFLOAT16}
_SUFFIXES = {type: name for name, type in _HALVES.items()}


def _casts(context: Context, pairs: Sequence[tuple[Tensor, Tensor]]) -> list[KernelCall]:
    """Calls that convert tensors between float32 and the half types."""
    from .broadcast import unary_call

    calls: list[KernelCall] = []
    for x, y in pairs:
        names = [_SUFFIXES.get(TensorType(tensor.type), "f32") for tensor in (x, y)]
        calls += unary_call(context, "cast", "_".join(names), x, y, 0.3)
    return calls


def in_float32(registration: Registration, halves: str) -> Registration:
    """The operator with half-precision inputs and outputs, by its own float32 kernels.

    A result is rounded once, to the nearest. XNNPACK rounds within an operator too, so that its
    float16 results may differ in the last bits.
    """
    types = {_HALVES[name]: TensorType.FLOAT32 for name in halves.split()}

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        wide = widened(context, node, types)
        calls = registration.prepare(context, wide)
        if wide is node:
            return calls
        node.user_data = wide.user_data
        size_outputs(context, wide)
        if calls is None:
            return None
        outputs = [(stand_in, y) for y, stand_in in wide_outputs(context, wide)]
        for stand_in, _ in outputs:
            place(stand_in)
        return [*_casts(context, wide_inputs(context, wide)), *calls, *_casts(context, outputs)]

    def invoke(context: Context, node: Node) -> None:
        assert registration.invoke is not None
        wide = widened(context, node, types)
        if wide is not node:
            read(context, wide)
        registration.invoke(context, wide)
        if wide is not node:
            write(context, wide)

    return registration.with_hooks(prepare, None if registration.invoke is None else invoke)
