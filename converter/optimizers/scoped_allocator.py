"""scoped_allocator: several small communications of one device become one large one."""

from __future__ import annotations

from collections.abc import Iterable

from ...kernels.fallback.scoped_allocator import field_elements
from ...lite.errors import UnsupportedError
from ..graph.rule import rule
from ..ir.attributes import Attributes, ShapeAttr
from ..ir.dense import FORMS
from ..ir.node import Node, Value
from ..ir.types import TensorType
from ..shapes.dimensions import is_known
from ..transforms.attribute_key import attributes_key
from ..transforms.bodies import token_of
from ..transforms.node_rewriter import data_type
from ..transforms.purity import CONTROL_FLOW
from ..transforms.toposort import topological_order
from .arithmetic.nodes import UNARY, device, element, shape
from .rewriter import OptimizingRewriter
from .turn import Turn

_SOURCE = "TensorFlow core/grappler/optimizers/scoped_allocator_optimizer.cc"
_DEFAULT = ("CollectiveReduce",)
# They say which communication it is: the one that is made is the first one.
_OWN = ("instance_key", "wait_for")
# Ops whose result may be their operand's memory, or is somewhere already.
_ELSEWHERE = (
    "Const",
    "Placeholder",
    "PlaceholderWithDefault",
    "Identity",
    "Reshape",
    "Squeeze",
    "ExpandDims",
)


def allocate_together(turn: Turn) -> None:
    """Join the ops that config.scoped_allocator_opts names (by default CollectiveReduce), where nothing makes
    one wait for another. UnsupportedError for ops that do not work on each element by itself.
    """
    ops = turn.config.scoped_allocator_opts or _DEFAULT
    strangers = sorted({*ops} - UNARY - {*_DEFAULT})
    if strangers:
        message = f"must be CollectiveReduce or ops of one operand by element, got {', '.join(strangers)}"
        raise UnsupportedError(f"scoped_allocator_opts: enable_op {message}; leave these out")
    nodes = topological_order(turn.item.body.body)
    if any(node.op in CONTROL_FLOW for node in nodes):
        return
    found = [node for node in nodes if node.op in ops]
    if len(found) < 2:
        return
    turn.properties()
    groups = {group[0]: group for group in _groups(found) if len(group) > 1}
    notes = {"groups": groups, "place": {node: i for i, node in enumerate(nodes)}, "next": 1}
    turn.rewrite([join], notes=notes)


@rule(needs=("shapes",), source=_SOURCE)
def join(rewriter: OptimizingRewriter, node: Node) -> bool:
    """Ops of one kind on one device, done once on all their operands, which stand in one tensor.

    Given:  a = Neg(x); b = Neg(y); p = CollectiveReduce(a); q = CollectiveReduce(b)
    Result: s = _ScopedAllocator; a = Neg(x) [^s]; b = Neg(y) [^s]; c = _ScopedAllocatorConcat(s, a, b);
            r = CollectiveReduce(c); p, q = _ScopedAllocatorSplit(r, a, b)

    Operands that are used elsewhere, or that are in memory of others, are passed on by an Identity.
    """
    group = [each for each in rewriter.notes["groups"].pop(node, ()) if not rewriter.is_named(each)]
    if len(group) < 2:
        return False
    number = rewriter.notes["next"]
    rewriter.notes["next"] += len(group) + 1
    fields = [_field(rewriter, each) for each in group]
    last = max(group, key=rewriter.notes["place"].__getitem__)
    kind, name = data_type(node.operands[0].type), f"scoped_allocator_{number}"
    sizes = [tuple(int(n) for n in shape(value) or ()) for value in fields]
    total = sum(field_elements(each, FORMS[kind.name][0].itemsize) for each in sizes)
    known: Attributes = {"T": kind, "sa_name": name.encode(), "id": number}
    whole, shapes = TensorType(kind, (total,)), tuple(map(ShapeAttr, sizes))
    backing = _backing(
        rewriter, name, fields, known | {"shape": ShapeAttr((total,)), "shapes": shapes}, whole
    )
    for i, value in enumerate(fields):
        owner = value.owner
        assert isinstance(owner, Node)
        held = owner.attributes.get("_scoped_allocator", ())
        owner.attributes["_scoped_allocator"] = (
            *(held if isinstance(held, tuple) else ()),
            value.index,
            number + 1 + i,
        )
        owner.controls = dict.fromkeys((*owner.controls, backing.control))
        rewriter.changed(owner)
    count: Attributes = {"N": len(group)}
    joined = rewriter.add(
        last,
        "_ScopedAllocatorConcat",
        f"scoped_allocator_concat_{number}",
        [backing.results[0], *fields],
        known | count | {"shape": ShapeAttr((total,)), "reshape": False},
        [whole],
    )
    done = rewriter.add(last, node.op, f"{name}_{node.op}", joined.results, _joined_attributes(node), [whole])
    done.controls = dict.fromkeys(token for each in group for token in each.controls)
    split = rewriter.add(
        last,
        "_ScopedAllocatorSplit",
        f"scoped_allocator_split_{number}",
        [done.results[0], *fields],
        known | count | {"shapes": shapes},
        [each.results[0].type for each in group],
    )
    for each, value in zip(group, split.results, strict=True):
        rewriter.replace_value(each.results[0], value)
        rewriter.replace_value(each.control, split.control)
        rewriter.erase(each)
    return True


