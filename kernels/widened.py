"""Tensors of small types as wider ones that an operator's kernels take, with memory of their own.

Packed 2- and 4-bit tensors of operators that only move elements run so, too: as bytes, one an element.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import OVERREAD_BYTES, AllocationType, Shape, Tensor, TensorType

# By the type that is not taken, the one that is instead.
Types = Mapping[TensorType, TensorType]


def has_type(context: Context, node: Node, types: Types) -> bool:
    """Whether any tensor of the node has one of the types."""
    return any(t >= 0 and context.tensor(t).type in types for t in (*node.inputs, *node.outputs))


class Widened:
    """A context in which tensors of some types of a node are of wider ones.

    Constants have their values at once; the other inputs have them after read(), and the node's own
    outputs theirs after write().
    """

    def __init__(self, context: Context, node: Node, types: Types) -> None:
        self._context = context
        self._node = node
        self.inputs_by_index = self._widened(node.inputs, types)
        self.outputs_by_index = self._widened(node.outputs, types)
        for t, wide in self.inputs_by_index.items():
            place(wide)
            x = context.tensor(t)
            if x.is_constant:
                _widen(x, wide)
                wide.allocation_type = AllocationType.PERSISTENT_RO

    def _widened(self, indices: Sequence[int], types: Types) -> dict[int, Tensor]:
        tensors = {t: self._context.tensor(t) for t in indices if t >= 0}
        return {t: _like(x, types[TensorType(x.type)]) for t, x in tensors.items() if x.type in types}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def tensor(self, index: int) -> Tensor:
        wide = self.outputs_by_index.get(index) or self.inputs_by_index.get(index)
        return wide or self._context.tensor(index)

    def optional_input(self, node: Node, i: int) -> Tensor | None:
        x = self._context.optional_input(node, i)
        return None if x is None else self.inputs_by_index.get(x.index, x)

    def input(self, node: Node, i: int) -> Tensor:
        x = self._context.input(node, i)
        return self.inputs_by_index.get(x.index, x)

    def output(self, node: Node, i: int) -> Tensor:
        y = self._context.output(node, i)
        return self.outputs_by_index.get(y.index, y)

    def resize_tensor(self, tensor: Tensor, shape: Shape) -> None:
        if self.outputs_by_index.get(tensor.index) is tensor:
            y = self._context.tensor(tensor.index)
            self._context.resize_tensor(y, shape)
            tensor.shape = y.shape
            if y.is_dynamic:
                place(tensor)
        else:
            self._context.resize_tensor(tensor, shape)

    def read(self) -> None:
        """Give the inputs their values, and the outputs memory."""
        for t, x in self.inputs_by_index.items():
            if not x.is_constant:
                _widen(self._context.tensor(t), x)
        for y in self.outputs_by_index.values():
            place(y)

    def write(self) -> None:
        """Give the node's outputs what the wide ones hold."""
        for t, y in self.outputs_by_index.items():
            _narrow(y, self._context.tensor(t))

    def set_dynamic(self, tensor: Tensor) -> None:
        if self.outputs_by_index.get(tensor.index) is tensor:
            tensor.allocation_type = AllocationType.DYNAMIC
            tensor = self._context.tensor(tensor.index)
        self._context.set_dynamic(tensor)


def widened_context(wide: Widened) -> Context:
    """The same as what kernels take."""
    context: Any = wide
    return context


def _like(x: Tensor, type: TensorType) -> Tensor:
    wide = Tensor(x.index, x.name, type, x.shape, x.quantization, False, x.signature)
    wide.declared_type, wide.first_shape = x.type, x.first_shape
    wide.allocation_type = AllocationType.ARENA_RW
    return wide


def place(tensor: Tensor) -> None:
    """Memory for the tensor, where it has none that suffices."""
    if tensor.data is None or len(tensor.data) < tensor.nbytes:
        tensor.bind(np.zeros(tensor.nbytes + OVERREAD_BYTES, np.uint8)[: tensor.nbytes])


def _widen(x: Tensor, wide: Tensor) -> None:
    from .cast import values_of

    if x.size:
        wide.array()[...] = values_of(x)


def _narrow(wide: Tensor, y: Tensor) -> None:
    from .cast import bfloat16_bits
    from .packed import PACKED_BITS, packed

    if not y.size or y.data is None:
        return
    if y.type in PACKED_BITS:
        y.data[: y.nbytes] = packed(wide.array(), PACKED_BITS[TensorType(y.type)])
        return
    if y.type == TensorType.BFLOAT16:
        y.data[: y.nbytes] = bfloat16_bits(wide.array()).reshape(-1).view(np.uint8)
    else:
        with np.errstate(all="ignore"):
            y.array()[...] = wide.array()


_PACKED = {
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
        if not has_type(context, node, _PACKED):
            return registration.prepare(context, node)
        wide = Widened(context, node, _PACKED)
        node.user_data = _Prepared(wide, registration.prepare(widened_context(wide), node))
        return None

    def invoke(context: Context, node: Node) -> None:
        prepared = node.user_data
        if not has_type(context, node, _PACKED) or not isinstance(prepared, _Prepared):
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
