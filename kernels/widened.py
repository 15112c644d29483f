"""Tensors of small types as wider ones that an operator's kernels take, with memory of their own.

typed_operator.py says which operators run so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..lite.context import Context
from ..lite.node import Node, StandIns
from ..lite.tensor import OVERREAD_BYTES, AllocationType, Tensor, TensorType

# By the type that is not taken, the one that is instead.
Types = Mapping[TensorType, TensorType]


def has_type(context: Context, node: Node, types: Types) -> bool:
    """Whether any tensor of the node has one of the types."""
    return any(t >= 0 and context.tensor(t).type in types for t in (*node.inputs, *node.outputs))


def widened(context: Context, node: Node, types: Types) -> Node:
    """The node as kernels of wider types see it: itself, where it has no tensor of the types.

    Constants have their values at once; the other inputs have them after read(), and the node's own
    outputs theirs after write().
    """
    if not has_type(context, node, types):
        return node
    inputs, outputs = _widened(context, node.inputs, types), _widened(context, node.outputs, types)
    for t, wide in inputs.items():
        place(wide)
        x = context.tensor(t)
        if x.is_constant:
            _widen(x, wide)
            wide.allocation_type = AllocationType.PERSISTENT_RO
    for t, wide in outputs.items():
        if context.tensor(t).is_dynamic:
            wide.allocation_type = AllocationType.DYNAMIC
    return node.seen_with(StandIns(inputs, outputs))


def _widened(context: Context, indices: Sequence[int], types: Types) -> dict[int, Tensor]:
    tensors = {t: context.tensor(t) for t in indices if t >= 0}
    return {t: _like(x, types[TensorType(x.type)]) for t, x in tensors.items() if x.type in types}


def wide_inputs(context: Context, wide: Node) -> list[tuple[Tensor, Tensor]]:
    """The inputs that change, each with what stands for it."""
    assert wide.stand_ins is not None
    return [(context.tensor(t), x) for t, x in wide.stand_ins.inputs.items() if not x.is_constant]


def wide_outputs(context: Context, wide: Node) -> list[tuple[Tensor, Tensor]]:
    """The outputs, each with what stands for it."""
    assert wide.stand_ins is not None
    return [(context.tensor(t), y) for t, y in wide.stand_ins.outputs.items()]


def size_outputs(context: Context, wide: Node) -> None:
    """Give the node's own outputs the shapes of what stands for them, once it is prepared."""
    for y, stand_in in wide_outputs(context, wide):
        if stand_in.is_dynamic:
            context.set_dynamic(y)
        else:
            context.resize_tensor(y, stand_in.shape)


def read(context: Context, wide: Node) -> None:
    """Give the inputs their values, and the outputs memory."""
    for x, stand_in in wide_inputs(context, wide):
        _widen(x, stand_in)
    for _, stand_in in wide_outputs(context, wide):
        place(stand_in)


def write(context: Context, wide: Node) -> None:
    """Give the node's outputs what the tensors that stand for them hold."""
    for y, stand_in in wide_outputs(context, wide):
        context.resize_tensor(y, stand_in.shape)
        _narrow(stand_in, y)


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
