"""V1 control flow becomes functional; its conditionals (Switch and Merge) become If and Case nodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_INT32
from ..ir.attributes import Attributes, FuncAttr
from ..ir.module import Function, Module
from ..ir.node import Block, Node, Value
from ..ir.types import unranked
from .bodies import typed_bodies
from .conditional_turns import turns
from .effects import Effect, Effects
from .raise_loops import raise_loops
from .slice_function import append, captured, elements_of, slice_function, stand_in, unique_name
from .toposort import topological_order
from .unread_stacks import drop_unread_stacks

_MERGES = ("Merge", "RefMerge")
# Switch goes by a bool, _SwitchN by an index.
_SWITCHES = ("Switch", "RefSwitch", "_SwitchN")


class _Case(NamedTuple):
    """A predicate and the way that it went, of so many: 1 of 2 for true."""

    predicate: Value
    way: int
    ways: int


# Under which predicates a node runs.
_Conditions = frozenset[_Case]


class _Choice(NamedTuple):
    """The predicate that a Merge's operands differ in, its ways, and under what else the Merge runs."""

    predicate: Value
    ways: int
    around: _Conditions

    def case(self, way: int) -> _Case:
        return _Case(self.predicate, way, self.ways)


def raise_conditionals(module: Module, block: Block) -> list[Function]:
    """Replace the Merges of a block by Ifs and Cases, for each predicate; returns the functions made.

    Given:  s = Switch(x, p); y = Merge(f(s:0), g(s:1))
    Result: y = If(p, x, then = g, else = f)

    _SwitchN and a Merge of its N results become a Case. The functions are added to the module. Nested
    conditionals become nodes within the functions' bodies.
    """
    if not any(node.op in _MERGES for node in block):
        return []
    conditions = _conditions_of(block)
    choices: dict[_Choice, list[Node]] = {}
    for node in block:
        if node.op in _MERGES:
            choices.setdefault(_choice(node, conditions), []).append(node)
    order = topological_order(block)
    groups = []
    for choice, merges in sorted(choices.items(), key=lambda item: -len(item[0].around)):
        found = turns(order, merges, partial(_is_switch_of, choice.predicate))
        groups += [(choice, *group) for group in found]
    made: list[Function] = []
    for choice, merges, places in groups:
        made += _raise(module, block, choice, merges, conditions, places)
    return made


def _is_switch_of(predicate: Value, node: Node) -> bool:
    return node.op in _SWITCHES and _predicate(node) is predicate


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
        return own | {_Case(_predicate(value.owner), value.index, len(value.owner.results))}
    return own


def _choice(merge: Node, conditions: dict[Node, _Conditions]) -> _Choice:
    sets = [_of_value(value, conditions) for value in merge.operands]
    for case in sets[0] if sets else ():
        all_ways = {_Case(case.predicate, way, case.ways) for way in range(case.ways)}
        found = [all_ways & each for each in sets]
        if (
            len(sets) == case.ways
            and all(len(each) == 1 for each in found)
            and frozenset().union(*found) == all_ways
        ):
            return _Choice(case.predicate, case.ways, frozenset.intersection(*sets))
    raise ModelError(f"node {merge.name!r} ({merge.op}): its operands must be the ways of one Switch")


class _Way:
    """One way of a choice: what its values stand for, and which nodes run in it."""

    def __init__(
        self, choice: _Choice, way: int, merges: Sequence[Node], conditions: dict[Node, _Conditions]
    ) -> None:
        self.case = choice.case(way)
        self.merges = set(merges)
        self.conditions = conditions
        self.results = [self._operand(merge) for merge in merges]

    def stands_for(self, value: Value) -> Value:
        """Past the choice's own Switches, and past its Merges to what comes this way."""
        while isinstance(value.owner, Node) and not value.is_control:
            node = value.owner
            if _is_switch_of(self.case.predicate, node):
                value = node.operands[0]
            elif node in self.merges and value.index == 0:
                value = self._operand(node)
            else:
                break
        return value

    def is_inside(self, value: Value) -> bool:
        return isinstance(value.owner, Node) and self.case in self.conditions.get(value.owner, ())

    def _operand(self, merge: Node) -> Value:
        return next(v for v in merge.operands if self.case in _of_value(v, self.conditions))


