"""Cases of DEPTHWISE_CONV_2D in int8 and uint8; int16 is in filter_q16.py."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from .case import NO_KERNEL, Case
from .filter_case import (
    INT8,
    INT8_ONE_SCALE,
    NONE,
    RELU,
    RELU6,
    UINT8,
    UINT8_CENTRED,
    FilterKind,
    filter_case,
    window_options,
)
from .window_oracle import SAME, VALID, depthwise_conv_2d


def depthwise_case(
    id: str,
    kind: FilterKind,
    x_shape: tuple[int, ...],
    size: tuple[int, int],
    *,
    multiplier: int = 1,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: int = SAME,
    fused: int = NONE,
    constant: bool = True,
    num_threads: int = 1,
    bias_range: int = 20000,
) -> Case:
    """One DEPTHWISE_CONV_2D; stride and dilation are (vertical, horizontal)."""

    def sums(x: np.ndarray, w: np.ndarray, b: np.ndarray | None) -> np.ndarray:
        return depthwise_conv_2d(x, w, b, stride, dilation, padding)

    options = window_options(tflite.DepthwiseConv2DOptionsT, stride, dilation, padding, fused)
    options.depth_multiplier = multiplier
    return filter_case(
        f"depthwise-{np.dtype(kind.dtype).name}-{id}",
        tflite.BuiltinOperator.DEPTHWISE_CONV_2D,
        kind,
        x_shape,
        (1, *size, x_shape[3] * multiplier),
        3,
        sums,
        options,
        7 if kind.dtype is np.int16 else 3,
        litert_reference=NO_KERNEL if kind.dtype is np.int16 else None,
        constant=constant,
        num_threads=num_threads,
        bias_range=bias_range,
    )


_3X3, _5X5 = (3, 3), (5, 5)


def _of_both_types(kind: FilterKind) -> list[Case]:
    return [
        depthwise_case("3x3", kind, (1, 14, 14, 64), _3X3),
        depthwise_case("3x3-channels-40", kind, (2, 15, 13, 40), _3X3, fused=RELU6),
        depthwise_case("3x3-channels-100", kind, (1, 2, 1, 100), _3X3),
        depthwise_case("3x3-channels-8", kind, (1, 9, 11, 8), _3X3, fused=RELU),
        depthwise_case("3x3-channels-5", kind, (1, 7, 7, 5), _3X3),
        depthwise_case("3x3-one-pixel", kind, (1, 1, 1, 16), _3X3),
        depthwise_case("3x3-one-row", kind, (1, 1, 9, 48), _3X3),
        depthwise_case("3x3-valid", kind, (1, 9, 9, 96), _3X3, padding=VALID),
        depthwise_case("3x3-threads", kind, (1, 56, 56, 64), _3X3, num_threads=4),
        depthwise_case("3x3-stride-2", kind, (1, 15, 16, 72), _3X3, stride=(2, 2)),
        depthwise_case("3x3-stride-2-channels-8", kind, (2, 33, 17, 8), _3X3, stride=(2, 2), fused=RELU),
        depthwise_case("3x3-stride-3", kind, (1, 10, 10, 32), _3X3, stride=(3, 3)),
        depthwise_case("3x3-dilation", kind, (1, 19, 17, 24), _3X3, dilation=(4, 2)),
        depthwise_case("5x5", kind, (1, 14, 14, 72), _5X5, fused=RELU),
        depthwise_case("5x5-stride-2", kind, (1, 13, 14, 40), _5X5, stride=(2, 2)),
        depthwise_case("7x7", kind, (1, 10, 11, 33), (7, 7)),
        depthwise_case("2x2", kind, (1, 10, 11, 16), (2, 2)),
        depthwise_case("10x1-valid", kind, (1, 24, 1, 128), (10, 1), padding=VALID),
        depthwise_case("3x3-multiplier-2", kind, (1, 8, 8, 32), _3X3, multiplier=2),
        depthwise_case("3x3-multiplier-32", kind, (1, 12, 12, 1), _3X3, multiplier=32),
        depthwise_case("10x8-multiplier-8", kind, (1, 49, 10, 1), (10, 8), multiplier=8, stride=(2, 2)),
        depthwise_case(
            "7x7-multiplier-8-stride-2", kind, (2, 21, 23, 1), (7, 7), multiplier=8, stride=(2, 2)
        ),
        depthwise_case("3x3-multiplier-4-of-4", kind, (1, 9, 12, 4), _3X3, multiplier=4, stride=(2, 2)),
        depthwise_case("5x4-multiplier-7-of-3", kind, (2, 9, 12, 3), (5, 4), multiplier=7),
        depthwise_case("1x1-multiplier-4-of-2", kind, (2, 5, 7, 2), (1, 1), multiplier=4),
        depthwise_case("6x1-multiplier-3-of-2", kind, (1, 19, 1, 2), (6, 1), multiplier=3),
        depthwise_case("3x3-multiplier-4-stride-3", kind, (1, 11, 14, 2), _3X3, multiplier=4, stride=(2, 3)),
        depthwise_case(
            "2x5-multiplier-16-valid",
            kind,
            (1, 9, 20, 1),
            (2, 5),
            multiplier=16,
            stride=(1, 2),
            padding=VALID,
        ),
        depthwise_case("9x1-width-1", kind, (2, 25, 1, 8), (9, 1)),
        depthwise_case("9x1-width-1-stride-2", kind, (1, 26, 1, 40), (9, 1), stride=(2, 1)),
        depthwise_case("filter-input", kind, (1, 7, 7, 64), _3X3, constant=False),
    ]


_WIDE = FilterKind(np.uint8, x_zero=0, w_zero=0, y_zero=3, y_scale=0.08, per_channel=False)
_WIDE_BELOW = FilterKind(np.uint8, x_zero=9, w_zero=255, y_zero=200, y_scale=0.08, per_channel=False)

CASES = [
    *_of_both_types(INT8),
    *_of_both_types(UINT8),
    depthwise_case("one-scale", INT8_ONE_SCALE, (1, 8, 8, 32), _3X3),
    depthwise_case("centred", UINT8_CENTRED, (1, 8, 8, 32), _3X3),
    depthwise_case("weight-zero-0", _WIDE, (1, 8, 8, 32), _3X3),
    # Weights that are sums of three sets of int8.
    depthwise_case("weight-zero-0-7x7", _WIDE, (1, 9, 11, 3), (7, 7)),
    depthwise_case("weight-zero-0-5x4", _WIDE, (2, 9, 5, 3), (5, 4), multiplier=2),
    depthwise_case("weight-zero-0-wide", _WIDE, (1, 9, 5, 40), (9, 11)),
    depthwise_case("weight-zero-255", _WIDE_BELOW, (1, 8, 8, 32), _3X3, stride=(2, 2)),
    depthwise_case("scales-above-half", FilterKind(y_scale=0.0005), (1, 8, 8, 64), _3X3, bias_range=2000),
]
