"""CAST: the same values in another type; and BITCAST: the same bytes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import NUMPY_DTYPES, Shape, Tensor, TensorType
from .broadcast import unary_call
from .element_functions import UNARY
from .float8 import FLOAT8_TYPES, float8_bytes, float8_values
from .index_vector import check_counts
from .operator_facts import SUFFIXES
from .operators import registration
from .packed import PACKED_BITS, packed, unpacked
from .reshape import flat_copy_calls
from .strided_copy import element_bytes

_COMPILED = frozenset(UNARY["cast"][0].types.split())
# Lowest and highest value of the types that only floats are cast to.
_PACKED_RANGE = {TensorType.INT4: (-8, 7), TensorType.UINT4: (0, 15), TensorType.INT2: (-2, 1)}


def _check_types(x: Tensor, y: Tensor) -> None:
    known = (*NUMPY_DTYPES, TensorType.BFLOAT16, *PACKED_BITS, *FLOAT8_TYPES)
    if x.type not in known or y.type not in known:
        raise UnsupportedError(f"CAST: from {x.type_name} to {y.type_name} is not built, got {x!r} and {y!r}")


def _prepare_cast(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("CAST", node, 1)
    x, y = context.input(node, 0), context.output(node, 0)
    _check_types(x, y)
    context.resize_tensor(y, x.shape)
    if x.type == y.type:
        return flat_copy_calls(context, x, y, x.nbytes)
    pair = f"{SUFFIXES.get(x.type)}_{SUFFIXES.get(y.type)}"
    return unary_call(context, "cast", pair, x, y, 0.3) if pair in _COMPILED else None


def values_of(tensor: Tensor) -> np.ndarray:
    """A tensor's values in a type that NumPy has: small floats as float32, packed integers as int8."""
    if tensor.type in FLOAT8_TYPES:
        stored = tensor.dense_bytes()
        return float8_values(stored, tensor.type).reshape(tensor.shape)
    if tensor.type == TensorType.BFLOAT16:
        halves = tensor.dense_bytes().view(np.uint16)
        return (halves.astype(np.uint32) << 16).view(np.float32).reshape(tensor.shape)
    return unpacked(tensor) if tensor.type in PACKED_BITS else tensor.array()


def bfloat16_bits(values: np.ndarray) -> np.ndarray:
    """float32 values rounded to bfloat16, half to even, as uint16; NaNs keep their sign only."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    rounded = ((bits + (0x7FFF + ((bits >> 16) & 1))) >> 16).astype(np.uint16)
    quiet = (((bits >> 16) & 0x8000) | 0x7FC0).astype(np.uint16)
    return np.where(np.isnan(values), quiet, rounded)


def saturated(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Floats as integers: cut towards zero, out of range to the nearest end, NaN to the highest.

    Source: LiteRT tflite/kernels/cast.cc, SaturatingCastFloatingToInteger.
    """
    limits = np.iinfo(dtype)
    wide = values.astype(np.float32) if values.dtype == np.float16 else values
    above = ~(wide < wide.dtype.type(float(limits.max) + 1.0 if limits.max >= 2**24 else limits.max + 1))
    below = wide < wide.dtype.type(limits.min)
    with np.errstate(all="ignore"):
        inside = np.where(above | below, 0, wide).astype(dtype)
    return np.where(above, dtype.type(limits.max), np.where(below, dtype.type(limits.min), inside))


def converted(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Values in another NumPy type: complex ones lose their imaginary part, integers wrap."""
    if values.dtype.kind == "c" and dtype.kind != "c":
        values = values.real
    if dtype.kind == "b":
        return values != 0
    if dtype.kind in "iu" and values.dtype.kind == "f":
        return saturated(values, dtype)
    with np.errstate(all="ignore"):
        if dtype == np.float16:
            # By way of float32, so that doubles are rounded twice.
            return values.astype(np.float32).astype(np.float16)
        return values.astype(dtype)


def _invoke_cast(context: Context, node: Node) -> None:
    x, y = context.input(node, 0), context.output(node, 0)
    values = values_of(x)
    if y.data is None:
        return
    if y.type == TensorType.BFLOAT16:
        y.data[: y.nbytes] = bfloat16_bits(converted(values, np.dtype(np.float32))).reshape(-1).view(np.uint8)
    elif y.type in FLOAT8_TYPES:
        y.data[: y.nbytes] = float8_bytes(converted(values, np.dtype(np.float32)), y.type).reshape(-1)
    elif y.type in PACKED_BITS:
        low, high = _PACKED_RANGE[TensorType(y.type)]
        numbers = converted(values, np.dtype(np.float32))
        # NaN counts as the highest value.
        clipped = np.where(numbers < high, np.maximum(numbers, low), np.float32(high))
        y.data[: y.nbytes] = packed(clipped.astype(np.int8), PACKED_BITS[TensorType(y.type)])
    else:
        y.array()[...] = converted(values, y.dtype)


def bitcast_shape(x: Tensor, y: Tensor) -> Shape:
    """x's shape, with a last axis more where y's elements are smaller, or one less where they are larger."""
    source, target = element_bytes(x, "BITCAST"), element_bytes(y, "BITCAST")
    if source > target:
        return (*x.shape, source // target)
    if source < target:
        if not x.shape or x.shape[-1] != target // source:
            raise PrepareError(f"BITCAST: the last axis must hold {target // source} elements, got {x!r}")
        return x.shape[:-1]
    return x.shape


def _prepare_bitcast(context: Context, node: Node) -> Sequence[KernelCall]:
    check_counts("BITCAST", node, 1)
    x, y = context.input(node, 0), context.output(node, 0)
    context.resize_tensor(y, bitcast_shape(x, y))
    return flat_copy_calls(context, x, y, x.nbytes)


REGISTRATIONS = (
    registration("CAST", _prepare_cast, _invoke_cast),
    registration("BITCAST", _prepare_bitcast),
)
