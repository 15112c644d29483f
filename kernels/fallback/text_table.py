"""Lookup tables that are filled from text files."""

from __future__ import annotations

import numpy as np

from .dtypes import INDICES, numpy_dtype, type_name
from .file_access import files_of, path_of
from .kernel import KernelContext
from .lookup_table import LookupTable
from .registry import kernel
from .status import InvalidArgumentError
from .variable import held

# In the place of a column: the whole line, and its number.
_WHOLE_LINE, _LINE_NUMBER = -2, -1
_OP = "InitializeTableFromTextFile"


def initialize(
    table_handle: np.ndarray,
    filename: np.ndarray,
    *,
    key_index: int,
    value_index: int,
    vocab_size: int,
    delimiter: bytes,
    offset: int,
    context: KernelContext,
) -> None:
    """Give a HashTable an entry for each line, but for the first offset ones.

    Keys and values are columns between delimiters, the whole line (-2) or its number (-1).
    Source: TensorFlow tensorflow/core/kernels/lookup_util.cc, TextFileLineIterator.
    """
    table = held(table_handle, LookupTable, _OP)
    if table.is_mutable:
        raise InvalidArgumentError(f"{_OP}: the table must be a HashTable, got a mutable one")
    content = files_of(context).read(path_of(_OP, "filename", filename))
    lines = content.split(b"\n")[offset:] if offset >= 0 else []
    if lines and lines[-1] == b"":
        lines.pop()
    lines = [line.removesuffix(b"\r") for line in lines]
    if offset < 0 or vocab_size > len(lines) or not delimiter:
        message = f"there must be {vocab_size} lines behind the first {offset}, with a delimiter"
        raise InvalidArgumentError(f"{_OP}: {message}, got {len(lines)}")
    lines = lines[:vocab_size] if vocab_size >= 0 else lines
    keys = _column(lines, key_index, delimiter, table.key_type)
    values = _column(lines, value_index, delimiter, table.value_type)
    table.initialize(_OP, table.keys_of(_OP, keys)[1], table.values_of(_OP, keys.shape, values))


def _column(lines: list[bytes], index: int, delimiter: bytes, data_type: int) -> np.ndarray:
    dtype = numpy_dtype(data_type)
    if index == _LINE_NUMBER:
        if data_type not in INDICES:
            raise InvalidArgumentError(f"{_OP}: line numbers must be int64, got {type_name(data_type)}")
        return np.arange(len(lines), dtype=dtype)
    texts = lines if index == _WHOLE_LINE else [_cell(line, index, delimiter) for line in lines]
    made = np.empty(len(texts), object)
    made[:] = texts
    if dtype.kind == "O":
        return made
    try:
        return (
            np.array([text.decode("ascii") for text in texts]).astype(dtype) if texts else made.astype(dtype)
        )
    except (ValueError, OverflowError) as error:
        raise InvalidArgumentError(f"{_OP}: cells must be {type_name(data_type)} ({error})") from error


def _cell(line: bytes, index: int, delimiter: bytes) -> bytes:
    cells = line.split(delimiter)
    if not 0 <= index < len(cells):
        raise InvalidArgumentError(f"{_OP}: lines must have a column {index}, got {line[:80]!r}")
    return cells[index]


REGISTRATIONS = tuple(kernel(op, initialize) for op in (_OP, f"{_OP}V2"))
