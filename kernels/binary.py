"""Binary elementwise operators with broadcasting: checks, and which kernel serves which types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import frexp, ldexp, prod
from typing import NamedTuple

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from .broadcast import BROADCAST_FIELDS, broadcast_shape, collapse, fill_loops
from .fused_activation import NONE, float_activation_range, quantized_activation_range, xnnpack_takes
from .index_vector import check_counts, quantization_pair
from .lookup import type_range
from .operators import registration
from .parallel import chunk_count
from .quantized_div import DIVISION_BY_ZERO
from .quantized_div import SUFFIXES as QUANTIZED_DIV_SUFFIXES
from .quantized_div import block as quantized_div_block
from .requantize import BYTE_RANGES, quantization_of, quantize_multiplier

_OPERANDS = [("a", np.int64), ("b", np.int64), ("out", np.int64), *BROADCAST_FIELDS]


def _int32_fields(names: str) -> list[tuple[str, type]]:
    return [(name, np.int32) for name in names.split()]


BINARY = np.dtype(_OPERANDS, align=True)
BINARY_F32 = np.dtype([*_OPERANDS, ("low", np.float32), ("high", np.float32)], align=True)
BINARY_INT = np.dtype([*_OPERANDS, ("low", np.int64), ("high", np.int64)], align=True)

# out = clamp(zero + ((bias + a * a_multiplier + b * b_multiplier) >> shift))
SUM_Q8 = np.dtype(
    [*_OPERANDS, *_int32_fields("a_multiplier b_multiplier bias shift zero low high")], align=True
)
# out = clamp(zero + round((a - a_zero) * (b - b_zero) * scale))
PRODUCT_Q8 = np.dtype(
    [*_OPERANDS, *_int32_fields("a_zero b_zero zero low high"), ("scale", np.float32)], align=True
)
# Each operand less its zero point is shifted left by left_shift and scaled to a common scale;
# the sum a + b_sign * b, or the square of the difference, is scaled to the output's.
SUM_Q8_REFERENCE = np.dtype(
    [
        *_OPERANDS,
        *_int32_fields(
            "left_shift a_zero a_multiplier a_shift b_zero b_multiplier b_shift b_sign "
            "multiplier shift zero low high"
        ),
    ],
    align=True,
)
PRODUCT_Q8_REFERENCE = np.dtype(
    [*_OPERANDS, *_int32_fields("a_zero b_zero multiplier shift zero low high")], align=True
)

_MESSAGES = {DIVISION_BY_ZERO: "the divisor must have no zero element, got one"}

_INTEGER_SUFFIXES = {TensorType.INT32: "i32", TensorType.INT64: "i64"}
_BYTE_SUFFIXES = {TensorType.INT8: "i8", TensorType.UINT8: "u8"}
_QUANTIZED_SUFFIXES = {**_BYTE_SUFFIXES, TensorType.INT16: "i16"}
_XNNPACK_MAX_RANK = 6


class _Choice(NamedTuple):
    """The kernel that serves a node, its block less operands and loops, and arrays it points to."""

    family: str
    kernel: str
    args: np.ndarray
    keep: tuple[np.ndarray, ...] = ()


class _Scales(NamedTuple):
    a: np.float32
    b: np.float32
    out: np.float32


def _xnnpack_takes(product: bool, scales: _Scales, rank: int) -> bool:
    """Whether LiteRT's default leaves the 8-bit operator to XNNPACK.

    Source: LiteRT tflite/delegates/xnnpack/xnnpack_delegate.cc, VisitAddNode and VisitMulNode.
    """
    if rank > _XNNPACK_MAX_RANK:
        return False
    if product:
        ratios, least = [scales.a * scales.b / scales.out], 2.0**-16
    else:
        ratios, least = [scales.a / scales.out, scales.b / scales.out], 2.0**-10
    return all(least <= ratio < 256.0 for ratio in ratios)


def _in_range(out: Tensor, zeros: Sequence[int]) -> bool:
    """Whether the zero points are values of the type: XNNPACK takes no others."""
    low, high = type_range(out)
    return all(low <= zero <= high for zero in zeros)


def _fixed_sum(args: np.ndarray, scales: _Scales, zeros: tuple[int, int], sign: int) -> None:
    """Multipliers of SUM_Q8: 20 bits for the larger operand, and the bias that rounds half up.

    Source: XNNPACK src/microparams-init.c, xnn_init_qs8_add_minmax_scalar_params.
    """
    ratios = float(scales.a / scales.out), float(scales.b / scales.out)
    shift = 21 - frexp(max(ratios))[1]
    a, b = round(ldexp(ratios[0], shift)), sign * round(ldexp(ratios[1], shift))
    args["a_multiplier"], args["b_multiplier"], args["shift"] = a, b, shift
    args["bias"] = (1 << (shift - 1)) - a * zeros[0] - b * zeros[1]


def _reference_sum(args: np.ndarray, scales: _Scales, zeros: tuple[int, int], left_shift: int) -> None:
    """Multipliers of SUM_Q8_REFERENCE: both operands to twice the larger scale.

    Source: LiteRT tflite/kernels/add.cc, Prepare.
    """
    a, b = float(scales.a), float(scales.b)
    common = 2 * max(a, b)
    args["a_zero"], args["b_zero"], args["left_shift"] = *zeros, left_shift
    args["a_multiplier"], args["a_shift"] = quantize_multiplier(a / common)
    args["b_multiplier"], args["b_shift"] = quantize_multiplier(b / common)


def _reference_block(name: str, scales: _Scales, zeros: tuple[int, int], is_16_bit: bool) -> np.ndarray:
    """The block of an operator in the reference's arithmetic, less its range."""
    if name == "MUL":
        args = np.zeros(1, PRODUCT_Q8_REFERENCE)
        args["a_zero"], args["b_zero"] = zeros
        real = float(scales.a * scales.b / scales.out)
    else:
        # Source: LiteRT tflite/kernels/squared_difference.cc, Prepare (for the left shift of 7).
        left_shift = 7 if name == "SQUARED_DIFFERENCE" else 15 if is_16_bit else 20
        args = np.zeros(1, SUM_Q8_REFERENCE)
        _reference_sum(args, scales, zeros, left_shift)
        args["b_sign"] = 1 if name == "ADD" else -1
        common = 2 * max(float(scales.a), float(scales.b))
        if name == "SQUARED_DIFFERENCE":
            real = common * common / ((1 << left_shift * 2) * float(scales.out))
        else:
            real = common / ((1 << left_shift) * float(scales.out))
    args["multiplier"], args["shift"] = quantize_multiplier(real)
    return args


