"""RANGE: evenly spaced numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.available_memory import check_room
from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, argument_block
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType
from .dynamic_output import dynamic_call
from .index_vector import MAX_SIZE, check_counts, check_same_type, set_constant
from .operators import check_type, registration

_SUFFIXES = {TensorType.FLOAT32: "f32", TensorType.INT32: "i32", TensorType.INT64: "i64"}

# y has `count` elements: as many as there are for the operands whose bits are kept in sized_*.
RANGE_ARGS = argument_block("start limit delta y count sized_start sized_limit sized_delta")


_COPIES = 4  # that the numbers have while they become known


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
    size = range_size(start, limit, delta)
    check_room(_COPIES * size * start.itemsize)
    steps = np.full(size, delta, start.dtype)
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
    check_type("RANGE", y)
    return operands


def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
    operands, y = _operands(context, node), context.output(node, 0)
    if all(tensor.is_constant for tensor in operands):
        set_constant(context, y, numbers(*(tensor.array() for tensor in operands)))
        return []
    return [_dynamic_call(context, operands, y)]


def _dynamic_call(context: Context, operands: Sequence[Tensor], y: Tensor) -> KernelCall:
    def count_of(args: np.ndarray) -> int:
        values = [tensor.array() for tensor in operands]
        for name, value in zip(("sized_start", "sized_limit", "sized_delta"), values, strict=True):
            args[name] = value.view(f"i{value.itemsize}")
        return range_size(*values)

    tensors = dict(zip(("start", "limit", "delta"), operands, strict=True))
    kernel = f"range_{_SUFFIXES[TensorType(y.type)]}"
    call = KernelCall("range", kernel, np.zeros(1, RANGE_ARGS), tensors)
    return dynamic_call(call, context, {"y": (y, ())}, "count", count_of)


REGISTRATIONS = (registration("RANGE", prepare),)
