"""Stages about sums and products of many."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from ...graph.rule import rule
from ...ir.attributes import Attributes
from ...ir.dense import FORMS
from ...ir.node import Node, Value
from ...shapes.dimensions import PartialShape, is_known, product, same_shape
from ...transforms.node_rewriter import data_type
from ..rewriter import OptimizingRewriter
from .nodes import NUMBERS, SOURCE, become, before, element, inner, number, pass_on, shape, source

_ADDS = ("Add", "AddV2")
_SUMS = (*_ADDS, "AddN")
_PRODUCTS = {"Mul": "Mul", "RealDiv": "RealDiv", "Div": "Div"}
_COMMUTATIVE = ("Mul", "Add", "AddV2", "Minimum", "Maximum", "LogicalAnd", "LogicalOr")


def _t(value: Value) -> Attributes:
    return {"T": data_type(value.type)}


@rule(*_SUMS, needs=("shapes",), keeps_bits=False, source=SOURCE)
def combine_add_to_addn(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A tree of sums of one shape.

    Given:  a = AddV2(x, y); b = AddV2(z, w); s = AddV2(a, b)
    Result: s = AddN(x, y, z, w)

    Each inner sum has one use, all are on one device. Where shapes differ, equal ones are summed first.
    """
    if element(node.results[0]) not in NUMBERS or node.controls:
        return False
    if any(user.op in _SUMS for user in node.results[0].users) and len(node.results[0].users) == 1:
        return False  # the end of the tree is the root
    leaves, tree = _leaves(rewriter, node, _SUMS)
    if len(leaves) < 3 or len(tree) < 2:
        return False
    groups = _groups(leaves)
    if groups is None or len(leaves) > 256:
        return False
    made = sum(len(group) > 1 for group in groups) + len(groups) - 1
    if made > len(tree) or (len(groups) > 1 and not _sizes_known(groups)):
        return False
    inside = [shape(group[0]) for group in groups if len(group) > 1]
    if made == len(tree) and not _is_less(inside, [shape(group[0]) for group in groups], tree):
        return False
    sums = [_summed(rewriter, node, group) for group in groups[:-1]]
    if len(groups) == 1:
        return become(rewriter, node, "AddN", groups[0], {**_t(node.results[0]), "N": len(leaves)})
    last = _summed(rewriter, node, groups[-1])
    total = sums[0]
    for value in sums[1:]:
        wide = value.type
        total = before(rewriter, node, "AddOpsRewrite", "AddV2", (total, value), _t(total), wide)
    rewriter.replace(node, rewriter.node(node, "AddV2", (total, last), _t(total)))
    return True


def _is_less(inside: Sequence[PartialShape], chain: Sequence[PartialShape], tree: list[Node]) -> bool:
    """Whether results of the shapes inside, and those of a chain of broadcasts, are fewer elements than the
    tree's: a tree that is as it should be stays.
    """
    results = [shape for shape in chain if shape is not None]
    stretched = accumulate(results, lambda one, other: np.broadcast_shapes(one, other))
    then = sum(map(_size, inside)) + sum(_size(each) for each in list(stretched)[1:])
    return then < sum(_size(shape(node.results[0])) for node in tree)


def _leaves(rewriter: OptimizingRewriter, node: Node, ops: Sequence[str]) -> tuple[list[Value], list[Node]]:
    """The operands of a tree of nodes of the ops, in order, and its nodes."""
    found: list[Value] = []
    tree = [node]
    waiting = list(reversed(node.operands))
    while waiting:
        value = waiting.pop()
        child = inner(rewriter, node, value, *ops)
        if child is None:
            found.append(value)
        else:
            tree.append(child)
            waiting += reversed(child.operands)
    return found, tree


def _groups(values: list[Value]) -> list[list[Value]] | None:
    """The values by equal shapes, smaller ones first; None when a rank is not known."""
    found: list[list[Value]] = []
    for value in values:
        if shape(value) is None:
            return None
        for group in found:
            if same_shape(shape(group[0]), shape(value)):
                group.append(value)
                break
        else:
            found.append([value])
    return sorted(found, key=lambda group: _size(shape(group[0])))


def _size(shape: PartialShape) -> float:
    return float(product(shape)) if is_known(shape) else float("inf")


def _sizes_known(groups: list[list[Value]]) -> bool:
    return all(is_known(shape(group[0])) for group in groups)


