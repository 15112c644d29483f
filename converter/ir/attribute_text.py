"""Attributes and types as MLIR's text."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np

from .attributes import (
    TENSOR_PROTO_MARK,
    Attribute,
    DenseAttr,
    FullTypeAttr,
    FuncAttr,
    NumberAttr,
    PlaceholderAttr,
    RegionAttrs,
    ShapeAttr,
    SymbolAttr,
    TensorProtoAttr,
    Unit,
    VersionAttr,
)
from .dense import FORMS, array_of_elements, element_name, is_splat
from .full_type import constructor_name
from .types import Type

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")
_PLAIN_BYTES = re.compile(rb"[ !#-\[\]-~]*")
# More numbers than these are written as their bytes.
_MOST_LISTED = 100


def quoted(value: bytes) -> str:
    """A string with its escapes, in quotes."""
    if _PLAIN_BYTES.fullmatch(value):
        return f'"{value.decode()}"'
    parts = []
    for byte in value:
        if byte == 0x5C:
            parts.append("\\\\")
        elif 0x20 <= byte < 0x7F and byte != 0x22:
            parts.append(chr(byte))
        else:
            parts.append(f"\\{byte:02X}")
    return f'"{"".join(parts)}"'


def quoted_text(value: str) -> str:
    return quoted(value.encode(errors="surrogateescape"))


@lru_cache(4096)
def key_text(name: str) -> str:
    """A name as it stands, in quotes unless it is an identifier."""
    return name if _BARE.fullmatch(name) else quoted_text(name)


def symbol_text(name: str) -> str:
    return f"@{key_text(name)}"


def dictionary_text(attributes: Mapping[str, Attribute]) -> str:
    """Sorted by name; units are names alone."""
    parts = []
    for name in sorted(attributes):
        value = attributes[name]
        key = key_text(name)
        parts.append(key if isinstance(value, Unit) else f"{key} = {attribute_text(value)}")
    return "{" + ", ".join(parts) + "}"


def attribute_text(attribute: Attribute) -> str:
    """The attribute's text, with its type where it has one."""
    # The kinds that there are most of come first.
    if isinstance(attribute, Type):
        return str(attribute)
    if isinstance(attribute, bool):
        return "true" if attribute else "false"
    if isinstance(attribute, int):
        return f"{attribute} : i64"
    if isinstance(attribute, bytes):
        return quoted(attribute)
    if isinstance(attribute, float):
        return f"{float_text(attribute, 'f32')} : f32"
    if isinstance(attribute, DenseAttr):
        return f"dense<{_dense_text(attribute)}> : {attribute.type}"
    if isinstance(attribute, ShapeAttr):
        return _shape_text(attribute)
    if isinstance(attribute, tuple):
        return "[" + ", ".join(map(attribute_text, attribute)) + "]"
    if isinstance(attribute, Mapping):
        return dictionary_text(attribute)
    return _named_text(attribute)


def _named_text(attribute: Attribute) -> str:
    if isinstance(attribute, FuncAttr):
        name = symbol_text(attribute.name) if attribute.name else '""'
        return f"#tf_type.func<{name}, {dictionary_text(attribute.attributes)}>"
    if isinstance(attribute, PlaceholderAttr):
        return f"#tf_type.placeholder<{quoted_text(attribute.name)}>"
    if isinstance(attribute, NumberAttr):
        return f"{number_text(attribute)} : {attribute.type}"
    if isinstance(attribute, SymbolAttr):
        return symbol_text(attribute.name)
    if isinstance(attribute, TensorProtoAttr):
        digits = (TENSOR_PROTO_MARK + attribute.text).hex().upper()
        return f'#tf_type<tensor_proto : "0x{digits}"> : {attribute.type}'
    if isinstance(attribute, FullTypeAttr):
        return f"#tf_type.full_type<{_full_type_text(attribute)}>"
    if isinstance(attribute, VersionAttr):
        return version_text(attribute)
    if isinstance(attribute, RegionAttrs):
        lists = (_dictionaries(attribute.arguments), _dictionaries(attribute.results))
        return f"#tfg.region_attrs<{dictionary_text(attribute.attributes)} {lists[0]} {lists[1]}>"
    assert isinstance(attribute, Unit)
    return "unit"


def _dictionaries(items: Iterable[Mapping[str, Attribute]]) -> str:
    return "[" + ", ".join(map(dictionary_text, items)) + "]"


