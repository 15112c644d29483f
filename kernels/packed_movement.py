"""Packed 2- and 4-bit tensors of operators that only move elements: as bytes, one an element."""

from __future__ import annotations

from collections.abc import Sequence

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import TensorType
from .widened import Widened, has_type, widened_context

_TYPES = {
    TensorType.INT4: TensorType.INT8,
    TensorType.UINT4: TensorType.UINT8,
    TensorType.INT2: TensorType.INT8,
}


class _Prepared:
    """The calls of a node on wide tensors, None where its invoke computes them."""

    def __init__(self, wide: Widened, calls: Sequence[KernelCall] | None) -> None:
        self.wide = wide
        self.calls = calls


def in_bytes(registration: Registration) -> Registration:
    """The operator for packed tensors too, which then runs in Python around its own kernels.

    The node's user_data, which these operators have no use for, holds what prepare made.
    """

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        if not has_type(context, node, _TYPES):
            return registration.prepare(context, node)
        wide = Widened(context, node, _TYPES)
        node.user_data = _Prepared(wide, registration.prepare(widened_context(wide), node))
        return None

    def invoke(context: Context, node: Node) -> None:
        prepared = node.user_data
        if not has_type(context, node, _TYPES) or not isinstance(prepared, _Prepared):
            assert registration.invoke is not None
            registration.invoke(context, node)
            return
        prepared.wide.read()
        if prepared.calls is None:
            assert registration.invoke is not None
            registration.invoke(widened_context(prepared.wide), node)
        else:
            context.run_calls(node, prepared.calls)
        prepared.wide.write()

    return registration.with_hooks(prepare, invoke)
