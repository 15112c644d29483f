"""How two graphs differ, node by node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..converter.ir.attribute_text import attribute_text
from ..converter.ir.attributes import Attribute, DenseAttr
from ..converter.ir.module import Function, Graph, Module
from ..converter.ir.node import RETURN, Node, Value
from ..schema.shown import shown

# What is longer is cut: a constant may be megabytes.
_LONGEST = 80


def differences(one: Module, other: Module) -> list[str]:
    """Lines about what was added (+), removed (-) and changed (~) from one to the other.

    Nodes are the same by their names and functions by theirs; the order of neither counts.
    """
    lines: list[str] = []
    ones, others = one.graph, other.graph
    if ones is not None or others is not None:
        lines += _bodies(ones or Graph(), others or Graph(), "")
        if ones is not None and others is not None and ones.version != others.version:
            lines.append(f"~ versions: {ones.version} -> {others.version}")
    mine, theirs = one.functions, other.functions
    lines += [f"- function {name}" for name in mine if name not in theirs]
    lines += [f"+ function {name}" for name in theirs if name not in mine]
    for name in mine:
        if name in theirs:
            lines += _functions(mine[name], theirs[name])
    return list(map(shown, lines))


def _functions(one: Function, other: Function) -> Iterator[str]:
    where = f"function {one.name}: "
    for what, mine, theirs in (
        ("arguments", _arguments(one), _arguments(other)),
        ("results", _results(one), _results(other)),
    ):
        if mine != theirs:
            yield f"~ {where}{what} ({mine}) -> ({theirs})"
    for line in _attributes(one.attributes, other.attributes):
        yield f"~ {where}{line}"
    yield from _bodies(one, other, where)


def _arguments(function: Function) -> str:
    return ", ".join(f"{function.argument_name(value)}: {value.type}" for value in function.arguments)


def _results(function: Function) -> str:
    return ", ".join(f"{function.result_name(i)}: {type}" for i, type in enumerate(function.result_types))


def _bodies(one: Graph | Function, other: Graph | Function, where: str) -> Iterator[str]:
    mine, theirs = ({node.name or node.op: node for node in body.body.walk()} for body in (one, other))
    for name, node in mine.items():
        if name not in theirs:
            yield f"- {where}{name} ({node.op})"
    for name, node in theirs.items():
        if name not in mine:
            yield f"+ {where}{name} ({node.op})"
    for name, node in mine.items():
        if name in theirs:
            changes = list(_nodes(node, theirs[name], one, other))
            if changes:
                yield f"~ {where}{name} ({node.op}): {'; '.join(changes)}"


def _nodes(one: Node, other: Node, home: Graph | Function, away: Graph | Function) -> Iterator[str]:
    for what, mine, theirs in (
        ("op", one.op, other.op),
        ("device", one.device, other.device),
        ("results", str(len(one.results)), str(len(other.results))),
    ):
        if mine != theirs:
            yield f"{what} {mine or 'none'} -> {theirs or 'none'}"
    inputs = [
        [_source(value, body) for value in node.operands] for node, body in ((one, home), (other, away))
    ]
    for i in range(max(map(len, inputs))):
        mine, theirs = (names[i] if i < len(names) else "none" for names in inputs)
        if mine != theirs:
            yield f"input {i} {mine} -> {theirs}"
    controls = [
        {_source(value, body) for value in node.controls} for node, body in ((one, home), (other, away))
    ]
    yield from (f"control input {name} removed" for name in sorted(controls[0] - controls[1]))
    yield from (f"control input {name} added" for name in sorted(controls[1] - controls[0]))
    if one.op != RETURN:
        yield from _attributes(one.attributes, other.attributes)


def _source(value: Value, body: Graph | Function) -> str:
    if not isinstance(value.owner, Node):
        name = body.argument_name(value) if isinstance(body, Function) else ""
        return name or f"argument {value.index}"
    name = value.owner.name or value.owner.op
    return name if value.is_control or not value.index else f"{name}:{value.index}"


def _attributes(one: Mapping[str, Attribute], other: Mapping[str, Attribute]) -> Iterator[str]:
    for name in sorted({*one, *other}):
        if name not in other:
            yield f"{name} = {_short(one[name])} removed"
        elif name not in one:
            yield f"{name} = {_short(other[name])} added"
        elif _differ(one[name], other[name]):
            yield f"{name} {_short(one[name])} -> {_short(other[name])}"


def _differ(one: Attribute, other: Attribute) -> bool:
    """NaN is what it was."""
    return one != other and not (one != one and other != other)


def _short(attribute: Attribute) -> str:
    if isinstance(attribute, DenseAttr) and len(attribute.elements) > _LONGEST:
        return f"{len(attribute.elements)} elements or bytes of {attribute.type}"
    text = attribute_text(attribute)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
