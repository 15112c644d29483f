"""Nodes some of whose operands are constants."""

from __future__ import annotations

import numpy as np

from ...graph.rule import rule
from ...ir.arity import has_arity
from ...ir.attributes import Attributes, DenseAttr
from ...ir.node import Node, Value
from ...ir.types import ElementType, TensorType
from ..node_rewriter import NodeRewriter, data_type, shape_of
from .evaluate import run
from .tensors import constant_of, constant_of_array, known_array, known_integers

_I32 = ElementType("i32")


@rule("IdentityN")
def constant_identities(rewriter: NodeRewriter, node: Node) -> bool:
    """What an IdentityN passes on of constants is the constants.

    Given:  a, b = IdentityN(c, x); y = Neg(a)
    Result: a, b = IdentityN(c, x); y = Neg(c) [IdentityN]
    """
    if len(node.operands) != len(node.results):
        return False
    changed = False
    for operand, result in zip(node.operands, node.results, strict=True):
        if constant_of(operand) is None:
            continue
        for user in list(dict.fromkeys(result.users)):
            if user.op == "return":
                continue
            user.operands = [operand if value is result else value for value in user.operands]
            if node.control not in user.controls:
                user.controls = (*user.controls, node.control)
            rewriter.changed(user)
            changed = True
    return changed


@rule("AddN", "AccumulateNV2")
def sum_constants(rewriter: NodeRewriter, node: Node) -> bool:
    """The constants among many summands become one.

    Given:  s = AddN(c, x, d)
    Result: s/_partial_split_2 = Const c + d; s = AddN(s/_partial_split_2, x)

    All summands must have one shape, which AddN and AccumulateNV2 demand.
    """
    if rewriter.is_kept(node):
        return False
    constants = [value for value in node.operands if constant_of(value) is not None]
    rest = [value for value in node.operands if constant_of(value) is None]
    if len(constants) < 2 or any(shape_of(value) is None for value in node.operands):
        return False
    value = _added(node, constants)
    if value is None:
        return False
    if not rest:
        rewriter.replace_with_constant(node, value)
        return True
    waits = [rewriter.wait_for(constant) for constant in constants]
    made = rewriter.constant(node, f"{node.name}/_partial_split_{len(constants)}", value, waits)
    rewriter.set_operands(node, (made.results[0], *rest))
    node.attributes["N"] = 1 + len(rest)
    return True


def _added(node: Node, constants: list[Value]) -> DenseAttr | None:
    arrays = [array for value in constants if (array := known_array(value)) is not None]
    if len(arrays) != len(constants) or len({array.shape for array in arrays}) != 1:
        return None
    element = data_type(node.results[0].type)
    found = run("AddN", {"N": len(arrays), "T": element}, arrays, [element])
    return None if found is None else found[0]


@rule("ConcatV2")
def merge_concats(rewriter: NodeRewriter, node: Node) -> bool:
    """A concatenation of a concatenation along the same axis is one.

    Given:  c = ConcatV2(a, b, 0); d = ConcatV2(c, e, 0)
    Result: d = ConcatV2(a, b, e, 0)

    Nothing else may use the inner one.
    """
    axis = known_integers(node.operands[-1])
    if axis is None:
        return False
    for i, operand in enumerate(node.operands[:-1]):
        child = operand.owner
        if not isinstance(child, Node) or child.op != "ConcatV2" or child is node or not has_arity(child):
            continue
        if child.device != node.device or child.block is not node.block or rewriter.is_named(child):
            continue
        if len(operand.users) != 1 or child.control.users or known_integers(child.operands[-1]) != axis:
            continue
        if axis[0] < 0 and len({*map(_rank, (operand, *child.operands[:-1]))}) != 1:
            continue
        rewriter.set_operands(node, (*node.operands[:i], *child.operands[:-1], *node.operands[i + 1 :]))
        node.controls = dict.fromkeys((*node.controls, *child.controls))
        node.attributes["N"] = len(node.operands) - 1
        rewriter.erase(child)
        return True
    return False


def _rank(value: Value) -> int | None:
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    return None if shape is None else len(shape)


@rule("ConcatV2")
def concat_constants(rewriter: NodeRewriter, node: Node) -> bool:
    """Neighbouring constants of a concatenation become one.

    Given:  d = ConcatV2(c, e, x, 0)
    Result: d/_partial_split_0 = Const c, e; d = ConcatV2(d/_partial_split_0, x, 0)
    """
    if constant_of(node.operands[-1]) is None or rewriter.is_kept(node):
        return False
    values = list(node.operands[:-1])
    start = 0
    while start < len(values):
        end = start
        while end < len(values) and constant_of(values[end]) is not None:
            end += 1
        if 2 <= end - start < len(values):
            made = _concatenated(rewriter, node, values[start:end], start)
            if made is not None:
                operands = (*values[:start], made.results[0], *values[end:], node.operands[-1])
                rewriter.set_operands(node, operands)
                node.attributes["N"] = len(node.operands) - 1
                return True
        start = end + 1
    return False


def _concatenated(rewriter: NodeRewriter, node: Node, values: list[Value], start: int) -> Node | None:
    axis = known_array(node.operands[-1])
    arrays = [array for value in values if (array := known_array(value)) is not None]
    if axis is None or len(arrays) != len(values):
        return None
    element = data_type(node.results[0].type)
    index = data_type(node.operands[-1].type)
    attributes: Attributes = {"N": len(arrays), "T": element, "Tidx": index}
    found = run("ConcatV2", attributes, [*arrays, axis], [element])
    if found is None:
        return None
    waits = [rewriter.wait_for(value) for value in values]
    return rewriter.constant(node, f"{node.name}/_partial_split_{start}", found[0], waits)


@rule("Pack")
def pack_of_one(rewriter: NodeRewriter, node: Node) -> bool:
    """A Pack of one value only adds an axis.

    Given:  y = Pack(x) {axis = 1}
    Result: y/_const_axis = Const [x] 1; y = ExpandDims(x, y/_const_axis)
    """
    if len(node.operands) != 1 or rewriter.is_kept(node):
        return False
    held = node.attributes.get("axis", 0)
    value = constant_of_array(np.array(held, np.int32), _I32) if isinstance(held, int) else None
    if value is None:
        return False
    operand = node.operands[0]
    constant = rewriter.constant(node, f"{node.name}/_const_axis", value, [rewriter.wait_for(operand)])
    attributes: Attributes = {"T": data_type(operand.type), "Tdim": _I32}
    made = rewriter.node(node, "ExpandDims", [operand, constant.results[0]], attributes)
    rewriter.replace(node, made)
    return True
