"""loop: what is the same in each round of a loop of the first version is computed before it."""

from __future__ import annotations

from ..graph.rule import rule
from ..ir.attributes import Attributes
from ..ir.node import Node, Value
from ..transforms.bodies import token_of
from ..transforms.folding.tensors import constant_of
from ..transforms.node_rewriter import data_type
from ..transforms.purity import is_pure
from .arithmetic.nodes import UNARY
from .rewriter import OptimizingRewriter


@rule(source="TensorFlow core/grappler/optimizers/loop_optimizer.cc, LoopInvariantNodeMotionOptimizer")
def move_invariant(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A node whose operands are the same in each round, when AGGRESSIVE: TensorFlow has it switched off.

    Given:  e = Enter(x) {is_constant}; y = Exp(e)
    Result: z = Exp(x); y = Enter(z) {is_constant}

    It runs once then, also where the loop has no round: a node that waits for the round only moves if it
    cannot fail, as ops on single elements cannot.
    """
    if not rewriter.is_aggressive or rewriter.is_named(node) or not node.results or not is_pure(node):
        return False
    enters = [each for value in node.operands if (each := _constant_enter(value)) is not None]
    frames = {each.attributes.get("frame_name") for each in enters}
    if len(frames) != 1 or (node.controls and node.op not in UNARY):
        return False
    if any(_constant_enter(value) is None and constant_of(value) is None for value in node.operands):
        return False
    before = [_outside(rewriter, node, value, enters[0]) for value in node.operands]
    types = [value.type for value in node.results]
    moved = rewriter.add(node, node.op, f"{node.name}/LoopInvariant", before, dict(node.attributes), types)
    for old, new in zip(node.results, moved.results, strict=True):
        name = node.name if not old.index else f"{node.name}/LoopInvariant_{old.index}"
        attributes: Attributes = {**enters[0].attributes, "T": data_type(old.type)}
        enter = rewriter.add(node, "Enter", name, [new], attributes, [old.type])
        rewriter.replace_value(old, enter.results[0])
        if not old.index:
            rewriter.replace_value(node.control, enter.control)
    rewriter.erase(node)
    return True


def _constant_enter(value: Value) -> Node | None:
    """The Enter that gives the value in each round."""
    owner = value.owner
    is_enter = isinstance(owner, Node) and owner.op == "Enter" and owner.attributes.get("is_constant") is True
    return owner if is_enter and isinstance(owner, Node) else None


def _outside(rewriter: OptimizingRewriter, node: Node, value: Value, enter: Node) -> Value:
    """The value as it is before the loop; a constant is there in the frame of what enters."""
    owner = _constant_enter(value)
    if owner is not None:
        return owner.operands[0]
    held = constant_of(value)
    assert held is not None and isinstance(value.owner, Node)
    name = f"{value.owner.name}/LoopInvariant"
    return rewriter.constant(node, name, held, [token_of(enter.operands[0])], value.owner).results[0]
