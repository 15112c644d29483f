"""V1 loops (Enter, Merge, Switch, Exit, NextIteration) become While nodes."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...lite.errors import ModelError
from ..ir.attributes import Attributes, FuncAttr
from ..ir.module import Function, Module
from ..ir.node import Block, Node, Value
from .effects import Effect, Effects
from .frames import EXITS, FrameKey, frame_keys, users_of
from .purity import ENTERS
from .slice_function import append, elements_of, slice_function, stand_in, unique_name

_MERGES = ("Merge", "RefMerge")
_FLOW = frozenset(("Enter", "Exit", "Merge", "Switch", "NextIteration", "LoopCond", "Assert"))
_SWITCHES = ("Switch", "RefSwitch")


@dataclass
class _Variable:
    """A value that goes round a loop: what enters, what the loop's start sees, and what goes on."""

    enter: Node
    merge: Node
    following: Value
    # Switch of the merged value by the loop's condition; None where only the condition uses the value.
    switch: Node | None


@dataclass
class _Frame:
    key: FrameKey
    nodes: list[Node] = field(default_factory=list)
    exits: list[Node] = field(default_factory=list)


def raise_loops(module: Module, block: Block) -> list[Function]:
    """Replace every loop of the block by a While node; returns the functions made.

    Given:  m = Merge(Enter(x), NextIteration(b)); s = Switch(m, LoopCond(c(m))); b = f(s:1); y = Exit(s:0)
    Result: y = While(x, cond = c, body = f)

    The functions are added to the module. ModelError for loops that are not built as TensorFlow builds them.
    """
    made: list[Function] = []
    frames = _frames(block)
    for frame in sorted(frames, key=lambda frame: -len(frame.key)):
        made += _raise(module, block, frame)
    return made


def _frames(block: Block) -> list[_Frame]:
    """The loops' frames, with the nodes of each."""
    keys = frame_keys(block)
    frames: dict[FrameKey, _Frame] = {}
    for node in block:
        key = keys.get(node, ())
        if node.op in EXITS:
            inside = keys.get(_owner(node.operands[0]), ())
            frames.setdefault(inside, _Frame(inside)).exits.append(node)
        if key:
            frames.setdefault(key, _Frame(key)).nodes.append(node)
    frames.pop((), None)
    return list(frames.values())


def _owner(value: Value) -> Node:
    if not isinstance(value.owner, Node):
        raise ModelError("a loop's values must come from nodes")
    return value.owner


def _raise(module: Module, block: Block, frame: _Frame) -> list[Function]:
    # Nodes of inner loops are gone, and their While nodes are new.
    nodes = [node for node in frame.nodes if node.block is block]
    enters = [node for node in nodes if node.op in ENTERS]
    loop_cond = next((node for node in nodes if node.op == "LoopCond"), None)
    if loop_cond is None:
        raise ModelError(f"loop {'/'.join(frame.key)!r}: it has no LoopCond")
    # Gradients of TensorFlow 1 leave entries of values that none of their loop's nodes takes.
    taken_up = [enter for enter in enters if enter.results[0].users]
    variables = [_variable(enter, loop_cond) for enter in taken_up if not _is_constant(enter)]
    constants = [enter for enter in enters if _is_constant(enter)]
    starts = [v.merge.results[0] for v in variables]
    invariants = [enter.results[0] for enter in constants]
    guarded = {v.switch.results[1]: v.merge.results[0] for v in variables if v.switch is not None}
    arguments = [*starts, *invariants]

    def stands_for(value: Value) -> Value:
        return guarded.get(value, value)

    base = loop_cond.name.rpartition("/")[0] or loop_cond.name
    taken = module.functions
    cond = slice_function(
        unique_name(f"{base}_cond", taken), [loop_cond.operands[0]], [], arguments, stands_for, True
    )
    following = [*(v.following for v in variables), *invariants]
    effects = Effects(module.functions)
    changing = [node for node in nodes if node.op not in _FLOW and effects.of(node) is Effect.WRITES]
    body = slice_function(
        unique_name(f"{base}_body", taken), following, changing, arguments, stands_for, True
    )
    module.ops += [cond, body]
    loop = _while(block, base, [v.enter for v in variables] + constants, cond, body)
    for variable, value in zip(variables, loop.results, strict=False):
        _replace_exits(block, variable, value)
    _remove(block, [*nodes, *frame.exits])
    return [cond, body]


def _is_constant(enter: Node) -> bool:
    return "is_constant" in enter.attributes and enter.flag("is_constant")


def _variable(enter: Node, loop_cond: Node) -> _Variable:
    merge = next((user for user in enter.results[0].users if user.op in _MERGES), None)
    if merge is None or len(merge.operands) != 2:
        raise ModelError(f"node {enter.name!r} ({enter.op}): a loop's value must enter a Merge of two")
    back = next((v for v in merge.operands if v is not enter.results[0]), None)
    if back is None or _owner(back).op not in ("NextIteration", "RefNextIteration"):
        raise ModelError(f"node {merge.name!r} ({merge.op}): a loop's Merge must have a NextIteration")
    switches = [
        user
        for user in merge.results[0].users
        if user.op in _SWITCHES and user.operands[1] is loop_cond.results[0]
    ]
    return _Variable(enter, merge, _owner(back).operands[0], switches[0] if switches else None)


def _while(block: Block, name: str, enters: list[Node], cond: Function, body: Function) -> Node:
    values = [enter.operands[0] for enter in enters]
    types = [value.type for value in values]
    attributes: Attributes = {
        "T": elements_of(types),
        "body": FuncAttr(body.name, {}),
        "cond": FuncAttr(cond.name, {}),
        "output_shapes": (),
        "parallel_iterations": 10,
    }
    loop = Node("While", name, types, attributes)
    append(block, loop)
    loop.operands = values
    return loop


def _replace_exits(block: Block, variable: _Variable, value: Value) -> None:
    """Each Exit becomes an Identity of its name."""
    if variable.switch is None:
        return
    for user in list(dict.fromkeys(variable.switch.results[0].users)):
        if user.op in EXITS:
            stand_in(block, user, value)


def _remove(block: Block, nodes: list[Node]) -> None:
    """Remove the nodes and all that uses them: While nodes of loops within, which the body has copies of."""
    gone = dict.fromkeys(nodes)
    waiting = list(gone)
    while waiting:
        for user in users_of(waiting.pop()):
            if user.block is block and user not in gone:
                gone[user] = None
                waiting.append(user)
    for node in gone:
        node.drop_operands()
    for node in gone:
        block.remove(node)
