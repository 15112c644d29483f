"""The bytes of a string tensor: a count, the offsets of the strings, the strings."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .available_memory import check_room
from .errors import StateError

if TYPE_CHECKING:
    from .tensor import Tensor

# Of a string, beside its characters, while kernels move it: an object, and where it is and goes.
OBJECT_BYTES = 100
_MOST_BYTES = (1 << 31) - 1  # offsets are int32


def pack_strings(strings: Sequence[bytes]) -> np.ndarray:
    """The tensor's bytes (flat uint8): int32 count, int32 offsets [count + 1], the characters.

    StateError when they are more than a string tensor can hold, PrepareError when the machine has
    no room for them.
    """
    offsets = np.zeros(len(strings) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, strings), np.int64, len(strings)), out=offsets[1:])
    data, characters = _with_header(offsets)
    characters[:] = np.frombuffer(b"".join(strings), np.uint8)
    return data


def repeat_string(text: bytes, count: int) -> np.ndarray:
    """What pack_strings gives of one string so many times, without a list of them."""
    _check_total(count, count * len(text))
    data, characters = _with_header(np.arange(count + 1, dtype=np.int64) * len(text))
    if text:
        characters.reshape(count, len(text))[:] = np.frombuffer(text, np.uint8)
    return data


def strings_of(tensor: Tensor) -> list[bytes]:
    """The strings of a string tensor, as many as it has elements.

    StateError while it has no value, PrepareError when the machine has no room for so many objects.
    """
    if tensor.data is None:
        if tensor.size:
            raise StateError(f"tensor {tensor!r}: it is read, but nothing gives it a value")
        return []
    check_room(OBJECT_BYTES * tensor.size + len(tensor.data))
    offsets = _offsets(tensor.data, tensor.size).tolist()
    raw = tensor.data.tobytes()
    return [raw[a:b] for a, b in itertools.pairwise(offsets)]


def string_array(strings: Sequence[bytes], shape: Sequence[int]) -> np.ndarray:
    """The strings as an array of bytes objects of the shape."""
    array = np.empty(len(strings), object)
    array[:] = strings
    return array.reshape(tuple(shape))


def check_strings(data: np.ndarray, count: int) -> None:
    """StateError unless the bytes (flat uint8) are a string tensor's with so many strings."""
    _offsets(data, count)


def _offsets(data: np.ndarray, count: int) -> np.ndarray:
    """Where the strings begin and the last one ends, proved to lie in the data: int32 [count + 1]."""
    if data.dtype != np.uint8 or data.ndim != 1:
        raise StateError(f"its strings must be flat uint8, got {data.dtype} of {data.ndim} dimensions")
    if not count and not data.size:
        return np.zeros(1, np.int32)
    held = int.from_bytes(data[:4].tobytes(), "little", signed=True)
    if data.size < 4 or held != count:
        said = f"{data.size} bytes" if data.size < 4 else f"a header that says {held}"
        raise StateError(f"it must hold {count} strings, got {said}")
    if 4 * (count + 2) > data.size:
        raise StateError(f"the header of {count} strings must fit, got {data.size} bytes")
    offsets = np.frombuffer(data[4 : 4 * (count + 2)].tobytes(), "<i4")
    if offsets[0] < 0 or offsets[-1] > data.size or (offsets[1:] < offsets[:-1]).any():
        raise StateError(f"the offsets of its strings must rise and stay under {data.size}")
    return offsets


def _with_header(starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bytes for strings that start there among the characters (int64, with the end), and their last part.

    The header is written, the characters are not.
    """
    count, characters = len(starts) - 1, int(starts[-1])
    _check_total(count, characters)
    data = np.empty(4 * (count + 2) + characters, np.uint8)
    header = data[: 4 * (count + 2)].view("<i4")
    header[0] = count
    header[1:] = starts + 4 * (count + 2)
    return data, data[4 * (count + 2) :]


def _check_total(count: int, characters: int) -> None:
    nbytes = 4 * (count + 2) + characters
    if nbytes > _MOST_BYTES:
        raise StateError(f"string tensor: it must take less than 2 GB, got {nbytes} bytes")
    check_room(2 * nbytes + 8 * count)  # the characters once more, and the offsets as int64