_REFERENCE_KERNELS = {"MUL": "product", "SQUARED_DIFFERENCE": "squared_difference"}


def _quantized_call(context: Context, name: str, fused: int, a: Tensor, b: Tensor, out: Tensor) -> _Choice:
    """Family, kernel and block of a quantized ADD, SUB, MUL or SQUARED_DIFFERENCE."""
    quantizations = [quantization_of(name, tensor) for tensor in (a, b, out)]
    scales = _Scales(*(np.float32(q.scale) for q in quantizations))
    if not min(scales) > 0:
        raise PrepareError(f"{name}: scales must be positive, got {', '.join(map(str, scales))}")
    zeros = quantizations[0].zero_point, quantizations[1].zero_point
    suffix = _QUANTIZED_SUFFIXES[TensorType(out.type)]
    product = name == "MUL"
    default = context.numerics is Numerics.DEFAULT
    fast = (
        default
        and name != "SQUARED_DIFFERENCE"
        and xnnpack_takes(fused)
        and out.type in BYTE_RANGES
        and out.declared_type == out.type  # else LiteRT leaves the node to its own kernels
        and _xnnpack_takes(product, scales, len(out.shape))
        and _in_range(out, [q.zero_point for q in quantizations])
    )
    nothing_stretches = prod(a.shape) == prod(b.shape) == prod(out.shape)
    if default and name == "ADD" and out.type == TensorType.INT16 and nothing_stretches:
        # Source: LiteRT tflite/kernels/internal/optimized/integer_ops/add.h, AddElementwiseInt16.
        family, kernel = "binary_q16", "sum_i16"
        args = _reference_block(name, scales, zeros, is_16_bit=True)
    elif not fast:
        family, kernel = "binary_q8_reference", f"{_REFERENCE_KERNELS.get(name, 'sum')}_reference_{suffix}"
        args = _reference_block(name, scales, zeros, out.type == TensorType.INT16)
    elif product:
        family, kernel, args = "binary_q8", f"product_{suffix}", np.zeros(1, PRODUCT_Q8)
        args["a_zero"], args["b_zero"], args["scale"] = *zeros, scales.a * scales.b / scales.out
    else:
        family, kernel, args = "binary_q8", f"sum_{suffix}", np.zeros(1, SUM_Q8)
        _fixed_sum(args, scales, zeros, -1 if name == "SUB" else 1)
    zero = quantizations[2].zero_point
    args["zero"] = zero
    args["low"], args["high"] = quantized_activation_range(
        name, fused, float(scales.out), zero, *type_range(out), half_even=fast
    )
    return _Choice(family, kernel, args)