def _joined_attributes(node: Node) -> Attributes:
    """The node's attributes for all of the group; a communication works in place."""
    held = {name: value for name, value in node.attributes.items() if name != "_output_shapes"}
    return held | {"_forward_input": (0, 0)} if node.op in _DEFAULT else held


def _field(rewriter: OptimizingRewriter, node: Node) -> Value:
    """The node's operand, of a node that makes it for this one alone."""
    value = node.operands[0]
    owner = value.owner
    is_made = isinstance(owner, Node) and owner.op not in _ELSEWHERE and not rewriter.is_named(owner)
    if is_made and len(value.users) == 1:
        return value
    name = f"scoped_allocator_identity_{node.name}"
    made = rewriter.add(node, "Identity", name, [value], {"T": data_type(value.type)}, [value.type])
    return made.results[0]


def _backing(
    rewriter: OptimizingRewriter, name: str, fields: list[Value], attributes: Attributes, whole: TensorType
) -> Node:
    """The memory, which is there before the first field is made, and behind what that one needs."""
    place = rewriter.notes["place"]
    owners = [value.owner for value in fields if isinstance(value.owner, Node)]
    first = min(owners, key=lambda owner: place.get(owner, _place_of_operand(owner, place)))
    tokens = [token_of(value) for value in first.operands[:1]]
    call: Attributes = {"expected_call_count": len(fields)}
    return rewriter.add(first, "_ScopedAllocator", name, (), attributes | call, [whole], tokens)


def _place_of_operand(node: Node, place: dict[Node, int]) -> float:
    """Of an Identity that was made: just behind its operand's."""
    owner = node.operands[0].owner
    return place[owner] + 0.5 if isinstance(owner, Node) else -1


def _groups(nodes: Iterable[Node]) -> list[list[Node]]:
    """Nodes that may be joined: alike but for what is theirs, of known shapes, none behind another."""
    found: dict[object, list[Node]] = {}
    for node in nodes:
        sizes = shape(node.operands[0])
        if sizes is None or not is_known(sizes) or element(node.operands[0]) not in FORMS:
            continue
        alike = {name: held for name, held in node.attributes.items() if name not in _OWN}
        key = node.op, device(node), data_type(node.operands[0].type).name, attributes_key(alike)
        group = found.setdefault(key, [])
        if not _is_behind(node, set(group)):
            group.append(node)
    return list(found.values())


def _is_behind(node: Node, others: set[Node]) -> bool:
    seen, waiting = {node}, [node]
    while waiting:
        for each in waiting.pop().neighbours_before():
            if each in others:
                return True
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return False
