"""Counts of values, and which bucket each belongs to."""

from __future__ import annotations

import numpy as np

from .attributes import DataType
from .axis import scalar
from .dtypes import INDICES, NUMBERS, PLAIN, REAL, numpy_dtype
from .half_precision import widened
from .kernel import checked_shape
from .registry import kernel
from .status import InvalidArgumentError


def bincount(arr: np.ndarray, size: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """How often each of 0 to size - 1 comes in arr, or the sum of its weights; larger ones are left out."""
    bins = scalar(size, "size")
    if bins < 0 or np.any(arr < 0):
        raise InvalidArgumentError("Bincount: size and values must not be negative")
    if weights.size and weights.shape != arr.shape:
        message = f"weights must be empty or {list(arr.shape)}, got {list(weights.shape)}"
        raise InvalidArgumentError(f"Bincount: {message}")
    return _counted(arr.reshape(-1), weights.reshape(-1), bins, False)


def _counted(values: np.ndarray, weights: np.ndarray, bins: int, binary: bool) -> np.ndarray:
    checked_shape([bins], weights.dtype)
    made = np.zeros(bins, weights.dtype)
    kept = values < bins
    if binary:
        made[values[kept]] = 1
    elif weights.size:
        np.add.at(made, values[kept], weights[kept])
    else:
        made += np.bincount(values[kept], minlength=bins).astype(weights.dtype)
    return made


def dense_bincount(
    values: np.ndarray, size: np.ndarray, weights: np.ndarray, *, binary_output: bool
) -> np.ndarray:
    """bincount of a vector, or of each row of a matrix; with binary_output whether each comes: 0 or 1."""
    bins = scalar(size, "size")
    if values.ndim > 2 or bins < 0 or np.any(values < 0):
        message = "values must be a vector or matrix of 0 or more, and size 0 or more"
        raise InvalidArgumentError(f"DenseBincount: {message}")
    if weights.size and weights.shape != values.shape:
        message = f"weights must be empty or {list(values.shape)}, got {list(weights.shape)}"
        raise InvalidArgumentError(f"DenseBincount: {message}")
    if values.ndim < 2:
        return _counted(values.reshape(-1), weights.reshape(-1), bins, binary_output)
    checked_shape([len(values), bins], weights.dtype)
    made = np.zeros((len(values), bins), weights.dtype)
    for row, part in enumerate(values):
        made[row] = _counted(part, weights[row] if weights.size else weights, bins, binary_output)
    return made


def histogram_fixed_width(
    values: np.ndarray, value_range: np.ndarray, nbins: np.ndarray, *, dtype: DataType
) -> np.ndarray:
    """How many values fall into each of nbins equal parts of value_range, [low, high].

    What is outside counts in the first or last, and anything in the only one.
    Source: TensorFlow tensorflow/core/kernels/histogram_op.cc, HistogramFixedWidthFunctor.
    """
    bins = scalar(nbins, "nbins")
    if bins < 1 or value_range.shape != (2,) or not value_range[0] < value_range[1]:
        message = f"must have nbins of 1 or more and a range [low, high], got {bins}"
        raise InvalidArgumentError(f"HistogramFixedWidth: {message} and {value_range.tolist()}")
    checked_shape([bins], np.dtype(np.int64))
    if bins == 1:
        return np.array([values.size], numpy_dtype(dtype))
    low, high = (float(v) for v in value_range)
    step = high / bins - low / bins
    with np.errstate(invalid="ignore"):
        places = (np.clip(values.reshape(-1).astype(np.float64), low, high) - low) / step
    if np.any(np.isnan(places)):
        raise InvalidArgumentError("HistogramFixedWidth: values and their places must not be NaN")
    places = np.minimum(places, bins - 1).astype(np.int64)
    return np.bincount(places, minlength=bins).astype(numpy_dtype(dtype))


def bucketize(x: np.ndarray, *, boundaries: list[float]) -> np.ndarray:
    """How many of the rising boundaries each element has reached: int32 of x's shape."""
    if sorted(boundaries) != boundaries:
        raise InvalidArgumentError("Bucketize: expected sorted boundaries")
    bounds = np.array(boundaries, np.float32)
    wide = x.astype(np.float64) if x.dtype.kind == "i" else x
    return np.asarray(np.searchsorted(bounds, wide, "right")).astype(np.int32)


def _bound(side: str, sorted_inputs: np.ndarray, values: np.ndarray, out: np.dtype) -> np.ndarray:
    if sorted_inputs.ndim != 2 or values.ndim != 2 or len(sorted_inputs) != len(values):
        message = f"must have matrices of as many rows, got {list(sorted_inputs.shape)}"
        raise InvalidArgumentError(f"{message} and {list(values.shape)}")
    made = np.empty(values.shape, out)
    for row, (rising, wanted) in enumerate(zip(sorted_inputs, values, strict=True)):
        made[row] = _halved(side, widened(rising), widened(wanted))
    return made


def _halved(side: str, rising: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The places by halving what is left, which tells places in rows that do not rise, too.

    Source: std::lower_bound and std::upper_bound, with which TensorFlow looks.
    """
    first = np.zeros(wanted.shape, np.int64)
    count = np.full(wanted.shape, len(rising), np.int64)
    while np.any(count):
        half = count // 2
        met = rising[np.minimum(first + half, len(rising) - 1)]
        beyond = (met < wanted if side == "left" else ~(wanted < met)) & (count > 0)
        first = np.where(beyond, first + half + 1, first)
        count = np.where(beyond, count - half - 1, half)
    return first


def lower_bound(sorted_inputs: np.ndarray, values: np.ndarray, *, out_type: DataType) -> np.ndarray:
    """For each value the first place in its row of sorted_inputs whose element is not less."""
    return _bound("left", sorted_inputs, values, numpy_dtype(out_type))


def upper_bound(sorted_inputs: np.ndarray, values: np.ndarray, *, out_type: DataType) -> np.ndarray:
    """For each value the first place in its row of sorted_inputs whose element is greater."""
    return _bound("right", sorted_inputs, values, numpy_dtype(out_type))


REGISTRATIONS = (
    kernel("Bincount", bincount, T=NUMBERS),
    kernel("DenseBincount", dense_bincount, T=NUMBERS, Tidx=INDICES),
    kernel("HistogramFixedWidth", histogram_fixed_width, T=REAL, dtype=INDICES),
    kernel("Bucketize", bucketize, T=REAL),
    kernel("LowerBound", lower_bound, T=PLAIN, out_type=INDICES),
    kernel("UpperBound", upper_bound, T=PLAIN, out_type=INDICES),
)
