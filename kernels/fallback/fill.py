"""Tensors made of a value or a rule: filled, ranges, one-hot rows."""

from __future__ import annotations

import math

import numpy as np

from .axis import scalar, vector
from .dtypes import ANY, FLOATS, INDICES, REAL
from .kernel import checked_shape
from .registry import kernel
from .status import InvalidArgumentError


def fill(dims: np.ndarray, value: np.ndarray) -> np.ndarray:
    """value, a scalar, everywhere in a tensor of sizes dims."""
    # Old graphs have a vector of one for the scalar, and a scalar for the vector of one.
    if value.shape not in ((), (1,)):
        raise InvalidArgumentError(f"Fill: value must be a scalar, got {list(value.shape)}")
    sizes = vector(dims.reshape(1) if dims.ndim == 0 else dims, "Fill: dims")
    made = np.empty(checked_shape(sizes, value.dtype), value.dtype)
    made[...] = value.reshape(())[()]
    return made


def range_(start: np.ndarray, limit: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """start + i delta for i = 0, 1 ... up to limit, which is not reached; all are scalars."""
    for bound in (start, limit, delta):
        if bound.shape not in ((), (1,)):
            raise InvalidArgumentError(f"Range: inputs must be scalars, got {list(bound.shape)}")
    start, limit, delta = (bound.reshape(()) for bound in (start, limit, delta))
    first, last, step = (bound.item() for bound in (start, limit, delta))
    leads = (step > 0 and first <= last) or (step < 0 and first >= last)
    # How many floats there are is rounded in their type.
    steps_to = 0.0 if not leads or start.dtype.kind in "iu" else abs(float((limit - start) / delta))
    if not leads or not steps_to < 2.0**63:
        message = f"delta must lead from start to limit, got {first}, {last} and {step}"
        raise InvalidArgumentError(f"Range: {message}")
    count = len(range(first, last, step)) if start.dtype.kind in "iu" else math.ceil(steps_to)
    checked_shape([count], start.dtype)
    steps = np.arange(count, dtype=np.int64).astype(start.dtype)
    return (start + steps * delta).astype(start.dtype)


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
    # Also where the step is no number.
    made[0], made[-1] = start[()], stop[()]
    return made


def one_hot(
    indices: np.ndarray, depth: np.ndarray, on_value: np.ndarray, off_value: np.ndarray, *, axis: int
) -> np.ndarray:
    """A new axis of size depth: on_value at the index, off_value elsewhere and for indices outside."""
    count = scalar(depth, "depth")
    if count < 0 or depth.ndim:
        message = f"depth must be a scalar of 0 or more, got {count} {list(depth.shape)}"
        raise InvalidArgumentError(f"OneHot: {message}")
    if on_value.ndim or off_value.ndim:
        message = f"got {list(on_value.shape)} and {list(off_value.shape)}"
        raise InvalidArgumentError(f"OneHot: on_value and off_value must be scalars, {message}")
    if not -1 <= axis <= indices.ndim:
        raise InvalidArgumentError(f"OneHot: axis must be in [-1, {indices.ndim}], got {axis}")
    checked_shape([*indices.shape, count], on_value.dtype)
    hit = indices[..., None] == np.arange(count, dtype=np.int64)
    made = np.empty(hit.shape, on_value.dtype)
    made[...] = off_value[()]
    made[hit] = on_value[()]
    return np.moveaxis(made, -1, axis)


REGISTRATIONS = (
    kernel("Fill", fill, T=ANY, index_type=INDICES),
    kernel("Range", range_, Tidx=REAL),
    kernel("LinSpace", lin_space, T=FLOATS, Tidx=INDICES),
    kernel("OneHot", one_hot, T=ANY),
)
