"""Arithmetic and reductions of sparse tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .axis import axis_of, integers, matrix
from .binary import div
from .dtypes import FLOATS, NUMBERS, REAL
from .kernel import checked_shape
from .registry import kernel
from .sparse_tensor import SparseTensor
from .status import InvalidArgumentError

Parts = tuple[np.ndarray, np.ndarray, np.ndarray]


class _Union(NamedTuple):
    """Flat places of two tensors, both tensors' elements there (zero for none), and where both have one."""

    places: np.ndarray
    left: np.ndarray
    right: np.ndarray
    in_both: np.ndarray


def _union(a: SparseTensor, b: SparseTensor) -> _Union:
    """As a merge of the two meets them, whose places should ascend."""
    if a.shape != b.shape:
        raise InvalidArgumentError(f"a and b must have one shape, got {list(a.shape)} and {list(b.shape)}")
    left, right = a.flat(), b.flat()
    ascend = all(np.all(np.diff(flat) > 0) for flat in (left, right))
    places, of_left, of_right = (_joined if ascend else _merged)(left, right)
    in_left, in_right = of_left >= 0, of_right >= 0
    values = [np.zeros(len(places), a.values.dtype) for _ in range(2)]
    values[0][in_left] = a.values[of_left[in_left]]
    values[1][in_right] = b.values[of_right[in_right]]
    return _Union(places, values[0], values[1], in_left & in_right)


