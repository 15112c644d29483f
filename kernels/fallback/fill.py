"""Tensors made of a value or a rule: constants, ranges, one-hot rows."""

from __future__ import annotations

import math

import numpy as np

from .attributes import DataType
from .axis import axis_of, scalar, vector
from .dtypes import ANY, FLOATS, INDICES, REAL
from .kernel import checked_shape
from .registry import kernel
from .status import InvalidArgumentError


def const(*, value: np.ndarray, dtype: DataType) -> np.ndarray:
    """The node's own tensor (read-only)."""
    del dtype
    return value


def fill(dims: np.ndarray, value: np.ndarray) -> np.ndarray:
    """value, a scalar, everywhere in a tensor of sizes dims."""
    if value.ndim:
        raise InvalidArgumentError(f"Fill: value must be a scalar, got {list(value.shape)}")
    made = np.empty(checked_shape(vector(dims, "Fill: dims"), value.dtype), value.dtype)
    made[...] = value
    return made


def range_(start: np.ndarray, limit: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """start, start + delta ... up to limit, which is not reached; all are scalars."""
    for bound in (start, limit, delta):
        if bound.ndim:
            raise InvalidArgumentError(f"Range: inputs must be scalars, got {list(bound.shape)}")
    first, last, step = (bound.item() for bound in (start, limit, delta))
    if step == 0 or (last - first) * step < 0 or not math.isfinite(last - first):
        message = f"delta must lead from start to limit, got {first}, {last} and {step}"
        raise InvalidArgumentError(f"Range: {message}")
    if start.dtype.kind in "iu":
        count = len(range(first, last, step))
    else:
        count = math.ceil(abs((last - first) / step))
    checked_shape([count], start.dtype)
    return _counted(start, delta, count)


def _counted(start: np.ndarray, delta: np.ndarray, count: int) -> np.ndarray:
    """start, and delta added again and again in the type itself, as TensorFlow's loop does."""
    if start.dtype.kind in "iu":
        return (start + np.arange(count, dtype=start.dtype) * delta).astype(start.dtype)
    steps = np.full(count, delta[()], start.dtype)
    if count:
        steps[0] = start[()]
    return np.add.accumulate(steps) if start.dtype.itemsize > 2 else _small(steps)


def _small(steps: np.ndarray) -> np.ndarray:
    """Sums of a 16-bit float, rounded at every step."""
    held = steps.copy()
    for i in range(1, len(held)):
        held[i] = held[i - 1] + steps[i]
    return held


def lin_space(start: np.ndarray, stop: np.ndarray, num: np.ndarray) -> np.ndarray:
    """num values from start to stop, both included."""
    count = scalar(num, "num")
    if count < 1 or start.ndim or stop.ndim:
        raise InvalidArgumentError(f"LinSpace: num must be 1 or more, of scalars, got {count}")
    checked_shape([count], start.dtype)
    if count == 1:
        return np.array([start[()]], start.dtype)
    step = (stop - start) / start.dtype.type(count - 1)
    made = (start + step * np.arange(count, dtype=start.dtype)).astype(start.dtype)
    made[-1] = stop[()]
    return made


def one_hot(
    indices: np.ndarray, depth: np.ndarray, on_value: np.ndarray, off_value: np.ndarray, *, axis: int
) -> np.ndarray:
    """A new axis of size depth: on_value at the index, off_value elsewhere and for indices outside."""
    count = scalar(depth, "depth")
    if count < 0:
        raise InvalidArgumentError(f"OneHot: depth must not be negative, got {count}")
    along = axis_of(axis, indices.ndim + 1)
    checked_shape([*indices.shape, count], on_value.dtype)
    hit = indices[..., None] == np.arange(count, dtype=np.int64)
    made = np.empty(hit.shape, on_value.dtype)
    made[...] = off_value[()]
    made[hit] = on_value[()]
    return np.moveaxis(made, -1, along)


KERNELS = (
    kernel("Const", const),
    kernel("Fill", fill, T=ANY, index_type=INDICES),
    kernel("Range", range_, Tidx=REAL),
    kernel("LinSpace", lin_space, T=FLOATS, Tidx=INDICES),
    kernel("OneHot", one_hot, T=ANY),
)
