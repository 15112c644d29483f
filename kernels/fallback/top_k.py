"""The largest elements of rows, and whether a target is among them. Rows are along the last axis."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from .attributes import DataType
from .axis import axis_of, scalar
from .dtypes import FLOATS, INDICES, REAL, numpy_dtype
from .half_precision import widened
from .registry import kernel
from .status import InvalidArgumentError


def _descending(x: np.ndarray) -> np.ndarray:
    """Places from the largest to the smallest of each row; equals in their order; NaNs come first."""
    count = x.shape[-1]
    ascending = np.argsort(x[..., ::-1], axis=-1, kind="stable")
    return count - 1 - ascending[..., ::-1]


def _top_k(x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    if not x.ndim or not 0 <= k <= x.shape[-1]:
        message = f"input must have at least k columns, got k = {k} of {list(x.shape)}"
        raise InvalidArgumentError(message)
    places = _descending(widened(x))[..., :k]
    return np.take_along_axis(x, places, -1), places.astype(np.int32)


def _as_a_heap(row: list[float], k: int) -> list[int]:
    """Places of the k largest as a heap holds them that has seen the row, the least at its top.

    Source: TensorFlow tensorflow/core/lib/gtl/top_n.h; the heap is the C++ library's, which Python's equals.
    """
    ranked = [(value, -place) for place, value in enumerate(row)]
    heap = ranked[: k + 1]
    heapify(heap)
    heappop(heap)
    for candidate in ranked[k + 1 :]:
        if candidate > heap[0]:
            heappop(heap)
            heappush(heap, candidate)
    return [-place for _, place in heap]


def top_k(x: np.ndarray, *, k: int, sorted: bool) -> tuple[np.ndarray, np.ndarray]:
    """The k largest of each row and their places: from the largest on, or as a heap has them."""
    values, places = _top_k(x, k)
    if sorted or not 1 < k < x.shape[-1] or not x.size:
        return values, places
    rows = widened(x).reshape(-1, x.shape[-1]).tolist()
    places = np.array([_as_a_heap(row, k) for row in rows], np.int32).reshape(places.shape)
    return np.take_along_axis(x, places, -1), places


def top_k_v2(
    x: np.ndarray, k: np.ndarray, *, sorted: bool, index_type: DataType
) -> tuple[np.ndarray, np.ndarray]:
    """TopK, k being a tensor."""
    values, places = top_k(x, k=scalar(k, "k"), sorted=sorted)
    return values, places.astype(numpy_dtype(index_type))


def approx_top_k(
    x: np.ndarray, *, k: int, reduction_dimension: int, is_max_k: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The k largest (or smallest) along an axis and their places: exactly, on a CPU."""
    along = axis_of(reduction_dimension, x.ndim, "reduction_dimension")
    held = np.moveaxis(x, along, -1)
    if not 0 <= k <= held.shape[-1]:
        raise InvalidArgumentError(f"ApproxTopK: k must be at most {held.shape[-1]}, got {k}")
    wide = widened(held)
    order = _descending(wide) if is_max_k else np.argsort(wide, axis=-1, kind="stable")
    places = order[..., :k]
    values = np.take_along_axis(held, places, -1)
    return np.moveaxis(values, -1, along), np.moveaxis(places, -1, along).astype(np.int32)


def nth_element(x: np.ndarray, n: np.ndarray, *, reverse: bool) -> np.ndarray:
    """The element of each row with n smaller (reverse: larger) ones."""
    place = scalar(n, "n")
    if not x.ndim or not 0 <= place < x.shape[-1]:
        raise InvalidArgumentError(f"NthElement: n must be in [0, {x.shape[-1:]}), got {place}")
    if reverse:
        place = x.shape[-1] - 1 - place
    return np.asarray(np.sort(widened(x), axis=-1)[..., place]).astype(x.dtype)


def _in_top_k(predictions: np.ndarray, targets: np.ndarray, k: int) -> np.ndarray:
    """Whether each row's target is among its k largest: fewer than k are larger, and all finite.

    Source: TensorFlow tensorflow/core/kernels/in_topk_op.h.
    """
    if predictions.ndim != 2 or targets.shape != predictions.shape[:1]:
        message = f"predictions must be [batch, classes] and targets [batch], got {list(predictions.shape)}"
        raise InvalidArgumentError(f"{message} and {list(targets.shape)}")
    classes = predictions.shape[1]
    valid = (targets >= 0) & (targets < classes)
    at = np.where(valid, targets, 0)
    target = predictions[np.arange(len(targets)), at] if classes else np.zeros(len(targets), np.float32)
    larger = predictions > target[:, None]
    # The search ends at k larger ones: what is not finite counts only before that.
    before = np.cumsum(larger, -1) - larger < k
    poisoned = (~np.isfinite(predictions) & before).any(-1)
    good: np.ndarray = valid & np.isfinite(target) & ~poisoned & (larger.sum(-1) < k)
    return good


def in_top_k(predictions: np.ndarray, targets: np.ndarray, *, k: int) -> np.ndarray:
    """Whether each row's target is among its k largest: bool [batch]."""
    return _in_top_k(predictions, targets, k)


def in_top_k_v2(predictions: np.ndarray, targets: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Whether each row's target is among its k largest: bool [batch]."""
    return _in_top_k(predictions, targets, scalar(k, "k"))


REGISTRATIONS = (
    kernel("TopK", top_k, T=REAL),
    kernel("TopKV2", top_k_v2, T=REAL),
    kernel("ApproxTopK", approx_top_k, T=FLOATS),
    kernel("NthElement", nth_element, T=REAL),
    kernel("InTopK", in_top_k, T=INDICES),
    kernel("InTopKV2", in_top_k_v2, T=INDICES),
)
