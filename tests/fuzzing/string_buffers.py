"""The bytes of string tensors, good and forged."""

from __future__ import annotations

import random

import numpy as np
from numlite.lite.string_tensor import pack_strings

_TEXTS = (b"", b"a", b"bc", b"a longer one with words in it", b"\0\xff", b"12", b"x" * 300)


def string_buffer(count: int, draw: random.Random, forged: float = 0.3) -> bytes:
    """Bytes of so many strings; sometimes such as say something else."""
    data = bytearray(pack_strings([draw.choice(_TEXTS) for _ in range(count)]).tobytes())
    if draw.random() >= forged:
        return bytes(data)
    how = draw.choice(("count", "offset", "word", "cut", "zeros", "noise", "longer"))
    if how == "count":
        odd = (0, 1, count - 1, count + 1, -1, 2**31 - 1, -(2**31), len(data) // 4)
        data[:4] = np.array([draw.choice(odd)], np.int64).astype("<i4").tobytes()
    elif how in ("offset", "word"):
        words = min(count + 2, len(data) // 4) if how == "offset" else len(data) // 4
        at = 4 * draw.randrange(max(words, 1))
        odd = (0, 4, 8, len(data), len(data) + 1, -1, 2**31 - 1, draw.randrange(len(data) + 1))
        data[at : at + 4] = np.array([draw.choice(odd)], np.int64).astype("<i4").tobytes()
    elif how == "cut":
        del data[draw.randrange(len(data)) :]
    elif how == "zeros":
        data = bytearray(draw.choice((1, 3, 4, 8, 4 * count, len(data))))
    elif how == "noise":
        data = bytearray(draw.randbytes(len(data)))
    else:
        data += bytes(draw.choice((1, 4, 100)))
    return bytes(data)
