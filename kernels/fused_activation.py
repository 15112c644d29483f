"""Fused activations: the range that each clamps its operator's results to."""

from math import copysign, floor, inf, isinf

import numpy as np

from ..lite.errors import PrepareError, UnsupportedError

NONE, RELU, RELU_N1_TO_1, RELU6, TANH, SIGN_BIT = range(6)  # the schema's ActivationFunctionType

_EVERYTHING = (-inf, inf)
_LARGEST = float(np.finfo(np.float32).max)
_FAR = 2.0**40  # steps that no type has
_FLOAT_RANGES = {
    NONE: _EVERYTHING,
    RELU: (0.0, inf),
    RELU_N1_TO_1: (-1.0, 1.0),
    RELU6: (0.0, 6.0),
    # LiteRT's kernels leave the results as they are under activations that are no clamp.
    TANH: _EVERYTHING,
    SIGN_BIT: _EVERYTHING,
}


def float_activation_range(operator: str, fused: int, bounded: bool = False) -> tuple[float, float]:
    """Lowest and highest result of a float operator under its fused activation.

    Infinite ends leave values as they are; bounded, as LiteRT's reference kernels are, they are those of
    float32's numbers. Raises UnsupportedError, naming the operator, for
    activations that the format does not have.
    Source: LiteRT tflite/kernels/kernel_util.h, CalculateActivationRange.
    """
    try:
        low, high = _FLOAT_RANGES[fused]
    except KeyError:
        raise UnsupportedError(
            f"{operator}: fused activation must be one of the format's 0 to 5, got {fused}; "
            "a separate activation operator would run"
        ) from None
    return (max(low, -_LARGEST), min(high, _LARGEST)) if bounded else (low, high)


def quantized_activation_range(
    operator: str,
    fused: int,
    scale: float,
    zero_point: int,
    lowest: int,
    highest: int,
    half_even: bool = False,
) -> tuple[int, int]:
    """Lowest and highest quantized result of an operator under its fused activation.

    lowest and highest are the ends of the output's type. An end is zero_point + end / scale,
    in float32, rounded half away from zero before the zero point is added (TFLite's kernels),
    or with half_even, half to even after it is added (XNNPACK's). PrepareError unless scale > 0.
    Source: LiteRT tflite/kernels/kernel_util.cc, CalculateActivationRangeQuantized; XNNPACK
    src/xnnpack/requantization.h, xnn_qs8_quantize.
    """
    if not scale > 0:
        raise PrepareError(f"{operator}: the output's scale must be positive, got {scale}")
    ends = []
    for end in float_activation_range(operator, fused):
        if isinf(end):
            ends.append(lowest if end < 0 else highest)
        elif half_even:
            quotient = np.float32(end) / np.float32(scale) + np.float32(zero_point)
            ends.append(int(np.rint(min(max(quotient, np.float32(lowest)), np.float32(highest)))))
        else:
            with np.errstate(over="ignore"):
                steps = min(max(float(np.float32(end) / np.float32(scale)), -_FAR), _FAR)
            rounded = int(copysign(floor(abs(steps) + 0.5), steps))
            ends.append(min(max(zero_point + rounded, lowest), highest))
    return ends[0], ends[1]
