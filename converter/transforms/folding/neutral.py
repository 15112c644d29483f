"""Arithmetic with zeros and ones."""

from __future__ import annotations

import numpy as np

from ...graph.algebra import neutral_operand, settling_operand
from ...graph.rule import rule
from ...ir.attributes import Attributes, DenseAttr
from ...ir.dense import array_of_elements, is_splat
from ...ir.node import Node, Value
from ...ir.types import ElementType, TensorType
from ...shapes.dimensions import same_shape
from ..node_rewriter import NodeRewriter, data_type, shape_of
from .tensors import constant_of, constant_of_array, splat

_MATMUL = ("MatMul", "BatchMatMul", "BatchMatMulV2", "SparseMatMul")
_OPERATIONS = {
    **dict.fromkeys(("Add", "AddV2", "BiasAdd", "LogicalOr"), "add"),
    "Sub": "subtract",
    **dict.fromkeys(("Mul", "MulNoNan", "LogicalAnd"), "multiply"),
    **dict.fromkeys(("Div", "RealDiv", "Xdivy"), "divide"),
    **dict.fromkeys(_MATMUL, "multiply"),
}
_I32 = ElementType("i32")
_WITH_NAN = frozenset(("f16", "bf16", "f32", "f64", "complex<f32>", "complex<f64>"))
MOST_SIZE = (1 << 31) - 1


@rule(*_OPERATIONS, needs=("shapes",))
def neutral_element(rewriter: NodeRewriter, node: Node) -> bool:
    """An operand of zeros or ones that settles the result, or changes nothing.

    Given:  o = Const 1; y = Mul(x, o)     z = Const 0; w = Mul(x, z)
    Result: y = Snapshot(x) [o]            w = Const [x, z] 0

    Where the other operand stretches, it is a BroadcastTo. 0 - x is Neg, 1 / x Reciprocal. As in
    TensorFlow, x * 0 is 0 even where x may be infinite or no number. The result's shape must be known.
    Source: TensorFlow core/grappler/optimizers/constant_folding.cc, SimplifyArithmeticOperations.
    """
    if len(node.operands) != 2 or rewriter.is_kept(node):
        return False
    shape = shape_of(node.results[0])
    operation = _OPERATIONS[node.op]

    def is_of(place: int, number: int) -> bool:
        return is_all(node.operands[place], number)

    settles = settling_operand(operation, is_of) is not None
    if shape is not None and settles and not (rewriter.keeps_nan and _has_nan(node)):
        return _become(rewriter, node, 0)
    if node.op in _MATMUL or node.op == "MulNoNan":
        return False
    place = neutral_operand(operation, is_of)
    if place is not None:
        return _pass_on(rewriter, node, place, shape)
    unary = {"subtract": ("Neg", 0), "divide": ("Reciprocal", 1)}.get(operation)
    if unary is None or node.op == "Xdivy" or not _same_shape(node.operands[1], node.results[0]):
        return False
    return is_all(node.operands[0], unary[1]) and _become_unary(rewriter, node, unary[0])


def _has_nan(node: Node) -> bool:
    return node.op != "MulNoNan" and data_type(node.results[0].type).name in _WITH_NAN


def is_all(value: Value, number: int) -> bool:
    """Whether all elements of a constant are the number."""
    dense = constant_of(value)
    if dense is None or isinstance(dense.elements, tuple) or not dense.elements:
        return False
    name = data_type(value.type).name
    if name == "bf16":
        return False
    elements = array_of_elements(dense)
    return bool((elements[:1] == number).all() if is_splat(dense) else (elements == number).all())


def _become(rewriter: NodeRewriter, node: Node, number: int) -> bool:
    type = node.results[0].type
    assert isinstance(type, TensorType)
    value: DenseAttr | None = splat(number, TensorType(data_type(type), type.shape))
    if value is None:
        return False
    rewriter.replace_with_constant(node, value)
    return True


def _same_shape(one: Value, other: Value) -> bool:
    """Whether two values surely have one shape, by their symbols where sizes are not known."""
    types = one.type, other.type
    return all(isinstance(type, TensorType) for type in types) and same_shape(
        *(type.shape for type in types if isinstance(type, TensorType))
    )


def _pass_on(rewriter: NodeRewriter, node: Node, index: int, shape: tuple[int, ...] | None) -> bool:
    """The operand itself, or stretched."""
    kept, other = node.operands[index], node.operands[1 - index]
    attributes: Attributes = {"T": data_type(kept.type)}
    if _same_shape(kept, node.results[0]) or (node.op == "BiasAdd" and rewriter.infers):
        made = rewriter.node(node, rewriter.copy_op, [kept], attributes)
        made.controls = [rewriter.wait_for(other), *node.controls]
        rewriter.replace(node, made)
        return True
    if shape is None:
        return False
    sizes = constant_of_array(np.array(shape, np.int64).astype(np.int32), _I32)
    # Channels in front do not stretch as BroadcastTo stretches.
    first = node.op == "BiasAdd" and node.attributes.get("data_format") == b"NCHW"
    if sizes is None or shape_of(kept) is None or first or max(shape, default=0) > MOST_SIZE:
        return False
    waits = [rewriter.wait_for(other)]
    name = f"{node.name}/broadcastto_shape_{index}/const_folded"
    constant = rewriter.constant(node, name, sizes, waits)
    made = rewriter.node(node, "BroadcastTo", [kept, constant.results[0]], {**attributes, "Tidx": _I32})
    made.controls = [*waits, *node.controls]
    rewriter.replace(node, made)
    return True


def _become_unary(rewriter: NodeRewriter, node: Node, op: str) -> bool:
    kept, other = node.operands[1], node.operands[0]
    if op == "Reciprocal" and data_type(kept.type).name not in ("f16", "bf16", "f32", "f64"):
        return False
    made = rewriter.node(node, op, [kept], {"T": data_type(kept.type)})
    made.controls = [rewriter.wait_for(other), *node.controls]
    rewriter.replace(node, made)
    return True
