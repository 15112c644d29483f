"""Nodes some of whose operands are constants."""

from __future__ import annotations

import numpy as np

from ...ir.arity import has_arity
from ...ir.attributes import Attributes, DenseAttr
from ...ir.node import Node, Value
from ...ir.types import ElementType, TensorType
from .editor import GraphEditor, data_type, shape_of
from .evaluate import run
from .tensors import constant_of, constant_of_array, known_array, known_integers

_I32 = ElementType("i32")


def constant_identities(editor: GraphEditor, node: Node) -> bool:
    """What an IdentityN passes on of constants is the constants.

    Given:  a, b = IdentityN(c, x); y = Neg(a)
    Result: a, b = IdentityN(c, x); y = Neg(c) [IdentityN]
    """
    if node.op != "IdentityN" or len(node.operands) != len(node.results):
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
            editor.changed.append(user)
            changed = True
    return changed


def sum_constants(editor: GraphEditor, node: Node) -> bool:
    """The constants among many summands become one.

    Given:  s = AddN(c, x, d)
    Result: s/_partial_split_2 = Const c + d; s = AddN(s/_partial_split_2, x)

    All summands must have one shape, which AddN and AccumulateNV2 demand.
    """
    if node.op not in ("AddN", "AccumulateNV2") or editor.is_kept(node):
        return False
    constants = [value for value in node.operands if constant_of(value) is not None]
    rest = [value for value in node.operands if constant_of(value) is None]
    if len(constants) < 2 or any(shape_of(value) is None for value in node.operands):
        return False
    value = _added(node, constants)
    if value is None:
        return False
    if not rest:
        editor.replace_with_constant(node, value)
        return True
    waits = [editor.wait_for(constant) for constant in constants]
    made = editor.constant(node, f"{node.name}/_partial_split_{len(constants)}", value, waits)
    node.operands = (made.results[0], *rest)
    node.attributes["N"] = 1 + len(rest)
    return True


def _added(node: Node, constants: list[Value]) -> DenseAttr | None:
    arrays = [array for value in constants if (array := known_array(value)) is not None]
    if len(arrays) != len(constants) or len({array.shape for array in arrays}) != 1:
        return None
    element = data_type(node.results[0].type)
    found = run("AddN", {"N": len(arrays), "T": element}, arrays, [element])
    return None if found is None else found[0]


def merge_concats(editor: GraphEditor, node: Node) -> bool:
    """A concatenation of a concatenation along the same axis is one.

    Given:  c = ConcatV2(a, b, 0); d = ConcatV2(c, e, 0)
    Result: d = ConcatV2(a, b, e, 0)

    Nothing else may use the inner one.
    """
    if node.op != "ConcatV2":
        return False
    axis = known_integers(node.operands[-1])
    if axis is None:
        return False
    for i, operand in enumerate(node.operands[:-1]):
        child = operand.owner
        if not isinstance(child, Node) or child.op != "ConcatV2" or child is node or not has_arity(child):
            continue
        if child.device != node.device or child.block is not node.block:
            continue
        if len(operand.users) != 1 or child.control.users or known_integers(child.operands[-1]) != axis:
            continue
        if axis[0] < 0 and len({*map(_rank, (operand, *child.operands[:-1]))}) != 1:
            continue
        node.operands = (*node.operands[:i], *child.operands[:-1], *node.operands[i + 1 :])
        node.controls = dict.fromkeys((*node.controls, *child.controls))
        node.attributes["N"] = len(node.operands) - 1
        child.erase()
        return True
    return False


def _rank(value: Value) -> int | None:
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    return None if shape is None else len(shape)


def concat_constants(editor: GraphEditor, node: Node) -> bool:
    """Neighbouring constants of a concatenation become one.

    Given:  d = ConcatV2(c, e, x, 0)
    Result: d/_partial_split_0 = Const c, e; d = ConcatV2(d/_partial_split_0, x, 0)
    """
    if node.op != "ConcatV2" or constant_of(node.operands[-1]) is None or editor.is_kept(node):
        return False
    values = list(node.operands[:-1])
    start = 0
    while start < len(values):
        end = start
        while end < len(values) and constant_of(values[end]) is not None:
            end += 1
        if 2 <= end - start < len(values):
            made = _concatenated(editor, node, values[start:end], start)
            if made is not None:
                node.operands = (*values[:start], made.results[0], *values[end:], node.operands[-1])
                node.attributes["N"] = len(node.operands) - 1
                return True
        start = end + 1
    return False


def _concatenated(editor: GraphEditor, node: Node, values: list[Value], start: int) -> Node | None:
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
    waits = [editor.wait_for(value) for value in values]
    return editor.constant(node, f"{node.name}/_partial_split_{start}", found[0], waits)


def pack_of_one(editor: GraphEditor, node: Node) -> bool:
    """A Pack of one value only adds an axis.

    Given:  y = Pack(x) {axis = 1}
    Result: y/_const_axis = Const [x] 1; y = ExpandDims(x, y/_const_axis)
    """
    if node.op != "Pack" or len(node.operands) != 1 or editor.is_kept(node):
        return False
    held = node.attributes.get("axis", 0)
    value = constant_of_array(np.array(held, np.int32), _I32) if isinstance(held, int) else None
    if value is None:
        return False
    operand = node.operands[0]
    constant = editor.constant(node, f"{node.name}/_const_axis", value, [editor.wait_for(operand)])
    attributes: Attributes = {"T": data_type(operand.type), "Tdim": _I32}
    made = editor.node(node, "ExpandDims", [operand, constant.results[0]], attributes)
    editor.replace(node, made)
    return True
