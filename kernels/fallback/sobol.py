"""SobolSample: points that fill the unit cube evenly."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

import numpy as np

from ...lite.errors import UnsupportedError
from ...schema import graph_def
from .attributes import DataType
from .axis import scalar
from .dtypes import numpy_dtype
from .kernel import checked_shape
from .registry import kernel
from .status import InvalidArgumentError

_LAST = (1 << 31) - 1
_SINGLE_OR_DOUBLE = frozenset((graph_def.DT_FLOAT, graph_def.DT_DOUBLE))


@lru_cache(1)
def _table() -> list[list[int]]:
    """For each dimension from the second on: the inner coefficients of its polynomial over GF(2), as the
    bits of a number, and its first direction numbers, as many as the polynomial's degree.

    Source: Joe and Kuo, Constructing Sobol sequences with better two-dimensional projections (2008), D(6):
    read off the points that TensorFlow 2.21 gives, and checked by them.
    """
    text = resources.files(__package__).joinpath("sobol_directions.txt").read_text()
    return [[int(word) for word in line.split()] for line in text.splitlines()]


def _directions(dimension: int, bits: int) -> list[int]:
    """Direction numbers m of a dimension counted from 0: m[k] is odd and below 2^(k+1)."""
    if dimension == 0:
        return [1] * bits
    inner, *made = _table()[dimension - 1]
    degree = len(made)
    for k in range(degree, bits):
        value = made[k - degree] ^ made[k - degree] << degree
        for i in range(1, degree):
            if inner >> degree - 1 - i & 1:
                value ^= made[k - i] << i
        made.append(value)
    return made[:bits]


def sobol_sample(dim: np.ndarray, count: np.ndarray, skip: np.ndarray, *, dtype: DataType) -> np.ndarray:
    """Points of Sobol's sequence in [0, 1)^dim after the first skip + 1: [count, dim].

    Raises UnsupportedError for more dimensions than the table has.
    Source: Joe and Kuo, Notes on generating Sobol sequences (2008).
    """
    op = "SobolSample"
    dims, points, first = scalar(dim, "dim"), scalar(count, "num_results"), scalar(skip, "skip")
    if dims < 1 or points < 1 or first < 0 or points >= _LAST - first:
        message = f"dim and num_results must be at least 1 and skip at least 0, all below {_LAST}"
        raise InvalidArgumentError(f"{op}: {message}, got {dims}, {points} and {first}")
    if dims > len(_table()) + 1:
        raise UnsupportedError(f"{op}: at most {len(_table()) + 1} dimensions are built, got {dims}")
    out = numpy_dtype(dtype)
    shape = checked_shape((points, dims), np.dtype(np.int64))
    bits = (first + points).bit_length() + 1
    places = np.arange(first + 1, first + points + 1, dtype=np.int64)
    gray = places ^ places >> 1
    sums = np.zeros(shape, np.int64)
    for j in range(dims):
        for k, direction in enumerate(_directions(j, bits)):
            sums[:, j] ^= (gray >> k & 1) * (direction << bits - 1 - k)
    return (sums.astype(out) * out.type(0.5**bits)).astype(out)


REGISTRATIONS = (kernel("SobolSample", sobol_sample, dtype=_SINGLE_OR_DOUBLE),)
