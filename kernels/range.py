"""RANGE: evenly spaced numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from .index_vector import MAX_SIZE, check_counts, check_same_type
from .known_output import set_known

RANGE = 96  # the schema's BuiltinOperator

_TYPES = (TensorType.FLOAT32, TensorType.INT32, TensorType.INT64)


def range_size(start: np.ndarray, limit: np.ndarray, delta: np.ndarray) -> int:
    """How many numbers there are from start to before limit; PrepareError when delta leads elsewhere.

    The three are arrays of one element and one type; floats are divided in that type.
    """
    if not ((start >= limit and delta < 0) or (start <= limit and delta > 0)):
        raise PrepareError(f"RANGE: delta must lead from start to limit, got {start}, {limit} and {delta}")
    if start.dtype.kind == "f":
        with np.errstate(all="ignore"):
            exact = np.ceil(np.abs((limit - start) / delta))
        size = int(exact) if np.isfinite(exact) else -1
    else:
        size = -(-abs(int(limit) - int(start)) // abs(int(delta)))
    if not 0 <= size <= MAX_SIZE:
        raise PrepareError(f"RANGE: size must be in [0, {MAX_SIZE}], got {start}, {limit} and {delta}")
    return size


def numbers(start: np.ndarray, limit: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """The numbers, each the one before it plus delta, rounded to the type each time."""
    steps = np.full(range_size(start, limit, delta), delta, start.dtype)
    steps[:1] = start
    with np.errstate(all="ignore"):
        return np.cumsum(steps, dtype=start.dtype)


def _operands(context: Context, node: Node) -> list[Tensor]:
    check_counts("RANGE", node, 3)
    operands = [context.input(node, i) for i in range(3)]
    y = context.output(node, 0)
    for tensor in operands:
        check_same_type("RANGE", tensor, y)
        if tensor.shape != ():
            raise PrepareError(f"RANGE: start, limit and delta must be scalars, got {tensor!r}")
    if y.type not in _TYPES:
        raise UnsupportedError(f"RANGE: float32, int32 and int64 are built, got {y!r}")
    return operands


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    operands, y = _operands(context, node), context.output(node, 0)
    if all(tensor.is_constant for tensor in operands):
        start, limit, delta = (tensor.array() for tensor in operands)
        context.resize_tensor(y, (range_size(start, limit, delta),))
        set_known(context, y, numbers(start, limit, delta))
        return []
    context.set_dynamic(y)
    return None


def invoke(context: Context, node: Node) -> None:
    y = context.output(node, 0)
    start, limit, delta = (tensor.array() for tensor in _operands(context, node))
    context.resize_tensor(y, (range_size(start, limit, delta),))
    y.array()[...] = numbers(start, limit, delta)


REGISTRATIONS = (Registration("RANGE", prepare, invoke, builtin_code=RANGE, max_version=2),)
