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

# Ops that cannot fail where an operand is one number.
_BY_ONE = ("Add", "AddV2", "Sub", "Mul", "Maximum", "Minimum")


@rule(source="TensorFlow core/grappler/optimizers/loop_optimizer.cc, LoopInvariantNodeMotionOptimizer")
def move_invariant(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A node whose operands are the same in each round, when AGGRESSIVE: TensorFlow has it switched off.

    Given:  e = Enter(x) {is_constant}; y = Exp(e)
    Result: z = Exp(x); y = Enter(z) {is_constant}

    It runs once then, also where the loop has no round: a node that waits for the round, by itself or by a
    constant, only moves if it cannot fail, as ops on single elements cannot. What reads it waits as before.
    """
    if not rewriter.is_aggressive or rewriter.is_named(node) or not node.results or not is_pure(node):
        return False
    enters = [each for value in node.operands if (each := _constant_enter(value)) is not None]
    frames = {each.attributes.get("frame_name") for each in enters}
    waits = _waits(node)
    if len(frames) != 1 or (waits and not _is_total(node)):
        return False
    if any(_constant_enter(value) is None and constant_of(value) is None for value in node.operands):
        return False
    before = [_outside(rewriter, node, value, enters[0]) for value in node.operands]
    types = [value.type for value in node.results]
    moved = rewriter.add(node, node.op, f"{node.name}/LoopInvariant", before, dict(node.attributes), types)
    for old, new in zip(node.results, moved.results, strict=True):
        name = node.name if not (old.index or waits) else f"{node.name}/LoopInvariant_{old.index}"
        of_type: Attributes = {"T": data_type(old.type)}
        inside = rewriter.add(node, "Enter", name, [new], {**enters[0].attributes, **of_type}, [old.type])
        if waits:
            inside = rewriter.add(node, "Identity", node.name, inside.results, of_type, [old.type], waits)
        rewriter.replace_value(old, inside.results[0])
        if not old.index:
            rewriter.replace_value(node.control, inside.control)
    rewriter.erase(node)
    return True


def _waits(node: Node) -> dict[Value, None]:
    """What the node waits for, and its constants do."""
    constants = [value.owner for value in node.operands if constant_of(value) is not None]
    waiting = [node, *(each for each in constants if isinstance(each, Node))]
    return dict.fromkeys(token for each in waiting for token in each.controls)


def _is_total(node: Node) -> bool:
    """Whether the node, of one result, cannot fail whatever its operands are."""
    if node.op in UNARY:
        return True
    constants = [held for value in node.operands if (held := constant_of(value)) is not None]
    return node.op in _BY_ONE and any(held.type.shape == () for held in constants)


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
