"""Ragged tensors: rows of different lengths, as values and the splits between the rows."""

from __future__ import annotations

from itertools import pairwise
from math import prod

import numpy as np

from .attributes import DataType
from .axis import rows_of, scalar, vector
from .dtypes import ANY, INDICES, NUMBERS, REAL, numpy_dtype
from .gather import check_indices
from .kernel import checked_shape
from .registry import kernel
from .sparse import fill_empty_rows_grad
from .status import InvalidArgumentError


def checked_splits(splits: np.ndarray, count: int | None, what: str = "splits") -> list[int]:
    """The splits: they rise from 0 to count (to anything where that is not known)."""
    found = list(vector(splits, what))
    last = count if count is not None else found[-1] if found else 0
    if not found or found[0] != 0 or found[-1] != last or any(b < a for a, b in pairwise(found)):
        raise InvalidArgumentError(f"{what} must rise from 0 to {last}, got {found[:16]}")
    return found


def _sizes_below(nested_splits: list[np.ndarray], values: np.ndarray) -> list[int]:
    """How many rows each level of splits divides: those of the next, at last the values."""
    return [rows_of(splits, "splits") - 1 for splits in nested_splits[1:]] + [rows_of(values, "values")]


def ragged_range(
    starts: np.ndarray, limits: np.ndarray, deltas: np.ndarray, *, Tsplits: DataType
) -> tuple[np.ndarray, np.ndarray]:
    """A row start, start + delta ... for each entry; scalars serve all rows."""
    bounds = (starts, limits, deltas)
    if any(x.ndim > 1 for x in bounds) or len({len(x) for x in bounds if x.ndim}) > 1:
        shapes = ", ".join(str(list(x.shape)) for x in bounds)
        message = "starts, limits and deltas must be scalars, or vectors of one length"
        raise InvalidArgumentError(f"RaggedRange: {message}, got {shapes}")
    ends, parts = [0], [np.zeros(0, starts.dtype)]
    for start, limit, delta in zip(*np.broadcast_arrays(*map(np.atleast_1d, bounds)), strict=True):
        count = _steps_to(start, limit, delta)
        ends.append(ends[-1] + count)
        checked_shape([ends[-1]], starts.dtype)
        steps = np.full(count, delta, starts.dtype)
        steps[:1] = start
        parts.append(np.cumsum(steps, dtype=starts.dtype))
    return np.array(ends, numpy_dtype(Tsplits)), np.concatenate(parts)


