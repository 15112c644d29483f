"""Text specifications of an op's arguments and attributes, as TensorFlow's registrations write them.

Source: TensorFlow tensorflow/core/framework/op_def_builder.cc.
"""

from __future__ import annotations

import re

from google.protobuf import text_format

from ...lite.errors import UnsupportedError
from ...schema.graph_def import AttrValue, OpDef
from .dtypes import data_type_named

_REAL = "float double int64 int32 uint8 uint16 int16 int8 half uint32 uint64 bfloat16"
_TYPE_SETS = {
    "numbertype": f"{_REAL} complex64 complex128 qint8 quint8 qint32",
    "realnumbertype": _REAL,
    "quantizedtype": "qint8 quint8 qint16 quint16 qint32",
}
# Kind of an attribute: the field of AttrValue that holds it.
_FIELDS = {
    **{"string": "s", "int": "i", "float": "f", "bool": "b", "type": "type", "shape": "shape"},
    **{"tensor": "tensor", "func": "func"},
}
_ARGUMENT = re.compile(r"\s*(\w+)\s*:\s*(?:(\w+)\s*\*\s*)?(Ref\()?\s*(\w+)\s*\)?\s*")
_ATTRIBUTE = re.compile(
    r"\s*(?P<name>[A-Za-z]\w*)\s*:\s*(?P<list>list\(\s*)?(?:(?P<kind>[a-z]+)|\{(?P<allowed>[^}]*)\})"
    r"(?(list)\s*\))\s*(?:>=\s*(?P<least>-?\d+))?\s*(?:=\s*(?P<default>.*?))?\s*",
    re.DOTALL,
)


def parse_argument(argument: OpDef.ArgDef, spec: str) -> None:
    """Fill in an input or output from "x: T", "out: int32", "values: N * T" or "ref: Ref(T)"; ValueError."""
    found = _ARGUMENT.fullmatch(spec)
    if found is None:
        raise ValueError(f"argument: must be 'name: type' or 'name: N * type', got {spec!r}")
    argument.name, number, reference, type = found.groups()
    argument.number_attr = number or ""
    argument.is_ref = bool(reference)
    try:
        argument.type = data_type_named(type)
    except UnsupportedError:
        argument.type_attr = type


def parse_attribute(attribute: OpDef.AttrDef, spec: str) -> None:
    """Fill in an attribute from "N: int >= 1 = 2", "T: {float, half} = DT_FLOAT", "pads: list(int) = []" ...

    ValueError for what is no such specification.
    """
    found = _ATTRIBUTE.fullmatch(spec)
    kind = found and _kind(attribute, found["kind"], found["allowed"])
    if found is None or kind is None:
        raise ValueError(
            f"attribute: must be 'name: type', '>= minimum' and '= default' behind, got {spec!r}"
        )
    attribute.name = found["name"]
    attribute.type = f"list({kind})" if found["list"] else kind
    if found["least"] is not None:
        attribute.has_minimum, attribute.minimum = True, int(found["least"])
    if found["default"] is not None:
        attribute.default_value.CopyFrom(_default(kind, bool(found["list"]), found["default"], spec))


def _kind(attribute: OpDef.AttrDef, kind: str | None, allowed: str | None) -> str | None:
    """The attribute's kind, None for none; what it allows is written down."""
    if kind in _FIELDS:
        return kind
    if kind is not None and kind not in _TYPE_SETS:
        return None
    names = [kind] if kind else [name.strip() for name in (allowed or "").split(",") if name.strip()]
    if names and names[0][0] in "'\"":
        attribute.allowed_values.list.s.extend(name.strip("'\"").encode() for name in names)
        return "string"
    try:
        for name in names:
            attribute.allowed_values.list.type.extend(
                map(data_type_named, _TYPE_SETS.get(name, name).split())
            )
    except UnsupportedError as error:
        raise ValueError(f"attribute: allowed types must be TensorFlow's, got {names} ({error})") from error
    return "type"


def _default(kind: str, is_list: bool, text: str, spec: str) -> AttrValue:
    field = _FIELDS[kind]
    if kind == "func":
        raise ValueError(f"attribute: a function has no default, got {spec!r}")
    written = f"list {{ {field}: {text} }}" if is_list else f"{field}: {text}"
    value = AttrValue()
    try:
        text_format.Parse("list {}" if is_list and text.replace(" ", "") == "[]" else written, value)
    except text_format.ParseError as error:
        raise ValueError(f"attribute: the default must be of type {kind}, got {spec!r} ({error})") from error
    return value


def finish(op_def: OpDef) -> OpDef:
    """The definition once all of it is parsed: "x: T" is a list of tensors where T is a list of types."""
    lists = {attribute.name for attribute in op_def.attr if attribute.type == "list(type)"}
    for argument in (*op_def.input_arg, *op_def.output_arg):
        if argument.type_attr in lists:
            argument.type_list_attr, argument.type_attr = argument.type_attr, ""
    return op_def
