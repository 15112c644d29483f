"""Reductions over rows of one segment: segments are named by ids along the first axes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .axis import scalar
from .dtypes import INDICES, NUMBERS, REAL, SIGNED
from .half_precision import PACKET, wide_type
from .kernel import checked_shape
from .registry import KernelRegistration, kernel
from .status import InvalidArgumentError

# When a row leaves what a segment holds. A NaN is neither less nor greater: the last one replaces what
# was before it, and is replaced by what follows, as in Eigen's reducers of single elements.
_KEEPS: dict[np.ufunc, np.ufunc] = {np.maximum: np.greater, np.minimum: np.less}


def _extreme(dtype: np.dtype, largest: bool) -> int | float:
    """The type's largest or least finite number."""
    if dtype.kind in "iu":
        integers = np.iinfo(dtype)
        return integers.max if largest else integers.min
    if dtype.kind == "f":
        return float(np.finfo(dtype).max if largest else np.finfo(dtype).min)
    # bfloat16 has float32's exponents and 7 bits of mantissa.
    most = (2 - 2.0**-7) * 2.0**127
    return most if largest else -most


def _reduced(data: np.ndarray, ids: np.ndarray, count: int, ufunc: np.ufunc, start: object) -> np.ndarray:
    """Rows of data combined by id, 16-bit floats in float32; segments without rows keep start."""
    wide = wide_type(data.dtype)
    made = np.full((count, *data.shape[1:]), start, wide)
    rows = data.astype(wide, copy=False)
    if ufunc in _KEEPS and wide.kind == "f" and np.isnan(rows).any():
        for segment, row in zip(ids, rows, strict=True):
            made[segment] = np.where(_KEEPS[ufunc](made[segment], row), made[segment], row)
    else:
        ufunc.at(made, ids, rows)
    return made.astype(data.dtype)


def _sorted_ids(data: np.ndarray, ids: np.ndarray) -> int:
    """How many segments there are; InvalidArgumentError unless there is a rising id for every row."""
    if ids.ndim != 1 or not data.ndim or len(ids) != len(data):
        message = f"segment_ids must be one for each row of {list(data.shape)}"
        raise InvalidArgumentError(f"{message}, got {list(ids.shape)}")
    if not len(ids):
        return 0
    if ids[0] < 0 or np.any(ids[1:] < ids[:-1]):
        raise InvalidArgumentError("segment ids must be 0 or more and must not fall")
    checked_shape([int(ids[-1]) + 1, *data.shape[1:]], data.dtype)
    return int(ids[-1]) + 1


def _numbers(data: np.ndarray, ids: np.ndarray, start: int | float) -> np.ndarray:
    """data, with start for each NaN in columns of whole packets, but in rows that are a segment's only one.

    Eigen's packets pass over a NaN; only rows of several are reduced.
    Source: TensorFlow tensorflow/core/kernels/segment_reduction_ops_impl.h, SegmentReductionOp.
    """
    if data.dtype.kind in "iu" or not data.size:
        return data
    columns = data.reshape(len(data), -1)
    packet = PACKET if data.dtype.itemsize < 8 else PACKET // 2
    hidden = np.isnan(columns) & (np.bincount(ids)[ids] > 1)[:, np.newaxis]
    hidden[:, columns.shape[1] // packet * packet :] = False
    return np.where(hidden, data.dtype.type(start), columns).reshape(data.shape) if hidden.any() else data


def _sorted(ufunc: np.ufunc, start: int) -> Callable[..., np.ndarray]:
    def reduced(data: np.ndarray, segment_ids: np.ndarray) -> np.ndarray:
        count = _sorted_ids(data, segment_ids)
        if ufunc in (np.maximum, np.minimum):
            largest = ufunc is np.minimum
            endless = np.inf if largest else -np.inf
            first = _extreme(data.dtype, largest) if data.dtype.kind in "iu" else endless
            made = _reduced(_numbers(data, segment_ids, first), segment_ids, count, ufunc, first)
            made[np.setdiff1d(np.arange(count), segment_ids)] = start
            return made
        return _reduced(data, segment_ids, count, ufunc, start)

    reduced.__doc__ = f"Rows of each segment combined by {ufunc.__name__}; ids rise; {start} for no rows."
    return reduced


def segment_mean(data: np.ndarray, segment_ids: np.ndarray) -> np.ndarray:
    """The mean of each segment's rows, 0 for no rows; ids rise."""
    count = _sorted_ids(data, segment_ids)
    wide = wide_type(data.dtype)
    total = _reduced(data.astype(wide), segment_ids, count, np.add, 0)
    rows = np.maximum(np.bincount(segment_ids, minlength=count), 1)
    rows = rows.reshape(-1, *(1,) * (data.ndim - 1))
    if data.dtype.kind in "iu":
        return (np.sign(total) * (np.abs(total) // rows.astype(total.dtype))).astype(data.dtype)
    return (total / rows.astype(wide)).astype(data.dtype)


def _unsorted(ufunc: np.ufunc, start: Callable[[np.dtype], object]) -> Callable[..., np.ndarray]:
    def reduced(data: np.ndarray, segment_ids: np.ndarray, num_segments: np.ndarray) -> np.ndarray:
        count = scalar(num_segments, "num_segments")
        ids = segment_ids
        if ids.shape != data.shape[: ids.ndim]:
            message = f"segment_ids {list(ids.shape)} must be the first axes of {list(data.shape)}"
            raise InvalidArgumentError(message)
        if count < 0 or np.any(ids >= count):
            wrong = int(ids.max(initial=0))
            raise InvalidArgumentError(f"segment ids must be below num_segments {count}, got {wrong}")
        checked_shape([count, *data.shape[ids.ndim :]], data.dtype)
        rows = data.reshape(ids.size, *data.shape[ids.ndim :])
        # Rows of a negative id belong nowhere.
        flat = ids.reshape(-1)
        return _reduced(rows[flat >= 0], flat[flat >= 0], count, ufunc, start(data.dtype))

    reduced.__doc__ = f"Rows of each of num_segments segments combined by {ufunc.__name__}, in any order."
    return reduced


def _unsorted_kernels() -> list[KernelRegistration]:
    made = []
    for name, ufunc, start, types in (
        ("Sum", np.add, lambda dtype: 0, NUMBERS),
        ("Prod", np.multiply, lambda dtype: 1, NUMBERS),
        ("Max", np.maximum, lambda dtype: _extreme(dtype, False), REAL),
        ("Min", np.minimum, lambda dtype: _extreme(dtype, True), REAL),
    ):
        reduced = _unsorted(ufunc, start)
        made.append(kernel(f"UnsortedSegment{name}", reduced, T=types, Tindices=SIGNED))
    return made


REGISTRATIONS = (
    kernel("SegmentSum", _sorted(np.add, 0), T=NUMBERS, Tindices=INDICES),
    kernel("SegmentProd", _sorted(np.multiply, 1), T=NUMBERS, Tindices=INDICES),
    kernel("SegmentMax", _sorted(np.maximum, 0), T=REAL, Tindices=INDICES),
    kernel("SegmentMin", _sorted(np.minimum, 0), T=REAL, Tindices=INDICES),
    kernel("SegmentMean", segment_mean, T=NUMBERS, Tindices=INDICES),
    *_unsorted_kernels(),
)
