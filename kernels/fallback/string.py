"""Strings joined, split, cut, counted and changed in case. They are bytes; some ops read UTF-8."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from ...lite.string_tensor import string_array
from .attributes import DataType
from .axis import axis_of, integers, rows_of, scalar, vector
from .dtypes import INDICES, numpy_dtype
from .each_string import each_string, mapped_strings, scalar_string
from .gather import check_indices
from .kernel import checked_shape
from .registry import kernel
from .status import InvalidArgumentError


def _characters(text: bytes) -> list[bytes]:
    """The UTF-8 characters: a byte that begins one, and those that go on."""
    starts = [i for i, byte in enumerate(text) if byte & 0xC0 != 0x80]
    return [text[a:b] for a, b in pairwise([*starts, len(text)])]


def string_join(inputs: list[np.ndarray], *, separator: bytes) -> np.ndarray:
    """Elements at one place joined; the inputs have one shape or are scalars."""
    if not inputs:
        return string_array([b""], ())
    shapes = {x.shape for x in inputs if x.ndim}
    if len(shapes) > 1:
        raise InvalidArgumentError(f"StringJoin: inputs must have one shape, got {sorted(shapes)}")
    return mapped_strings(lambda *parts: separator.join(parts), *inputs)


def _in_case(ascii_: Callable[[bytes], bytes], unicode_: Callable[[str], str]) -> Callable[..., np.ndarray]:
    def changed(x: np.ndarray, *, encoding: str) -> np.ndarray:
        if encoding == "":
            return mapped_strings(ascii_, x)
        if encoding.lower() != "utf-8":
            raise InvalidArgumentError(f"encoding must be '' or 'utf-8', got {encoding!r}")
        return mapped_strings(lambda text: unicode_(text.decode(errors="replace")).encode(), x)

    changed.__doc__ = "ASCII letters, or with the encoding utf-8 all letters, in the other case."
    return changed


def string_strip(x: np.ndarray) -> np.ndarray:
    """Without white space at the ends."""
    return mapped_strings(lambda text: text.strip(b" \t\n\v\f\r"), x)


def string_length(x: np.ndarray, *, unit: str) -> np.ndarray:
    """How many bytes, or with UTF8_CHAR characters, each string has: int32."""
    count = len if unit == "BYTE" else lambda text: len(_characters(text))
    return np.array(each_string(count, x), np.int32).reshape(x.shape)


def substr(x: np.ndarray, pos: np.ndarray, length: np.ndarray, *, unit: str) -> np.ndarray:
    """length bytes (or characters) from pos on; a negative pos counts from the end.

    pos and length have one shape. Raises InvalidArgumentError for a pos outside of the string.
    """
    if pos.shape != length.shape:
        message = f"pos and len must have one shape, got {list(pos.shape)} and {list(length.shape)}"
        raise InvalidArgumentError(f"Substr: {message}")

    def cut(text: bytes, start: int, count: int) -> bytes:
        parts = text if unit == "BYTE" else _characters(text)
        if not -len(parts) <= start <= len(parts):
            message = f"pos must be within a string of {len(parts)}, got {start}"
            raise InvalidArgumentError(f"Substr: {message}")
        first = start + len(parts) if start < 0 else start
        # A negative length is a huge one to TensorFlow's strings of bytes, and none of its characters.
        end = len(text) if count < 0 and unit == "BYTE" else first + max(count, 0)
        taken = parts[first:end]
        return taken if isinstance(taken, bytes) else b"".join(taken)

    return mapped_strings(cut, x, pos, length)


def _sparse(rows: list[list[bytes]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lists of strings as a sparse matrix: indices [n, 2], values [n], shape [2]."""
    indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = [part for row in rows for part in row]
    shape = np.array([len(rows), max(map(len, rows), default=0)], np.int64)
    return np.array(indices, np.int64).reshape(-1, 2), string_array(values, [len(values)]), shape


