"""Places of elements: where they are not zero, in which row of a table, at which flat index."""

from __future__ import annotations

from math import prod

import numpy as np

from .attributes import DataType
from .axis import vector
from .dtypes import BOOL, INDICES, NUMBERS, PLAIN, numpy_dtype
from .gather import check_indices
from .registry import kernel
from .status import InvalidArgumentError
from .unique import keys_of


def where(x: np.ndarray) -> np.ndarray:
    """Places of the elements that are not zero: int64 [found, rank], in order."""
    if not x.ndim:
        raise InvalidArgumentError("Where: input must have an axis, got a scalar")
    return np.argwhere(x).astype(np.int64)


def unravel_index(indices: np.ndarray, dims: np.ndarray) -> np.ndarray:
    """Flat indices as places in a tensor of sizes dims: [rank, indices' size], or [rank] of a scalar.

    Negative ones are places below 0, as C divides.
    Source: TensorFlow tensorflow/core/kernels/unravel_index_op.cc.
    """
    sizes = vector(dims, "UnravelIndex: dims")
    if any(size < 1 for size in sizes):
        raise InvalidArgumentError(f"UnravelIndex: dims must be 1 or more, got {list(sizes)}")
    if indices.ndim > 1:
        message = f"indices must be a scalar or a vector, got {list(indices.shape)}"
        raise InvalidArgumentError(f"UnravelIndex: {message}")
    check_indices(np.maximum(indices, 0), prod(sizes))
    places = []
    for axis, size in enumerate(sizes):
        inner = prod(sizes[axis + 1 :])
        rest = np.fmod(indices.astype(np.int64), size * inner)
        places.append((rest - np.fmod(rest, inner)) // inner)
    return np.array(places).reshape(len(sizes), *indices.shape).astype(indices.dtype)


def list_diff(x: np.ndarray, y: np.ndarray, *, out_idx: DataType) -> tuple[np.ndarray, np.ndarray]:
    """Elements of x that are not in y, and their places in x; both are vectors."""
    if x.ndim != 1 or y.ndim != 1:
        raise InvalidArgumentError(f"ListDiff: must have vectors, got {list(x.shape)} and {list(y.shape)}")
    wanted, left_out = (v.tolist() if v.dtype == object else keys_of(v[:, None]) for v in (x, y))
    known = set(left_out)
    places = [i for i, value in enumerate(wanted) if value not in known]
    kept = np.array(places, numpy_dtype(out_idx))
    return x[kept], kept


REGISTRATIONS = (
    kernel("Where", where, T=NUMBERS | BOOL),
    kernel("UnravelIndex", unravel_index, Tidx=INDICES),
    kernel("ListDiff", list_diff, T=PLAIN, out_idx=INDICES),
)
