"""Attributes in a program's text."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable

from ...ir.dense import FORMS
from ...tfg.dense_parser import parse_elements
from ..program import UNKNOWN, ArrayType, Attribute, Dense, Name, Verbatim
from .program_reader import ProgramReader
from .types import parse_type

_NUMBER = re.compile(r"-?(?:0x[0-9A-Fa-f]{1,16}(?!\w)|\d{1,40}(\.\d*(?:[eE][-+]?\d{1,6})?)?)")
_KEY = re.compile(r"[A-Za-z_][\w$.-]*")
_AXIS = re.compile(r"[a-z]|\d{1,4}")
_STORED_AS = {"i4": "i8", "index": "i64", "ui4": "ui8"}
_FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}
# Parts of #stablehlo.conv: the letters of a side's axes, and the attributes that name their places.
_SIDES = (
    ("input", {"b": "batch", "f": "feature"}),
    ("kernel", {"i": "input_feature", "o": "output_feature"}),
    ("output", {"b": "batch", "f": "feature"}),
)
# Attributes of several parts, which operations have as attributes of their own.
_OPENED = frozenset(("dimension_numbers", "scatter_dimension_numbers", "dot_dimension_numbers"))


def parse_attribute(reader: ProgramReader) -> Attribute:
    """The attribute; ModelError where there is none."""
    if reader.sees_string():
        text = reader.string().decode(errors="replace")
        if reader.accept(":"):
            parse_type(reader)
        return text
    if reader.sees("@"):
        return reader.symbol()
    if reader.sees("["):
        return parse_list(reader, "[", "]", parse_attribute)
    if reader.sees("{"):
        return parse_dictionary(reader)
    if reader.sees("#"):
        return _of_dialect(reader)
    number = reader.match(_NUMBER)
    if number is not None:
        return _number(reader, number)
    word = _KEY.match(reader.text, reader.at)
    rule = None if word is None else _WORDS.get(word[0])
    if rule is None:
        return parse_type(reader)
    assert word is not None
    reader.at = word.end()
    reader.skip()
    return rule(reader)


def parse_list(
    reader: ProgramReader, opening: str, closing: str, item: Callable[[ProgramReader], Attribute]
) -> list[Attribute]:
    """Items between brackets, with commas between them."""
    reader.expect(opening)
    found: list[Attribute] = []
    if reader.accept(closing):
        return found
    reader.enter()
    found.append(item(reader))
    while reader.accept(","):
        found.append(item(reader))
    reader.expect(closing)
    reader.leave()
    return found


def parse_dictionary(reader: ProgramReader, opening: str = "{", closing: str = "}") -> dict[str, Attribute]:
    """Names with their attributes, true for a name alone. Those of several parts are opened."""
    found: dict[str, Attribute] = {}

    def entry(reader: ProgramReader) -> None:
        if reader.sees_string():
            key = reader.string().decode(errors="replace")
        else:
            name = reader.match(_KEY)
            if name is None:
                raise reader.error("expected an attribute's name")
            key = name[0]
        if key in found:
            raise reader.error(f"attribute {key!r} must be told once")
        found[key] = parse_attribute(reader) if reader.accept("=") else True

    parse_list(reader, opening, closing, entry)
    for key in _OPENED & found.keys():
        parts = found.pop(key)
        found.update(parts if isinstance(parts, dict) else {})
    return found


def _number(reader: ProgramReader, found: re.Match[str]) -> Attribute:
    """A number with its type, of 64 bits where none is told."""
    type = str(parse_type(reader)) if reader.accept(":") else ""
    text = found[0]
    if "x" not in text:
        return float(text) if found[1] is not None or type in (*_FLOATS, "bf16") else int(text)
    bits = int(text, 16)
    if type == "bf16":
        type, bits = "f32", bits << 16
    if type not in _FLOATS:
        return bits
    code = _FLOATS[type]
    try:
        return float(struct.unpack(code, bits.to_bytes(struct.calcsize(code), "little"))[0])
    except OverflowError:
        raise reader.error(f"{text} does not fit into {type}") from None


def _of_dialect(reader: ProgramReader) -> Attribute:
    """An alias's attribute, a word of an enumeration, or parts with names; all else as it stands there."""
    start = reader.at
    dialect = reader.alias()
    if reader.sees("<") and dialect in ("stablehlo", "chlo", "mhlo"):
        # <comparison_direction LT>
        words = reader.skip_brackets().split()
        return Name(words[1]) if len(words) == 2 else Verbatim(" ".join(words))
    if not reader.sees("."):
        if dialect in reader.places:
            return Verbatim("location")
        if dialect not in reader.attributes:
            raise reader.error(f"the attribute #{dialect} is not told", start)
        return reader.attributes[dialect]
    reader.accept(".")
    kind = reader.word()
    if kind == "conv":
        reader.expect("<")
        found = convolution_dimensions(reader)
        reader.expect(">")
        return found
    if kind in _DEFAULTS:
        return dict(_DEFAULTS[kind]) | parse_dictionary(reader, "<", ">")
    return Verbatim(reader.skip_brackets() if reader.sees("<") else kind)


