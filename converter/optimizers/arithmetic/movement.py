"""Stages that do the same work on fewer elements, or once for many."""

from __future__ import annotations

import numpy as np

from ...graph.rule import rule
from ...ir.attributes import Attributes
from ...ir.node import Node
from ...ir.types import TensorType
from ...transforms.folding.tensors import known_integers
from ...transforms.node_rewriter import data_type, rank_of
from ..rewriter import OptimizingRewriter
from .nodes import (
    FLOATS,
    SOURCE,
    UNARY,
    become,
    before,
    element,
    inner,
    number,
    pass_on,
    same_kind,
    shape,
    source,
)

# Monotonic over all numbers, so that no NaN comes from what a reduction leaves out.
_GROWING = frozenset(
    (
        *("Asinh", "Atan", "Ceil", "Elu", "Erf", "Exp", "Expm1", "Floor", "Relu", "Relu6", "Rint", "Selu"),
        *("Sigmoid", "Sign", "Sinh", "Softsign", "Softplus", "Tanh"),
    )
)
_FALLING = frozenset(("Erfc", "Neg"))
# Of these equal results come from equal operands, as far as digits go.
_STRICT = frozenset(
    ("Asinh", "Atan", "Exp", "Expm1", "Sinh", "Sigmoid", "Softsign", "Softplus", "Tanh", "Neg")
)
_OTHER = {"Max": "Min", "Min": "Max", "ArgMax": "ArgMin", "ArgMin": "ArgMax"}


@rule("Max", "Min", "MaxPool", "ArgMax", "ArgMin", source=SOURCE)
def optimize_max_or_min_of_monotonic(rewriter: OptimizingRewriter, node: Node) -> bool:
    """The largest of what a growing function gives.

    Given:  e = Exp(x); y = Max(e, axes)
    Result: m = Max(x, axes); y = Exp(m)

    Min where the function falls. ArgMax of it is ArgMax(x).
    """
    function = inner(rewriter, node, node.operands[0], *_GROWING, *_FALLING)
    if function is None or element(node.operands[0]) not in FLOATS or rewriter.is_kept(node):
        return False
    falls = function.op in _FALLING
    if (falls and node.op == "MaxPool") or (function.op not in _STRICT and node.op.startswith("Arg")):
        return False
    op = _OTHER[node.op] if falls else node.op
    operands = (function.operands[0], *node.operands[1:])
    if node.op.startswith("Arg"):
        return become(rewriter, node, op, operands, dict(node.attributes))
    type = node.results[0].type
    reduced = before(rewriter, node, "Monotonic", op, operands, dict(node.attributes), type)
    return become(rewriter, node, function.op, [reduced], dict(function.attributes))


@rule("ConcatV2", source=SOURCE)
def hoist_cwise_unary_chains(rewriter: OptimizingRewriter, node: Node) -> bool:
    """What is done to all parts of a concatenation is done to the whole.

    Given:  a = Exp(x); b = Exp(z); y = ConcatV2(a, b, axis)
    Result: c = ConcatV2(x, z, axis); y = Exp(c)
    """
    parts = [inner(rewriter, node, value, *UNARY) for value in node.operands[:-1]]
    first = parts[0] if parts else None
    if len(parts) < 2 or first is None or node.controls:
        return False
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not all(same_kind(part, first) for part in known):
        return False
    operands = [*(part.operands[0] for part in known), node.operands[-1]]
    kind = data_type(known[0].operands[0].type)
    attributes: Attributes = {**node.attributes, "T": kind}
    type = node.results[0].type
    assert isinstance(type, TensorType)
    whole = before(rewriter, node, "Hoist", "ConcatV2", operands, attributes, TensorType(kind, type.shape))
    return become(rewriter, node, first.op, [whole], dict(first.attributes))


