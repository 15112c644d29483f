"""Cases of CONV_2D in float32."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from .case import NUMERICS, Case, Close, Refuses
from .window_oracle import SAME, VALID, clamp, conv_2d

NONE, RELU, RELU_N1_TO_1, RELU6 = range(4)

# Sums are taken in another order than the oracle's and LiteRT's.
SUMS = Close(rtol=1e-5, atol=3e-6)


def conv_case(
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
    not_finite: bool = False,
) -> Case:
    """One CONV_2D; stride and dilation are (vertical, horizontal). not_finite: x has infinities and a NaN."""
    random = np.random.default_rng(sum(map(ord, id)))
    x = random.standard_normal(x_shape).astype(np.float32)
    if not_finite:
        x[0, 0, 0, 0], x[0, 0, 1, 0], x[0, 1, 0, 0] = np.inf, -np.inf, np.nan
    w = (random.standard_normal(w_shape) / np.sqrt(np.prod(w_shape[1:]))).astype(np.float32)
    b = random.standard_normal(w_shape[0]).astype(np.float32) if bias else None

    def oracle(x: np.ndarray, *filters: np.ndarray) -> np.ndarray:
        return clamp(conv_2d(x, filters[0] if filters else w, b, stride, dilation, padding), fused)

    options = tflite.Conv2DOptionsT(
        padding=padding,
        stride_h=stride[0],
        stride_w=stride[1],
        dilation_h_factor=dilation[0],
        dilation_w_factor=dilation[1],
        fused_activation_function=fused,
    )
    no_bias = Refuses("has_bias was not true")
    return Case(
        id=id,
        make=window_model(
            tflite.BuiltinOperator.CONV_2D, x, w, b, oracle(x).shape, options, constant=constant
        ),
        inputs=[x] if constant else [x, w],
        oracle=oracle,
        closeness=SUMS,
        litert_default=None if bias else no_bias,
        litert_reference=None if bias else no_bias,
        # The reference bounds infinities, which the oracle does not.
        numerics=("default",) if not_finite and fused == NONE else NUMERICS,
        num_threads=num_threads,
    )


def window_model(
    code: int,
    x: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray | None,
    y_shape: tuple[int, ...],
    options: object,
    constant: bool = True,
) -> Callable[[], bytes]:
    """A model of one float operator; its filter is an input where it is not constant."""

    def make() -> bytes:
        model = ModelBuilder()
        inputs = [model.tensor(x.shape), model.constant(w) if constant else model.tensor(w.shape)]
        if bias is not None:
            inputs.append(model.constant(bias))
        y = model.tensor(y_shape)
        model.op(code, inputs, [y], options)
        return model.build(inputs[:1] if constant else inputs[:2], [y])

    return make


def half_weights_case() -> Case:
    """A float16 filter, widened by DEQUANTIZE as float16 models do."""
    random = np.random.default_rng(5)
    x = random.standard_normal((1, 6, 7, 20)).astype(np.float32)
    w = (random.standard_normal((24, 3, 3, 20)) / 14).astype(np.float16)
    b = random.standard_normal(24).astype(np.float16)

    def oracle(x: np.ndarray) -> np.ndarray:
        filters, bias = w.astype(np.float32), b.astype(np.float32)
        return clamp(conv_2d(x, filters, bias, (1, 1), (1, 1), SAME), RELU)

    def make() -> bytes:
        model = ModelBuilder()
        inputs = [model.tensor(x.shape), model.tensor(w.shape), model.tensor(b.shape)]
        for half, wide in ((w, inputs[1]), (b, inputs[2])):
            model.op(tflite.BuiltinOperator.DEQUANTIZE, [model.constant(half)], [wide], version=3)
        y = model.tensor((1, 6, 7, 24))
        options = tflite.Conv2DOptionsT(padding=SAME, stride_h=1, stride_w=1, fused_activation_function=RELU)
        model.op(tflite.BuiltinOperator.CONV_2D, inputs, [y], options)
        return model.build(inputs[:1], [y])

    return Case(id="conv-float16-filter", make=make, inputs=[x], oracle=oracle, closeness=SUMS)


CASES = [
    half_weights_case(),
    conv_case("conv-1x1", (1, 8, 8, 16), (32, 1, 1, 16)),
    conv_case("conv-1x1-relu6-batch", (2, 9, 7, 24), (24, 1, 1, 24), fused=RELU6),
    conv_case("conv-1x1-not-finite", (1, 4, 4, 8), (9, 1, 1, 8), fused=RELU6, not_finite=True),
    conv_case("conv-1x1-not-finite-linear", (1, 4, 4, 8), (40, 1, 1, 8), not_finite=True),
    conv_case("conv-1x1-columns-41", (1, 5, 3, 7), (41, 1, 1, 7), fused=RELU),
    conv_case("conv-1x1-columns-1", (1, 5, 3, 7), (1, 1, 1, 7), fused=RELU_N1_TO_1),
    conv_case("conv-1x1-columns-72", (1, 5, 5, 33), (72, 1, 1, 33)),
    conv_case("conv-1x1-one-pixel", (1, 1, 1, 100), (70, 1, 1, 100), fused=RELU),
    conv_case("conv-1x1-stride-2", (1, 9, 9, 24), (36, 1, 1, 24), stride=(2, 2)),
    conv_case("conv-1x1-threads", (1, 40, 40, 64), (96, 1, 1, 64), num_threads=4),
    conv_case("conv-9x1-width-1", (1, 49, 1, 12), (20, 9, 1, 12), fused=RELU),
    conv_case("conv-9x1-width-1-batch", (2, 30, 1, 12), (20, 9, 1, 12), stride=(2, 1)),
    conv_case("conv-1x16-stride-4", (1, 1, 101, 1), (16, 1, 16, 1), stride=(1, 4)),
    conv_case("conv-1x5-valid", (1, 1, 40, 8), (40, 1, 5, 8), stride=(1, 3), padding=VALID),
    conv_case("conv-1x5-one-output", (1, 1, 3, 8), (20, 1, 5, 8), stride=(1, 4)),
    conv_case("conv-1x5-dilation", (1, 1, 30, 8), (16, 1, 5, 8), dilation=(1, 2)),
    conv_case("conv-1x5-threads", (1, 1, 12000, 16), (16, 1, 5, 16), num_threads=4),
    conv_case("conv-1x7-filter-input", (1, 1, 20, 8), (16, 1, 7, 8), constant=False),
    conv_case("conv-3x3", (1, 9, 7, 24), (41, 3, 3, 24), fused=RELU),
    conv_case("conv-3x3-depth-64", (1, 14, 14, 64), (64, 3, 3, 64), fused=RELU6),
    conv_case("conv-3x3-valid-depth-48", (2, 11, 9, 48), (80, 3, 3, 48), padding=VALID),
    conv_case("conv-3x3-small-depth-32", (1, 3, 2, 32), (32, 3, 3, 32)),
    conv_case("conv-3x3-depth-64-threads", (1, 28, 30, 64), (64, 3, 3, 64), num_threads=4),
    conv_case("conv-3x3-stride-2-rgb", (1, 17, 16, 3), (16, 3, 3, 3), stride=(2, 2), fused=RELU6),
    conv_case("conv-3x3-rgb-columns-8", (2, 10, 10, 3), (8, 3, 3, 3)),
    conv_case("conv-3x3-rgb-columns-40", (1, 10, 10, 3), (40, 3, 3, 3)),
    conv_case("conv-3x2-stride-2x1-valid", (2, 9, 7, 24), (10, 3, 2, 24), stride=(2, 1), padding=VALID),
    conv_case("conv-5x5-dilation-2x1", (2, 9, 7, 3), (10, 5, 5, 3), dilation=(2, 1)),
    conv_case("conv-3x3-dilation-6", (1, 9, 9, 16), (16, 3, 3, 16), dilation=(6, 6)),
    conv_case("conv-10x4-depth-1", (1, 49, 10, 1), (64, 10, 4, 1), stride=(2, 2), fused=RELU),
    conv_case("conv-groups", (2, 9, 7, 24), (36, 3, 3, 6), fused=RELU),
    conv_case("conv-groups-1x1", (1, 6, 5, 64), (64, 1, 1, 2)),
    conv_case("conv-group-a-channel", (2, 9, 8, 24), (24, 7, 7, 1)),
    conv_case("conv-group-a-channel-twice", (1, 9, 7, 20), (40, 3, 3, 1), stride=(2, 1), fused=RELU6),
    conv_case("conv-group-a-channel-dilation", (1, 11, 9, 33), (33, 3, 5, 1), dilation=(2, 2), padding=VALID),
    conv_case("conv-group-a-channel-1x1", (1, 4, 3, 16), (48, 1, 1, 1), bias=False),
    conv_case("conv-group-a-channel-filter-input", (1, 5, 5, 8), (16, 3, 3, 1), constant=False),
    conv_case("conv-whole-image", (3, 4, 5, 24), (36, 4, 5, 24), padding=VALID),
    conv_case("conv-no-bias", (1, 9, 7, 24), (36, 3, 3, 24), bias=False),
    conv_case("conv-filter-larger-than-image", (1, 2, 2, 8), (8, 5, 5, 8)),
    conv_case("conv-3x3-threads", (1, 9, 7, 24), (160, 3, 3, 24), num_threads=4),
    conv_case("conv-filter-input-1x1", (1, 9, 7, 24), (36, 1, 1, 24), constant=False),
    conv_case("conv-filter-input-3x3", (1, 9, 7, 32), (49, 3, 3, 32), constant=False),
    conv_case("conv-filter-input-groups", (1, 5, 5, 8), (12, 3, 3, 4), constant=False),
]
