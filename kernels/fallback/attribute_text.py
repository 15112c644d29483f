"""Attributes as text: `list(i32)$1,1,1,1,1`, `padding$SAME`, `string$NDHWC`, `f32`."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import numpy as np
from google.protobuf.message import DecodeError

from ...lite.errors import ModelError, UnsupportedError
from ...schema import graph_def
from ...schema.graph_def import AttrValue, NameAttrList, TensorProto, TensorShapeProto

# Types under the names that the text has for them; all others go by TensorFlow's.
_SHORT = {
    graph_def.DT_HALF: "f16",
    graph_def.DT_BFLOAT16: "bf16",
    graph_def.DT_FLOAT: "f32",
    graph_def.DT_DOUBLE: "f64",
    graph_def.DT_BOOL: "i1",
    graph_def.DT_INT8: "i8",
    graph_def.DT_INT16: "i16",
    graph_def.DT_INT32: "i32",
    graph_def.DT_INT64: "i64",
    graph_def.DT_UINT8: "u8",
    graph_def.DT_UINT16: "u16",
    graph_def.DT_UINT32: "u32",
    graph_def.DT_UINT64: "u64",
}
_NUMBERS = {name: number for number, name in _SHORT.items()}
_PADDINGS = (b"SAME", b"VALID", b"EXPLICIT")
_INT32 = range(-(1 << 31), 1 << 31)
# Bytes of a string that need no escape; a comma ends an item of a list.
_SAFE = "".join(chr(c) for c in range(0x20, 0x7F) if chr(c) not in "%,")


def attribute_to_text(value: AttrValue) -> str:
    """The attribute's text; UnsupportedError for placeholders and attributed functions.

    Source: RFC 266 (TFRT kernel fallback), "call structure". Bytes of strings that are not printable,
    "%" and "," are escaped as in URLs; tensors are base64 of their TensorProto.
    """
    held = value.WhichOneof("value")
    if held == "type":
        return _type_to_text(value.type)
    if held == "list":
        return _list_to_text(value.list)
    if held is None or held == "placeholder":
        raise UnsupportedError(f"attribute text: there is none for {held or 'an empty attribute'}")
    kind, body = _WRITERS[held](getattr(value, held))
    return f"{kind}${body}"


def attribute_from_text(text: str) -> AttrValue:
    """The attribute that the text says; ModelError when it says none."""
    kind, dollar, body = text.partition("$")
    listed = re.fullmatch(r"list\((\w+)\)", kind)
    if listed and dollar:
        return _list_from_text(listed[1], body)
    if not dollar:
        return AttrValue(type=_type_from_text(text))
    if kind not in _READERS:
        raise ModelError(f"attribute text: {kind!r} is no kind of attribute, got {text!r}")
    field, read = _READERS[kind]
    return AttrValue(**{field: _read(read, body, text)})


def _list_to_text(values: AttrValue.ListValue) -> str:
    if values.type:
        return "list(type)$" + ",".join(map(_type_to_text, values.type))
    for field in ("i", "f", "b", "s", "shape", "tensor", "func"):
        items = [_WRITERS[field](item) for item in getattr(values, field)]
        if items:
            kinds = {kind for kind, _ in items}
            # One wide integer makes all wide; a padding among strings is a string.
            kind = "i64" if "i64" in kinds else "string" if "string" in kinds else items[0][0]
            between = ";" if field == "shape" else ","
            return f"list({kind})$" + between.join(body for _, body in items)
    return "list(i32)$"


def _list_from_text(kind: str, body: str) -> AttrValue:
    value = AttrValue()
    value.list.SetInParent()
    field, read = ("type", _type_from_text) if kind == "type" else _READERS.get(kind, ("", None))
    if read is None:
        raise ModelError(f"attribute text: {kind!r} is no kind of attribute")
    items = body.split(";" if field == "shape" else ",") if body else []
    getattr(value.list, field).extend(_read(read, item, body) for item in items)
    return value


def _read(read: Callable[[str], Any], body: str, text: str) -> Any:
    try:
        return read(body)
    except ValueError as error:
        raise ModelError(f"attribute text: {text!r} cannot be read: {error}") from error


def _type_to_text(type: int) -> str:
    return _SHORT.get(type) or graph_def.DataType.Name(type).removeprefix("DT_").lower()


def _type_from_text(text: str) -> int:
    number: int | None = _NUMBERS.get(text) or getattr(graph_def, f"DT_{text.upper()}", None)
    if number is None:
        raise ModelError(f"attribute text: {text!r} is no type")
    return number


def _integer(value: int) -> tuple[str, str]:
    return ("i32" if value in _INT32 else "i64"), str(value)


def _string(value: bytes) -> tuple[str, str]:
    return ("padding" if value in _PADDINGS else "string"), quote(value, safe=_SAFE)


def _shape(proto: TensorShapeProto) -> tuple[str, str]:
    return "shape", "?" if proto.unknown_rank else "x".join(str(dim.size) for dim in proto.dim)


def _shape_from_text(text: str) -> TensorShapeProto:
    if text == "?":
        return TensorShapeProto(unknown_rank=True)
    sizes = [int(size) for size in text.split("x")] if text else []
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def _function(value: NameAttrList) -> tuple[str, str]:
    if value.attr:
        raise UnsupportedError(f"attribute text: there is none for {value.name!r} with attributes")
    return "func", quote(value.name, safe=_SAFE)


def _tensor(value: TensorProto) -> tuple[str, str]:
    return "tensor", base64.b64encode(value.SerializeToString(deterministic=True)).decode()


def _tensor_from_text(text: str) -> TensorProto:
    try:
        return TensorProto.FromString(base64.b64decode(text, validate=True))
    except DecodeError as error:
        raise ValueError(error) from error


_WRITERS: dict[str, Callable[[Any], tuple[str, str]]] = {
    "i": _integer,
    # As many digits as a 32-bit float needs.
    "f": lambda value: ("f32", str(np.float32(value))),
    "b": lambda value: ("bool", "true" if value else "false"),
    "s": _string,
    "shape": _shape,
    "func": _function,
    "tensor": _tensor,
}


def _bool_from_text(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("a bool is true or false")
    return text == "true"


_READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "i32": ("i", int),
    "i64": ("i", int),
    "f32": ("f", float),
    "bool": ("b", _bool_from_text),
    "string": ("s", unquote_to_bytes),
    "padding": ("s", unquote_to_bytes),
    "shape": ("shape", _shape_from_text),
    "func": ("func", lambda text: NameAttrList(name=unquote_to_bytes(text).decode())),
    "tensor": ("tensor", _tensor_from_text),
}
