"""ConcatV2, Concat, and DynamicStitch at constant places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.tflite import BuiltinOperator, ConcatenationOptionsT, GatherOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor, PartialShape
from .lowering import Lowering, Rule
from .reshape import reshaped


def joined(
    lowering: Lowering, node: Node, parts: Sequence[LiteTensor], axis: int, shape: PartialShape
) -> LiteTensor:
    """CONCATENATION of what is not empty along an axis counted from the front where the rank is known."""
    rank = next((len(x.shape) for x in parts if x.shape is not None), None)
    if rank is not None and not -rank <= axis < rank:
        raise ModelError(f"axis must be in [{-rank}, {rank}), got {axis}")
    counted = axis if rank is None else axis % rank
    parts = [x for x in parts if x.shape is None or x.shape[counted] != 0] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    options = ConcatenationOptionsT(axis=counted)
    return lowering.operator(node, BuiltinOperator.CONCATENATION, parts, shape, options)


def concat_v2(lowering: Lowering, node: Node) -> LiteTensor:
    """The axis is the last input."""
    *parts, _ = lowering.inputs(node)
    [axis] = lowering.integers_input(node, len(parts), "the axis")
    return joined(lowering, node, parts, axis, lowering.result_shape(node))


def concat(lowering: Lowering, node: Node) -> LiteTensor:
    """The axis is the first input."""
    _, *parts = lowering.inputs(node)
    [axis] = lowering.integers_input(node, 0, "the axis")
    return joined(lowering, node, parts, axis, lowering.result_shape(node))


def dynamic_stitch(lowering: Lowering, node: Node) -> LiteTensor:
    """The rows of all data one behind the other, and of these the last that is for each place."""
    count = node.integer("N")
    places = [np.ravel(lowering.constant_input(node, i, "the indices")) for i in range(count)]
    shape = lowering.result_shape(node)
    if shape is None:
        raise UnsupportedError("the rank of the data must be known")
    rows, rest = shape[0], shape[1:]
    source = np.full(max(rows, 0), -1, np.int64)
    named = np.concatenate(places)
    if named.size and named.min() < 0:
        raise ModelError(f"indices must not be negative, got {named.min()}")
    source[named] = np.arange(named.size)
    if (source < 0).any():
        raise UnsupportedError(f"every row must have an index, row {np.argmax(source < 0)} has none")
    parts = []
    for i, each in enumerate(places):
        if each.size:
            part = reshaped(lowering, node, lowering.input(node, count + i), (each.size, *rest))
            if part is None:
                raise UnsupportedError("at most one size of the data's rows may be unknown")
            parts.append(part)
    if not parts:
        raise UnsupportedError("there must be indices")
    whole = joined(lowering, node, parts, 0, (named.size, *rest))
    if np.array_equal(source, np.arange(named.size)):
        return whole
    wanted = lowering.integers(lowering.name(node, "/rows"), source.tolist())
    return lowering.operator(node, BuiltinOperator.GATHER, [whole, wanted], shape, GatherOptionsT())


REGISTRATIONS: dict[str, Rule] = {
    "Concat": concat,
    "ConcatV2": concat_v2,
    "DynamicStitch": dynamic_stitch,
    "ParallelDynamicStitch": dynamic_stitch,
}
