"""Quantized operators of two operands: the function that serves a node, and its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp, ldexp, prod

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.errors import PrepareError
from ..lite.quantization import Quantization
from ..lite.tensor import Tensor, TensorType
from ..schema.named_tuple import NamedTuple
from .fused_activation import quantized_activation_range
from .lookup import type_range
from .requantize import BYTE_RANGES, quantization_of, quantize_multiplier
from .xnnpack_nodes import takes_activation, takes_shapes

Operands = tuple[Tensor, Tensor, Tensor]  # a, b and the output
Parameters = dict[str, float]  # of the argument block, by field


class _Scales(NamedTuple):
    a: np.float32
    b: np.float32
    out: np.float32


def _quantizations(name: str, operands: Sequence[Tensor]) -> list[Quantization]:
    """Those of all operands, whose scales must be positive."""
    found = [quantization_of(name, tensor) for tensor in operands]
    if not min(q.scale for q in found) > 0:
        *scales, last = (str(q.scale) for q in found)
        raise PrepareError(f"{name}: scales must be positive, got {', '.join(scales)} and {last}")
    return found


def _fast(name: str, scales: _Scales, zeros: Sequence[int], operands: Operands) -> bool:
    """Whether LiteRT's default leaves the operator to XNNPACK.

    Source: LiteRT tflite/delegates/xnnpack/xnnpack_delegate.cc, VisitAddNode and VisitMulNode.
    """
    a, b, out = operands
    # Where the declared type is another, LiteRT leaves the node to its own kernels.
    if name == "SQUARED_DIFFERENCE" or out.type not in BYTE_RANGES or out.declared_type != out.type:
        return False
    low, high = type_range(out)
    if not takes_shapes(a, b) or not all(low <= zero <= high for zero in zeros):
        return False
    if name == "MUL":
        ratios, least = [scales.a * scales.b / scales.out], 2.0**-16
    else:
        ratios, least = [scales.a / scales.out, scales.b / scales.out], 2.0**-10
    return all(least <= ratio < 256.0 for ratio in ratios)


def _fast_parameters(name: str, scales: _Scales, zeros: Sequence[int]) -> Parameters:
    """Of a product, or multipliers of 20 bits for the larger operand and the bias that rounds half up.

    Source: XNNPACK src/microparams-init.c, xnn_init_qs8_add_minmax_scalar_params.
    """
    if name == "MUL":
        return {"a_zero": zeros[0], "b_zero": zeros[1], "scale": float(scales.a * scales.b / scales.out)}
    ratios = float(scales.a / scales.out), float(scales.b / scales.out)
    shift = 21 - frexp(max(ratios))[1]
    a, b = round(ldexp(ratios[0], shift)), (-1 if name == "SUB" else 1) * round(ldexp(ratios[1], shift))
    bias = (1 << (shift - 1)) - a * zeros[0] - b * zeros[1]
    return {"a_multiplier": a, "b_multiplier": b, "bias": bias, "shift": shift}


def _reference_parameters(name: str, scales: _Scales, zeros: Sequence[int], is_16_bit: bool) -> Parameters:
    """In the reference's arithmetic; sums and differences bring both operands to twice the larger scale.

    Source: LiteRT tflite/kernels/add.cc and squared_difference.cc (for the left shift of 7), Prepare.
    """
    parameters: Parameters = {"a_zero": zeros[0], "b_zero": zeros[1]}
    if name == "MUL":
        real = float(scales.a * scales.b / scales.out)
    else:
        left_shift = 7 if name == "SQUARED_DIFFERENCE" else 15 if is_16_bit else 20
        common = 2 * max(float(scales.a), float(scales.b))
        for operand, scale in (("a", scales.a), ("b", scales.b)):
            multiplier, shift = quantize_multiplier(float(scale) / common)
            parameters |= {f"{operand}_multiplier": multiplier, f"{operand}_shift": shift}
        parameters |= {"left_shift": left_shift, "b_sign": 1 if name == "ADD" else -1}
        if name == "SQUARED_DIFFERENCE":
            real = common * common / ((1 << left_shift * 2) * float(scales.out))
        else:
            real = common / ((1 << left_shift) * float(scales.out))
    multiplier, shift = quantize_multiplier(real)
    return parameters | {"multiplier": multiplier, "shift": shift}


def quantized_arithmetic(
    context: Context, name: str, fused: int, operands: Operands
) -> tuple[str, Parameters]:
    """Function and parameters of a quantized ADD, SUB, MUL or SQUARED_DIFFERENCE."""
    a, b, out = operands
    quantizations = [quantization_of(name, tensor) for tensor in operands]
    scales = _Scales(*(np.float32(q.scale) for q in quantizations))
    if not min(scales) > 0:
        raise PrepareError(f"{name}: scales must be positive, got {', '.join(map(str, scales))}")
    zeros = [q.zero_point for q in quantizations]
    default = context.numerics is Numerics.DEFAULT
    fast = default and takes_activation(fused) and _fast(name, scales, zeros, operands)
    function = {"MUL": "product", "SQUARED_DIFFERENCE": "squared_difference"}.get(name, "sum")
    if fast:
        parameters = _fast_parameters(name, scales, zeros)
    else:
        parameters = _reference_parameters(name, scales, zeros, out.type == TensorType.INT16)
        nothing_stretches = prod(a.shape) == prod(b.shape) == prod(out.shape)
        # Source: LiteRT tflite/kernels/internal/optimized/integer_ops/add.h, AddElementwiseInt16.
        if not (default and name == "ADD" and out.type == TensorType.INT16 and nothing_stretches):
            function += "_reference"
    low, high = quantized_activation_range(
        name, fused, float(scales.out), zeros[2], *type_range(out), half_even=fast
    )
    return function, parameters | {"zero": zeros[2], "low": low, "high": high}


def quantized_quotient(fused: int, operands: Operands) -> Parameters:
    """Of DIV in fixed point by the reciprocals of the divisors; PrepareError where there is no such form.

    Source: LiteRT tflite/kernels/div.cc, CheckNonZero; tflite/kernels/internal/reference/div.h,
    DivElementwise.
    """
    p, q, r = _quantizations("DIV", operands)
    out = operands[2]
    with np.errstate(all="ignore"):
        real = np.float32(p.scale) / (np.float32(q.scale) * np.float32(r.scale))
    multiplier, shift = quantize_multiplier(float(real))
    low, high = quantized_activation_range("DIV", fused, r.scale, r.zero_point, *type_range(out))
    zeros = {"a_zero": p.zero_point, "b_zero": q.zero_point, "zero": r.zero_point}
    return {**zeros, "multiplier": multiplier, "shift": shift, "low": low, "high": high}


def quantized_prelu(operands: Operands) -> Parameters:
    """Of PRELU. Source: LiteRT tflite/kernels/activations.cc, PreluPrepare."""
    p, s, q = _quantizations("PRELU", operands)
    x_scale, slope_scale, y_scale = (np.float32(t.scale) for t in (p, s, q))
    multiplier, shift = quantize_multiplier(float(x_scale / y_scale))
    slope_multiplier, slope_shift = quantize_multiplier(float(x_scale * slope_scale / y_scale))
    zeros = {"a_zero": p.zero_point, "b_zero": s.zero_point, "zero": q.zero_point}
    slope = {"slope_multiplier": slope_multiplier, "slope_shift": slope_shift}
    return {**zeros, "multiplier": multiplier, "shift": shift, **slope}