def _arithmetic_call(context: Context, name: str, fused: int, a: Tensor, b: Tensor, out: Tensor) -> _Choice:
    """Family, kernel and block of an operator by its type; UnsupportedError for types not built."""
    kernel = name.lower()
    if out.type == TensorType.FLOAT32:
        args = np.zeros(1, BINARY_F32)
        args["low"], args["high"] = float_activation_range(name, fused)
        return _Choice("binary_f32", f"{kernel}_f32", args)
    suffix = _INTEGER_SUFFIXES.get(TensorType(out.type))
    if name in ("ADD", "SUB", "MUL") and out.type == TensorType.INT16 and quantization_pair(out)[0] == 0:
        suffix = "i16"
    if suffix is not None:
        args = np.zeros(1, BINARY_INT)
        limits = np.iinfo(out.dtype)
        low, high = float_activation_range(name, fused)
        args["low"] = max(low, int(limits.min)) if low > -np.inf else limits.min
        args["high"] = min(high, int(limits.max)) if high < np.inf else limits.max
        return _Choice("binary_int", f"{kernel}_{suffix}", args)
    if name == "DIV" and out.type in QUANTIZED_DIV_SUFFIXES:
        kernel = f"div_{QUANTIZED_DIV_SUFFIXES[TensorType(out.type)]}"
        return _Choice("quantized_div", kernel, quantized_div_block(a, b, out, fused))
    if out.type in (_BYTE_SUFFIXES if name == "SQUARED_DIFFERENCE" else _QUANTIZED_SUFFIXES):
        return _quantized_call(context, name, fused, a, b, out)
    raise UnsupportedError(
        f"{name}: types built are float32, int32, int64 and quantized int8, uint8 and int16, "
        f"got {out.type_name}"
    )


def _selection_call(context: Context, name: str, fused: int, a: Tensor, b: Tensor, out: Tensor) -> _Choice:
    """MAXIMUM and MINIMUM compare stored values, whatever their scale."""
    if out.type == TensorType.FLOAT32:
        return _Choice("binary_f32", f"{name.lower()}_f32", np.zeros(1, BINARY_F32))
    suffixes = {**_QUANTIZED_SUFFIXES, **_INTEGER_SUFFIXES}
    if out.type not in suffixes:
        raise UnsupportedError(
            f"{name}: types built are float32 and signed integers and uint8, got {out.type_name}"
        )
    kernel = f"{name.lower()}_{suffixes[TensorType(out.type)]}"
    return _Choice("binary_int", kernel, np.zeros(1, BINARY))


def _multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a * b; complex products rounded at every step, which NumPy's are not."""
    if a.dtype != np.complex64:
        return a * b
    real, imaginary = a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real
    product = np.empty(real.shape, np.complex64)
    product.real, product.imag = real, imaginary
    return product


# Types too rare for kernels of their own: these run in NumPy.
_NUMPY: dict[str, tuple[Callable[..., np.ndarray], tuple[TensorType, ...]]] = {
    "ADD": (np.add, (TensorType.FLOAT16,)),
    "MUL": (_multiply, (TensorType.COMPLEX64, TensorType.UINT32, TensorType.FLOAT16)),
    "MAXIMUM": (np.maximum, (TensorType.FLOAT16,)),
    "MINIMUM": (np.minimum, (TensorType.FLOAT16,)),
}


def _runs_in_numpy(name: str, tensor: Tensor) -> bool:
    return name in _NUMPY and tensor.type in _NUMPY[name][1]


def _invoke(name: str, context: Context, node: Node) -> None:
    a, b, out = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    fused = getattr(node.options, "fused_activation_function", NONE)
    with np.errstate(all="ignore"):
        values = _NUMPY[name][0](a.array(), b.array())
    low, high = float_activation_range(name, fused)
    if out.type == TensorType.FLOAT16:
        values = np.clip(values, np.float16(low), np.float16(high))
    elif out.type == TensorType.UINT32:
        values = np.clip(values, 0, None if high == np.inf else np.uint32(high))
    out.array()[...] = values


def _prepare(
    name: str, choose: Callable[..., _Choice], context: Context, node: Node
) -> Sequence[KernelCall] | None:
    check_counts(name, node, 2)
    a, b, out = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if not a.type == b.type == out.type:
        raise PrepareError(f"{name}: operands and output must have one type, got {a!r}, {b!r} and {out!r}")
    shape = broadcast_shape(name, a.shape, b.shape)
    loops = collapse(name, a.shape, b.shape)
    context.resize_tensor(out, shape)
    fused = getattr(node.options, "fused_activation_function", NONE)
    if _runs_in_numpy(name, out):
        return None
    family, kernel, args, keep = choose(context, name, fused, a, b, out)
    if prod(shape) == 0:
        return []
    fill_loops(args, loops)
    chunks = chunk_count(context, 0.2 * prod(shape))
    tensors = {"a": a, "b": b, "out": out}
    return [KernelCall(family, kernel, args, tensors, chunks, keep, _MESSAGES)]


def _registration(name: str, choose: Callable[..., _Choice]) -> Registration:
    return registration(
        name,
        lambda context, node: _prepare(name, choose, context, node),
        lambda context, node: _invoke(name, context, node),
    )


REGISTRATIONS = (
    _registration("ADD", _arithmetic_call),
    _registration("SUB", _arithmetic_call),
    _registration("MUL", _arithmetic_call),
    _registration("DIV", _arithmetic_call),
    _registration("SQUARED_DIFFERENCE", _arithmetic_call),
    _registration("MAXIMUM", _selection_call),
    _registration("MINIMUM", _selection_call),
)
