"""Keys of attributes: equal and hashable for attributes that mean the same."""

from __future__ import annotations

import struct
from collections.abc import Hashable, Mapping

from ..ir.attributes import Attribute, FuncAttr, NumberAttr, RegionAttrs


def attribute_key(attribute: Attribute) -> Hashable:
    """Unlike Python's own equality, 1, 1.0 and true differ, 0.0 and -0.0 too, and a NaN equals itself."""
    if isinstance(attribute, bool | int | bytes):
        return type(attribute), attribute
    if isinstance(attribute, float):
        return float, struct.pack("<d", attribute)
    if isinstance(attribute, tuple):
        return tuple(attribute_key(item) for item in attribute)
    if isinstance(attribute, FuncAttr):
        return FuncAttr, attribute.name, attributes_key(attribute.attributes)
    if isinstance(attribute, NumberAttr):
        return NumberAttr, attribute.type, attribute_key(attribute.value)
    if isinstance(attribute, RegionAttrs):
        lists = (attribute.arguments, attribute.results)
        described = tuple(tuple(map(attributes_key, items)) for items in lists)
        return RegionAttrs, attributes_key(attribute.attributes), described
    if isinstance(attribute, Mapping):
        return attributes_key(attribute)
    return attribute


def attributes_key(attributes: Mapping[str, Attribute]) -> Hashable:
    """Of all attributes, in whatever order they are."""
    return tuple((name, attribute_key(attributes[name])) for name in sorted(attributes))


def same_attribute(one: Attribute, other: Attribute) -> bool:
    return attribute_key(one) == attribute_key(other)