# What parts are where they are left out.
_DEFAULTS: dict[str, dict[str, Attribute]] = {
    "channel_handle": {},
    "dot": {
        f"{side}_{what}_dimensions": [] for side in ("lhs", "rhs") for what in ("batching", "contracting")
    },
    "gather": {
        "offset_dims": [],
        "collapsed_slice_dims": [],
        "operand_batching_dims": [],
        "start_indices_batching_dims": [],
        "start_index_map": [],
        "index_vector_dim": 0,
    },
    "scatter": {
        "update_window_dims": [],
        "inserted_window_dims": [],
        "input_batching_dims": [],
        "scatter_indices_batching_dims": [],
        "scatter_dims_to_operand_dims": [],
        "index_vector_dim": 0,
    },
}


def convolution_dimensions(reader: ProgramReader) -> dict[str, Attribute]:
    """The axes of a convolution: [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]."""
    found: dict[str, Attribute] = {}
    for place, (side, letters) in enumerate(_SIDES):
        if place:
            reader.expect("x" if place == 1 else "->")
        axes = [str(each) for each in parse_list(reader, "[", "]", _axis)]
        for letter, name in letters.items():
            if axes.count(letter) != 1:
                raise reader.error(f"the axes of {side} must have {letter!r} once")
            found[f"{side}_{name}_dimension"] = axes.index(letter)
        spatial = [int(axis) for axis in axes if axis.isdigit()]
        if sorted(spatial) != list(range(len(axes) - len(letters))):
            raise reader.error(f"the axes of {side} must have each number once")
        found[f"{side}_spatial_dimensions"] = [axes.index(str(axis)) for axis in range(len(spatial))]
    return found


def _axis(reader: ProgramReader) -> str:
    found = reader.match(_AXIS)
    if found is None:
        raise reader.error("expected an axis")
    return found[0]


def _dense(reader: ProgramReader) -> Dense:
    start = reader.at
    reader.expect("<")
    elements = parse_elements(reader)
    reader.expect(":")
    type = parse_type(reader)
    if not isinstance(type, ArrayType) or UNKNOWN in type.shape:
        raise reader.error(f"a constant must be a tensor of known sizes, got {type}", start)
    if type.element not in FORMS and type.element not in _STORED_AS:
        raise reader.refuse(f"constants of {type.element} have no operators", start)
    stored = _STORED_AS.get(type.element, type.element)
    packed = elements.packed(stored, math.prod(type.shape))
    return Dense(ArrayType(type.shape, stored if type.element == "index" else type.element), packed)


def _elided(reader: ProgramReader) -> Dense:
    raise reader.refuse(
        "numbers that stand elsewhere or were left out (dense_resource) are not read; "
        "print the module with large_elements_limit=None, or write its artifact"
    )


def _array(reader: ProgramReader) -> Attribute:
    """array<i64: 1, 2>."""
    reader.expect("<")
    parse_type(reader)
    if reader.accept(">"):
        return []
    reader.expect(":")
    found = [parse_attribute(reader)]
    while reader.accept(","):
        found.append(parse_attribute(reader))
    reader.expect(">")
    return found


def _skipped(reader: ProgramReader) -> Verbatim:
    return Verbatim(reader.skip_brackets())


_WORDS: dict[str, Callable[[ProgramReader], Attribute]] = {
    "affine_map": _skipped,
    "array": _array,
    "dense": _dense,
    "dense_resource": _elided,
    "false": lambda _: False,
    "loc": _skipped,
    "opaque": _skipped,
    "sparse": _elided,
    "true": lambda _: True,
    "unit": lambda _: True,
}
