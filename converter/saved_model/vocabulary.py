"""Tables that are filled from text files."""

from __future__ import annotations

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ..ir.attributes import Attributes, DenseAttr
from ..ir.dense import FORMS, dense_attr
from ..ir.types import ElementType, TensorType

# In the place of a column: the whole line, and its number.
_WHOLE_LINE, _LINE_NUMBER = -2, -1
TEXT_INITIALIZERS = {
    "InitializeTableFromTextFileV2": "InitializeTableV2",
    "InitializeTableFromTextFile": "InitializeTable",
}


def read_vocabulary(
    content: bytes, attributes: Attributes, key: ElementType, value: ElementType, what: str
) -> tuple[DenseAttr, DenseAttr]:
    """Keys and values of a table, from a file's content and the attributes of the node that would read it.

    ModelError when a line lacks a column or is no number.
    Source: TensorFlow core/kernels/lookup_util.cc, TextFileLineIterator.
    """
    delimiter = attributes.get("delimiter", b"\t")
    assert isinstance(delimiter, bytes)
    lines = _lines(content, _number(attributes, "offset", 0))
    size = _number(attributes, "vocab_size", -1)
    if size >= 0:
        if len(lines) < size:
            raise ModelError(f"{what}: it must have {size} lines, got {len(lines)}")
        lines = lines[:size]
    columns = []
    for name, type in (("key_index", key), ("value_index", value)):
        columns.append(_column(lines, _number(attributes, name, 0), delimiter, type, what))
    return columns[0], columns[1]


def _number(attributes: Attributes, name: str, default: int) -> int:
    value = attributes.get(name, default)
    return value if isinstance(value, int) else default


def _lines(content: bytes, offset: int) -> list[bytes]:
    lines = content.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [line.removesuffix(b"\r") for line in lines[offset:]]


def _column(lines: list[bytes], index: int, delimiter: bytes, type: ElementType, what: str) -> DenseAttr:
    if index == _LINE_NUMBER:
        numbers = np.arange(len(lines), dtype=np.int64)
        if type.name != "i64":
            raise UnsupportedError(f"{what}: numbers of lines must be i64, got {type}")
        return _dense(type, numbers.tobytes(), len(lines))
    parts = (
        lines
        if index == _WHOLE_LINE
        else [_part(line, index, delimiter, i, what) for i, line in enumerate(lines)]
    )
    if type.name == "string":
        return _dense(type, tuple(parts), len(lines))
    if type.name not in ("i32", "i64", "f32", "f64"):
        raise UnsupportedError(f"{what}: columns of {type} cannot be read")
    try:
        values = [float(part) if type.name.startswith("f") else int(part) for part in parts]
        array = np.array(values, FORMS[type.name][0])
    except (ValueError, OverflowError) as error:
        raise ModelError(f"{what}: column {index} must be numbers of {type} ({error})") from error
    return _dense(type, array.tobytes(), len(lines))


def _part(line: bytes, index: int, delimiter: bytes, number: int, what: str) -> bytes:
    parts = line.split(delimiter) if delimiter else [line]
    if not 0 <= index < len(parts):
        raise ModelError(f"{what}: line {number} has {len(parts)} columns, and column {index} is asked for")
    return parts[index]


def _dense(type: ElementType, elements: bytes | tuple[bytes, ...], count: int) -> DenseAttr:
    return dense_attr(TensorType(type, (count,)), elements)
