"""Functions that attributes and nodes refer to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..ir.attributes import Attribute, FuncAttr, RegionAttrs, SymbolAttr
from .bodies import Body


def references(body: Body) -> Iterator[str]:
    """Names of functions in the attributes of the body and its nodes, and the ops, which may be calls."""
    yield from _named(body.attributes)
    for node in body.body.walk():
        yield node.op
        yield from _named(node.attributes)


def _named(attribute: Attribute) -> Iterator[str]:
    if isinstance(attribute, SymbolAttr):
        yield attribute.name
    elif isinstance(attribute, FuncAttr):
        yield attribute.name
        yield from _named(attribute.attributes)
    elif isinstance(attribute, tuple):
        for item in attribute:
            yield from _named(item)
    elif isinstance(attribute, RegionAttrs):
        yield from _named(attribute.attributes)
    elif isinstance(attribute, Mapping):
        for item in attribute.values():
            yield from _named(item)
