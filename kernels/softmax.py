"""SOFTMAX and LOG_SOFTMAX over the last dimension: checks, tables, and their kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.quantization import Quantization
from ..lite.tensor import Tensor, TensorType
from .index_vector import check_counts, check_same_type
from .lookup import BYTE_TYPES, interpolation_samples
from .operators import check_type, registration
from .requantize import BYTE_RANGES, quantization_of, quantize_multiplier

_ROWS = [("x", np.int64), ("y", np.int64), ("rows", np.int64), ("depth", np.int64)]

# scratch holds a row for each chunk (LOG_SOFTMAX only).
SOFTMAX_F32 = np.dtype([*_ROWS, ("scratch", np.int64), ("beta", np.float32)], align=True)
# exponentials is float32 [511]: e**(-beta * scale * d) at 255 - d, and 0 from 256 on. To bytes there are
# planes, the first 256's bytes as uint8 [4, 256], the lowest ones first, and scratch for each chunk: results
# [256] of a row, then for SOFTMAX_ROWS rows what they are offset by in the table, by a byte and as an
# address, and their sums.
SOFTMAX_ROWS = 16
SOFTMAX_SCRATCH = 256 + 13 * SOFTMAX_ROWS + 48
SOFTMAX_Q8 = np.dtype(
    [
        *_ROWS,
        ("scratch", np.int64),
        ("exponentials", np.int64),
        ("planes", np.int64),
        ("y_scale", np.float32),
        ("zero", np.int32),
    ],
    align=True,
)
LOG_SOFTMAX_Q8 = np.dtype(
    [
        *_ROWS,
        ("exponentials", np.int64),
        ("x_scale", np.float32),
        ("y_scale", np.float32),
        ("zero", np.int32),
    ],
    align=True,
)
# By how far an element lies below its row's largest (0 .. 255): exponentials are int32 with no
# integer bits, terms the same with SUM_INTEGER_BITS; both 0 where the result is the lowest.
SOFTMAX_Q8_REFERENCE = np.dtype([*_ROWS, ("exponentials", np.int64), ("terms", np.int64)], align=True)

# terms as above; differences are int32 [256] in fixed point with _DIFFERENCE_INTEGER_BITS, and the reverse
# multiplier takes such back to stored values. Elements more than `furthest` below their row's largest have
# the lowest result.
LOG_SOFTMAX_Q8_REFERENCE = np.dtype(
    [
        *_ROWS,
        ("terms", np.int64),
        ("differences", np.int64),
        ("reverse_multiplier", np.int32),
        ("reverse_shift", np.int32),
        ("furthest", np.int32),
    ],
    align=True,
)

# Tables of 513 int16: e**x for x in [-10, 0], and 1 / (1 + x) for x in [0, 1].
SOFTMAX_I16 = np.dtype(
    [
        *_ROWS,
        ("scratch", np.int64),
        ("exponentials", np.int64),
        ("reciprocals", np.int64),
        ("multiplier", np.int32),
        ("shift", np.int32),
    ],
    align=True,
)

SUM_INTEGER_BITS = 12
_DIFFERENCE_INTEGER_BITS = 5

_SUFFIXES = {TensorType.INT8: "i8", TensorType.UINT8: "u8", TensorType.INT16: "i16"}


def float_exponentials(scale: float, beta: float) -> np.ndarray:
    """Source: LiteRT tflite/kernels/internal/optimized/optimized_ops.h, PopulateSoftmaxLookupTable.

    Zeros follow for bytes above a row's largest: vector code looks at all 256 without asking which there are.
    """
    step = -np.float32(scale) * np.float32(beta)
    differences = np.arange(255, -1, -1, dtype=np.float32)
    table = np.zeros(511, np.float32)
    table[:256] = np.exp((step * differences).astype(np.float64))
    return table


def _difference_multiplier(scale: float, beta: float) -> tuple[int, int]:
    """From differences of stored values to fixed point with _DIFFERENCE_INTEGER_BITS."""
    fraction_bits = 31 - _DIFFERENCE_INTEGER_BITS
    return quantize_multiplier(min(beta * scale * (1 << fraction_bits), (1 << 31) - 1.0))


def _largest_difference(scale: float, beta: float) -> int:
    """What fits that fixed point."""
    fraction_bits = 31 - _DIFFERENCE_INTEGER_BITS
    _, shift = _difference_multiplier(scale, beta)
    return int(((1 << _DIFFERENCE_INTEGER_BITS) - 1) * 2.0 ** (fraction_bits - shift))


def _fixed_differences(scale: float, beta: float) -> np.ndarray:
    """By how far stored values lie below the largest, 0 to 255: int32 in that fixed point, those that fit."""
    from .fixed_point import divide_by_power, high_multiply  # for the reference alone

    multiplier, shift = _difference_multiplier(scale, beta)
    fit = range(min(_largest_difference(scale, beta), 255) + 1)
    differences = np.zeros(256, np.int32)
    differences[: len(fit)] = [
        divide_by_power(high_multiply(-d << max(shift, 0), multiplier), max(-shift, 0)) for d in fit
    ]
    return differences


def fixed_exponentials(scale: float, beta: float) -> tuple[np.ndarray, np.ndarray]:
    """(exponentials, terms) of SOFTMAX_Q8_REFERENCE, each int32 [256].

    Source: LiteRT tflite/kernels/internal/reference/softmax.h and quantization_util.cc,
    PreprocessSoftmaxScaling and CalculateInputRadius.
    """
    from .fixed_point import divide_by_power, exp_of_negative  # for the reference alone

    exponentials, terms = np.zeros(256, np.int32), np.zeros(256, np.int32)
    differences = _fixed_differences(scale, beta)
    for i in range(min(_largest_difference(scale, beta), 255) + 1):
        exponentials[i] = exp_of_negative(int(differences[i]))
        terms[i] = divide_by_power(int(exponentials[i]), SUM_INTEGER_BITS)
    return exponentials, terms


def _byte_call(
    context: Context, x: Tensor, y: Tensor, beta: float
) -> tuple[str, np.ndarray, list[np.ndarray]]:
    """Kernel, block and tables of a SOFTMAX of bytes, to bytes that cover [0, 1) or to int16.

    To int16 the default keeps to the output's quantization, the reference has [0, 1) whatever that says.
    """
    p, q = quantization_of("SOFTMAX", x), quantization_of("SOFTMAX", y)
    _check_byte_output(y, q)
    if context.numerics is Numerics.DEFAULT:
        args = np.zeros(1, SOFTMAX_Q8)
        # Of uint8 LiteRT forgets the zero point.
        args["y_scale"], args["zero"] = q.scale, 0 if y.type == TensorType.UINT8 else q.zero_point
        table = float_exponentials(p.scale, beta)
        tables = [table, np.ascontiguousarray(table[:256].view(np.uint8).reshape(256, 4).T)]
        args["planes"] = tables[1].ctypes.data
        kernel = "softmax"
    else:
        args = np.zeros(1, SOFTMAX_Q8_REFERENCE)
        tables = list(fixed_exponentials(p.scale, beta))
        args["terms"] = tables[1].ctypes.data
        kernel = "softmax_reference"
    args["exponentials"] = tables[0].ctypes.data
    suffixes = dict.fromkeys(_SUFFIXES[TensorType(tensor.type)] for tensor in (x, y))
    return "_".join((kernel, *suffixes)), args, tables


def _check_byte_output(y: Tensor, q: Quantization) -> None:
    """Of int8 it must be [0, 1) in 256 steps; the reference kernels take the others for that, too."""
    if not q.scale > 0:
        raise PrepareError(f"SOFTMAX: the output's scale must be positive, got {q.scale}")
    if y.type == TensorType.INT8 and (q.zero_point != -128 or abs(q.scale - 1 / 256) > 0.001 / 256):
        raise PrepareError(
            "SOFTMAX: the scale of an int8 output must be 1/256 and its zero point -128, "
            f"got {q.scale} and {q.zero_point}"
        )


def _prepare_i16(context: Context, node: Node, x: Tensor, y: Tensor, beta: float) -> list[KernelCall]:
    """Source: LiteRT tflite/kernels/activations.cc, SoftmaxPrepare and SoftmaxInt16."""
    p, q = quantization_of("SOFTMAX", x), quantization_of("SOFTMAX", y)
    if p.zero_point or q.zero_point or abs(q.scale - 1 / 32768) > 0.001 / 32768:
        raise PrepareError(
            f"SOFTMAX: int16 zero points must be 0 and the output's scale 1/32768, "
            f"got {p.zero_point}, {q.zero_point} and {q.scale}"
        )
    step, unit = np.float32(10 / 65535), np.float32(1 / 65535)
    full = np.float32(1 << 16) / (np.float32(2 / 65535) * np.float32(65535))
    exponentials = interpolation_samples(
        _in_float64(np.exp), (step * np.float32(-65535), step * np.float32(0)), full
    )
    reciprocals = interpolation_samples(
        lambda x: 1 / (1 + x.astype(np.float64)),
        (unit * np.float32(0), unit * np.float32(65535)),
        np.float64(full),
    )
    tables = [exponentials.astype(np.int16), reciprocals.astype(np.int16)]
    args = np.zeros(1, SOFTMAX_I16)
    args["exponentials"], args["reciprocals"] = tables[0].ctypes.data, tables[1].ctypes.data
    args["multiplier"], args["shift"] = quantize_multiplier(p.scale * beta / float(step))
    calls = _call(context, "softmax_i16", "softmax_i16", x, y, args, tables)
    return _with_scratch(context, node, calls, 2 * x.shape[-1])


def _with_scratch(context: Context, node: Node, calls: list[KernelCall], nbytes: int) -> list[KernelCall]:
    """The calls with so much scratch memory for each chunk."""
    for call in calls:
        call.tensors = {**call.tensors, "scratch": context.add_temporary(node, nbytes * call.chunks)}
    return calls


def _in_float64(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: function(x.astype(np.float64)).astype(np.float32)


def _rows(operator: str, context: Context, node: Node) -> tuple[Tensor, Tensor]:
    check_counts(operator, node, 1)
    x, y = context.input(node, 0), context.output(node, 0)
    widens = operator == "SOFTMAX" and x.type in BYTE_TYPES and y.type == TensorType.INT16
    if not widens:
        check_same_type(operator, x, y)
    if not x.shape:
        raise PrepareError(f"{operator}: input must have at least 1 dimension, got {x!r}")
    context.resize_tensor(y, x.shape)
    return x, y


def _call(
    context: Context, family: str, kernel: str, x: Tensor, y: Tensor, args: np.ndarray, keep: list[np.ndarray]
) -> list[KernelCall]:
    if x.size == 0:
        return []
    depth = x.shape[-1]
    rows = x.size // depth
    args["rows"], args["depth"] = rows, depth
    chunks = chunk_count(context, 1.0 * x.size, most=rows)
    return [KernelCall(family, kernel, args, {"x": x, "y": y}, chunks, keep=keep)]


def _prepare_softmax(context: Context, node: Node) -> Sequence[KernelCall]:
    x, y = _rows("SOFTMAX", context, node)
    check_type("SOFTMAX", x)
    beta = 0.0 if node.options is None else node.options.beta
    if x.type in BYTE_TYPES:
        kernel, args, tables = _byte_call(context, x, y, beta)
        calls = _call(context, "softmax_q8", kernel, x, y, args, tables)
        by_tables = kernel in ("softmax_i8", "softmax_u8")
        return _with_scratch(context, node, calls, SOFTMAX_SCRATCH) if by_tables else calls
    if x.type == TensorType.INT16:
        return _prepare_i16(context, node, x, y, beta)
    args = np.zeros(1, SOFTMAX_F32)
    args["beta"] = beta
    return _call(context, "softmax_f32", "softmax_f32", x, y, args, [])


def _prepare_log_bytes(context: Context, x: Tensor, y: Tensor) -> list[KernelCall]:
    """In float32 with the table of exponentials; the reference in fixed point.

    Source: LiteRT tflite/kernels/internal/optimized/optimized_ops.h, LogSoftmax of 8-bit types;
    tflite/kernels/internal/reference/integer_ops/log_softmax.h.
    """
    p, q = quantization_of("LOG_SOFTMAX", x), quantization_of("LOG_SOFTMAX", y)
    highest = BYTE_RANGES[TensorType(y.type)][1]
    if q.zero_point != highest or abs(q.scale - 16 / 256) > 0.001 / 256:
        raise PrepareError(
            f"LOG_SOFTMAX: the output's scale must be 16/256 and its zero point {highest}, "
            f"got {q.scale} and {q.zero_point}"
        )
    suffix = _SUFFIXES[TensorType(x.type)]
    if context.numerics is Numerics.REFERENCE:
        args = np.zeros(1, LOG_SOFTMAX_Q8_REFERENCE)
        tables = [fixed_exponentials(p.scale, 1.0)[1], _fixed_differences(p.scale, 1.0)]
        args["terms"], args["differences"] = (table.ctypes.data for table in tables)
        multiplier, shift = _difference_multiplier(p.scale, 1.0)
        if multiplier == 0:
            raise PrepareError(f"LOG_SOFTMAX: the input's scale must not be 0 in fixed point, got {p.scale}")
        args["reverse_multiplier"], args["reverse_shift"] = quantize_multiplier(
            2.0 ** (31 - shift) / multiplier
        )
        args["furthest"] = min(255, _largest_difference(p.scale, 1.0))
        return _call(context, "softmax_q8", f"log_softmax_reference_{suffix}", x, y, args, tables)
    args = np.zeros(1, LOG_SOFTMAX_Q8)
    table = float_exponentials(p.scale, 1.0)
    args["exponentials"] = table.ctypes.data
    args["x_scale"], args["y_scale"], args["zero"] = p.scale, q.scale, q.zero_point
    return _call(context, "softmax_q8", f"log_softmax_{suffix}", x, y, args, [table])


def _prepare_log_softmax(context: Context, node: Node) -> Sequence[KernelCall]:
    x, y = _rows("LOG_SOFTMAX", context, node)
    check_type("LOG_SOFTMAX", x)
    if x.type in BYTE_TYPES:
        return _prepare_log_bytes(context, x, y)
    calls = _call(context, "softmax_f32", "log_softmax_f32", x, y, np.zeros(1, SOFTMAX_F32), [])
    return _with_scratch(context, node, calls, 4 * x.shape[-1])


REGISTRATIONS = (
    registration("SOFTMAX", _prepare_softmax),
    registration("LOG_SOFTMAX", _prepare_log_softmax),
)
