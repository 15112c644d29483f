"""Parsing of types."""

from __future__ import annotations

import re

from ..ir.types import (
    CONTROL,
    OPAQUE,
    TENSORFLOW_NAMES,
    ElementType,
    FunctionType,
    TensorType,
    Type,
)
from .text_reader import Reader, TextError

_PLAIN_TENSOR = re.compile(r"tensor<(\*x|(?:(?:\d+|\?)x)*)([a-z]+\d*|f8E\w+|complex<f\d+>|!tf_type\.\w+)>")
_SIZE = re.compile(r"(\d+|\?)(x?)")
_NUMBER = re.compile(r"(?:i|si|ui)[1-9]\d{0,2}|f16|f32|f64|bf16|f8E\w+|index|none")
_NAME = re.compile(r"\w+")
_VECTOR = re.compile(r"vector<((?:\d+x)*\w+)>")
_LARGEST = 1 << 62
_plain: dict[str, TensorType] = {}
_WITH_SUBTYPES = ("resource", "variant")


def parse_type(reader: Reader) -> Type:
    """A type that is no function."""
    found = _PLAIN_TENSOR.match(reader.text, reader.at)
    if found is not None:
        type = _plain.get(found[0]) or _plain_tensor(found[0], reader)
        reader.at = found.end()
        reader.skip()
        return type
    if reader.accept("tensor<"):
        return _tensor(reader)
    return _element(reader)


def parse_any_type(reader: Reader) -> Type:
    """A type, also of functions."""
    if not reader.sees("("):
        return parse_type(reader)
    inputs = parse_type_list(reader)
    reader.expect("->")
    return FunctionType(tuple(inputs), tuple(parse_results(reader)))


def parse_results(reader: Reader) -> list[Type]:
    """One type, or any number in parentheses."""
    return parse_type_list(reader) if reader.sees("(") else [parse_type(reader)]


def parse_type_list(reader: Reader) -> list[Type]:
    """Types in parentheses."""
    reader.expect("(")
    types: list[Type] = []
    if reader.accept(")"):
        return types
    types.append(parse_any_type(reader))
    while reader.accept(","):
        types.append(parse_any_type(reader))
    reader.expect(")")
    return types


def _plain_tensor(text: str, reader: Reader) -> TensorType:
    """Most types are few; their texts are remembered."""
    inner = Reader(text)
    inner.accept("tensor<")
    try:
        type = _tensor(inner)
    except TextError as error:
        raise reader.error(error.message) from error
    if len(_plain) > 1 << 12:
        _plain.clear()
    _plain[text] = type
    return type


def _tensor(reader: Reader) -> TensorType:
    reader.enter()
    if reader.accept("*"):
        reader.expect("x", "expected 'x' in dimension list")
        shape = None
    else:
        sizes = []
        while found := _SIZE.match(reader.text, reader.at):
            if not found[2]:
                raise reader.error("expected 'x' in dimension list")
            size = -1 if found[1] == "?" else int(found[1])
            if size > _LARGEST:
                raise reader.error(f"a dimension of {size} is too large")
            sizes.append(size)
            reader.at = found.end()
        shape = tuple(sizes)
    element = _element(reader)
    reader.expect(">")
    reader.leave()
    return TensorType(element, shape)


def _element(reader: Reader) -> Type:
    if reader.accept("!tf_type."):
        return _tensorflow(reader)
    if reader.accept("!tf_type<"):
        type = _tensorflow(reader)
        reader.expect(">")
        return type
    if reader.accept("complex<"):
        found = reader.match(_NAME)
        if found is None or found[0] not in ("f32", "f64"):
            raise reader.error("invalid element type for complex")
        reader.expect(">")
        return ElementType(f"complex<{found[0]}>")
    vector = reader.match(_VECTOR)
    if vector is not None:
        return ElementType(vector[0])
    found = reader.match(_NUMBER)
    if found is None:
        raise reader.error("expected non-function type")
    return ElementType(found[0])


def _tensorflow(reader: Reader) -> Type:
    at = reader.at
    found = reader.match(_NAME)
    name = found[0] if found else ""
    if name == "control":
        return CONTROL
    if name == "tensor":
        return OPAQUE
    if name not in TENSORFLOW_NAMES:
        raise reader.error(f"unknown tf_type `{name}`", at)
    if name in _WITH_SUBTYPES and reader.accept("<"):
        try:
            return ElementType(name, _subtypes(reader))
        except TextError as error:
            raise reader.error(f"invalid {name} type: {error.message}", at) from error
    return ElementType(name)


def _subtypes(reader: Reader) -> tuple[TensorType, ...]:
    reader.enter()
    types = []
    while True:
        at = reader.at
        type = parse_type(reader)
        if not isinstance(type, TensorType):
            raise reader.error("invalid kind of type specified", at)
        if isinstance(type.element, ElementType) and type.element.name.startswith("vector"):
            raise reader.error(f"invalid subtype: '{type}'", at)
        types.append(type)
        if not reader.accept(","):
            break
    reader.expect(">")
    reader.leave()
    return tuple(types)
