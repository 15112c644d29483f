"""A function of the nodes that some values need, up to values that become its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ...lite.errors import ModelError
from ..ir.attributes import Attribute
from ..ir.module import Function
from ..ir.node import RETURN, Block, Node, Value
from ..ir.types import ElementType, TensorType, Type
from .clone import clone_node


def slice_function(
    name: str,
    results: Sequence[Value],
    effects: Sequence[Node],
    arguments: Sequence[Value],
    stands_for: Callable[[Value], Value],
    keeps_pivots: bool = False,
) -> Function:
    """A function of copies of all nodes that the results and the effects depend on.

    Given:  c = f(b); b = g(a, k)     results [c], arguments [a, k]
    Result: func @name(a, k) -> c { b = g(a, k); c = f(b); return(c) }

    stands_for says which value an operand is read for: one that is an argument ends the search. Control
    dependencies on nodes that are not copied are left out. keeps_pivots copies, too, what nodes without
    operands hang on: it tells in which way of a conditional they are.
    """
    function = Function(name)
    values: dict[Value, Value] = {}
    for i, argument in enumerate(arguments):
        values[argument] = function.add_argument(argument.type, {"tfg.name": f"arg{i}".encode()})
    nodes = _needed([*results, *(node.control for node in effects)], values, stands_for, keeps_pivots)
    copies = {node: clone_node(node) for node in nodes}
    for node, copy in copies.items():
        values.update(zip(node.results, copy.results, strict=True))
    for node, copy in copies.items():
        function.body.append(copy)
        copy.operands = [values[stands_for(value)] for value in node.operands]
        copy.controls = [
            copies[source].control
            for token in node.controls
            if isinstance(source := token.owner, Node) and source in copies
        ]
    _finish(function, [values[stands_for(value)] for value in results], [copies[n].control for n in effects])
    return function


def captured(
    results: Iterable[Value], stands_for: Callable[[Value], Value], is_inside: Callable[[Value], bool]
) -> list[Value]:
    """The values from outside that the results depend on, in the order in which they are found."""
    found: dict[Value, None] = {}
    seen: set[Node] = set()
    waiting = list(results)
    while waiting:
        value = stands_for(waiting.pop())
        if not is_inside(value):
            found[value] = None
        elif isinstance(value.owner, Node) and value.owner not in seen:
            seen.add(value.owner)
            waiting += value.owner.operands
    return list(found)


def append(block: Block, node: Node) -> Node:
    """Put the node last, but before what ends the block."""
    end = block.terminator
    return block.append(node) if end is None else block.insert_before(end, node)


def stand_in(block: Block, node: Node, value: Value) -> Node:
    """An Identity of the value, under the node's name, that everything uses instead of the node."""
    made = Node("Identity", node.name, [value.type], {"T": elements_of([value.type])[0]})
    append(block, made)
    made.operands = [value]
    node.results[0].replace_all_uses_with(made.results[0])
    node.control.replace_all_uses_with(made.control)
    return made


def elements_of(types: Iterable[Type]) -> tuple[ElementType, ...]:
    """Element types of tensors; ModelError for a value of which the graph does not tell it."""
    return tuple(map(_element_of, types))


def _element_of(type: Type) -> ElementType:
    if not isinstance(type, TensorType) or not isinstance(type.element, ElementType):
        raise ModelError(f"values of loops and branches must have a known element type, got {type}")
    return type.element


def unique_name(name: str, taken: Mapping[str, Function]) -> str:
    """The name, with a number where there is a function of that name."""
    found, number = name, 0
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found


def _needed(
    roots: Iterable[Value],
    ends: dict[Value, Value],
    stands_for: Callable[[Value], Value],
    keeps_pivots: bool,
) -> list[Node]:
    """The nodes between the roots and the ends, each once."""
    found: dict[Node, None] = {}
    waiting = list(roots)
    while waiting:
        value = waiting.pop()
        if not value.is_control:
            value = stands_for(value)
        if value in ends or not isinstance(value.owner, Node) or value.owner in found:
            continue
        found[value.owner] = None
        waiting += value.owner.operands
        if keeps_pivots and not value.owner.operands:
            waiting += [token for token in value.owner.controls if _is_pivot(token.owner)]
    return list(found)


def _is_pivot(owner: object) -> bool:
    return isinstance(owner, Node) and owner.op in ("Identity", "NoOp")


def _finish(function: Function, results: Sequence[Value], tokens: Sequence[Value]) -> None:
    for i, value in enumerate(results):
        function.add_result(value.type, {"tfg.name": f"out{i}".encode()})
    described: tuple[Attribute, ...] = tuple({"tfg.name": f"effect{i}".encode()} for i in range(len(tokens)))
    node = Node(RETURN, attributes={"control_ret_attrs": described})
    function.body.append(node)
    node.operands, node.controls = results, tokens
