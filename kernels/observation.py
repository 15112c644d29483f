"""What the kernels of compiled/observation.py take: no operator's, they look at tensors for quantization."""

from __future__ import annotations

import math

import numpy as np

from .compiled.language.target import target

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

# Each of `count` float32 values adds one to counts (int64 [bins]) at floor(value * factor) - first.
HISTOGRAM = np.dtype(
    [*((name, np.int64) for name in ("x", "count", "counts", "bins", "first")), ("factor", np.float64)]
)

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