def _joined(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All places, each once, and which of either's they are, -1 for none; both ascend."""
    places = np.union1d(left, right)
    found = [np.full(len(places), -1) for _ in range(2)]
    for which, own in zip(found, (left, right), strict=True):
        which[np.searchsorted(places, own)] = np.arange(len(own))
    return places, found[0], found[1]


def _merged(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """_joined() of any order: the smaller one of what comes next in either is next."""
    met: list[tuple[int, int, int]] = []
    one, other, i, j = left.tolist(), right.tolist(), 0, 0
    while i < len(one) or j < len(other):
        takes_left = j == len(other) or (i < len(one) and one[i] <= other[j])
        takes_right = i == len(one) or (j < len(other) and other[j] <= one[i])
        place = one[i] if takes_left else other[j]
        met.append((place, i if takes_left else -1, j if takes_right else -1))
        i, j = i + takes_left, j + takes_right
    places, of_left, of_right = np.array(met, np.int64).reshape(-1, 3).T
    return places, of_left, of_right


def sparse_add(
    a_indices: np.ndarray,
    a_values: np.ndarray,
    a_shape: np.ndarray,
    b_indices: np.ndarray,
    b_values: np.ndarray,
    b_shape: np.ndarray,
    thresh: np.ndarray,
) -> Parts:
    """a + b; sums of two elements that are smaller than thresh are left out, single ones never."""
    a, b = SparseTensor.of(a_indices, a_values, a_shape), SparseTensor.of(b_indices, b_values, b_shape)
    places, left, right, in_both = _union(a, b)
    total = left + right
    if thresh.ndim:
        raise InvalidArgumentError(f"SparseAdd: thresh must be a scalar, got {list(thresh.shape)}")
    kept = (np.abs(total) >= thresh[()]) | ~in_both
    return SparseTensor.of_flat(places[kept], total[kept], a.shape).parts()


def sparse_add_grad(
    backprop_val_grad: np.ndarray, a_indices: np.ndarray, b_indices: np.ndarray, sum_indices: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gradients by the values of a and of b: the sum's at the same places, zero where it has none.

    All three should ascend; they are gone through once.
    Source: TensorFlow tensorflow/core/kernels/sparse_add_grad_op.cc.
    """
    for rows in (a_indices, b_indices, sum_indices):
        matrix(rows, "indices")
    if backprop_val_grad.shape != (len(sum_indices),):
        message = f"must be one for each of {len(sum_indices)} sums, got {list(backprop_val_grad.shape)}"
        raise InvalidArgumentError(f"SparseAddGrad: gradients {message}")
    sums = sum_indices.tolist()
    parts = [rows.tolist() for rows in (a_indices, b_indices)]
    found = [np.zeros(len(rows), backprop_val_grad.dtype) for rows in parts]
    at, k = [0, 0], 0
    while k < len(sums) and any(i < len(rows) for i, rows in zip(at, parts, strict=True)):
        passed = True
        for part, rows in enumerate(parts):
            if at[part] == len(rows) or rows[at[part]] > sums[k]:
                continue
            if rows[at[part]] == sums[k]:
                found[part][at[part]] = backprop_val_grad[k]
            else:
                passed = False
            at[part] += 1
        k += passed
    return found[0], found[1]


def _extreme(ufunc: np.ufunc) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    def combined(
        a_indices: np.ndarray,
        a_values: np.ndarray,
        a_shape: np.ndarray,
        b_indices: np.ndarray,
        b_values: np.ndarray,
        b_shape: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        a, b = SparseTensor.of(a_indices, a_values, a_shape), SparseTensor.of(b_indices, b_values, b_shape)
        places, left, right, _ = _union(a, b)
        return SparseTensor.of_flat(places, ufunc(left, right), a.shape).parts()[:2]

    combined.__doc__ = f"The {ufunc.__name__} of both at every place where one has an element."
    return combined


def _with_dense(combine: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    def combined(
        sp_indices: np.ndarray, sp_values: np.ndarray, sp_shape: np.ndarray, dense: np.ndarray
    ) -> np.ndarray:
        held = SparseTensor.of(sp_indices, sp_values, sp_shape)
        try:
            whole = np.broadcast_to(dense, held.shape)
        except ValueError:
            message = f"got {list(dense.shape)} and {list(held.shape)}"
            raise InvalidArgumentError(f"dense must be broadcast to the sparse shape, {message}") from None
        return np.asarray(combine(sp_values, whole[tuple(held.indices.T)]))

    combined.__doc__ = f"The {combine.__name__} of each element with the dense one at its place."
    return combined


def sparse_softmax(sp_indices: np.ndarray, sp_values: np.ndarray, sp_shape: np.ndarray) -> np.ndarray:
    """The softmax of the elements of each row, along the last axis; in the order of their places.

    Source: TensorFlow tensorflow/core/kernels/sparse_softmax_op.cc, which sorts a copy.
    """
    held = SparseTensor.of(sp_indices, sp_values, sp_shape).ordered()
    if len(held.shape) < 2:
        raise InvalidArgumentError(f"SparseSoftmax: shape must have two axes or more, got {list(held.shape)}")
    _, rows = np.unique(held.indices[:, :-1], axis=0, return_inverse=True)
    rows = rows.reshape(-1)
    largest = np.full(len(rows), -np.inf)
    np.maximum.at(largest, rows, held.values)
    powers = np.exp(held.values - largest[rows])
    sums = np.zeros(len(rows))
    np.add.at(sums, rows, powers)
    return (powers / sums[rows]).astype(sp_values.dtype)


def _reduced(
    ufunc: np.ufunc, held: SparseTensor, reduction_axes: np.ndarray, keep_dims: bool
) -> tuple[SparseTensor, tuple[int, ...]]:
    """Elements combined along axes, and the dense result's shape."""
    rank = len(held.shape)
    named = [axis_of(a, rank, "reduction_axes") for a in integers(reduction_axes, "reduction_axes")]
    gone = set(named)
    kept = [axis for axis in range(rank) if axis not in gone]
    inner = SparseTensor(held.indices[:, kept], held.values, tuple(held.shape[axis] for axis in kept))
    places, which = np.unique(inner.flat(), return_inverse=True)
    start = 0 if ufunc is np.add else _lowest(held.values.dtype)
    values = np.full(len(places), start, held.values.dtype)
    if ufunc is np.maximum and np.isnan(held.values).any():
        order = np.lexsort(held.indices[:, [*kept, *sorted(gone)]].T[::-1])
        _keep_larger(values, which.reshape(-1)[order], held.values[order])
    else:
        ufunc.at(values, which.reshape(-1), held.values)
    sizes = tuple(1 if axis in gone else n for axis, n in enumerate(held.shape)) if keep_dims else inner.shape
    return SparseTensor.of_flat(places, values, sizes), sizes


def _keep_larger(largest: np.ndarray, places: np.ndarray, values: np.ndarray) -> None:
    """The larger of each element and what was there, the element where one is no number, as in Eigen."""
    for place, value in zip(places, values, strict=True):
        if not largest[place] > value:
            largest[place] = value


def _lowest(dtype: np.dtype) -> float | int:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _to_dense(ufunc: np.ufunc) -> Callable[..., np.ndarray]:
    def reduced(
        input_indices: np.ndarray,
        input_values: np.ndarray,
        input_shape: np.ndarray,
        reduction_axes: np.ndarray,
        *,
        keep_dims: bool,
    ) -> np.ndarray:
        held = SparseTensor.of(input_indices, input_values, input_shape)
        found, sizes = _reduced(ufunc, held, reduction_axes, keep_dims)
        made = np.zeros(checked_shape(sizes, input_values.dtype), input_values.dtype)
        made[tuple(found.indices.T)] = found.values if sizes else found.values[: made.size].sum()
        return made

    reduced.__doc__ = f"Elements combined by {ufunc.__name__} along axes; zeros where there are none."
    return reduced


def _to_sparse(ufunc: np.ufunc) -> Callable[..., Parts]:
    def reduced(
        input_indices: np.ndarray,
        input_values: np.ndarray,
        input_shape: np.ndarray,
        reduction_axes: np.ndarray,
        *,
        keep_dims: bool,
    ) -> Parts:
        held = SparseTensor.of(input_indices, input_values, input_shape)
        return _reduced(ufunc, held, reduction_axes, keep_dims)[0].parts()

    reduced.__doc__ = f"Elements combined by {ufunc.__name__} along axes, as a sparse tensor."
    return reduced


REGISTRATIONS = (
    kernel("SparseAdd", sparse_add, T=NUMBERS),
    kernel("SparseAddGrad", sparse_add_grad, T=NUMBERS),
    kernel("SparseSparseMaximum", _extreme(np.maximum), T=REAL),
    kernel("SparseSparseMinimum", _extreme(np.minimum), T=REAL),
    kernel("SparseDenseCwiseAdd", _with_dense(np.add), T=NUMBERS),
    kernel("SparseDenseCwiseMul", _with_dense(np.multiply), T=NUMBERS),
    kernel("SparseDenseCwiseDiv", _with_dense(div), T=REAL),
    kernel("SparseSoftmax", sparse_softmax, T=FLOATS),
    kernel("SparseReduceSum", _to_dense(np.add), T=NUMBERS),
    kernel("SparseReduceMax", _to_dense(np.maximum), T=REAL),
    kernel("SparseReduceSumSparse", _to_sparse(np.add), T=NUMBERS),
    kernel("SparseReduceMaxSparse", _to_sparse(np.maximum), T=REAL),
)
