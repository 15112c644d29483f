"""Cases of CONV_2D in int8 and uint8; int16 is in filter_q16.py."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from .case import Case, Refuses
from .filter_case import (
    INT8,
    INT8_ONE_SCALE,
    NONE,
    RELU,
    RELU6,
    RELU_N1_TO_1,
    UINT8,
    UINT8_CENTRED,
    FilterKind,
    filter_case,
    window_options,
)
from .window_oracle import SAME, VALID, conv_2d

_NO_BIAS = Refuses("has_bias was not true")


def conv_case(
    id: str,
    kind: FilterKind,
    x_shape: tuple[int, ...],
    w_shape: tuple[int, ...],
    *,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: int = SAME,
    fused: int = NONE,
    bias: bool = True,
    constant: bool = True,
    num_threads: int = 1,
    bias_range: int = 20000,
) -> Case:
    """One CONV_2D; stride and dilation are (vertical, horizontal)."""

    def sums(x: np.ndarray, w: np.ndarray, b: np.ndarray | None) -> np.ndarray:
        return conv_2d(x, w, b, stride, dilation, padding)

    return filter_case(
        f"conv-{np.dtype(kind.dtype).name}-{id}",
        tflite.BuiltinOperator.CONV_2D,
        kind,
        x_shape,
        w_shape,
        0,
        sums,
        window_options(tflite.Conv2DOptionsT, stride, dilation, padding, fused),
        8 if kind.dtype is np.int16 else 3,
        bias=bias,
        constant=constant,
        num_threads=num_threads,
        bias_range=bias_range,
        litert=None if bias else _NO_BIAS,
    )


def _of_both_types(kind: FilterKind) -> list[Case]:
    return [
        conv_case("1x1", kind, (1, 8, 8, 32), (64, 1, 1, 32)),
        conv_case("1x1-odd", kind, (2, 9, 5, 17), (19, 1, 1, 17), fused=RELU6),
        conv_case("1x1-one-pixel", kind, (1, 1, 1, 128), (131, 1, 1, 128), fused=RELU),
        conv_case("1x1-columns-3", kind, (1, 3, 3, 64), (3, 1, 1, 64), fused=RELU_N1_TO_1),
        conv_case("1x1-stride-2", kind, (1, 9, 9, 16), (32, 1, 1, 16), stride=(2, 2)),
        conv_case("1x1-threads", kind, (1, 48, 48, 64), (96, 1, 1, 64), num_threads=4),
        conv_case("3x3", kind, (1, 9, 7, 32), (64, 3, 3, 32)),
        conv_case("3x3-batch", kind, (2, 13, 11, 16), (16, 3, 3, 16), fused=RELU),
        conv_case("3x3-stride-2", kind, (1, 15, 15, 20), (33, 3, 3, 20), stride=(2, 2)),
        conv_case("3x3-threads", kind, (1, 30, 30, 32), (48, 3, 3, 32), num_threads=4),
        conv_case("5x5-valid", kind, (1, 15, 15, 12), (24, 5, 5, 12), padding=VALID),
        conv_case("3x3-rgb", kind, (1, 16, 16, 3), (16, 3, 3, 3)),
        conv_case("3x3-rgb-stride-2", kind, (2, 17, 16, 3), (8, 3, 3, 3), stride=(2, 2), fused=RELU6),
        conv_case("7x7-rgb-stride-2x1", kind, (1, 16, 16, 3), (40, 7, 7, 3), stride=(2, 1)),
        conv_case("10x4-depth-1", kind, (1, 49, 10, 1), (64, 10, 4, 1), stride=(2, 2), fused=RELU),
        conv_case("3x3-depth-1-valid", kind, (1, 12, 12, 1), (32, 3, 3, 1), padding=VALID),
        conv_case("3x3-dilation", kind, (1, 13, 13, 32), (24, 3, 3, 32), dilation=(2, 3)),
        conv_case("3x3-dilation-depth-5", kind, (2, 9, 9, 5), (9, 3, 3, 5), dilation=(2, 2), padding=VALID),
        conv_case("groups", kind, (1, 7, 7, 32), (64, 3, 3, 8)),
        conv_case("groups-1x1", kind, (1, 7, 7, 24), (36, 1, 1, 8), fused=RELU),
        conv_case("group-a-channel", kind, (2, 9, 8, 48), (48, 7, 7, 1), fused=RELU),
        conv_case("group-a-channel-3x3", kind, (1, 12, 9, 72), (72, 3, 3, 1)),
        conv_case("group-a-channel-stride-2", kind, (1, 13, 9, 40), (40, 5, 5, 1), stride=(2, 2)),
        conv_case("group-a-channel-twice", kind, (1, 9, 7, 20), (40, 3, 3, 1), stride=(2, 1), bias=False),
        conv_case("group-a-channel-of-two", kind, (1, 9, 7, 2), (24, 3, 3, 1), padding=VALID),
        conv_case("group-a-channel-dilation", kind, (1, 11, 9, 33), (33, 3, 5, 1), dilation=(2, 2)),
        conv_case("group-a-channel-threads", kind, (1, 40, 40, 64), (64, 3, 3, 1), num_threads=4),
        conv_case("group-a-channel-filter-input", kind, (1, 5, 5, 8), (16, 3, 3, 1), constant=False),
        conv_case("whole-image", kind, (3, 4, 4, 32), (20, 4, 4, 32), padding=VALID),
        conv_case("whole-image-depth-3", kind, (2, 3, 3, 3), (8, 3, 3, 3), padding=VALID),
        conv_case("filter-larger-than-image", kind, (1, 5, 1, 8), (8, 3, 3, 8)),
        conv_case("no-bias", kind, (1, 6, 6, 24), (36, 3, 3, 24), bias=False),
        conv_case("filter-input", kind, (1, 6, 6, 32), (40, 3, 3, 32), constant=False),
    ]


_LARGE_SCALES = FilterKind(y_scale=0.0002)
_WIDE_UINT8 = FilterKind(np.uint8, x_zero=3, w_zero=0, y_zero=128, y_scale=0.08, per_channel=False)

CASES = [
    *_of_both_types(INT8),
    *_of_both_types(UINT8),
    conv_case("one-scale", INT8_ONE_SCALE, (1, 8, 8, 32), (40, 3, 3, 32)),
    conv_case("centred", UINT8_CENTRED, (1, 8, 8, 32), (40, 3, 3, 32)),
    conv_case("weight-zero-0", _WIDE_UINT8, (1, 8, 8, 32), (40, 3, 3, 32)),
    conv_case("scales-above-half", _LARGE_SCALES, (1, 5, 5, 32), (64, 1, 1, 32), bias_range=2000),
]
