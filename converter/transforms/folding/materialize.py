"""What types say, as constants."""

from __future__ import annotations

import numpy as np

from ...graph.rule import rule
from ...ir.attributes import DenseAttr
from ...ir.node import Node, Value
from ...ir.types import ElementType, TensorType
from ..node_rewriter import NodeRewriter, data_type, rank_of, shape_of
from .evaluate import run
from .tensors import constant_of, constant_of_array, known_array, known_integers, splat

_I32 = ElementType("i32")
_REDUCTIONS = ("Sum", "Prod", "Mean", "Max", "Min", "All", "Any", "EuclideanNorm")


@rule("Shape", "Size", "Rank", needs=("shapes",))
def shapes(rewriter: NodeRewriter, node: Node) -> bool:
    """Shape, Size and Rank of a value whose shape is known.

    Given:  x: 2x3; s = Shape(x)
    Result: s = Const [x] {[2, 3]}
    """
    if rewriter.is_kept(node):
        return False
    value = _of_shape(node, node.operands[0])
    if value is None:
        return False
    rewriter.replace_with_constant(node, value)
    return True


def _of_shape(node: Node, operand: Value) -> DenseAttr | None:
    shape, rank = shape_of(operand), rank_of(operand)
    element = data_type(node.results[0].type)
    if element.name not in ("i32", "i64"):
        return None
    dtype = np.dtype("<i4" if element.name == "i32" else "<i8")
    if node.op == "Rank":
        return None if rank is None else constant_of_array(np.array(rank, dtype), element)
    if shape is None:
        return None
    numbers = np.array(shape if node.op != "Size" else int(np.prod(shape, dtype=object)), object)
    if any(number > np.iinfo(dtype).max for number in numbers.reshape(-1)):
        return None
    return constant_of_array(numbers.astype(dtype), element)


@rule("ShapeN", needs=("shapes",))
def shape_n(rewriter: NodeRewriter, node: Node) -> bool:
    """Those results of ShapeN whose operands' shapes are known.

    Given:  s0, s1 = ShapeN(x, y: 4x6)
    Result: s0, s1 = ShapeN(x, y); s/matshapes_1 = Const [s] {[4, 6]} for s1
    """
    if len(node.operands) != len(node.results):
        return False
    changed = False
    for i, (operand, result) in enumerate(zip(node.operands, node.results, strict=True)):
        value = _of_shape(node, operand) if result.users else None
        if value is not None:
            made = rewriter.constant(node, f"{node.name}/matshapes_{i}", value, [node.control])
            rewriter.replace_value(result, made.results[0])
            changed = True
    return changed


@rule("OnesLike", "ZerosLike", "Fill", needs=("shapes",))
def likes(rewriter: NodeRewriter, node: Node) -> bool:
    """OnesLike, ZerosLike of a value whose shape is known; a Fill to one.

    Given:  x: 2x3; z = ZerosLike(x)
    Result: z = Const [x] {0: 2x3}
    """
    if rewriter.is_kept(node):
        return False
    shape = shape_of(node.results[0]) if node.op == "Fill" else shape_of(node.operands[0])
    if shape is None or data_type(node.results[0].type).name in ("resource", "variant", "string"):
        return False
    type = TensorType(data_type(node.results[0].type), shape)
    if node.op == "Fill":
        filling = constant_of(node.operands[1])
        if filling is None or constant_of(node.operands[0]) is None or filling.count != 1:
            return False
        rewriter.replace_with_constant(node, DenseAttr(type, filling.elements if 0 not in shape else b""))
        return True
    value = splat(1 if node.op == "OnesLike" else 0, type)
    if value is None:
        return False
    rewriter.replace_with_constant(node, value)
    return True


@rule("BroadcastGradientArgs")
def broadcast_gradient_args(rewriter: NodeRewriter, node: Node) -> bool:
    """Axes over which a broadcast operand's gradient is summed, when both shapes are known.

    Given:  r0, r1 = BroadcastGradientArgs(s, t)
    Result: f/bcastargs_0 = Const [f] .. for r0, f/bcastargs_1 = Const [f] .. for r1
    """
    if not any(value.users for value in node.results):
        return False
    inputs = [known_array(value) for value in node.operands]
    known = [array for array in inputs if array is not None]
    elements = [data_type(value.type) for value in node.results]
    if len(known) != 2 or any(array.dtype.kind not in "iu" for array in known):
        return False
    found = run(node.op, node.attributes, known, elements)
    if found is None:
        return False
    for i, value in enumerate(node.results):
        if value.users:
            made = rewriter.constant(node, f"{node.name}/bcastargs_{i}", found[i], [node.control])
            rewriter.replace_value(value, made.results[0])
    return True


@rule(*_REDUCTIONS, needs=("shapes",))
def reduction_indices(rewriter: NodeRewriter, node: Node) -> bool:
    """The axes of a reduction that can only be all of them.

    Given:  s = Sum(x: ?x?, i: tensor<2xi32>)
    Result: s/indices/const_folded = Const [i] {[0, 1]}; s = Sum(x, s/indices/const_folded)

    They are all when there are as many as the rank (they may not repeat), or when nothing but
    reshapes to one element use the result.
    """
    if len(node.operands) != 2 or constant_of(node.operands[1]) is not None:
        return False
    rank, indices = rank_of(node.operands[0]), node.operands[1]
    element = data_type(indices.type)
    if not rank or element.name not in ("i32", "i64"):
        return False
    counted = shape_of(indices)
    if counted is not None and counted != (rank,) and not (rank == 1 and counted == ()):
        return False
    if counted is None and (rank_of(indices) not in (0, 1) or not _becomes_one_element(node)):
        return False
    axes = np.arange(rank, dtype=np.int32 if element.name == "i32" else np.int64)
    value = constant_of_array(axes, element)
    if value is None:
        return False
    name = f"{node.name}/indices/const_folded"
    made = rewriter.constant(node, name, value, [rewriter.wait_for(indices)])
    rewriter.set_operand(node, 1, made.results[0])
    return True


def _becomes_one_element(node: Node) -> bool:
    users = node.results[0].users
    return bool(users) and all(_is_reshape_to_one(user) for user in users)


def _is_reshape_to_one(user: Node) -> bool:
    if user.op != "Reshape" or len(user.operands) != 2:
        return False
    sizes = known_integers(user.operands[1])
    return sizes is not None and all(size == 1 for size in sizes)