def _steps_to(start: np.ndarray, limit: np.ndarray, delta: np.ndarray) -> int:
    """How many steps of delta, all being scalars, lead from start up to the limit: none where they lead away.

    Floats are divided in their type. Source: TensorFlow tensorflow/core/kernels/ragged_range_op.cc.
    """
    if delta == 0:
        raise InvalidArgumentError("RaggedRange: deltas must not be 0")
    if (delta > 0 and limit < start) or (delta < 0 and limit > start):
        return 0
    if start.dtype.kind in "iu":
        return -(-abs(int(limit) - int(start)) // abs(int(delta)))
    steps = np.ceil(np.abs((limit - start) / delta))
    if not steps < 2.0**63:
        raise InvalidArgumentError(f"RaggedRange: no steps of {delta} may lead from {start} to {limit}")
    return int(steps)


def ragged_gather(
    params_nested_splits: list[np.ndarray], params_dense_values: np.ndarray, indices: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray]:
    """Rows of a ragged tensor at indices; axes of indices beyond the first become splits of one length."""
    if not params_nested_splits:
        raise InvalidArgumentError("RaggedGather: params must have splits, got none")
    check_indices(indices, rows_of(params_nested_splits[0], "splits") - 1)
    outer = [
        np.arange(prod(indices.shape[:axis]) + 1) * indices.shape[axis] for axis in range(1, indices.ndim)
    ]
    rows = [(int(i), int(i) + 1) for i in indices.reshape(-1)]
    made: list[np.ndarray] = []
    sizes = _sizes_below(params_nested_splits, params_dense_values)
    for splits, below in zip(params_nested_splits, sizes, strict=True):
        held = vector(splits, "splits")
        if not held or held[0] < 0 or held[-1] > below or any(b < a for a, b in pairwise(held)):
            message = f"splits must not fall, from 0 or more to {below} at the most"
            raise InvalidArgumentError(f"RaggedGather: {message}, got {list(held[:16])}")
        # Every row at this level, and where its own rows lie in the next.
        spans = [(held[i], held[i + 1]) for start, end in rows for i in range(start, end)]
        made.append(np.cumsum([0, *(end - start for start, end in spans)]))
        rows = spans
    pieces = [params_dense_values[start:end] for start, end in rows]
    values = np.concatenate([params_dense_values[:0], *pieces])
    dtype = params_nested_splits[0].dtype
    return [splits.astype(dtype) for splits in (*outer, *made)], values


def ragged_tensor_to_sparse(
    rt_nested_splits: list[np.ndarray], rt_dense_values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every element with its place: indices [n, rank], values [n] and the smallest shape that holds all."""
    inner = rt_dense_values.shape[1:]
    if not rt_nested_splits:
        raise InvalidArgumentError("RaggedTensorToSparse: there must be splits, got none")
    sizes = _sizes_below(rt_nested_splits, rt_dense_values)
    places = np.arange(max(rows_of(rt_nested_splits[0], "splits") - 1, 0))[:, None]
    shape = [len(places)]
    for splits, below in zip(rt_nested_splits, sizes, strict=True):
        lengths = np.diff(checked_splits(splits, below))
        steps = np.concatenate([np.zeros(0, np.int64), *(np.arange(n) for n in lengths)])
        places = np.concatenate([np.repeat(places, lengths, 0), steps[:, None]], 1)
        shape.append(int(lengths.max(initial=0)))
    grid = np.indices(inner).reshape(len(inner), prod(inner)).T
    rows = np.concatenate([np.repeat(places, len(grid), 0), np.tile(grid, (len(places), 1))], 1)
    return rows.astype(np.int64), rt_dense_values.reshape(-1), np.array([*shape, *inner], np.int64)


def ragged_fill_empty_rows(
    value_rowids: np.ndarray, values: np.ndarray, nrows: np.ndarray, default_value: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """default_value in every row that has none; which rows those were; where each value has gone."""
    rows = scalar(nrows, "nrows")
    if value_rowids.ndim != 1 or values.shape != value_rowids.shape or default_value.ndim:
        shapes = f"{list(value_rowids.shape)}, {list(values.shape)} and {list(default_value.shape)}"
        message = f"must be vectors of one length and default_value a scalar, got {shapes}"
        raise InvalidArgumentError(f"value_rowids and values {message}")
    checked_shape([rows], np.dtype(np.int64))
    check_indices(value_rowids, rows, "value_rowids")
    empty = np.ones(rows, np.bool_)
    empty[value_rowids] = False
    ids = np.concatenate([value_rowids, np.flatnonzero(empty).astype(value_rowids.dtype)])
    filled = np.concatenate([values, np.full(int(empty.sum()), default_value[()], values.dtype)])
    order = np.argsort(ids, kind="stable")
    places = np.empty(len(ids), np.int64)
    places[order] = np.arange(len(ids))
    return ids[order], filled[order], empty, places[: len(values)]


def ragged_tensor_to_tensor(
    shape: np.ndarray,
    values: np.ndarray,
    default_value: np.ndarray,
    row_partition_tensors: list[np.ndarray],
    *,
    row_partition_types: list[str],
) -> np.ndarray:
    """The rows as a dense tensor: longer ones are cut to the shape, shorter ones filled up.

    -1 in the shape is as long as the longest. Partitions are ROW_SPLITS, VALUE_ROWIDS, or first
    FIRST_DIM_SIZE. Source: TensorFlow tensorflow/core/kernels/ragged_tensor_to_tensor_op.cc.
    """
    if not values.ndim or shape.ndim > 1:
        message = f"got {list(values.shape)} and {list(shape.shape)}"
        raise InvalidArgumentError(f"values must have an axis and shape at most one, {message}")
    partitions = list(zip(row_partition_types, row_partition_tensors, strict=True))
    rows = _first_size(partitions, len(values))
    if partitions and partitions[0][0] == "FIRST_DIM_SIZE":
        partitions = partitions[1:]
    rank, inner = len(partitions) + values.ndim, values.shape[1:]
    wanted = [int(size) for size in shape] if shape.ndim else [-1] * rank
    if len(wanted) != rank:
        raise InvalidArgumentError(f"shape must have {rank} sizes, got {wanted}")
    outer = _outer_sizes(partitions, wanted, rows)
    if any(size >= 0 and size != n for size, n in zip(wanted[len(outer) :], inner, strict=True)):
        raise InvalidArgumentError(f"shape must end in {list(inner)}, got {wanted}")
    if not _stretches(default_value.shape, inner):
        raise InvalidArgumentError(
            f"default_value must stretch to {list(inner)}, got {list(default_value.shape)}"
        )
    if not prod(checked_shape([*outer, *inner], values.dtype)):
        return np.empty((*outer, *inner), values.dtype)  # of partitions that no one looks at
    made = np.empty((prod(outer), *inner), values.dtype)
    made[...] = default_value
    places = _places(partitions, outer, rows)
    kept = np.flatnonzero(places >= 0)
    if len(kept) and kept[-1] >= len(values):
        raise InvalidArgumentError(f"partitions must be of {len(values)} values, got {len(places)}")
    made[places[kept]] = values[kept]
    return made.reshape(*outer, *inner)


def _stretches(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    behind = to[len(to) - len(shape) :]
    return len(shape) <= len(to) and all(a in (1, b) for a, b in zip(shape, behind, strict=True))


def _first_size(partitions: list[tuple[str, np.ndarray]], values: int) -> int:
    """How many rows the outermost axis has."""
    if not partitions:
        return values
    kind, tensor = partitions[0]
    if kind == "FIRST_DIM_SIZE":
        return scalar(tensor, kind)
    return rows_of(tensor, kind) - 1 if kind == "ROW_SPLITS" else 0


def _outer_sizes(partitions: list[tuple[str, np.ndarray]], wanted: list[int], rows: int) -> list[int]:
    """The sizes of the partitioned axes: what is wanted, else what holds the longest row."""
    found = [rows]
    for kind, tensor in partitions:
        held = vector(tensor, kind)
        runs = held if kind == "ROW_SPLITS" else np.flatnonzero(np.diff(held, prepend=-1, append=-1))
        found.append(int(np.diff(runs).max(initial=0)))
    return [size if size >= 0 else own for size, own in zip(wanted, found, strict=False)]


def _places(partitions: list[tuple[str, np.ndarray]], sizes: list[int], rows: int) -> np.ndarray:
    """Where in axes of these sizes each value goes: -1 for what is cut off."""
    places = np.arange(rows)
    places = np.where(places < sizes[0], places, -1)
    for (kind, tensor), size in zip(partitions, sizes[1:], strict=True):
        parents, steps = _rows(kind, tensor, len(places))
        kept = (places[parents] >= 0) & (steps < size)
        places = np.where(kept, places[parents] * size + steps, -1)
    return places


def _rows(kind: str, tensor: np.ndarray, parents: int) -> tuple[np.ndarray, np.ndarray]:
    """The row that each element belongs to, and its place there."""
    if kind == "ROW_SPLITS":
        splits = checked_splits(tensor, None)
        if len(splits) - 1 != parents:
            raise InvalidArgumentError(f"there must be {parents + 1} splits, got {len(splits)}")
        lengths = np.diff(splits)
        ids = np.repeat(np.arange(parents), lengths)
    elif kind == "VALUE_ROWIDS":
        ids = np.array(vector(tensor, "VALUE_ROWIDS"), np.int64)
        check_indices(ids, parents, "VALUE_ROWIDS")
        if np.any(np.diff(ids) < 0):
            raise InvalidArgumentError("VALUE_ROWIDS must not fall")
        lengths = np.bincount(ids, minlength=parents)
    else:
        raise InvalidArgumentError(f"row_partition_types: {kind!r} is not built")
    starts = np.cumsum([0, *lengths[:-1]]) if parents else np.zeros(0, np.int64)
    return ids, np.arange(len(ids)) - (starts[ids] if len(ids) else 0)


REGISTRATIONS = (
    kernel("RaggedRange", ragged_range, T=REAL, Tsplits=INDICES),
    kernel("RaggedGather", ragged_gather, Tvalues=ANY, Tsplits=INDICES),
    kernel("RaggedTensorToSparse", ragged_tensor_to_sparse, T=ANY, Tsplits=INDICES),
    kernel("RaggedTensorToTensor", ragged_tensor_to_tensor, T=ANY),
    kernel("RaggedFillEmptyRows", ragged_fill_empty_rows, T=ANY),
    kernel("RaggedFillEmptyRowsGrad", fill_empty_rows_grad, T=NUMBERS),
)
