"""Sparse tensors put in order, cut, joined, reshaped and made dense."""

from __future__ import annotations

from math import prod

import numpy as np

from .axis import axis_of, matrix, rows_of, scalar, vector
from .dtypes import ANY, INDICES, NUMBERS
from .gather import check_indices
from .kernel import checked_shape
from .registry import kernel
from .sparse_tensor import SparseTensor
from .status import InvalidArgumentError

Parts = tuple[np.ndarray, np.ndarray, np.ndarray]


def sparse_to_dense(
    sparse_indices: np.ndarray,
    output_shape: np.ndarray,
    sparse_values: np.ndarray,
    default_value: np.ndarray,
    *,
    validate_indices: bool,
) -> np.ndarray:
    """default_value everywhere but at the indices: a scalar, a vector of places, or [n, rank].

    sparse_values is a scalar or one for each; validated indices rise and none comes twice.
    """
    sizes = checked_shape(vector(output_shape, "output_shape"), sparse_values.dtype)
    if sparse_indices.ndim > 2 or default_value.ndim or sparse_values.ndim > 1:
        raise InvalidArgumentError("SparseToDense: indices must be [n, rank], values [n], a scalar default")
    count = len(sparse_indices) if sparse_indices.ndim else 1
    rows = sparse_indices.reshape(count, -1) if sparse_indices.size else np.zeros((0, len(sizes)), np.int64)
    if sparse_values.ndim and len(sparse_values) != count:
        message = f"there must be {count} values, got {len(sparse_values)}"
        raise InvalidArgumentError(f"SparseToDense: {message}")
    held = SparseTensor.of(rows, np.zeros(len(rows)), np.array(sizes, np.int64))
    if validate_indices and np.any(np.diff(held.flat()) <= 0):
        raise InvalidArgumentError("SparseToDense: indices must rise, and none may come twice")
    made = np.empty(sizes, sparse_values.dtype)
    made[...] = default_value[()]
    if sizes:
        made[tuple(held.indices.T)] = sparse_values
    elif count:
        # All indices name the one place there is.
        made[...] = sparse_values.reshape(-1)[-1]
    return made


