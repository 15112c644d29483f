"""V1 conditionals (Switch and Merge) become If nodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from ...lite.errors import ModelError
from ...schema.graph_def import DT_BOOL, DT_INT32
from ..ir.attributes import Attributes, FuncAttr
from ..ir.module import Function, Module
from ..ir.node import Block, Node, Value
from ..ir.types import unranked
from .effects import Effect, Effects
from .slice_function import append, captured, elements_of, slice_function, stand_in, unique_name
from .toposort import topological_order

_MERGES = ("Merge", "RefMerge")
_SWITCHES = ("Switch", "RefSwitch")


class _Case(NamedTuple):
    """A predicate and the way that it went: 1 for true."""

    predicate: Value
    way: int


# Under which predicates a node runs.
_Conditions = frozenset[_Case]


class _Choice(NamedTuple):
    """The predicate that a Merge's operands differ in, and under what else the Merge runs."""

    predicate: Value
    around: _Conditions


def raise_conditionals(module: Module, block: Block) -> list[Function]:
    """Replace the Merges of the block by If nodes, one for each predicate; returns the functions made.

    Given:  s = Switch(x, p); y = Merge(f(s:0), g(s:1))
    Result: y = If(p, x, then = g, else = f)

    The functions are added to the module. Nested conditionals become Ifs within the functions' bodies.
    """
    if not any(node.op in _MERGES for node in block):
        return []
    conditions = _conditions_of(block)
    choices: dict[_Choice, list[Node]] = {}
    for node in block:
        if node.op in _MERGES:
            choices.setdefault(_choice(node, conditions), []).append(node)
    made: list[Function] = []
    for choice, merges in sorted(choices.items(), key=lambda item: -len(item[0].around)):
        made += _raise(module, block, choice, merges, conditions)
    return made


def _predicate(switch: Node) -> Value:
    """What the Switch goes by, past nodes that only hand it on."""
    value = switch.operands[1]
    while isinstance(value.owner, Node) and value.owner.op == "Identity":
        value = value.owner.operands[0]
    return value


def _conditions_of(block: Block) -> dict[Node, _Conditions]:
    """Under which predicates each node runs, by its data and control operands."""
    found: dict[Node, _Conditions] = {}
    for node in topological_order(block):
        sources = [_of_value(value, found) for value in (*node.operands, *node.controls)]
        if node.op in _MERGES:
            found[node] = frozenset.intersection(*sources) if sources else frozenset()
        else:
            found[node] = frozenset().union(*sources)
    return found


def _of_value(value: Value, conditions: dict[Node, _Conditions]) -> _Conditions:
    if not isinstance(value.owner, Node):
        return frozenset()
    own = conditions.get(value.owner, frozenset())
    if value.owner.op in _SWITCHES and not value.is_control:
        return own | {_Case(_predicate(value.owner), value.index)}
    return own


def _choice(merge: Node, conditions: dict[Node, _Conditions]) -> _Choice:
    sets = [_of_value(value, conditions) for value in merge.operands]
    if len(sets) == 2:
        for case in sets[0] - sets[1]:
            if _Case(case.predicate, 1 - case.way) in sets[1]:
                return _Choice(case.predicate, sets[0] & sets[1])
    raise ModelError(f"node {merge.name!r} ({merge.op}): its operands must be the two ways of one Switch")


def _raise(
    module: Module, block: Block, choice: _Choice, merges: Sequence[Node], conditions: dict[Node, _Conditions]
) -> list[Function]:
    predicate = choice.predicate

    def stands_for(value: Value) -> Value:
        while (
            isinstance(value.owner, Node)
            and value.owner.op in _SWITCHES
            and _predicate(value.owner) is predicate
            and not value.is_control
        ):
            value = value.owner.operands[0]
        return value

    def is_inside(way: int, value: Value) -> bool:
        return isinstance(value.owner, Node) and _Case(predicate, way) in conditions.get(value.owner, ())

    ways = [[_operand(merge, predicate, way, conditions) for merge in merges] for way in (0, 1)]
    needed: dict[Value, None] = {}
    effects = Effects(module.functions)
    inside = [_inside(block, choice, way, conditions) for way in (0, 1)]
    for way, results in enumerate(ways):
        used = [v for n in inside[way] if effects.of(n) is Effect.WRITES for v in n.operands]
        needed.update(dict.fromkeys(captured([*results, *used], stands_for, partial(is_inside, way))))
    arguments = list(needed)
    base = merges[0].name.rpartition("/")[0] or merges[0].name
    made = []
    for way, (results, kind) in enumerate(zip(ways, ("false", "true"), strict=True)):
        name = unique_name(f"{base}_{kind}", module.functions)
        changing = [node for node in inside[way] if effects.of(node) is Effect.WRITES]
        made.append(slice_function(name, results, changing, arguments, stands_for))
        module.ops.append(made[-1])
    node = _if(block, base, predicate, arguments, merges, made)
    conditions[node] = choice.around
    for merge, value in zip(merges, node.results, strict=True):
        _replace(block, merge, value, choice, conditions)
    return made


def _inside(block: Block, choice: _Choice, way: int, conditions: dict[Node, _Conditions]) -> list[Node]:
    """The nodes that run just when the predicate goes a way, in the conditional itself."""
    wanted = choice.around | {_Case(choice.predicate, way)}
    flow = (*_MERGES, *_SWITCHES, "Assert")
    return [node for node in block if conditions.get(node) == wanted and node.op not in flow]


def _operand(merge: Node, predicate: Value, way: int, conditions: dict[Node, _Conditions]) -> Value:
    """The Merge's operand for a way of the predicate."""
    case = _Case(predicate, way)
    return next(value for value in merge.operands if case in _of_value(value, conditions))


def _if(
    block: Block,
    name: str,
    predicate: Value,
    arguments: Sequence[Value],
    merges: Sequence[Node],
    functions: Sequence[Function],
) -> Node:
    types = [merge.results[0].type for merge in merges]
    attributes: Attributes = {
        "Tcond": unranked(DT_BOOL).element,
        "Tin": elements_of(value.type for value in arguments),
        "Tout": elements_of(types),
        "else_branch": FuncAttr(functions[0].name, {}),
        "output_shapes": (),
        "then_branch": FuncAttr(functions[1].name, {}),
    }
    node = Node("If", name, types, attributes)
    append(block, node)
    node.operands = [predicate, *arguments]
    return node


def _replace(
    block: Block, merge: Node, value: Value, choice: _Choice, conditions: dict[Node, _Conditions]
) -> None:
    """Uses of the Merge become uses of the If's result; its second result says which operand came."""
    conditions[stand_in(block, merge, value)] = choice.around
    if len(merge.results) > 1 and merge.results[1].users:
        first_is_true = _Case(choice.predicate, 1) in _of_value(merge.operands[0], conditions)
        came = choice.predicate
        if first_is_true:
            came = _unary(block, "LogicalNot", f"{merge.name}/came", came, DT_BOOL, {})
        attributes: Attributes = {
            "SrcT": unranked(DT_BOOL).element,
            "DstT": unranked(DT_INT32).element,
            "Truncate": False,
        }
        number = _unary(block, "Cast", f"{merge.name}/value_index", came, DT_INT32, attributes)
        merge.results[1].replace_all_uses_with(number)
    merge.drop_operands()
    block.remove(merge)


def _unary(block: Block, op: str, name: str, x: Value, type: int, attributes: Attributes) -> Value:
    node = Node(op, name, [unranked(type)], attributes)
    append(block, node)
    node.operands = [x]
    return node.results[0]
