"""What the kernels of compiled/observation.py and weight_rounding.py take: no operator's, they quantize."""

from __future__ import annotations

import math

import numpy as np

from .compiled.language.target import target


def _block(addresses: str, counts: str) -> np.dtype:
    names = [*addresses.split(), *counts.split()]
    return np.dtype([*((name, np.int64) for name in names), ("low", np.float64), ("high", np.float64)])


# x is the address of float32 [rows, depth]. Rows are joined: `together` of them are one of the columns, whose
# extremes low and high (addresses of float32 [columns]) keep over all calls; sums are 0 while all is finite.
# With `apart` not 0 each call begins anew, and lowest and highest become those of x.
EXTREMES = np.dtype(
    [
        *((name, np.int64) for name in ("x", "rows", "depth", "together", "low", "high", "sums", "apart")),
        *((name, np.float32) for name in ("lowest", "highest")),
        ("wrong", np.int64),
    ]
)

# How many values are counted side by side.
COUNTERS = 4
# Each of `count` float32 values adds one to counts (int64 [COUNTERS, bins], whose sum counts) at
# floor(value * factor) - first.
HISTOGRAM = np.dtype(
    [*((name, np.int64) for name in ("x", "count", "counts", "bins", "first")), ("factor", np.float64)]
)

# x is float32 [outer, channels, inner], scales float64 [channels]; y, int8 as x, becomes the nearest of
# x / scale, halves away from zero, between low and high.
NEAREST = _block("x scales y", "outer channels inner")

# left, w and steps are float64 [columns, rows], factor float64 [columns, stride], of which what lies below
# the diagonal is read. From the last column to the first q, int8 [columns, rows], becomes the nearest of
# left / steps, halves to even, between low and high; errors, float64 [columns, rows], what w is more than
# that. Each column takes what those behind it ask of it, by the factor's column.
COLUMNS = _block("left w steps factor q errors", "columns rows stride")

# The status of extremes_f32 where a value is NaN or infinite (`wrong` is 1, too), of histogram_f32 where a
# bin is missing.
WRONG = 1


def rows_together(depth: int) -> int:
    """How many rows are joined, so that the columns fill vectors."""
    lanes = target().vector_bytes // 4
    count = lanes // math.gcd(depth, lanes)
    while count * depth < 4 * lanes:
        count *= 2
    return count
