"""Values that are cheap are computed again where gradients need them, and not kept until then."""

from __future__ import annotations

from ...graph.rule import rule
from ...ir.node import Block, Node, Value
from ...transforms.bodies import token_of
from ...transforms.purity import is_pure
from ...transforms.toposort import topological_order
from ..rewriter import OptimizingRewriter

_SOURCE = "TensorFlow core/grappler/optimizers/memory_optimizer.cc, RecomputationRewritingPass"
HINT = "_recompute_hint"
# Computed again without being asked for. Read off TensorFlow 2.21 by running it on one op after the other.
CHEAP = frozenset(
    (
        *("Add", "AddN", "BiasAdd", "Cast", "Fill", "FloorDiv", "FloorMod", "FusedBatchNorm", "LeakyRelu"),
        *("Mul", "Neg", "RealDiv", "Reciprocal", "Relu", "Relu6", "Reshape", "Rsqrt", "Sigmoid", "Sqrt"),
        *("Square", "SquaredDifference", "Sub", "Tile", "Transpose"),
    )
)


class Recomputation:
    """Which nodes are computed again, for which targets, and the order in which nodes ran at first.

    Targets are in a scope of the name ("gradients/", "tower/gradients/").
    """

    def __init__(self, block: Block, fed: frozenset[str], scope: str, by_hint_only: bool) -> None:
        self.place = {node: i for i, node in enumerate(topological_order(block))}
        self._scope = scope
        self.waiting = {
            node
            for node in self.place
            if (HINT in node.attributes or (not by_hint_only and node.op in CHEAP))
            and not self.is_target(node)
            and node.name not in fed
            and is_pure(node)
        }

    def is_target(self, node: Node) -> bool:
        return node in self.place and (node.name.startswith(self._scope) or f"/{self._scope}" in node.name)

    def take_group(self, node: Node) -> list[Node]:
        """The node and those that it is connected to by others that wait; none of them waits any more."""
        found, waiting = [], [node]
        self.waiting.discard(node)
        while waiting:
            each = waiting.pop()
            found.append(each)
            for other in (*each.neighbours_before(), *each.neighbours_behind()):
                if other in self.waiting:
                    self.waiting.discard(other)
                    waiting.append(other)
        return sorted(found, key=self.place.__getitem__)

    def first_targets(self, group: list[Node]) -> dict[Node, Node]:
        """Of the nodes that a target needs, by way of the group alone, the first target."""
        found: dict[Node, Node] = {}
        for node in reversed(group):
            targets = [user for user in _users(node) if self.is_target(user)]
            targets += [found[user] for user in _users(node) if user in found]
            if targets:
                found[node] = min(targets, key=self.place.__getitem__)
        return found


@rule(source=_SOURCE)
def recompute(rewriter: OptimizingRewriter, node: Node) -> bool:
    """Nodes that gradients take are computed once more for them, as late as that can be.

    Given:  h = Exp(x) {_recompute_hint}; l = Sqrt(h); gradients/g = Mul(h, l)
    Result: h = Exp(x); l = Sqrt(h); t = NoOp [^l]; r = Exp(x) [^t]; gradients/g = Mul(r, l)

    Connected ones are one group. A copy waits for what the first target behind it takes that is not computed
    again: all that comes before that target, so no copy waits for itself.
    """
    known = rewriter.notes["recomputation"]
    assert isinstance(known, Recomputation)
    if node not in known.waiting:
        return False
    group = known.take_group(node)
    first = known.first_targets(group)
    again = [each for each in group if each in first]
    if not again:
        return False
    copies: dict[Value, Value] = {}
    triggers: dict[Node, Node] = {}
    for each in reversed(again):
        triggers[each] = _trigger(rewriter, each, first, triggers)
    for each in again:
        operands = [copies.get(value, value) for value in each.operands]
        types = [value.type for value in each.results]
        copy = rewriter.add(each, each.op, f"Recomputed/{each.name}", operands, dict(each.attributes), types)
        copy.controls = (*each.controls, triggers[each].control)
        copies |= dict(zip(each.results, copy.results, strict=True))
    for target in dict.fromkeys(user for each in again for user in _users(each) if known.is_target(user)):
        rewriter.set_operands(target, [copies.get(value, value) for value in target.operands])
    return True


def _trigger(
    rewriter: OptimizingRewriter, node: Node, first: dict[Node, Node], triggers: dict[Node, Node]
) -> Node:
    """What the node's copy waits for: what those that take it do, and what they take beside copies."""
    target = first[node]
    tokens: list[Value] = []
    for user in _users(node):
        if user is target or first.get(user) is target:
            tokens += [triggers[user].control] if user in triggers else []
            tokens += [token_of(value) for value in user.operands if value.owner not in first]
    name = f"RecomputeTrigger/{node.name}"
    return rewriter.add(node, "NoOp", name, (), {}, (), dict.fromkeys(tokens))


def _users(node: Node) -> list[Node]:
    return list(dict.fromkeys(user for value in node.results for user in value.users))
