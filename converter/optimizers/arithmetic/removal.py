"""Stages that take out what is done and undone, or changes nothing."""

from __future__ import annotations

from ...graph.rule import rule
from ...ir.node import Node, Value
from ...ir.types import ElementType
from ...shapes.dimensions import same_shape
from ...transforms.folding.tensors import known_integers
from ..rewriter import OptimizingRewriter
from .nodes import (
    INTEGERS,
    SOURCE,
    UNARY,
    VALUE_PRESERVING,
    become,
    element,
    inner,
    pass_on,
    shape,
    source,
)

_INVOLUTIONS = ("Neg", "Reciprocal", "Inv", "Conj", "Invert", "LogicalNot")
_OPPOSITES = {
    "Equal": "NotEqual",
    "NotEqual": "Equal",
    "Less": "GreaterEqual",
    "GreaterEqual": "Less",
    "Greater": "LessEqual",
    "LessEqual": "Greater",
}


@rule("Snapshot", "StopGradient", "PreventGradient", source=SOURCE)
def remove_idempotent(rewriter: OptimizingRewriter, node: Node) -> bool:
    """What changes nothing the second time is done once.

    Given:  a = Snapshot(x); y = Snapshot(a)
    Result: y = Snapshot(x)
    """
    first = source(node.operands[0], node.op)
    if first is None or first.controls:
        return False
    rewriter.set_operands(node, first.operands)
    return True


@rule(*_INVOLUTIONS, source=SOURCE, keeps_bits=False)
def remove_involution(rewriter: OptimizingRewriter, node: Node) -> bool:
    """What undoes itself is not done twice, also with nodes between that only move elements.

    Given:  a = Neg(x); b = Reshape(a, s); y = Neg(b)
    Result: y = Reshape(x, s)
    """
    between: list[Node] = []
    value: Value = node.operands[0]
    while (mover := inner(rewriter, node, value, *VALUE_PRESERVING)) is not None:
        between.append(mover)
        value = mover.operands[0]
    first = source(value, node.op)
    if first is None or first.controls or element(first.operands[0]) != element(value):
        return False
    if between:
        rewriter.set_operand(between[-1], 0, first.operands[0])
        return pass_on(rewriter, node, between[0].results[0])
    return pass_on(rewriter, node, first.operands[0])


@rule("LogicalNot", source=SOURCE)
def remove_logical_not(rewriter: OptimizingRewriter, node: Node) -> bool:
    """The opposite of a comparison is another one; with NaN only that of Equal and NotEqual.

    Given:  a = Less(x, z); y = LogicalNot(a)      integers
    Result: y = GreaterEqual(x, z)
    """
    compared = inner(rewriter, node, node.operands[0], *_OPPOSITES)
    if compared is None:
        return False
    if compared.op not in ("Equal", "NotEqual") and element(compared.operands[0]) not in INTEGERS:
        return False
    return become(rewriter, node, _OPPOSITES[compared.op], compared.operands, dict(compared.attributes))


@rule("Add", "AddV2", "Sub", source=SOURCE)
def remove_negation(rewriter: OptimizingRewriter, node: Node) -> bool:
    """Adding what is negated is subtracting, and the other way round.

    Given:  n = Neg(b); y = AddV2(a, n)      n = Neg(b); y = Sub(a, n)
    Result: y = Sub(a, b)                    y = AddV2(a, b)
    """
    if element(node.results[0]) in ("string", ""):
        return False
    a, b = node.operands
    attributes = {"T": node.attributes["T"]} if "T" in node.attributes else {}
    negated = source(b, "Neg")
    if negated is not None and not negated.controls:
        op = "AddV2" if node.op == "Sub" else "Sub"
        return become(rewriter, node, op, (a, negated.operands[0]), attributes)
    negated = source(a, "Neg")
    if node.op != "Sub" and negated is not None and not negated.controls:
        return become(rewriter, node, "Sub", (b, negated.operands[0]), attributes)
    return False


@rule("Bitcast", source=SOURCE)
def remove_redundant_bitcast(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A Bitcast to the type that there is, or of another Bitcast.

    Given:  a = Bitcast(x) {i32}; y = Bitcast(a) {f32}
    Result: y = Bitcast(x) {f32}
    """
    if element(node.operands[0]) == element(node.results[0]):
        return pass_on(rewriter, node, node.operands[0])
    first = source(node.operands[0], "Bitcast")
    if first is None or first.controls:
        return False
    node.attributes["T"] = ElementType(element(first.operands[0]))
    rewriter.set_operands(node, first.operands)
    return True


@rule("Cast", source=SOURCE)
def remove_redundant_cast(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A Cast to the type that there is.

    Given:  y = Cast(x: f32) {DstT = f32}
    Result: x wherever y was used
    """
    name = element(node.operands[0])
    if not name or name != element(node.results[0]):
        return False
    return pass_on(rewriter, node, node.operands[0])


@rule("Reshape", "BroadcastTo", needs=("shapes",), source=SOURCE)
def remove_redundant_reshape(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A Reshape to the shape that there is, or of a Reshape; also with elementwise nodes between.

    Given:  a = Reshape(x, s); y = Reshape(a, t)
    Result: y = Reshape(x, t)
    """
    if same_shape(shape(node.operands[0]), shape(node.results[0])):
        return pass_on(rewriter, node, node.operands[0])
    if node.op != "Reshape":
        return False
    first = source(node.operands[0], "Reshape")
    if first is not None and not first.controls:
        rewriter.set_operand(node, 0, first.operands[0])
        return True
    last = value = node.operands[0]
    outer: Node | None = None
    while (between := inner(rewriter, node, value, *UNARY)) is not None:
        outer, value = between, between.operands[0]
    first = source(value, "Reshape")
    if outer is None or first is None or first.controls or last.owner is first:
        return False
    rewriter.set_operands(outer, first.operands[:1])
    return True


@rule("Transpose", "ConjugateTranspose", needs=("shapes",), source=SOURCE)
def remove_identity_transpose(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A Transpose that moves nothing, or undoes another one, also behind elementwise nodes of one use.

    Given:  a = Transpose(x, [1, 0]); y = Transpose(a, [1, 0])
    Result: x wherever y was used
    """
    order = known_integers(node.operands[1])
    if order is None or sorted(order) != list(range(len(order))):
        return False
    if node.op == "Transpose" and order == sorted(order):
        return pass_on(rewriter, node, node.operands[0])
    chain: list[Node] = []
    value = node.operands[0]
    while (between := inner(rewriter, node, value, *UNARY, "Identity")) is not None:
        chain.append(between)
        value = between.operands[0]
    first = source(value, node.op)
    if first is None or first.controls or (chain and len(value.users) != 1):
        return False
    if node.op == "ConjugateTranspose" and chain:
        return False
    before = known_integers(first.operands[1])
    if before is None or len(before) != len(order) or [before[i] for i in order] != sorted(order):
        return False
    if not chain:
        return pass_on(rewriter, node, first.operands[0])
    rewriter.set_operands(chain[-1], first.operands[:1])
    rewriter.changed(chain[0])
    return pass_on(rewriter, node, chain[0].results[0])
