"""Parsing of attributes."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from ..ir.attributes import (
    TENSOR_PROTO_MARK,
    UNIT,
    Attribute,
    Attributes,
    FullTypeAttr,
    FuncAttr,
    NumberAttr,
    PlaceholderAttr,
    RegionAttrs,
    ShapeAttr,
    SymbolAttr,
    TensorProtoAttr,
    VersionAttr,
)
from ..ir.full_type import constructor_number
from ..ir.types import ElementType, TensorType
from .dense_parser import parse_dense
from .text_reader import Reader
from .type_parser import parse_any_type, parse_type

_NUMBER = re.compile(r"-?(?:0x[0-9A-Fa-f]+|\d+(\.\d*)?([eE][-+]?\d+)?)")
_INTEGER = re.compile(r"-?\d+")
_SHAPE_SIZE = re.compile(r"-?\d+|\?")
_BITS = {"f16": "<f2", "f32": "<f4", "f64": "<f8"}
_PLAIN_DICTIONARY = re.compile(r'\{[^{}"\n/]{1,200}\}')
_MOST_KEPT = 1 << 12


def parse_attribute(reader: Reader) -> Attribute:
    """Any attribute."""
    first = reader.text[reader.at : reader.at + 1]
    if first == '"':
        return reader.string()
    if first in "-0123456789" and first:
        return _number(reader)
    if first == "#":
        return _dialect_attribute(reader)
    if first == "[":
        return _array(reader)
    if first == "{":
        return parse_dictionary(reader)
    if first == "@":
        return SymbolAttr(parse_symbol(reader))
    for word, value in (("true", True), ("false", False), ("unit", UNIT)):
        if first == word[0] and reader.accept_word(word):
            return value
    if first == "d" and reader.accept("dense<"):
        return parse_dense(reader)
    return parse_any_type(reader)


def parse_dictionary(reader: Reader) -> Attributes:
    """Attributes by name, in braces."""
    # Dictionaries without strings and others inside are few in most texts.
    plain = _PLAIN_DICTIONARY.match(reader.text, reader.at)
    if plain is None:
        return _parsed_dictionary(reader)
    known = reader.dictionaries.get(plain[0])
    if known is not None:
        reader.at = plain.end()
        reader.skip()
        return dict(known)
    found = _parsed_dictionary(reader)
    if len(reader.dictionaries) < _MOST_KEPT:
        reader.dictionaries[plain[0]] = dict(found)
    return found


def _parsed_dictionary(reader: Reader) -> Attributes:
    reader.expect("{")
    reader.enter()
    found: Attributes = {}
    while not reader.accept("}"):
        if found:
            reader.expect(",", "expected '}'")
        key = reader.string().decode(errors="surrogateescape") if reader.sees_string() else reader.word()
        if not key:
            raise reader.error("expected attribute name")
        if key in found:
            raise reader.error(f"duplicate key {key!r} in dictionary attribute")
        found[key] = parse_attribute(reader) if reader.accept("=") else UNIT
    reader.leave()
    return found


def parse_symbol(reader: Reader) -> str:
    """Name behind "@"."""
    reader.expect("@")
    if reader.sees_string():
        return reader.string().decode(errors="surrogateescape")
    name = reader.word()
    if not name:
        raise reader.error("expected a name behind '@'")
    return name


def _array(reader: Reader) -> tuple[Attribute, ...]:
    reader.expect("[")
    reader.enter()
    items: list[Attribute] = []
    while not reader.accept("]"):
        if items:
            reader.expect(",", "expected ']'")
        items.append(parse_attribute(reader))
    reader.leave()
    return tuple(items)


def _number(reader: Reader) -> Attribute:
    at = reader.at
    found = reader.match(_NUMBER)
    if found is None:
        raise reader.error("expected a number")
    text = found[0]
    type = parse_type(reader) if reader.accept(":") else None
    real = bool(found[1] or found[2])
    if type is not None and not isinstance(type, ElementType):
        raise reader.error("expected a number's type", at)
    name = type.name if type else "f64" if real else "i64"
    if name.startswith(("f", "bf")):
        return _real(reader, text, name, at)
    if real:
        raise reader.error(f"expected an integer of type {name}", at)
    if len(text) > 400:
        raise reader.error("integer has too many digits", at)
    value = int(text, 0) if "x" in text else int(text)
    if name == "i64":
        if not -(1 << 63) <= value < 1 << 63:
            raise reader.error(f"integer does not fit into i64: {value}", at)
        return value
    return NumberAttr(value, ElementType(name))


def _real(reader: Reader, text: str, name: str, at: int) -> Attribute:
    if "x" in text:
        form = np.dtype(_BITS.get(name, "<f4"))
        bits = int(text, 16)
        if name == "bf16":
            bits <<= 16
        if not 0 <= bits < 1 << 8 * form.itemsize:
            raise reader.error(f"float's bits do not fit into {name}: {text}", at)
        value = float(np.frombuffer(bits.to_bytes(form.itemsize, "little"), form)[0])
    else:
        with np.errstate(over="ignore"):
            value = float(np.float32(text)) if name == "f32" else float(text)
        if value in (float("inf"), float("-inf")):
            raise reader.error(f"float is too large for {name}: {text}", at)
    return value if name == "f32" else NumberAttr(value, ElementType(name))


def _dialect_attribute(reader: Reader) -> Attribute:
    if reader.accept("#tf_type<"):
        if reader.accept_word("tensor_proto"):
            return _tensor_proto(reader)
        return _tf_type(reader, reader.word())
    if reader.accept("#tf_type."):
        name = reader.word()
        reader.expect("<")
        return _tf_type(reader, name)
    if reader.accept("#tfg.region_attrs"):
        reader.expect("<")
        found = RegionAttrs(parse_dictionary(reader), _dictionaries(reader), _dictionaries(reader))
        reader.expect(">")
        return found
    raise reader.error("unknown attribute")


def _tf_type(reader: Reader, name: str) -> Attribute:
    parse = _TF_TYPES.get(name)
    if parse is None:
        raise reader.error(f"unknown attribute `{name}` in dialect `tf_type`")
    found = parse(reader)
    reader.expect(">")
    return found


def _dictionaries(reader: Reader) -> tuple[Attributes, ...]:
    items = _array(reader)
    found = [item for item in items if isinstance(item, dict)]
    if len(found) != len(items):
        raise reader.error("expected a list of dictionaries")
    return tuple(found)


def _tensor_proto(reader: Reader) -> TensorProtoAttr:
    reader.expect(":")
    text = reader.string().decode(errors="replace")
    try:
        data = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise reader.error("expected a string of hexadecimal digits") from None
    reader.expect(">")
    reader.expect(":")
    type = parse_type(reader)
    if not isinstance(type, TensorType) or not data.startswith(TENSOR_PROTO_MARK):
        raise reader.error("expected a tensor_proto of a tensor type")
    return TensorProtoAttr(type, data[len(TENSOR_PROTO_MARK) :])


def _func(reader: Reader) -> FuncAttr:
    if reader.sees("@"):
        name = parse_symbol(reader)
    elif reader.sees_string():
        if reader.string():
            raise reader.error("expected empty string or symbol while parsing tf.func attribute")
        name = ""
    else:
        raise reader.error("expected symbol while parsing tf.func attribute")
    reader.expect(",")
    if not reader.sees("{"):
        raise reader.error("expected Dictionary attribute while parsing tf.func attribute")
    return FuncAttr(name, parse_dictionary(reader))


def _placeholder(reader: Reader) -> PlaceholderAttr:
    name = reader.string("expected string while parsing tf.placeholder attribute")
    return PlaceholderAttr(name.decode(errors="surrogateescape"))


def _shape(reader: Reader) -> ShapeAttr:
    if reader.accept("*"):
        return ShapeAttr(None)
    sizes: list[int | None] = []
    names: list[str] = []
    while not reader.sees(">"):
        if sizes:
            reader.expect("x")
        found = reader.match(_SHAPE_SIZE)
        if found is None:
            raise reader.error("expected an integer or `?` when parsing a tf.shape attribute")
        sizes.append(None if found[0] == "?" else _of_64_bits(reader, found))
        names.append(reader.string().decode(errors="surrogateescape") if reader.sees_string() else "")
    return ShapeAttr(tuple(sizes), tuple(names) if any(names) else ())


def _version(reader: Reader) -> VersionAttr:
    if not reader.accept_word("producer"):
        raise reader.error("expected 'producer' in tf_type version")
    producer = _version_number(reader)
    reader.expect(",")
    if not reader.accept_word("min_consumer"):
        raise reader.error("expected 'min_consumer' in tf_type version")
    min_consumer = _version_number(reader)
    bad: list[int] = []
    if reader.accept(","):
        if not reader.accept_word("bad_consumers"):
            raise reader.error("expected 'bad_consumers' in tf_type version")
        reader.expect("=")
        reader.expect("[")
        while not reader.accept("]"):
            if bad:
                reader.expect(",")
            bad.append(_small_integer(reader))
    return VersionAttr(producer, min_consumer, tuple(bad))


def _version_number(reader: Reader) -> int:
    reader.expect("=")
    return _small_integer(reader)


def _integer(reader: Reader) -> int:
    at = reader.at
    found = reader.match(_INTEGER)
    if found is None:
        raise reader.error("expected integer value", at)
    return _of_64_bits(reader, found)


def _of_64_bits(reader: Reader, found: re.Match[str]) -> int:
    # More digits than these need not be read to know.
    number = int(found[0][:24])
    if not -(1 << 63) <= number < 1 << 63:
        raise reader.error("an integer must have 64 bits", found.start())
    return number


def _small_integer(reader: Reader) -> int:
    at = reader.at
    number = _integer(reader)
    if not -(1 << 31) <= number < 1 << 31:
        raise reader.error(f"a version must have 32 bits, got {number}", at)
    return number


def _full_type(reader: Reader) -> FullTypeAttr:
    at = reader.at
    number = constructor_number(reader.word())
    if number is None:
        raise reader.error("expected the name of a full type", at)
    arguments = []
    if reader.accept("<"):
        reader.enter()
        arguments.append(_full_type(reader))
        while reader.accept(","):
            arguments.append(_full_type(reader))
        reader.expect(">")
        reader.leave()
    value: bytes | int | None = None
    if reader.sees_string():
        value = reader.string()
    elif _INTEGER.match(reader.text, reader.at):
        value = _integer(reader)
        reader.expect(":")
        parse_type(reader)
    return FullTypeAttr(number, tuple(arguments), value)


_TF_TYPES: dict[str, Callable[[Reader], Attribute]] = {
    "func": _func,
    "placeholder": _placeholder,
    "shape": _shape,
    "version": _version,
    "full_type": _full_type,
}
