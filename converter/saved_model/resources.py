"""Variables and tables of a graph: who makes their handles, and where these go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..ir.attributes import FuncAttr
from ..ir.module import Function, text_attribute
from ..ir.node import RETURN, Block, Node, Value
from ..ir.signature import registered
from ..transforms.effects import HANDLES

# The shared name of variables that share nothing.
# Source: TensorFlow core/framework/resource_handle.h, ANONYMOUS_NAME.
_ANONYMOUS = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"
VARIABLE_OPS = frozenset(("VarHandleOp", "VariableV2", "Variable"))
TABLE_OPS = HANDLES - VARIABLE_OPS
# Ops that give on what they are given.
PASSING = frozenset(
    prefix + op
    for op in ("Identity", "Enter", "Switch", "Merge", "Exit", "NextIteration")
    for prefix in ("", "Ref")
)
# Op: attributes that name its functions, and how many operands stand before the functions' own.
FUNCTIONAL = {
    "If": (("then_branch", "else_branch"), 1),
    "StatelessIf": (("then_branch", "else_branch"), 1),
    "Case": (("branches",), 1),
    "StatelessCase": (("branches",), 1),
    "While": (("cond", "body"), 0),
    "StatelessWhile": (("cond", "body"), 0),
    "PartitionedCall": (("f",), 0),
    "StatefulPartitionedCall": (("f",), 0),
}
LOOPS = frozenset(("While", "StatelessWhile"))


class ResourceName(NamedTuple):
    """What makes two handles the same resource."""

    is_table: bool
    container: str
    name: str


def resource_name(node: Node) -> ResourceName:
    """The resource of a node that makes a handle: by its shared name, else by its own."""
    shared = text_attribute(node.attributes.get("shared_name"))
    container = text_attribute(node.attributes.get("container"))
    return shared_resource(node.op in TABLE_OPS, container, shared, node.name)


def shared_resource(is_table: bool, container: str, shared: str, node: str) -> ResourceName:
    """The resource of a handle with that shared name, which a node of that name makes."""
    return ResourceName(is_table, container, node if shared in ("", _ANONYMOUS) else shared)


@dataclass
class Uses:
    """Where a resource goes: the values that are its handle, and the operands that are used."""

    values: dict[Value, None] = field(default_factory=dict)
    # Nodes that do something with the handle, and as which operand.
    leaves: list[tuple[Node, int]] = field(default_factory=list)
    # The functions that take the handle, or give it.
    functional: dict[Node, None] = field(default_factory=dict)


def resources(nodes: Iterable[Node]) -> dict[ResourceName, list[Node]]:
    """The nodes that make handles, by resource."""
    found: dict[ResourceName, list[Node]] = {}
    for node in nodes:
        if node.op in HANDLES and node.results:
            found.setdefault(resource_name(node), []).append(node)
    return found


def uses_of(handles: Iterable[Node], functions: Mapping[str, Function]) -> Uses:
    """Follow the handles through the graph and the functions that they are given to."""
    found = Uses()
    waiting = [node.results[0] for node in handles]
    while waiting:
        value = waiting.pop()
        if value in found.values:
            continue
        found.values[value] = None
        for user in dict.fromkeys(value.users):
            for index, operand in enumerate(user.operands):
                if operand is value:
                    waiting += _followed(user, index, functions, found)
    return found


def _followed(user: Node, index: int, functions: Mapping[str, Function], found: Uses) -> list[Value]:
    """The values that are the handle too when this operand is it."""
    if user.op in PASSING:
        # A Merge says with its second result which operand came.
        return list(user.results[:1] if user.op.endswith("Merge") else user.results)
    if user.op == RETURN:
        return list(_results_of_callers(user, index, functions, found))
    called = list(called_functions(user, functions))
    first = FUNCTIONAL[user.op][1] if user.op in FUNCTIONAL else 0
    if not called or index < first:
        found.leaves.append((user, index))
        return []
    found.functional[user] = None
    values = [f.arguments[index - first] for f in called if index - first < len(f.arguments)]
    return values + ([user.results[index]] if user.op in LOOPS else [])


def _results_of_callers(
    end: Node, index: int, functions: Mapping[str, Function], found: Uses
) -> Iterator[Value]:
    """What the nodes that call a function give where it returns the handle."""
    function = end.block.owner if isinstance(end.block, Block) else None
    for node in list(found.functional):
        for called in called_functions(node, functions):
            if called is function and index < len(node.results):
                yield node.results[index]


def called_functions(node: Node, functions: Mapping[str, Function]) -> Iterator[Function]:
    """The functions that a functional op calls, as far as they are there and typed."""
    for name in FUNCTIONAL[node.op][0] if node.op in FUNCTIONAL else ():
        attribute = node.attributes.get(name)
        for func in attribute if isinstance(attribute, tuple) else (attribute,):
            function = functions.get(func.name) if isinstance(func, FuncAttr) else None
            if function is not None and not function.generic:
                yield function


_READS = frozenset(
    (
        *("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape"),
        *("VarIsInitializedOp", "IsVariableInitialized", "DisableCopyOnRead"),
    )
)


def is_read(node: Node, index: int) -> bool:
    """Whether the node only looks at the variable that this operand is."""
    if node.op in _READS:
        return index == 0
    operand = node.operands[index]
    element = getattr(operand.type, "element", None)
    if getattr(element, "name", "") == "resource":
        return False
    signature = registered(node.op)
    if signature is None:
        return False
    # Ops that take the variable itself say so; to all others its value is given.
    position = 0
    for argument in signature.inputs:
        position += len(argument.types({**signature.defaults, **node.attributes}))
        if index < position:
            return not argument.is_ref
    return False
