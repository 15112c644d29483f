"""The bytes of a string tensor: a count, the offsets of the strings, the strings."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .errors import StateError


def pack_strings(strings: list[bytes]) -> np.ndarray:
    """The tensor's bytes (flat uint8): int32 count, int32 offsets [count + 1], the characters."""
    lengths = np.array([0, *(len(s) for s in strings)], np.int64)
    offsets = lengths.cumsum() + 4 * (len(strings) + 2)
    if offsets[-1] >= 1 << 31:
        raise StateError(f"string tensor: it must take less than 2 GB, got {offsets[-1]} bytes")
    header = np.array([len(strings), *offsets], "<i4").tobytes()
    return np.frombuffer(bytearray(header + b"".join(strings)), np.uint8)


def unpack_strings(data: np.ndarray) -> list[bytes]:
    """The strings; StateError when the offsets point outside of the data."""
    raw = data.tobytes()
    count = int.from_bytes(raw[:4], "little", signed=True)
    if len(raw) < 4 or count < 0 or 4 * (count + 2) > len(raw):
        raise StateError(f"string tensor: its header says {count} strings in {len(raw)} bytes")
    offsets = np.frombuffer(raw, "<i4", count + 1, 4).tolist()
    if any(b < a for a, b in pairwise([0, *offsets, len(raw)])):
        raise StateError(f"string tensor: its offsets must rise and stay under {len(raw)}")
    return [raw[a:b] for a, b in pairwise(offsets)]