def version_text(version: VersionAttr) -> str:
    bad = ", ".join(map(str, version.bad_consumers))
    more = f", bad_consumers = [{bad}]" if bad else ""
    return f"#tf_type.version<producer = {version.producer}, min_consumer = {version.min_consumer}{more}>"


def _shape_text(shape: ShapeAttr) -> str:
    """As sizes; names of dimensions, which MLIR has no form for, stand in quotes behind the size."""
    if shape.sizes is None:
        return "#tf_type.shape<*>"
    sizes = ["?" if size is None else str(size) for size in shape.sizes]
    if shape.names:
        sizes = [s + (quoted_text(n) if n else "") for s, n in zip(sizes, shape.names, strict=True)]
    return f"#tf_type.shape<{'x'.join(sizes)}>"


def _full_type_text(full_type: FullTypeAttr) -> str:
    text = constructor_name(full_type.id)
    if full_type.arguments:
        text += f"<{', '.join(map(_full_type_text, full_type.arguments))}>"
    if isinstance(full_type.value, bytes):
        return f"{text} {quoted(full_type.value)}"
    return text if full_type.value is None else f"{text} {full_type.value} : i64"


def number_text(number: NumberAttr) -> str:
    if isinstance(number.value, float):
        return float_text(number.value, number.type.name)
    return str(number.value)


_BITS = {"f32": ("<f4", 8, 9), "f64": ("<f8", 16, 17), "f16": ("<f2", 4, 5)}


def float_text(value: float | np.floating, type: str) -> str:
    """Six digits if they read back exactly, else as many as it takes; bits for what has no digits.

    NumPy's numbers keep the bits of NaNs, which Python's lose.
    """
    if type == "bf16":
        bits = struct.unpack("<I", np.float32(value).tobytes())[0] >> 16
        return _float_text(float(value), lambda text: _bf16_bits(float(text)) == bits, f"0x{bits:04X}", 4)
    form, digits, most = _BITS.get(type, _BITS["f64"])
    dtype = np.dtype(form)
    exact = np.array(value, dtype)
    raw = int.from_bytes(exact.tobytes(), "little")
    return _float_text(float(exact), lambda text: dtype.type(text) == exact, f"0x{raw:0{digits}X}", most)


def _float_text(value, reads_back, bits: str, most: int) -> str:  # type: ignore[no-untyped-def]
    if value != value or value in (float("inf"), float("-inf")):
        return bits
    text = f"{value:e}"
    if reads_back(text):
        return text
    text = f"{value:.{most}g}"
    return text if "." in text else bits


def _bf16_bits(value: float) -> int:
    """Bits of the nearest bf16, halves to even."""
    bits = int.from_bytes(np.float32(value).tobytes(), "little")
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16


def _dense_text(dense: DenseAttr) -> str:
    if not dense.elements:
        return ""
    if isinstance(dense.elements, tuple):
        return _nested([quoted(e) for e in dense.elements], dense)
    name = element_name(dense)
    if not is_splat(dense) and dense.count > _MOST_LISTED:
        data = dense.elements
        if name == "i1":
            data = np.packbits(np.frombuffer(data, np.uint8) != 0, bitorder="little").tobytes()
        return f'"0x{data.hex().upper()}"'
    return _nested(element_texts(dense, name), dense)


def element_texts(dense: DenseAttr, name: str) -> list[str]:
    """The text of each element that is held."""
    array = array_of_elements(dense)
    if name == "i1":
        return ["true" if e else "false" for e in array]
    if name == "bf16":
        wide = (array.astype(np.uint32) << 16).view(np.float32)
        return [float_text(e, name) for e in wide]
    kind = FORMS[name][0].kind
    if kind == "f":
        return [float_text(e, name) for e in array]
    if kind == "c":
        part = "f32" if name == "complex<f32>" else "f64"
        texts = [float_text(e, part) for e in array.view("<f4" if part == "f32" else "<f8")]
        return [f"({real},{imaginary})" for real, imaginary in zip(texts[::2], texts[1::2], strict=True)]
    return [str(e) for e in array.tolist()]


def _nested(texts: list[str], dense: DenseAttr) -> str:
    """The elements in lists of lists, by the shape; one alone stands for all."""
    if is_splat(dense) and (dense.count != 1 or not dense.type.shape):
        return texts[0]
    if is_splat(dense) and dense.count == 1:
        return texts[0]
    assert dense.type.shape is not None
    for size in reversed(dense.type.shape):
        texts = ["[" + ", ".join(texts[i : i + size]) + "]" for i in range(0, len(texts), size)]
    return texts[0]
