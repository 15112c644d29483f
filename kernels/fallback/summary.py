"""Summaries: serialized protocol buffers of what a graph tells about its values."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from google.protobuf.message import DecodeError

from ...lite.string_tensor import string_array
from ...schema.example import Summary
from .dtypes import REAL
from .each_string import scalar_string
from .half_precision import widened
from .registry import kernel
from .status import InvalidArgumentError

_LARGEST = float(np.finfo(np.float64).max)


@lru_cache(1)
def _limits() -> np.ndarray:
    """Upper ends of the buckets: 1e-12 and each a tenth more, up to 1e20, and the same below zero.

    Source: TensorFlow tensorflow/core/lib/histogram/histogram.cc.
    """
    above = []
    limit = 1e-12
    while limit < 1e20:
        above.append(limit)
        limit *= 1.1
    above.append(_LARGEST)
    return np.array([*(-value for value in reversed(above)), 0.0, *above])


def histogram_summary(tag: np.ndarray, values: np.ndarray) -> np.ndarray:
    """A Summary of one histogram of the values, which are finite: string []."""
    name = scalar_string(tag, "HistogramSummary: tag")
    wide = widened(values).astype(np.float64).reshape(-1)
    if not np.isfinite(wide).all():
        raise InvalidArgumentError(f"Nan in summary histogram for: {name.decode(errors='replace')}")
    summary = Summary()
    value = summary.value.add(tag=name.decode(errors="replace"))
    histogram, limits = value.histo, _limits()
    histogram.min = float(wide.min(initial=_LARGEST))
    histogram.max = float(wide.max(initial=-_LARGEST))
    histogram.num = float(len(wide))
    histogram.sum, histogram.sum_squares = _sums(wide)
    counts = np.bincount(np.searchsorted(limits, wide, "right"), minlength=len(limits))
    # Of empty buckets in a row only the last is kept.
    last = np.append(counts[1:] > 0, True)
    kept = (counts > 0) | last
    histogram.bucket_limit.extend(limits[kept].tolist())
    histogram.bucket.extend(counts[kept].astype(np.float64).tolist())
    return string_array([summary.SerializeToString(deterministic=True)], ())


def _sums(values: np.ndarray) -> tuple[float, float]:
    """The sum and the sum of squares, added from the first to the last."""
    total = squares = 0.0
    for value in values.tolist():
        total, squares = total + value, squares + value * value
    return total, squares


def scalar_summary(tags: np.ndarray, values: np.ndarray) -> np.ndarray:
    """A Summary of each value under its tag: string []."""
    if tags.shape != values.shape:
        message = f"tags and values must have one shape, got {list(tags.shape)} and {list(values.shape)}"
        raise InvalidArgumentError(f"ScalarSummary: {message}")
    summary = Summary()
    for tag, value in zip(tags.reshape(-1), widened(values).reshape(-1), strict=True):
        summary.value.add(tag=tag.decode(errors="replace"), simple_value=float(value))
    return string_array([summary.SerializeToString(deterministic=True)], ())


def merge_summary(inputs: list[np.ndarray]) -> np.ndarray:
    """One Summary of all values of the inputs; a tag may come once: string []."""
    merged = Summary()
    for content in (text for x in inputs for text in x.reshape(-1)):
        try:
            merged.MergeFrom(Summary.FromString(content))
        except DecodeError as error:
            raise InvalidArgumentError(f"Could not parse one of the summary inputs: {error}") from None
    tags = [value.tag for value in merged.value]
    twice = next((tag for tag in tags if tags.count(tag) > 1), None)
    if twice is not None:
        raise InvalidArgumentError(f"Duplicate tag {twice} found in summary inputs")
    return string_array([merged.SerializeToString(deterministic=True)], ())


REGISTRATIONS = (
    kernel("HistogramSummary", histogram_summary, T=REAL),
    kernel("ScalarSummary", scalar_summary, T=REAL),
    kernel("MergeSummary", merge_summary),
)
