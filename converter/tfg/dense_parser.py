"""Parsing of dense elements: numbers and strings in nested lists, one for all, or bytes in hexadecimal."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ..ir.attributes import DenseAttr
from ..ir.dense import FORMS, dense_attr
from ..ir.types import ElementType, TensorType
from .text_reader import Reader
from .type_parser import parse_type

_NUMBER = re.compile(r"-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)|true|false")
_REAL_BITS = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}


@dataclass(frozen=True)
class Elements:
    """What stands in dense<...>: all elements, or one for all. at is where, nested whether in a list."""

    reader: Reader
    found: list[object]
    at: int
    nested: bool

    def packed(self, name: str, count: int) -> bytes:
        """As so many are stored whose type is one of FORMS. TextError where they do not fit."""
        if len(self.found) == 1 and isinstance(self.found[0], bytes):
            return _from_hex(self.reader, self.found[0], name, count, self.at)
        self.check_count(count)
        if not count:
            return b""
        try:
            return _as_bytes(self.found, name)
        except (ValueError, OverflowError, TypeError) as error:
            raise self.reader.error(f"elements do not fit into {name} ({error})", self.at) from error

    def check_count(self, count: int) -> None:
        """TextError unless there are so many, or one for all."""
        if len(self.found) != count and (self.nested or len(self.found) != 1):
            message = f"elements literal has {len(self.found)} elements, its type has {count}"
            raise self.reader.error(message, self.at)


def parse_elements(reader: Reader) -> Elements:
    """What stands behind "dense<", and its end."""
    at = reader.at
    found: list[object] = []
    nested = reader.sees("[")
    if not reader.sees(">"):
        _elements(reader, found)
    reader.expect(">")
    return Elements(reader, found, at, nested)


def parse_dense(reader: Reader) -> DenseAttr:
    """What stands behind "dense<"."""
    elements = parse_elements(reader)
    at = elements.at
    reader.expect(":")
    type = parse_type(reader)
    if not isinstance(type, TensorType) or type.shape is None or -1 in type.shape:
        raise reader.error("elements literal must have a shaped type that is static", at)
    if not isinstance(type.element, ElementType):
        raise reader.error("elements literal must have an element type", at)
    empty = DenseAttr(type, b"")
    name = type.element.name
    if name == "string":
        strings = tuple(e for e in elements.found if isinstance(e, bytes))
        if len(strings) != len(elements.found):
            raise reader.error("expected strings", at)
        elements.check_count(empty.count)
        return dense_attr(type, strings if empty.count else ())
    if name not in FORMS:
        raise reader.error(f"dense elements of {type.element} are not supported", at)
    data = elements.packed(name, empty.count)
    return dense_attr(type, data) if empty.count else empty


def _elements(reader: Reader, into: list[object]) -> None:
    """The elements in their order, all lists opened."""
    depth = 0
    while True:
        while reader.accept("["):
            depth += 1
        if not (depth and reader.sees("]")):
            into.append(_element(reader))
        while depth and reader.accept("]"):
            depth -= 1
        if not depth:
            return
        reader.expect(",", "expected ']'")


def _element(reader: Reader) -> object:
    if reader.sees_string():
        return reader.string()
    if reader.accept("("):
        real = _number(reader)
        reader.expect(",")
        imaginary = _number(reader)
        reader.expect(")")
        return real, imaginary
    return _number(reader)


def _number(reader: Reader) -> str:
    found = reader.match(_NUMBER)
    if found is None:
        raise reader.error("expected element literal of primitive type")
    return found[0]


def _from_hex(reader: Reader, text: bytes, name: str, count: int, at: int) -> bytes:
    try:
        data = bytes.fromhex(text.decode().removeprefix("0x"))
    except ValueError:
        raise reader.error("expected a string of hexadecimal digits", at) from None
    size = FORMS[name][0].itemsize
    if name == "i1" and len(data) == (count + 7) // 8:
        bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little", count=count)
        return bits.tobytes()
    if len(data) not in (size, size * count):
        raise reader.error(f"hex string has {len(data)} bytes, its type {size * count}", at)
    return data


def _as_bytes(elements: list[object], name: str) -> bytes:
    dtype = FORMS[name][0]
    if dtype.kind == "c":
        part = "f32" if dtype.itemsize == 8 else "f64"
        flat = [text for pair in elements for text in _pair(pair)]
        return _as_bytes(list(flat), part)
    texts = [e for e in elements if isinstance(e, str)]
    if len(texts) != len(elements):
        raise ValueError("expected numbers")
    if name == "i1":
        return bytes(_truth(text) for text in texts)
    if name in _REAL_BITS:
        return b"".join(_real(text, name) for text in texts) if _has_bits(texts) else _reals(texts, name)
    return np.array([int(text, 0) if "x" in text else int(text) for text in texts], dtype).tobytes()


def _pair(element: object) -> tuple[object, object]:
    if not isinstance(element, tuple):
        raise ValueError("expected complex numbers")
    return element


def _truth(text: str) -> int:
    if text in ("true", "false"):
        return int(text == "true")
    number = int(text, 0)
    if number not in (0, 1, -1):
        raise ValueError(f"{text} is no truth value")
    return abs(number)


def _has_bits(texts: list[str]) -> bool:
    return any("x" in text for text in texts)


def _reals(texts: list[str], name: str) -> bytes:
    with np.errstate(over="ignore"):
        array = np.array(texts, np.float32 if name == "bf16" else FORMS[name][0])
    if np.isinf(array).any():
        raise ValueError("too large")
    if name == "bf16":
        bits = array.view(np.uint32)
        # Halves to even.
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2").tobytes()
    return array.tobytes()


def _real(text: str, name: str) -> bytes:
    if "x" in text:
        return int(text, 16).to_bytes(_REAL_BITS[name], "little")
    return _reals([text], name)
