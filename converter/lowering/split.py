"""Split, SplitV, Pack and Unpack."""

from __future__ import annotations

from collections.abc import Sequence

from ...lite.errors import ModelError
from ...schema.objects import TableT
from ...schema.tflite import (
    BuiltinOperator,
    PackOptionsT,
    SplitOptionsT,
    SplitVOptionsT,
    UnpackOptionsT,
)
from ..ir.node import Node
from ..lite_graph import LiteTensor
from ..operator_types import is_converted_for
from .cast import as_int32
from .concatenation import joined
from .lowering import Lowering, Rule
from .reshape import with_axis


def _pieces(
    lowering: Lowering,
    node: Node,
    code: BuiltinOperator,
    inputs: Sequence[LiteTensor],
    x: LiteTensor,
    options: TableT,
) -> list[LiteTensor]:
    count = len(node.results)
    shapes = [lowering.result_shape(node, i) for i in range(count)]
    results = lowering.results(node, shapes, [x.type] * count)
    lowering.add(node, code, inputs, results, options)
    return results


def split(lowering: Lowering, node: Node) -> Sequence[LiteTensor]:
    """SPLIT into equal pieces; one piece is the input itself."""
    axis, x = lowering.inputs(node)
    count = len(node.results)
    if count == 1:
        return [x]
    inputs = [as_int32(lowering, node, axis), x]
    return _pieces(lowering, node, BuiltinOperator.SPLIT, inputs, x, SplitOptionsT(num_splits=count))


def split_v(lowering: Lowering, node: Node) -> Sequence[LiteTensor]:
    """SPLIT_V into pieces of given sizes."""
    x, sizes, axis = lowering.inputs(node)
    count = len(node.results)
    inputs = [x, as_int32(lowering, node, sizes), as_int32(lowering, node, axis)]
    return _pieces(lowering, node, BuiltinOperator.SPLIT_V, inputs, x, SplitVOptionsT(num_splits=count))


def _axis(node: Node, rank: int) -> int:
    axis = node.integer("axis")
    if not -rank <= axis < rank:
        raise ModelError(f"axis must be in [{-rank}, {rank}), got {axis}")
    return axis % rank


def pack(lowering: Lowering, node: Node) -> LiteTensor:
    """PACK along a new axis; of one part, and of types that it does not take, by that axis in each part."""
    parts = lowering.inputs(node)
    shape = lowering.result_shape(node)
    axis = node.integer("axis") if shape is None else _axis(node, len(shape))
    if len(parts) == 1 or not is_converted_for(BuiltinOperator.PACK, parts[0].type):
        wide = [with_axis(lowering, node, part, axis) for part in parts]
        return joined(lowering, node, wide, axis, shape)
    options = PackOptionsT(values_count=len(parts), axis=axis)
    return lowering.operator(node, BuiltinOperator.PACK, parts, shape, options)


def unpack(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """UNPACK along an axis."""
    x = lowering.input(node, 0)
    axis = node.integer("axis") if x.shape is None else _axis(node, len(x.shape))
    count = len(node.results)
    return _pieces(lowering, node, BuiltinOperator.UNPACK, [x], x, UnpackOptionsT(num=count, axis=axis))


REGISTRATIONS: dict[str, Rule] = {"Pack": pack, "Split": split, "SplitV": split_v, "Unpack": unpack}