def _summed(rewriter: OptimizingRewriter, node: Node, group: list[Value]) -> Value:
    if len(group) == 1:
        return group[0]
    attributes: Attributes = {**_t(group[0]), "N": len(group)}
    return before(rewriter, node, "AddOpsRewrite", "AddN", group, attributes, group[0].type)


@rule("AddN", *_ADDS, needs=("shapes",), keeps_bits=False, source=SOURCE)
def hoist_common_factor_out_of_aggregation(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A factor or divisor that all summands have.

    Given:  a = Mul(x, y); b = Mul(z, x); s = AddN(a, b)      a = RealDiv(x, z); b = RealDiv(y, z); s =
    AddN(a, b) Result: t = AddN(y, z); s = Mul(x, t)                     t = AddN(x, y); s = RealDiv(t, z)
    """
    if len(node.operands) < 2 or len(set(node.operands)) != len(node.operands):
        return False
    first = source(node.operands[0], *_PRODUCTS)
    if first is None or element(node.results[0]) not in NUMBERS:
        return False
    terms = [inner(rewriter, node, value, first.op) for value in node.operands]
    known = [term for term in terms if term is not None]
    if len(known) < len(terms) or (first.op == "Div" and element(first.results[0])[0] in "iu"):
        return False
    places = range(2) if first.op == "Mul" else (1,)
    common = [first.operands[i] for i in places if all(first.operands[i] in _sides(t) for t in known)]
    if not common:
        return False
    factor = common[0]
    rest = [t.operands[1 - t.operands.index(factor)] if t.op == "Mul" else t.operands[0] for t in known]
    if first.op != "Mul" and any(t.operands[1] is not factor for t in known):
        return False
    if not all(same_shape(shape(value), shape(rest[0])) for value in rest):
        return False
    attributes: Attributes = dict(node.attributes)
    total = before(rewriter, node, "Hoist_Add", node.op, rest, attributes, rest[0].type)
    operands = (factor, total) if first.op == "Mul" else (total, factor)
    return become(rewriter, node, first.op, operands, _t(factor))


def _sides(term: Node) -> tuple[Value, ...]:
    return term.operands if term.op == "Mul" else term.operands[1:]


@rule("AddN", *_ADDS, source=SOURCE)
def simplify_aggregation(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A sum of one value, once or more often.

    Given:  y = AddN(x, x, x)      y = AddN(x)
    Result: y = Mul(3, x)          x wherever y was used
    """
    x = node.operands[0]
    if any(value is not x for value in node.operands) or element(x) not in NUMBERS or element(x) == "bf16":
        return False
    if len(node.operands) == 1:
        return pass_on(rewriter, node, x)
    if element(x) not in FORMS:
        return False
    factor = number(rewriter, node, "Mul", np.array(len(node.operands), FORMS[element(x)][0]), element(x))
    return factor is not None and become(rewriter, node, "Mul", (factor, x), _t(x))


@rule(*_COMMUTATIVE, needs=("shapes",), keeps_bits=False, source=SOURCE)
def minimize_broadcasts(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A tree of one op: small operands come together before they meet large ones.

    Given:  a = Mul(x: 8x3, v: 3); b = Mul(w: 3, y: 8x3); p = Mul(a, b)
    Result: a = Mul(v, w); b = Mul(a, x); p = Mul(b, y)
    """
    if element(node.results[0]) == "string" or node.controls:
        return False
    users = list(node.results[0].users)
    if len(users) == 1 and users[0].op == node.op:
        return False
    leaves, tree = _leaves(rewriter, node, (node.op,))
    groups = _groups(leaves)
    if len(tree) < 2 or groups is None or len(groups) < 2 or not _sizes_known(groups):
        return False
    values = [value for group in groups for value in group]
    if not _is_nested(groups) or not _is_less([], [shape(value) for value in values], tree):
        return False
    total = values[0]
    for value in values[1:-1]:
        total = before(rewriter, node, "MinimizeBroadcasts", node.op, (total, value), _t(total), value.type)
    return become(rewriter, node, node.op, (total, values[-1]), dict(node.attributes))


def _is_nested(groups: list[list[Value]]) -> bool:
    """Whether each shape stretches to the next."""
    for small, large in pairwise(groups):
        one, other = shape(small[0]), shape(large[0])
        assert one is not None and other is not None
        padded = (1,) * (len(other) - len(one)) + one
        if len(one) > len(other) or any(a not in (1, b) for a, b in zip(padded, other, strict=True)):
            return False
    return True