def string_split(
    x: np.ndarray, delimiter: np.ndarray, *, skip_empty: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each string of a vector split at every byte of delimiter, into bytes when that is empty."""
    marks = scalar_string(delimiter, "StringSplit: delimiter")

    def parts(text: bytes) -> list[bytes]:
        if not marks:
            return [text[i : i + 1] for i in range(len(text))]
        found = re.split(b"[" + re.escape(marks) + b"]", text)
        return [part for part in found if part or not skip_empty] if text else []

    return _sparse([parts(text) for text in _vector(x)])


def string_split_v2(
    x: np.ndarray, sep: np.ndarray, *, maxsplit: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each string of a vector split at sep, or at white space when that is empty, maxsplit times."""
    mark = scalar_string(sep, "StringSplitV2: sep")
    parts = (text.split(mark, maxsplit) if mark else _words(text, maxsplit) for text in _vector(x))
    return _sparse(list(parts))


def _words(text: bytes, most: int) -> list[bytes]:
    """What stands between white space: at most `most` words, and then the rest, which may be empty."""
    if most == 0:
        return [text]
    words = text.split(None, most)
    return [*words, b""] if len(words) == most else words


def _vector(x: np.ndarray) -> list[bytes]:
    if x.ndim != 1:
        raise InvalidArgumentError(f"input must be a vector, got {list(x.shape)}")
    return list(x)


def reduce_join(
    x: np.ndarray, reduction_indices: np.ndarray, *, keep_dims: bool, separator: bytes
) -> np.ndarray:
    """Strings joined along axes; the axis that is named first changes fastest."""
    axes = [axis_of(axis, x.ndim) for axis in integers(reduction_indices, "reduction_indices")]
    if len(set(axes)) != len(axes):
        raise InvalidArgumentError(f"ReduceJoin: axes must not come twice, got {axes}")
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    sizes = [x.shape[axis] for axis in kept]
    if not axes:
        return x
    joined = math.prod(x.shape[axis] for axis in axes)
    rows = x.transpose(*kept, *reversed(axes)).reshape(math.prod(sizes), joined)
    shape = [1 if axis in axes else n for axis, n in enumerate(x.shape)] if keep_dims else sizes
    return string_array([separator.join(row) for row in rows], shape)


def unsorted_segment_join(
    x: np.ndarray, segment_ids: np.ndarray, num_segments: np.ndarray, *, separator: bytes
) -> np.ndarray:
    """Strings of each segment joined, in order; segment_ids are the first axes of x.

    Nothing separates a string from empty ones before all others.
    """
    count = scalar(num_segments, "num_segments")
    if count < 0 or segment_ids.shape != x.shape[: segment_ids.ndim] or not segment_ids.ndim:
        message = f"segment_ids {list(segment_ids.shape)} must be the first axes of {list(x.shape)}"
        raise InvalidArgumentError(f"UnsortedSegmentJoin: {message}, for {count} segments")
    check_indices(segment_ids, count, "segment_ids")
    rest = x.shape[segment_ids.ndim :]
    checked_shape([count, *rest], x.dtype)
    width = int(np.prod(rest))
    lists: list[list[list[bytes]]] = [[[] for _ in range(width)] for _ in range(count)]
    for row, number in zip(x.reshape(segment_ids.size, width), segment_ids.reshape(-1), strict=True):
        for held, text in zip(lists[number], row, strict=True):
            if held or text:
                held.append(text)
    return string_array([separator.join(held) for row in lists for held in row], [count, *rest])


def string_n_grams(
    data: np.ndarray,
    data_splits: np.ndarray,
    *,
    separator: bytes,
    ngram_widths: list[int],
    left_pad: bytes,
    right_pad: bytes,
    pad_width: int,
    preserve_short_sequences: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Runs of each width of each row's strings, joined; rows are given by their splits.

    pad_width copies of the pads stand around each row (-1: one less than the width, the most there
    can be). A row too short for any run is kept whole with preserve_short_sequences.
    Source: TensorFlow tensorflow/core/kernels/string_ngrams_op.cc.
    """
    splits = vector(data_splits, "StringNGrams: data_splits")
    count = rows_of(data, "StringNGrams: data")
    if splits and (splits[0] != 0 or splits[-1] != count or sorted(splits) != list(splits)):
        message = f"splits must rise from 0 to {count}, got {splits[:16]}"
        raise InvalidArgumentError(f"StringNGrams: {message}")
    if not splits or not count:
        # Not even pads make a run; of no splits the strings are empty.
        return string_array([b""] * count, [count]), data_splits.copy()
    made: list[bytes] = []
    ends = [0]
    for start, end in pairwise(splits):
        row = list(data[start:end])
        runs: list[bytes] = []
        for width in ngram_widths:
            pad = width - 1 if pad_width < 0 else min(pad_width, width - 1)
            padded = [left_pad] * pad + row + [right_pad] * pad
            runs += [separator.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]
        if preserve_short_sequences and row and not runs:
            around = max(pad_width, 0)
            runs = [separator.join([left_pad] * around + row + [right_pad] * around)]
        made += runs
        ends.append(len(made))
    return string_array(made, [len(made)]), np.array(ends, data_splits.dtype)


def sharded_filename(basename: np.ndarray, shard: np.ndarray, num_shards: np.ndarray) -> np.ndarray:
    """The name of a shard: base-00001-of-00003."""
    return mapped_strings(lambda base, i, n: b"%s-%05d-of-%05d" % (base, i, n), basename, shard, num_shards)


def sharded_filespec(basename: np.ndarray, num_shards: np.ndarray) -> np.ndarray:
    """The pattern of all shards' names."""
    return mapped_strings(lambda base, n: b"%s-?????-of-%05d" % (base, n), basename, num_shards)


_NUMBER = re.compile(rb"\s*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity|nan(\(\w*\))?)\s*", re.IGNORECASE)
_HEXADECIMAL = re.compile(rb"\s*[+-]?0x([\da-f]+\.?[\da-f]*|\.[\da-f]+)(p[+-]?\d+)?\s*", re.IGNORECASE)
_INTEGER = re.compile(rb"\s*[+-]?\d+\s*")


def _integer(text: bytes, out: np.dtype) -> int | None:
    # Longer ones fit no type, and Python is slow to read them.
    if len(text) > 400 or _INTEGER.fullmatch(text) is None:
        return None
    value = int(text)
    return value if np.iinfo(out).min <= value <= np.iinfo(out).max else None


def _real(text: bytes) -> float | None:
    if _NUMBER.fullmatch(text):
        return float(text.partition(b"(")[0])
    try:
        return float.fromhex(text.decode()) if _HEXADECIMAL.fullmatch(text) else None
    except OverflowError:
        return -math.inf if b"-" in text else math.inf


def string_to_number(x: np.ndarray, *, out_type: DataType) -> np.ndarray:
    """The number that each string writes. Raises InvalidArgumentError for text that is none."""
    out = numpy_dtype(out_type)

    def number(text: bytes) -> float | int:
        value = _integer(text, out) if out.kind in "iu" else _real(text)
        if value is None:
            shown = text.decode(errors="replace")
            raise InvalidArgumentError(f"StringToNumberOp could not correctly convert string: {shown}")
        return value

    return np.array(each_string(number, x), out).reshape(x.shape)


REGISTRATIONS = (
    kernel("StringJoin", string_join),
    kernel("StringLower", _in_case(bytes.lower, str.lower)),
    kernel("StringUpper", _in_case(bytes.upper, str.upper)),
    kernel("StringStrip", string_strip),
    kernel("StringLength", string_length),
    kernel("Substr", substr, T=INDICES),
    kernel("StringSplit", string_split),
    kernel("StringSplitV2", string_split_v2),
    kernel("ReduceJoin", reduce_join),
    kernel("UnsortedSegmentJoin", unsorted_segment_join),
    kernel("StringNGrams", string_n_grams),
    kernel("ShardedFilename", sharded_filename),
    kernel("ShardedFilespec", sharded_filespec),
    kernel("StringToNumber", string_to_number),
)