def sparse_reshape(
    indices: np.ndarray, shape: np.ndarray, new_shape: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the same elements in another shape, one of whose sizes may be -1."""
    held = SparseTensor.of(indices, np.zeros(rows_of(indices, "indices")), shape)
    wanted = vector(new_shape, "new_shape")
    count, known = prod(held.shape), prod(size for size in wanted if size != -1)
    if wanted.count(-1) > 1 or any(size < -1 for size in wanted):
        raise InvalidArgumentError(f"SparseReshape: at most one size may be -1, got {list(wanted)}")
    missing = count // known if known else 0
    sizes = tuple(missing if size == -1 else size for size in wanted)
    if prod(sizes) != count:
        message = f"{list(held.shape)} and {list(wanted)} must have as many elements"
        raise InvalidArgumentError(f"SparseReshape: {message}")
    moved = SparseTensor.of_flat(held.flat(), held.values, sizes)
    return moved.indices, np.array(sizes, np.int64)


def sparse_reorder(
    indices: np.ndarray, values: np.ndarray, shape: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The elements in row-major order."""
    held = SparseTensor.of(indices, values, shape).ordered()
    return held.indices, held.values


def sparse_fill_empty_rows(
    indices: np.ndarray, values: np.ndarray, dense_shape: np.ndarray, default_value: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """An element default_value at the start of every row that has none.

    Also which rows those were, and where each old element has gone.
    """
    held = SparseTensor.of(indices, values, dense_shape)
    if not held.shape:
        raise InvalidArgumentError("SparseFillEmptyRows: dense shape must have an axis")
    rows = held.shape[0]
    checked_shape([rows], np.dtype(np.int64))
    empty = np.ones(rows, np.bool_)
    empty[held.indices[:, 0]] = False
    extra = np.zeros((int(empty.sum()), len(held.shape)), np.int64)
    extra[:, 0] = np.flatnonzero(empty)
    filled = np.full(len(extra), default_value[()], values.dtype)
    joined = np.concatenate([held.indices, extra])
    order = np.argsort(joined[:, 0], kind="stable")
    places = np.empty(len(joined), np.int64)
    places[order] = np.arange(len(joined))
    return joined[order], np.concatenate([values, filled])[order], empty, places[: len(values)]


def fill_empty_rows_grad(
    reverse_index_map: np.ndarray, grad_values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of the values, and of the default: the sum of what went to no value."""
    if reverse_index_map.ndim != 1 or grad_values.ndim != 1:
        shapes = f"{list(reverse_index_map.shape)} and {list(grad_values.shape)}"
        raise InvalidArgumentError(f"reverse_index_map and grad_values must be vectors, got {shapes}")
    check_indices(reverse_index_map, len(grad_values), "reverse_index_map")
    others = np.ones(len(grad_values), np.bool_)
    others[reverse_index_map] = False
    total = np.sum(grad_values[others], dtype=grad_values.dtype)
    return grad_values[reverse_index_map], np.asarray(total, grad_values.dtype)


def sparse_concat(
    indices: list[np.ndarray], values: list[np.ndarray], shapes: list[np.ndarray], *, concat_dim: int
) -> Parts:
    """Sparse tensors one after another along an axis, elements in row-major order."""
    held = [SparseTensor.of(*parts) for parts in zip(indices, values, shapes, strict=True)]
    along = axis_of(concat_dim, len(held[0].shape), "concat_dim")
    sizes = list(held[0].shape)
    for one in held[1:]:
        if len(one.shape) != len(sizes) or any(
            a != b for i, (a, b) in enumerate(zip(one.shape, sizes, strict=True)) if i != along
        ):
            message = f"shapes must agree but along {along}, got {sizes} and {list(one.shape)}"
            raise InvalidArgumentError(f"SparseConcat: {message}")
    ends = np.cumsum([0, *(one.shape[along] for one in held)])
    moved = []
    for one, start in zip(held, ends, strict=False):
        rows = one.indices.copy()
        rows[:, along] += start
        moved.append(rows)
    sizes[along] = int(ends[-1])
    return SparseTensor(np.concatenate(moved), np.concatenate(values), tuple(sizes)).ordered().parts()


def _box(held: SparseTensor, start: tuple[int, ...], size: tuple[int, ...]) -> SparseTensor:
    """The elements from start on, size of each axis, counted from start."""
    low = np.array(start, np.int64)
    sizes = tuple(max(min(n, whole - s), 0) for n, whole, s in zip(size, held.shape, start, strict=True))
    kept = ((held.indices >= low) & (held.indices < low + np.array(sizes, np.int64))).all(-1)
    return SparseTensor(held.indices[kept] - low, held.values[kept], sizes)


def sparse_slice(
    indices: np.ndarray, values: np.ndarray, shape: np.ndarray, start: np.ndarray, size: np.ndarray
) -> Parts:
    """The elements from start on, size of each axis, as far as there are so many."""
    held = SparseTensor.of(indices, values, shape)
    first, count = vector(start, "start"), vector(size, "size")
    if len(first) != len(held.shape) or len(count) != len(held.shape) or min((*first, *count), default=0) < 0:
        message = f"start and size must be {len(held.shape)} of 0 or more, got {list(first)}, {list(count)}"
        raise InvalidArgumentError(f"SparseSlice: {message}")
    return _box(held, first, count).parts()


def sparse_slice_grad(
    backprop_val_grad: np.ndarray,
    input_indices: np.ndarray,
    input_start: np.ndarray,
    output_indices: np.ndarray,
) -> np.ndarray:
    """Gradient by the values of what was sliced: that of the slice where an element was kept.

    Both lists of indices are in order, so that one walk goes through both.
    """
    start = np.array(vector(input_start, "input_start"), np.int64)
    kept, given = matrix(output_indices, "output_indices"), matrix(input_indices, "input_indices")
    if backprop_val_grad.shape != (len(kept),) or not len(start) == kept.shape[1] == given.shape[1]:
        shapes = f"{list(backprop_val_grad.shape)}, {list(given.shape)} and {list(kept.shape)}"
        raise InvalidArgumentError(f"gradients, indices and start must fit each other, got {shapes}")
    made, places, used = np.zeros(len(given), backprop_val_grad.dtype), (kept + start).tolist(), 0
    for i, row in enumerate(given.tolist()):
        if used < len(places) and row == places[used]:
            made[i] = backprop_val_grad[used]
            used += 1
    if used < len(places):
        message = f"output_indices must be those of input_indices, in order, got {used} of {len(places)} such"
        raise InvalidArgumentError(message)
    return made


def sparse_split(
    split_dim: np.ndarray, indices: np.ndarray, values: np.ndarray, shape: np.ndarray, *, num_split: int
) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """Parts along an axis: its size shared among num_split, the first ones getting one more."""
    held = SparseTensor.of(indices, values, shape)
    along = axis_of(scalar(split_dim, "split_dim"), len(held.shape), "split_dim")
    if not 1 <= num_split <= held.shape[along]:
        message = f"num_split must be 1 to {held.shape[along]}, got {num_split}"
        raise InvalidArgumentError(f"SparseSplit: {message}")
    each, more = divmod(held.shape[along], num_split)
    parts, at = [], 0
    for number in range(num_split):
        start, size = [0] * len(held.shape), list(held.shape)
        start[along], size[along] = at, each + (number < more)
        at += size[along]
        parts.append(_box(held, tuple(start), tuple(size)).parts())
    rows, kept, sizes = (list(group) for group in zip(*parts, strict=True))
    return rows, kept, sizes


def sparse_tensor_dense_mat_mul(
    a_indices: np.ndarray,
    a_values: np.ndarray,
    a_shape: np.ndarray,
    b: np.ndarray,
    *,
    adjoint_a: bool,
    adjoint_b: bool,
) -> np.ndarray:
    """The sparse matrix a times b, each adjoint first if asked."""
    held = SparseTensor.of(a_indices, a_values, a_shape)
    right = np.conj(b.T) if adjoint_b else b
    if len(held.shape) != 2 or b.ndim != 2:
        raise InvalidArgumentError(f"must be matrices, got {list(held.shape)} and {list(b.shape)}")
    rows, columns = held.indices.T if not adjoint_a else held.indices.T[::-1]
    height, depth = held.shape if not adjoint_a else held.shape[::-1]
    if depth != len(right):
        message = f"got {height} x {depth} and {list(right.shape)}"
        raise InvalidArgumentError(f"a must have as many columns as b rows, {message}")
    weights = np.conj(a_values) if adjoint_a else a_values
    made = np.zeros(checked_shape([height, right.shape[1]], b.dtype), b.dtype)
    np.add.at(made, rows, weights[:, None] * right[columns])
    return made


def sparse_tensor_dense_add(
    a_indices: np.ndarray, a_values: np.ndarray, a_shape: np.ndarray, b: np.ndarray
) -> np.ndarray:
    """The dense sum of a sparse and a dense tensor of one shape."""
    held = SparseTensor.of(a_indices, a_values, a_shape)
    if held.shape != b.shape:
        raise InvalidArgumentError(f"a and b must have one shape, got {list(held.shape)} and {list(b.shape)}")
    made = b.copy()
    np.add.at(made, tuple(held.indices.T), a_values)
    return made


REGISTRATIONS = (
    kernel("SparseToDense", sparse_to_dense, T=ANY, Tindices=INDICES),
    kernel("SparseReshape", sparse_reshape),
    kernel("SparseReorder", sparse_reorder, T=ANY),
    kernel("SparseFillEmptyRows", sparse_fill_empty_rows, T=ANY),
    kernel("SparseFillEmptyRowsGrad", fill_empty_rows_grad, T=NUMBERS),
    kernel("SparseConcat", sparse_concat, T=ANY),
    kernel("SparseSlice", sparse_slice, T=ANY),
    kernel("SparseSliceGrad", sparse_slice_grad, T=NUMBERS),
    kernel("SparseSplit", sparse_split, T=ANY),
    kernel("SparseTensorDenseMatMul", sparse_tensor_dense_mat_mul, T=NUMBERS, Tindices=INDICES),
    kernel("SparseTensorDenseAdd", sparse_tensor_dense_add, T=NUMBERS, Tindices=INDICES),
)
