"""Mathematical functions of one operand: the shape rule, the checks, and their kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from .fixed_point import inverse_square_root
from .index_vector import check_counts, output_of
from .lookup import (
    at_least_call,
    function_table,
    interpolated_table,
    lookup_call,
    multiply_by_quantized_multiplier,
    stored_values,
    type_range,
)
from .operators import registration
from .parallel import chunk_count
from .requantize import quantization_of, quantize_multiplier

UNARY = np.dtype([("x", np.int64), ("y", np.int64), ("size", np.int64)], align=True)

_SUFFIXES = {TensorType.FLOAT32: "f32", TensorType.INT32: "i32", TensorType.INT64: "i64"}

Function = Callable[[np.ndarray], np.ndarray]
Table = Callable[[str, Tensor, Tensor], np.ndarray]


def unary_call(
    context: Context, family: str, kernel: str, x: Tensor, y: Tensor, args: np.ndarray, element_ns: float
) -> list[KernelCall]:
    """The call of an elementwise kernel whose block has x, y and size; none for an empty tensor."""
    if x.size == 0:
        return []
    args["size"] = x.size
    return [KernelCall(family, kernel, args, {"x": x, "y": y}, chunk_count(context, element_ns * x.size))]


def same_shape(context: Context, node: Node, operator: str) -> tuple[Tensor, Tensor]:
    """The node's input and its output, which is given the input's shape; both have one type."""
    check_counts(operator, node, 1)
    x = context.input(node, 0)
    y = output_of(context, node, operator, x)
    context.resize_tensor(y, x.shape)
    return x, y


def _operator(
    name: str,
    types: tuple[TensorType, ...] = (TensorType.FLOAT32,),
    table: Table | None = None,
    element_ns: float = 0.2,
    not_negative: bool = False,
) -> Registration:
    """An operator by its kernels' types; int8 and int16 are served by a table where it is given.

    With not_negative, values below the zero point fail.
    """

    def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
        x, y = same_shape(context, node, name)
        if x.type in (TensorType.INT8, TensorType.INT16) and table is not None:
            results = table(name, x, y)
            checks = _not_negative(context, name, x) if not_negative else []
            return [*checks, *lookup_call(context, x, y, results)]
        if x.type not in types:
            built = [t.name.lower() for t in types] + (["int8", "int16"] if table is not None else [])
            raise UnsupportedError(f"{name}: types built are {', '.join(built)}, got {x.type_name}")
        kernel = f"{name.lower()}_{_SUFFIXES[TensorType(x.type)]}"
        return unary_call(context, "elementwise", kernel, x, y, np.zeros(1, UNARY), element_ns)

    return registration(name, prepare)


def _not_negative(context: Context, name: str, x: Tensor) -> list[KernelCall]:
    zero_point = quantization_of(name, x).zero_point
    message = f"{name}: values must not be negative, got one below the zero point {zero_point}"
    return at_least_call(context, x, zero_point, message)


def _table_of(function: Function) -> Table:
    """Tables of a function: all values for int8, interpolated ones for int16."""

    def in_float64(x: np.ndarray) -> np.ndarray:
        return function(x.astype(np.float64)).astype(np.float32)

    def table(name: str, x: Tensor, y: Tensor) -> np.ndarray:
        if x.type == TensorType.INT16:
            return interpolated_table(name, x, y, in_float64)
        return function_table(name, x, y, in_float64, half_even=False)

    return table


def _log_table(name: str, x: Tensor, y: Tensor) -> np.ndarray:
    """Of 0 and of negative values y's lowest, which the samples of int16 tables take part in too.

    Source: LiteRT tflite/kernels/elementwise.cc, LogLUTPrepare.
    """
    q = quantization_of(name, y)
    lowest = np.float32(q.scale) * np.float32(np.iinfo(y.dtype).min - q.zero_point)
    return _table_of(lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1)), lowest))(name, x, y)


def _abs_table(name: str, x: Tensor, y: Tensor) -> np.ndarray:
    """Of int16 without a scale the magnitudes as they are, but the lowest value stays.

    Source: LiteRT tflite/kernels/elementwise.cc, AbsPrepare, AbsInt16EvalImpl and AbsEvalQuantized.
    """
    if x.type == TensorType.INT16 and (x.quantization is None or not len(x.quantization.scales)):
        return np.abs(stored_values(x)).astype(np.int16)
    p, q = quantization_of(name, x), quantization_of(name, y)
    magnitudes = np.abs(stored_values(x) - p.zero_point)
    if p.scale == q.scale:
        return magnitudes + q.zero_point
    multiplier = quantize_multiplier(float(np.float32(p.scale) / np.float32(q.scale)))
    return multiply_by_quantized_multiplier(magnitudes, *multiplier) + q.zero_point


def _neg_table(name: str, x: Tensor, y: Tensor) -> np.ndarray:
    """Stored values negated, whatever their scale and zero point; the lowest stays.

    Source: LiteRT tflite/kernels/neg.cc, Eval.
    """
    return (-stored_values(x)).astype(x.dtype)


def _sqrt_table(name: str, x: Tensor, y: Tensor) -> np.ndarray:
    """Quotients cut towards zero; the zero point for negative values, which are refused before.

    Source: LiteRT tflite/kernels/elementwise.cc, SqrtEvalQuantized.
    """
    p, q = quantization_of(name, x), quantization_of(name, y)
    real = np.float32(p.scale) * (stored_values(x) - p.zero_point).astype(np.float32)
    root = np.sqrt(np.maximum(real, 0)) / np.float32(q.scale)
    return np.trunc(np.minimum(root, np.float32(2**30))).astype(np.int64) + q.zero_point


def _rsqrt_table(name: str, x: Tensor, y: Tensor) -> np.ndarray:
    """int8 in fixed point; the highest value for 0, and for negative values, which are refused before.

    Source: LiteRT tflite/kernels/elementwise.cc, RsqrtEvalQuantizedInt8.
    """
    if x.type == TensorType.INT16:
        return _interpolated_rsqrt(name, x, y)
    p, q = quantization_of(name, x), quantization_of(name, y)
    with np.errstate(all="ignore"):
        real = float(1 / np.float64(np.sqrt(np.float32(p.scale)) * np.float32(q.scale)))
    multiplier, shift = quantize_multiplier(real)
    offsets = stored_values(x) - p.zero_point
    results = np.full(offsets.shape, np.int64(type_range(y)[1]))
    for at in np.flatnonzero(offsets > 0):
        inverse, right = inverse_square_root(int(offsets[at]))
        root = multiply_by_quantized_multiplier(np.array([1]), inverse, _RSQRT_SHIFT - right)
        scaled = multiply_by_quantized_multiplier(root, multiplier, shift - _RSQRT_SHIFT)
        results[at] = scaled[0] + q.zero_point
    return results


def _interpolated_rsqrt(name: str, x: Tensor, y: Tensor) -> np.ndarray:
    highest = np.float32(type_range(y)[1]) * np.float32(quantization_of(name, y).scale)

    def function(values: np.ndarray) -> np.ndarray:
        roots = np.sqrt(np.maximum(values, 0).astype(np.float32))
        return np.where(values > 0, np.float32(1) / roots, highest).astype(np.float32)

    return interpolated_table(name, x, y, function)


_RSQRT_SHIFT = 20
_INTEGERS = (TensorType.FLOAT32, TensorType.INT32, TensorType.INT64)

REGISTRATIONS = (
    _operator("SIN", element_ns=5),
    _operator("COS", element_ns=5),
    _operator("EXP", table=_table_of(np.exp)),
    _operator("LOG", table=_log_table, element_ns=3),
    _operator("SQRT", table=_sqrt_table, not_negative=True),
    _operator("RSQRT", table=_rsqrt_table, not_negative=True),
    _operator("SQUARE"),
    _operator("NEG", _INTEGERS, table=_neg_table),
    _operator("ABS", _INTEGERS, table=_abs_table),
    _operator("FLOOR"),
    _operator("CEIL"),
    _operator("ROUND"),
)
