"""Cases of DEPTHWISE_CONV_2D in float32."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from .case import Case, Dies
from .conv import NONE, RELU, RELU6, RELU_N1_TO_1, SUMS, window_model
from .window_oracle import SAME, VALID, clamp, depthwise_conv_2d


def depthwise_case(
    id: str,
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
) -> Case:
    """One DEPTHWISE_CONV_2D; stride and dilation are (vertical, horizontal)."""
    random = np.random.default_rng(sum(map(ord, id)))
    x = random.standard_normal(x_shape).astype(np.float32)
    w = (random.standard_normal(w_shape) / np.sqrt(w_shape[1] * w_shape[2])).astype(np.float32)
    b = random.standard_normal(w_shape[3]).astype(np.float32) if bias else None

    def oracle(x: np.ndarray, *filters: np.ndarray) -> np.ndarray:
        y = depthwise_conv_2d(x, filters[0] if filters else w, b, stride, dilation, padding)
        return clamp(y, fused)

    options = tflite.DepthwiseConv2DOptionsT(
        padding=padding,
        stride_h=stride[0],
        stride_w=stride[1],
        depth_multiplier=w_shape[3] // x_shape[3],
        dilation_h_factor=dilation[0],
        dilation_w_factor=dilation[1],
        fused_activation_function=fused,
    )
    code = tflite.BuiltinOperator.DEPTHWISE_CONV_2D
    return Case(
        id=id,
        make=window_model(code, x, w, b, oracle(x).shape, options, constant=constant),
        inputs=[x] if constant else [x, w],
        oracle=oracle,
        closeness=SUMS,
        litert_default=None if bias else Dies("DEPTHWISE_CONV_2D has no bias"),
        num_threads=num_threads,
    )


CASES = [
    depthwise_case("depthwise-3x3", (1, 14, 14, 32), (1, 3, 3, 32)),
    depthwise_case("depthwise-3x3-width-9", (2, 5, 9, 20), (1, 3, 3, 20), fused=RELU),
    depthwise_case("depthwise-3x3-stride-2", (2, 15, 13, 24), (1, 3, 3, 24), stride=(2, 2), fused=RELU6),
    depthwise_case("depthwise-3x3-stride-2-wide", (1, 30, 32, 8), (1, 3, 3, 8), stride=(2, 2)),
    depthwise_case("depthwise-3x3-stride-2x1", (1, 13, 13, 8), (1, 3, 3, 8), stride=(2, 1)),
    depthwise_case("depthwise-3x3-valid", (1, 13, 17, 10), (1, 3, 3, 10), padding=VALID),
    depthwise_case(
        "depthwise-3x3-valid-stride-2", (1, 13, 18, 16), (1, 3, 3, 16), stride=(2, 2), padding=VALID
    ),
    depthwise_case("depthwise-3x3-channels-1", (1, 6, 6, 1), (1, 3, 3, 1), fused=RELU_N1_TO_1),
    depthwise_case("depthwise-5x5", (1, 16, 16, 40), (1, 5, 5, 40), fused=RELU),
    depthwise_case("depthwise-5x5-stride-2", (1, 28, 28, 40), (1, 5, 5, 40), stride=(2, 2)),
    depthwise_case("depthwise-5x5-small", (1, 3, 3, 10), (1, 5, 5, 10)),
    depthwise_case("depthwise-3x5", (1, 13, 17, 10), (1, 3, 5, 10)),
    depthwise_case("depthwise-3x3-dilation-2", (1, 13, 17, 10), (1, 3, 3, 10), dilation=(2, 2)),
    depthwise_case("depthwise-3x3-dilation-3x1", (1, 13, 17, 10), (1, 3, 3, 10), dilation=(3, 1)),
    depthwise_case("depthwise-3x3-dilation-outside", (1, 3, 3, 20), (1, 3, 3, 20), dilation=(4, 4)),
    depthwise_case("depthwise-7x4-stride-3", (1, 13, 17, 10), (1, 7, 4, 10), stride=(3, 3)),
    depthwise_case("depthwise-1x1", (1, 5, 8, 40), (1, 1, 1, 40)),
    depthwise_case("depthwise-multiplier-2", (1, 13, 17, 10), (1, 3, 5, 20), stride=(1, 2)),
    depthwise_case("depthwise-multiplier-8-of-1", (1, 13, 17, 1), (1, 3, 5, 8), stride=(2, 2)),
    depthwise_case("depthwise-9x1-width-1", (2, 49, 1, 20), (1, 9, 1, 20)),
    depthwise_case("depthwise-3x1-width-1-stride-2", (1, 33, 1, 16), (1, 3, 1, 16), stride=(2, 2)),
    depthwise_case("depthwise-4x1-width-1-dilation", (1, 21, 1, 7), (1, 4, 1, 7), dilation=(3, 1)),
    depthwise_case("depthwise-9x1-width-1-short", (1, 4, 1, 8), (1, 9, 1, 8)),
    depthwise_case("depthwise-5x1-width-1-valid", (1, 12, 1, 8), (1, 5, 1, 8), padding=VALID),
    depthwise_case("depthwise-9x1-width-1-threads", (1, 9000, 1, 64), (1, 9, 1, 64), num_threads=4),
    depthwise_case("depthwise-3x3-width-1", (1, 14, 1, 8), (1, 3, 3, 8)),
    depthwise_case("depthwise-9x1-width-5", (2, 17, 5, 12), (1, 9, 1, 12), fused=RELU),
    depthwise_case("depthwise-3x1-wide", (1, 9, 31, 40), (1, 3, 1, 40), stride=(2, 1)),
    depthwise_case("depthwise-3x1-wide-threads", (1, 60, 90, 64), (1, 3, 1, 64), num_threads=4),
    depthwise_case("depthwise-1x9-height-1", (1, 1, 50, 24), (1, 1, 9, 24)),
    depthwise_case("depthwise-7x7-multiplier-20-of-1", (2, 20, 23, 1), (1, 7, 7, 20), stride=(2, 2)),
    depthwise_case("depthwise-3x3-multiplier-4-of-1", (1, 5, 4, 1), (1, 3, 3, 4)),
    depthwise_case("depthwise-9x1-filter-input", (1, 20, 1, 8), (1, 9, 1, 8), constant=False),
    depthwise_case("depthwise-no-bias", (1, 7, 7, 16), (1, 3, 3, 16), bias=False),
    depthwise_case("depthwise-threads", (1, 40, 40, 64), (1, 3, 3, 64), num_threads=4),
    depthwise_case("depthwise-filter-input", (1, 8, 9, 20), (1, 3, 3, 20), constant=False),
]