def _raise(
    module: Module,
    block: Block,
    choice: _Choice,
    merges: Sequence[Node],
    conditions: dict[Node, _Conditions],
    places: Mapping[Node, int],
) -> list[Function]:
    effects = Effects(module.functions)
    ways = [_Way(choice, way, merges, conditions) for way in range(choice.ways)]
    turn = places.get(merges[0], 0)
    changing = [
        [
            node
            for node in _inside(block, choice, i, conditions)
            if places.get(node, 0) == turn and effects.of(node) is Effect.WRITES
        ]
        for i in range(choice.ways)
    ]
    needed: dict[Value, None] = {}
    for way, nodes in zip(ways, changing, strict=True):
        used = [value for node in nodes for value in node.operands]
        needed.update(dict.fromkeys(captured([*way.results, *used], way.stands_for, way.is_inside)))
    arguments = list(needed)
    base = merges[0].name.rpartition("/")[0] or merges[0].name
    made = []
    for i, (way, nodes) in enumerate(zip(ways, changing, strict=True)):
        name = unique_name(f"{base}_way{i}", module.functions)
        made.append(slice_function(name, way.results, nodes, arguments, way.stands_for))
        module.ops.append(made[-1])
        if sum(effects.of(node) is Effect.WRITES for node in made[-1].body) > len(nodes) and turn:
            raise UnsupportedError(f"node {merges[0].name!r}: a change before it must not be needed again")
    node = _functional(block, base, choice, arguments, merges, made)
    conditions[node] = choice.around
    # What waits for a change waits for the whole: the node that made it is in a function now.
    for changed in (each for nodes in changing for each in nodes):
        changed.control.replace_all_uses_with(node.control)
    for merge, value in zip(merges, node.results, strict=True):
        _replace(block, merge, value, choice, conditions)
    return made


def _inside(block: Block, choice: _Choice, way: int, conditions: dict[Node, _Conditions]) -> list[Node]:
    """The nodes that run just when the predicate goes a way, in the conditional itself."""
    wanted = choice.around | {choice.case(way)}
    flow = (*_MERGES, *_SWITCHES, "Assert")
    return [node for node in block if conditions.get(node) == wanted and node.op not in flow]


def _functional(
    block: Block,
    name: str,
    choice: _Choice,
    arguments: Sequence[Value],
    merges: Sequence[Node],
    functions: Sequence[Function],
) -> Node:
    """The If, or the Case where the predicate is an index."""
    types = [merge.results[0].type for merge in merges]
    attributes: Attributes = {
        "Tin": elements_of(value.type for value in arguments),
        "Tout": elements_of(types),
        "output_shapes": (),
    }
    called = [FuncAttr(function.name, {}) for function in functions]
    is_bool = choice.predicate.type == unranked(DT_BOOL)
    if is_bool:
        attributes |= {
            "Tcond": unranked(DT_BOOL).element,
            "else_branch": called[0],
            "then_branch": called[1],
        }
    else:
        attributes["branches"] = tuple(called)
    node = Node("If" if is_bool else "Case", name, types, attributes)
    append(block, node)
    node.operands = [choice.predicate, *arguments]
    return node


def _replace(
    block: Block, merge: Node, value: Value, choice: _Choice, conditions: dict[Node, _Conditions]
) -> None:
    """Uses of the Merge become uses of the If's result; its second result says which operand came."""
    conditions[stand_in(block, merge, value)] = choice.around
    if len(merge.results) > 1 and merge.results[1].users:
        _replace_index(block, merge, choice, conditions)
    merge.drop_operands()
    block.remove(merge)


def _replace_index(block: Block, merge: Node, choice: _Choice, conditions: dict[Node, _Conditions]) -> None:
    """The place of the operand that came: the predicate as a number, where the operands are in its order."""
    ways = [
        next(case.way for case in _of_value(v, conditions) if case.predicate is choice.predicate)
        for v in merge.operands
    ]
    came = choice.predicate
    if choice.ways == 2 and ways == [1, 0]:
        came = _unary(block, "LogicalNot", f"{merge.name}/came", came, DT_BOOL, {})
    elif ways != sorted(ways):
        raise UnsupportedError(
            f"node {merge.name!r} ({merge.op}): operands in another order than the index has"
        )
    if choice.predicate.type == unranked(DT_BOOL):
        attributes: Attributes = {
            "SrcT": unranked(DT_BOOL).element,
            "DstT": unranked(DT_INT32).element,
            "Truncate": False,
        }
        came = _unary(block, "Cast", f"{merge.name}/value_index", came, DT_INT32, attributes)
    merge.results[1].replace_all_uses_with(came)


def _unary(block: Block, op: str, name: str, x: Value, type: int, attributes: Attributes) -> Value:
    node = Node(op, name, [unranked(type)], attributes)
    append(block, node)
    node.operands = [x]
    return node.results[0]


def raise_control_flow(module: Module, wanted: Collection[str] | None = None) -> None:
    """Loops first, then the conditionals, of every body and of the functions that are made of them.

    wanted are the nodes of the graph that anyone asks for, None where this is not known yet: what only
    others hang on may be left out (drop_unread_stacks).

    Given:  a graph with Enter, Exit, NextIteration, LoopCond, Switch and Merge
    Result: the same with While and If, and Identities under the names of the Exits and Merges
    """
    blocks: list[Block] = [body.body for body in typed_bodies(module)]
    while blocks:
        block = blocks.pop()
        drop_unread_stacks(block, Effects(module.functions), () if block.terminator else wanted)
        made = [*raise_loops(module, block), *raise_conditionals(module, block)]
        blocks += [function.body for function in made]
