"""COMPLEX_ABS, REAL and IMAG: real tensors from complex ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from .array_function import invoke_function
from .broadcast import unary_call
from .index_vector import check_counts
from .operators import registration
from .strided_copy import StridedCopy, strided_copy_calls

_PART_TYPES = {TensorType.COMPLEX64: TensorType.FLOAT32, TensorType.COMPLEX128: TensorType.FLOAT64}

# Sides whose squares would leave float64's normal range are scaled.
_LARGE, _SMALL, _DOWN = 2.0**511, 2.0**-459, 2.0**-600


def _operands(context: Context, node: Node, name: str) -> tuple[Tensor, Tensor]:
    """The complex input and the real output, which is given the input's shape."""
    check_counts(name, node, 1)
    x, y = context.input(node, 0), context.output(node, 0)
    if _PART_TYPES.get(TensorType(x.type)) != y.type:
        raise PrepareError(
            f"{name}: must be complex64 to float32 or complex128 to float64, got {x!r} and {y!r}"
        )
    context.resize_tensor(y, x.shape)
    return x, y


def _prepare_abs(context: Context, node: Node) -> Sequence[KernelCall] | None:
    x, y = _operands(context, node, "COMPLEX_ABS")
    if x.type != TensorType.COMPLEX64:
        return None
    return unary_call(context, "complex_abs", "f32", x, y, 1)


def _invoke_abs(context: Context, node: Node) -> None:
    invoke_function("COMPLEX_ABS", lambda x: hypotenuse(x.real, x.imag), context, node)


def hypotenuse(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """sqrt(x^2 + y^2) of float64 without overflow: infinite where a side is, else NaN where one is.

    The bytes of the GNU C library's hypot on x86-64; that of other machines rounds otherwise.
    Source: C. F. Borges, An Improved Algorithm for hypot(a, b), 2019.
    """
    sides = np.abs(x), np.abs(y)
    long, short = np.maximum(*sides), np.minimum(*sides)
    with np.errstate(all="ignore"):
        scale = np.where(long > _LARGE, _DOWN, np.where(short < _SMALL, 1 / _DOWN, 1.0))
        a, b = long * scale, short * scale
        first = np.sqrt(a * a + b * b)
        is_near = first <= 2 * b
        over = first - np.where(is_near, b, a)
        # What first^2 is too large by, in two parts.
        high = np.where(is_near, a * (2 * over - a), 2 * over * (a - 2 * b))
        low = np.where(is_near, (over - 2 * (a - b)) * over, (4 * over - b) * b + over * over)
        found = (first - (high + low) / (2 * first)) / scale
        found = np.where(short <= long * 2.0**-54, long + short, found)
    return np.where(np.isinf(x) | np.isinf(y), np.inf, found)


def _part(name: str, position: int) -> Registration:
    def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
        x, y = _operands(context, node, name)
        item = y.dtype.itemsize
        copy = StridedCopy(item, (x.size,), position * item, (2 * item,), 0, (item,))
        return strided_copy_calls(context, copy, x, y)

    return registration(name, prepare)


REGISTRATIONS = (
    _part("REAL", 0),
    _part("IMAG", 1),
    registration("COMPLEX_ABS", _prepare_abs, _invoke_abs),
)
