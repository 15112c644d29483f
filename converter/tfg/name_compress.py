"""Short names for all nodes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from ..ir.attributes import Attribute
from ..ir.module import Function
from ..ir.node import GET_RESULT, TERMINATORS, Node
from ..transforms.bodies import Body

_FIRST = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789."
_TRAILING = _FIRST + "_>/"
_COLOCATION = b"loc:@"


def compress_names(body: Body) -> None:
    """Give arguments, results and nodes the shortest names: A, B .. then AA, BA ..

    Given:  f(argument0) -> result0 { sum = Add(argument0, argument0); return(sum) }
    Result: f(A) -> B { C = Add(A, A); return(C) }

    Arguments come first, then results, control results and nodes in their order; nodes without a name
    get one, too. "loc:@name" in `_class` follows. Generic functions refer to results by name and stay
    as they are.
    """
    if isinstance(body, Function) and body.generic:
        return
    names = map(_encoded, count())
    if isinstance(body, Function):
        _rename_signature(body, names)
    renamed: dict[str, str] = {}
    nodes = [node for node in body.body.walk() if node.op not in TERMINATORS and node.op != GET_RESULT]
    for node in nodes:
        name = next(names)
        if node.name:
            renamed[node.name] = name
        node.name = name
    for node in nodes:
        _follow_colocation(node, renamed)


def _encoded(number: int) -> str:
    """The number's name; the first letter counts fastest."""
    number, place = divmod(number, len(_FIRST))
    letters = _FIRST[place]
    while number:
        number, place = divmod(number - 1, len(_TRAILING))
        letters += _TRAILING[place]
    return letters


def _rename_signature(function: Function, names: Iterator[str]) -> None:
    for attributes in (*function.argument_attributes, *function.result_attributes):
        attributes["tfg.name"] = next(names).encode()
    end = function.terminator
    if end is None or not end.controls:
        return
    held = end.attributes.get("control_ret_attrs")
    described: list[Attribute] = list(held) if isinstance(held, tuple) else []
    described += [{}] * (len(end.controls) - len(described))
    end.attributes["control_ret_attrs"] = tuple(
        {**(attributes if isinstance(attributes, dict) else {}), "tfg.name": next(names).encode()}
        for attributes in described
    )


def _follow_colocation(node: Node, renamed: dict[str, str]) -> None:
    held = node.attributes.get("_class")
    if not isinstance(held, tuple):
        return
    node.attributes["_class"] = tuple(_colocated(item, renamed) for item in held)


def _colocated(item: Attribute, renamed: dict[str, str]) -> Attribute:
    if not isinstance(item, bytes) or not item.startswith(_COLOCATION):
        return item
    name = item.removeprefix(_COLOCATION).decode(errors="surrogateescape")
    return _COLOCATION + renamed[name].encode() if name in renamed else item