@rule("Split", "SplitV", source=SOURCE)
def hoist_unary_out_of_split(rewriter: OptimizingRewriter, node: Node) -> bool:
    """What is done to all parts of a split is done before it.

    Given:  a, b = Split(axis, x); y = Exp(a); z = Exp(b)
    Result: e = Exp(x); y, z = Split(axis, e)
    """
    if len(node.results) < 2 or node.controls or rewriter.is_named(node) or node.control.users:
        return False
    users = [next(iter(value.users)) if len(value.users) == 1 else None for value in node.results]
    first = users[0]
    if first is None or first.op not in UNARY:
        return False
    known = [user for user in users if user is not None]
    if len(known) < len(users) or not all(same_kind(user, first) for user in known):
        return False
    if any(rewriter.is_named(user) or user.controls or user.control.users for user in known):
        return False
    if any(element(user.results[0]) != element(user.operands[0]) for user in known):
        return False
    place = 1 if node.op == "Split" else 0
    x = node.operands[place]
    done = before(rewriter, node, "Hoist", first.op, [x], dict(first.attributes), x.type)
    rewriter.set_operand(node, place, done)
    for user, value in zip(known, node.results, strict=True):
        pass_on(rewriter, user, value)
    return True


@rule("StridedSlice", "Slice", "GatherV2", needs=("shapes",), source=SOURCE)
def remove_stack_slice_same_axis(rewriter: OptimizingRewriter, node: Node) -> bool:
    """One of what was packed, taken out again.

    Given:  p = Pack(a, b) {axis = 0}; y = StridedSlice(p, [1, 0], [2, 0], [1, 1]) {shrink_axis_mask = 1, ..}
    Result: b wherever y was used
    """
    pack = source(node.operands[0], "Pack")
    if pack is None or pack.controls:
        return False
    rank = rank_of(node.operands[0])
    axis = pack.attributes.get("axis", 0)
    if rank is None or not isinstance(axis, int):
        return False
    place, keeps_axis = _taken(node, axis % rank, rank, len(pack.operands))
    if place is None:
        return False
    value = pack.operands[place]
    if not keeps_axis:
        return pass_on(rewriter, node, value)
    where = number(rewriter, node, "StackSlice", np.array(axis % rank, np.int32), "i32")
    if where is None:
        return False
    attributes: Attributes = {"T": data_type(value.type), "Tdim": data_type(where.type)}
    return become(rewriter, node, "ExpandDims", (value, where), attributes)


def _taken(node: Node, axis: int, rank: int, count: int) -> tuple[int | None, bool]:
    """Which element along the axis a node takes, if it is one and all of it; whether the axis stays."""
    numbers = [known_integers(value) for value in node.operands[1:]]
    if node.op == "GatherV2":
        index, along = numbers
        if index is None or along is None or shape(node.operands[1]) != () or along[0] % rank != axis:
            return None, False
        return (index[0] if 0 <= index[0] < count else None), False
    if any(found is None or len(found) > rank for found in numbers):
        return None, False
    if node.op == "Slice":
        begin, size = (found or [] for found in numbers)
        whole = all(n == -1 and b == 0 for i, (b, n) in enumerate(zip(begin, size, strict=True)) if i != axis)
        return (begin[axis] if whole and size[axis] == 1 else None), True
    return _strided(node, axis, [found or [] for found in numbers], count)


def _strided(node: Node, axis: int, numbers: list[list[int]], count: int) -> tuple[int | None, bool]:
    begin, end, strides = numbers
    masks = {name: node.attributes.get(f"{name}_mask", 0) for name in ("begin", "end", "shrink_axis")}
    if node.attributes.get("ellipsis_mask") or node.attributes.get("new_axis_mask") or len(begin) <= axis:
        return None, False
    held = {name: mask if isinstance(mask, int) else 0 for name, mask in masks.items()}
    for i in range(len(begin)):
        if strides[i] != 1:
            return None, False
        if i == axis:
            continue
        if held["shrink_axis"] >> i & 1:
            return None, False
        if not (held["begin"] >> i & 1 or begin[i] == 0) or not held["end"] >> i & 1:
            return None, False
    first = 0 if held["begin"] >> axis & 1 else begin[axis]
    if held["shrink_axis"] >> axis & 1:
        first = begin[axis] + (count if begin[axis] < 0 else 0)
        return (first if 0 <= first < count else None), False
    last = count if held["end"] >> axis & 1 else end[axis]
    return (first if 0 <= first < count and last - first == 1 else None), True
