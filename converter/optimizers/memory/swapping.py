"""Values that are needed late leave the GPU's memory until then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...graph.rule import rule
from ...ir.node import Node, Value
from ...transforms.node_rewriter import data_type
from ...transforms.purity import is_reference
from ...transforms.remapping.fused_node import device_of
from ...transforms.toposort import topological_order
from ..item import GrapplerItem
from ..rewriter import OptimizingRewriter
from .estimate import MemoryEstimate

_SOURCE = "TensorFlow core/grappler/optimizers/memory_optimizer.cc, SwappingPass"
HINT = "_swap_to_host"
# A smaller tensor is not worth the way.
_LEAST_BYTES = 1 << 20
Wanted = Mapping[Node, Sequence[int]]


@rule(needs=("devices",), source=_SOURCE)
def swap_to_host(rewriter: OptimizingRewriter, node: Node) -> bool:
    """An operand that is needed late is copied to the host, and back.

    Given:  h = Exp(x); a = Sin(h); b = Sin(a); y = Mul(h, b) {_swap_to_host = [0]}, all on the GPU
    Result: o = _CopyFromGpuToHost(h); a = Sin(h) [^o]; i = _CopyFromHostToGpu(o) [^a]; y = Mul(i, b)

    The way out begins before the other users of the operand, the way back behind the last node that y waits
    for but the very last. An operand without other users, or with nothing between, stays; then all of y's do.
    """
    waiting = rewriter.notes["swapped"]
    places = waiting.pop(node, ())
    if device_of(node) != "gpu" or not places:
        return False
    order = rewriter.notes["order"]
    back = _trigger_of_return(node, order)
    ways = [(place, _next_user(node, place, order)) for place in places]
    if back is None or any(user is None for _, user in ways):
        return False
    for place, user in ways:
        _swap(rewriter, node, place, user, back)
    return True


def hinted(nodes: Sequence[Node]) -> dict[Node, tuple[int, ...]]:
    """The operands that nodes say should be swapped, by their places."""
    found = {}
    for node in nodes:
        held = node.attributes.get(HINT)
        listed = held if isinstance(held, tuple) else (held,)
        places = tuple(i for i in listed if isinstance(i, int) and 0 <= i < len(node.operands))
        if places and all(_may_move(node.operands[i], node) for i in places):
            found[node] = places
    return found


def over_capacity(
    item: GrapplerItem, estimates: Sequence[MemoryEstimate], capacity: float
) -> dict[Node, tuple[int, ...]]:
    """Operands to swap so that no GPU needs more bytes than its capacity at its peak: large ones first,
    those of nodes that run behind the peak.
    """
    found: dict[Node, tuple[int, ...]] = {}
    order = {node: i for i, node in enumerate(topological_order(item.body.body))}
    for estimate in estimates:
        excess = estimate.peak_bytes - capacity
        for value, size in estimate.live:
            if excess <= 0 or size < _LEAST_BYTES or estimate.peak is None:
                break
            late = [user for user in dict.fromkeys(value.users) if order[user] > order[estimate.peak]]
            if len(late) == len(set(value.users)) or not all(_may_move(value, user) for user in late):
                continue
            for user in late:
                place = next(i for i, operand in enumerate(user.operands) if operand is value)
                found[user] = (*found.get(user, ()), place)
            excess -= size if late else 0
    return found


def _may_move(value: Value, user: Node) -> bool:
    owner = value.owner
    if not isinstance(owner, Node) or owner.op == "Const" or is_reference(value.type):
        return False
    return device_of(owner) == "gpu" and owner.device == user.device


def _next_user(node: Node, place: int, order: Mapping[Node, int]) -> Node | None:
    """The user of the operand that runs first, None if that is the node itself."""
    users = [user for user in node.operands[place].users if user in order]
    found = min(users, key=order.__getitem__, default=node)
    return None if found is node or order[found] >= order[node] else found


def _trigger_of_return(node: Node, order: Mapping[Node, int]) -> Node | None:
    """The latest node that the node needs, but for its latest operand."""
    direct = [each for each in node.neighbours_before() if each in order]
    last = max(direct, key=order.__getitem__, default=None)
    seen = {*direct}
    waiting = list(seen)
    while waiting:
        for each in waiting.pop().neighbours_before():
            if each in order and each not in seen:
                seen.add(each)
                waiting.append(each)
    return max(seen - {last}, key=order.__getitem__, default=None)


def _swap(rewriter: OptimizingRewriter, node: Node, place: int, user: Node | None, back: Node) -> None:
    value = node.operands[place]
    attributes = {"T": data_type(value.type)}
    name = f"{node.name}_{place}"
    assert user is not None
    there = rewriter.add(
        user, "_CopyFromGpuToHost", f"swap_out_{name}", [value], dict(attributes), [value.type]
    )
    user.controls = dict.fromkeys((*user.controls, there.control))
    rewriter.changed(user)
    here = rewriter.add(
        node,
        "_CopyFromHostToGpu",
        f"swap_in_{name}",
        there.results,
        dict(attributes),
        [value.type],
        [back.control],
    )
    rewriter.set_operand(node, place, here.results[0])
