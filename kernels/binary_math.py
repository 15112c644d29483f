"""POW, FLOOR_DIV, FLOOR_MOD and ATAN2 with broadcasting."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from .array_function import ArrayFunction, invoke_function
from .broadcast import BROADCAST_FIELDS, collapse, fill_loops
from .logical import broadcast_operands
from .operators import registration
from .parallel import chunk_count

BINARY_MATH = np.dtype([("a", np.int64), ("b", np.int64), ("out", np.int64), *BROADCAST_FIELDS], align=True)

# Statuses.
DIVISION_BY_ZERO = 1
NEGATIVE_EXPONENT = 2

_SUFFIXES = {
    TensorType.FLOAT32: "f32",
    TensorType.INT8: "i8",
    TensorType.INT16: "i16",
    TensorType.INT32: "i32",
    TensorType.INT64: "i64",
}


_SMALL = (TensorType.INT8, TensorType.INT16)


def _messages(name: str) -> dict[int, str]:
    return {
        DIVISION_BY_ZERO: f"{name}: Division by 0: the divisor must have no zero element",
        NEGATIVE_EXPONENT: f"{name}: exponents of integers must not be negative",
    }


def math_calls(context: Context, name: str, a: Tensor, b: Tensor, out: Tensor) -> list[KernelCall]:
    """The compiled call of an operator by its name; the type must be one that has a kernel."""
    if out.size == 0:
        return []
    args = np.zeros(1, BINARY_MATH)
    fill_loops(args, collapse(name, a.shape, b.shape))
    kernel = f"{name.lower()}_{_SUFFIXES[TensorType(out.type)]}"
    chunks = chunk_count(context, 5 * out.size)
    tensors = {"a": a, "b": b, "out": out}
    family = "binary_math_small" if out.type in _SMALL else "binary_math"
    return [KernelCall(family, kernel, args, tensors, chunks, messages=_messages(name))]


# The C library's function, whose last bit NumPy's own may miss.
_c_atan2 = np.frompyfunc(math.atan2, 2, 1)


def _atan2(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.asarray(_c_atan2(y.astype(np.float64), x.astype(np.float64))).astype(y.dtype)


def _operator(
    name: str,
    compiled: tuple[TensorType, ...],
    in_python: tuple[TensorType, ...] = (),
    function: ArrayFunction | None = None,
) -> Registration:
    """An operator with compiled kernels for some types, and a NumPy function for others."""

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        a, b, out = broadcast_operands(context, node, name)
        if out.type in compiled:
            return math_calls(context, name, a, b, out)
        if out.type in in_python:
            return None
        built = ", ".join(t.name.lower() for t in (*compiled, *in_python))
        raise UnsupportedError(f"{name}: types built are {built}, got {out.type_name}")

    def invoke(context: Context, node: Node) -> None:
        assert function is not None
        invoke_function(name, function, context, node)

    return registration(name, prepare, None if function is None else invoke)


_F32, _I32, _I64 = TensorType.FLOAT32, TensorType.INT32, TensorType.INT64
_FLOORED = (_F32, *_SMALL, _I32, _I64)

REGISTRATIONS = (
    _operator("POW", (_F32, _I32)),
    _operator("FLOOR_DIV", _FLOORED),
    _operator("FLOOR_MOD", _FLOORED),
    _operator("ATAN2", (_F32,), (TensorType.FLOAT16, TensorType.FLOAT64), _atan2),
)
