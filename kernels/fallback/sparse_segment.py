"""Rows chosen by indices and combined by segment, as embeddings are looked up; and their gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .axis import rows_of, scalar
from .dtypes import FLOATS, REAL
from .gather import check_indices
from .half_precision import wide_type
from .kernel import checked_shape
from .registry import KernelRegistration, kernel
from .status import InvalidArgumentError


def _divisors(how: str, ids: np.ndarray, count: int) -> np.ndarray:
    """What each segment's sum is divided by."""
    rows = np.maximum(np.bincount(ids, minlength=count), 1).astype(np.float64)
    return {"Sum": np.ones(count), "Mean": rows, "SqrtN": np.sqrt(rows)}[how]


def _shaped(divisors: np.ndarray, rank: int) -> np.ndarray:
    return divisors.reshape(-1, *(1,) * (rank - 1))


def _checked(indices: np.ndarray, ids: np.ndarray) -> None:
    if indices.ndim != 1 or ids.shape != indices.shape:
        message = f"got {list(indices.shape)} and {list(ids.shape)}"
        raise InvalidArgumentError(f"indices and segment_ids must be vectors of one length, {message}")


def _combined(
    how: str, data: np.ndarray, indices: np.ndarray, ids: np.ndarray, count: int | None
) -> np.ndarray:
    _checked(indices, ids)
    if not data.ndim or np.any(ids[1:] < ids[:-1]) or np.any(ids < 0):
        raise InvalidArgumentError("data must have an axis, and segment ids must be 0 or more and not fall")
    check_indices(indices, len(data))
    last = int(ids[-1]) + 1 if len(ids) else 0
    if count is not None and (count < last or count < 0):
        raise InvalidArgumentError(f"segment ids must be below num_segments {count}, got {last - 1}")
    segments = last if count is None else count
    wide = wide_type(data.dtype)
    made = np.zeros(checked_shape([segments, *data.shape[1:]], data.dtype), wide)
    np.add.at(made, ids, data[indices].astype(wide))
    return (made / _shaped(_divisors(how, ids, segments), data.ndim)).astype(data.dtype)


def _forward(how: str) -> Callable[..., np.ndarray]:
    def combined(data: np.ndarray, indices: np.ndarray, segment_ids: np.ndarray) -> np.ndarray:
        return _combined(how, data, indices, segment_ids, None)

    combined.__doc__ = f"Rows data[indices] of each segment combined ({how}); ids rise."
    return combined


def _counted(how: str) -> Callable[..., np.ndarray]:
    def combined(
        data: np.ndarray, indices: np.ndarray, segment_ids: np.ndarray, num_segments: np.ndarray
    ) -> np.ndarray:
        return _combined(how, data, indices, segment_ids, scalar(num_segments, "num_segments"))

    combined.__doc__ = f"Rows data[indices] of each of num_segments segments combined ({how}); ids rise."
    return combined


def _spread(how: str, grad: np.ndarray, indices: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """The gradient of every chosen row."""
    _checked(indices, ids)
    check_indices(ids, rows_of(grad, "grad"), "segment_ids")
    return np.asarray(grad.astype(np.float64) / _shaped(_divisors(how, ids, len(grad)), grad.ndim))[ids]


def _backward(how: str) -> Callable[..., np.ndarray]:
    def gradient(
        grad: np.ndarray, indices: np.ndarray, segment_ids: np.ndarray, output_dim0: np.ndarray
    ) -> np.ndarray:
        rows = scalar(output_dim0, "output_dim0")
        check_indices(indices, max(rows, 0))
        made = np.zeros(checked_shape([rows, *grad.shape[1:]], grad.dtype))
        np.add.at(made, indices, _spread(how, grad, indices, segment_ids))
        return made.astype(grad.dtype)

    gradient.__doc__ = f"Gradient by data, of output_dim0 rows ({how})."
    return gradient


def _backward_sparse(how: str) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    def gradient(
        grad: np.ndarray, indices: np.ndarray, segment_ids: np.ndarray, dense_output_dim0: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        check_indices(indices, max(scalar(dense_output_dim0, "dense_output_dim0"), 0))
        rows, which = np.unique(indices, return_inverse=True)
        made = np.zeros(checked_shape([len(rows), *grad.shape[1:]], grad.dtype))
        np.add.at(made, which.reshape(-1), _spread(how, grad, indices, segment_ids))
        return made.astype(grad.dtype), rows

    gradient.__doc__ = f"Gradient by the rows of data that were chosen, and which they are ({how})."
    return gradient


def _kernels(how: str) -> list[KernelRegistration]:
    types = REAL if how == "Sum" else FLOATS
    return [
        kernel(f"SparseSegment{how}", _forward(how), T=types),
        kernel(f"SparseSegment{how}WithNumSegments", _counted(how), T=types),
        kernel(f"SparseSegment{how}Grad", _backward(how), T=FLOATS),
        kernel(f"SparseSegment{how}GradV2", _backward_sparse(how), T=FLOATS),
    ]


REGISTRATIONS = tuple(made for how in ("Sum", "Mean", "SqrtN") for made in _kernels(how))
