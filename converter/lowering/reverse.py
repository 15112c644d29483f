"""ReverseV2, ReverseSequence and Roll."""

from __future__ import annotations

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.tflite import (
    BuiltinOperator,
    ConcatenationOptionsT,
    GatherOptionsT,
    ReverseSequenceOptionsT,
    SliceOptionsT,
)
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .binary import binary
from .cast import as_int32
from .lowering import Lowering, Rule
from .shape import places_along, size_along


def reverse_v2(lowering: Lowering, node: Node) -> LiteTensor:
    """REVERSE_V2; nothing where no axis is to be reversed."""
    x, axes = lowering.inputs(node)
    if axes.shape == (0,):
        return x
    known = axes.known()
    if known is not None and len(known) > 1 and x.shape is not None:
        # The operator wants neighbours.
        order = sorted(axis % len(x.shape) for axis in known)
        if order != list(range(order[0], order[0] + len(order))):
            raise UnsupportedError(f"REVERSE_V2 takes neighbouring axes, got {order}")
    return lowering.operator(node, BuiltinOperator.REVERSE_V2, [x, as_int32(lowering, node, axes)], x.shape)


def reverse_sequence(lowering: Lowering, node: Node) -> LiteTensor:
    """REVERSE_SEQUENCE."""
    inputs = lowering.inputs(node)
    options = ReverseSequenceOptionsT(seq_dim=node.integer("seq_dim"), batch_dim=node.integer("batch_dim"))
    return lowering.operator(node, BuiltinOperator.REVERSE_SEQUENCE, inputs, inputs[0].shape, options)


def roll(lowering: Lowering, node: Node) -> LiteTensor:
    """For each axis the last elements before the first ones, by two SLICEs and a CONCATENATION, or GATHER."""
    x = lowering.input(node, 0)
    shifts = lowering.integers_input(node, 1, "the shift")
    axes = lowering.integers_input(node, 2, "the axis")
    if x.shape is None:
        raise UnsupportedError("the rank must be known")
    if len(shifts) != len(axes):
        raise ModelError(f"shift and axis must have the same size, got {shifts} and {axes}")
    if any(not -len(x.shape) <= axis < len(x.shape) for axis in axes):
        raise ModelError(f"axes must be in [{-len(x.shape)}, {len(x.shape)}), got {axes}")
    for shift, axis in zip(shifts, axes, strict=True):
        x = _rolled(lowering, node, x, shift, axis % len(x.shape or ()))
    return x


def _rolled(lowering: Lowering, node: Node, x: LiteTensor, shift: int, axis: int) -> LiteTensor:
    assert x.shape is not None
    count = x.shape[axis]
    if count == -1:
        return _rolled_by_places(lowering, node, x, shift, axis)
    if count == 0 or shift % count == 0:
        return x
    first = count - shift % count
    parts = [_part(lowering, node, x, axis, first, count - first), _part(lowering, node, x, axis, 0, first)]
    options = ConcatenationOptionsT(axis=axis)
    return lowering.operator(node, BuiltinOperator.CONCATENATION, parts, x.shape, options)


def _rolled_by_places(lowering: Lowering, node: Node, x: LiteTensor, shift: int, axis: int) -> LiteTensor:
    """GATHER of the places (0, 1 ... less the shift) modulo their number, which is known in the run alone."""
    by = lowering.constant(lowering.name(node, "/shift"), np.array(shift, np.int32))
    moved = binary(lowering, node, BuiltinOperator.SUB, places_along(lowering, node, x, axis), by)
    count = size_along(lowering, node, x, axis)
    taken = binary(lowering, node, BuiltinOperator.FLOOR_MOD, moved, count)
    options = GatherOptionsT(axis=axis)
    return lowering.operator(node, BuiltinOperator.GATHER, [x, taken], x.shape, options)


def _part(lowering: Lowering, node: Node, x: LiteTensor, axis: int, begin: int, size: int) -> LiteTensor:
    """SLICE of some elements along an axis, all along the others."""
    assert x.shape is not None
    begins, sizes = [0] * len(x.shape), list(x.shape)
    begins[axis] = begin
    sizes[axis] = size
    bounds = [
        lowering.integers(lowering.name(node, "/begin"), begins),
        lowering.integers(lowering.name(node, "/size"), sizes),
    ]
    return lowering.operator(node, BuiltinOperator.SLICE, [x, *bounds], tuple(sizes), SliceOptionsT())


REGISTRATIONS: dict[str, Rule] = {"ReverseSequence": reverse_sequence, "ReverseV2": reverse_v2, "Roll": roll}
