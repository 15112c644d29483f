"""What is put in order behind passes: names, results of functions, colocation, order, unused functions."""

from __future__ import annotations

from ..ir.attributes import Attribute, FuncAttr
from ..ir.module import Function, Module
from ..ir.node import Node
from ..transforms.inline import fresh_name
from ..transforms.toposort import toposort
from ..transforms.unused_functions import references
from .item import GrapplerItem

_CLASS, _LOCATION = "_class", b"loc:@"


def settle_names(item: GrapplerItem) -> None:
    """Give nodes of one name different ones; those to preserve, and else the first, keep theirs.

    The results of a function are of the types of what it returns.
    """
    body = item.body
    preserved = item.nodes_to_preserve()
    names: dict[str, int] = {}
    again: list[Node] = []
    for node in body.body:
        if not node.has_control:
            continue
        if node.name in names or not node.name:
            again.append(node)
        else:
            names[node.name] = 0
    for node in again:
        assert node.name not in preserved or node.name in names
        node.name = fresh_name(node.name or node.op, names)
    if isinstance(body, Function) and body.terminator is not None:
        body.result_types[: len(body.terminator.operands)] = [v.type for v in body.terminator.operands]


def finish(item: GrapplerItem) -> None:
    """Sort the nodes, and give colocation groups whose node is gone to a node that is there."""
    toposort(item.body)
    names = {node.name for node in item.nodes()}
    leaders: dict[bytes, bytes] = {}
    for node in item.nodes():
        held = node.attributes.get(_CLASS)
        if not isinstance(held, tuple):
            continue
        found: list[Attribute] = []
        for group in held:
            if isinstance(group, bytes) and group.startswith(_LOCATION):
                leader = group.removeprefix(_LOCATION)
                if leader.decode(errors="replace") not in names:
                    leader = leaders.setdefault(leader, node.name.encode())
                found.append(_LOCATION + leader)
            else:
                found.append(group)
        node.attributes[_CLASS] = tuple(found)


def reachable_functions(item: GrapplerItem) -> list[str]:
    """Names of the functions that the graph can reach, those that it names itself first.

    Those that implement the same for another device count, too.
    """
    functions = item.module.functions
    twins: dict[str, list[str]] = {}
    for name, function in functions.items():
        twins.setdefault(implemented(function) or f"={name}", []).append(name)
    found: dict[str, None] = {}
    waiting = [item.body]
    while waiting:
        for named in references(waiting.pop(0)):
            held = functions.get(named)
            for name in () if held is None else twins[implemented(held) or f"={named}"]:
                if name not in found:
                    found[name] = None
                    waiting.append(functions[name])
    return list(found)


def compiled_functions(item: GrapplerItem) -> set[str]:
    """Names of the functions that XLA compiles as they are: those of its launches, and what they call."""
    functions = item.module.functions
    bodies = [item.body, *(functions[name] for name in reachable_functions(item))]
    waiting = [
        held.name
        for body in bodies
        for node in body.body
        if node.op == "XlaLaunch" and isinstance(held := node.attributes.get("function"), FuncAttr)
    ]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in functions and name not in found:
            found.add(name)
            waiting += references(functions[name])
    return found


def implemented(function: Function) -> str:
    """Which interface a function is one of several implementations of (api_implements), "" for none."""
    held = function.attributes.get("tf.api_implements", function.attributes.get("api_implements"))
    return held.decode(errors="replace") if isinstance(held, bytes) else ""


def drop_unreachable(item: GrapplerItem) -> None:
    """Drop functions that the graph cannot reach."""
    if item.function:
        return
    known = set(reachable_functions(item))
    module: Module = item.module
    module.ops = [op for op in module.ops if not isinstance(op, Function) or op.name in known]
