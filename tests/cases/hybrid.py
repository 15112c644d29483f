"""Cases of hybrid CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED: float32 inputs, int8 weights."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import QUANTIZED, Case, Close
from .filter_case import NONE, RELU, RELU6, window_options
from .window_oracle import SAME, VALID, clamp, conv_2d, depthwise_conv_2d

TANH = 4

# LiteRT quantizes in the same way; products and sums of scales may be rounded in another order.
SAME_WAY = Close(rtol=1e-6, atol=1e-6)

_VERSIONS = {
    BuiltinOperator.CONV_2D: 5,
    BuiltinOperator.DEPTHWISE_CONV_2D: 6,
    BuiltinOperator.FULLY_CONNECTED: 9,
}


def hybrid_case(
    id: str,
    code: BuiltinOperator,
    x_shape: tuple[int, ...],
    w_shape: tuple[int, ...],
    compute: Callable[[np.ndarray, np.ndarray, np.ndarray | None], np.ndarray],
    options: TableT,
    per_channel: bool = True,
    bias: bool = True,
    num_threads: int = 1,
) -> Case:
    """compute(x, w, bias) is the operator without its activation, on the weights' real values."""
    random = np.random.default_rng(sum(map(ord, id)))
    axis = 3 if code == BuiltinOperator.DEPTHWISE_CONV_2D else 0
    channels = w_shape[axis]
    x = (random.standard_normal(x_shape) + 0.3).astype(np.float32)
    w = random.integers(-127, 128, w_shape).astype(np.int8)
    size = 0.01 / np.sqrt(w.size / channels)
    scales = (random.uniform(0.5, 1.5, channels if per_channel else 1) * size).astype(np.float32)
    b = random.standard_normal(channels).astype(np.float32) if bias else None
    along = [1] * w.ndim
    along[axis] = -1

    def oracle(x: np.ndarray) -> np.ndarray:
        y = compute(x, w * scales.astype(np.float64).reshape(along), b)
        if options.fused_activation_function == TANH:  # which only FULLY_CONNECTED computes
            return (np.tanh(y) if code == BuiltinOperator.FULLY_CONNECTED else y).astype(np.float32)
        return clamp(y, options.fused_activation_function).astype(np.float32)

    def make() -> bytes:
        model = ModelBuilder()
        dimension = axis if per_channel else 0
        filters = model.constant(w, scale=scales, zero_point=0, quantized_dimension=dimension)
        inputs = [model.tensor(x_shape), filters]
        if b is not None:
            inputs.append(model.constant(b))
        y = model.tensor(oracle(x).shape)
        model.op(code, inputs, [y], options, _VERSIONS[code])
        return model.build(inputs[:1], [y])

    return Case(
        id=f"hybrid-{id}",
        make=make,
        inputs=[x],
        oracle=oracle,
        closeness=QUANTIZED,
        litert_default=SAME_WAY,
        litert_reference=SAME_WAY,
        num_threads=num_threads,
    )


def conv_case(
    id: str,
    x_shape: tuple[int, ...],
    w_shape: tuple[int, ...],
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: int = SAME,
    fused: int = NONE,
    **kind: bool | int,
) -> Case:
    """One CONV_2D; stride and dilation are (vertical, horizontal)."""

    def compute(x: np.ndarray, w: np.ndarray, b: np.ndarray | None) -> np.ndarray:
        return conv_2d(x, w, b, stride, dilation, padding)

    options = window_options(tflite.Conv2DOptionsT, stride, dilation, padding, fused)
    return hybrid_case(id, BuiltinOperator.CONV_2D, x_shape, w_shape, compute, options, **kind)


def depthwise_case(
    id: str,
    x_shape: tuple[int, ...],
    w_shape: tuple[int, ...],
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: int = SAME,
    fused: int = NONE,
    **kind: bool | int,
) -> Case:
    """One DEPTHWISE_CONV_2D; stride and dilation are (vertical, horizontal)."""

    def compute(x: np.ndarray, w: np.ndarray, b: np.ndarray | None) -> np.ndarray:
        return depthwise_conv_2d(x, w, b, stride, dilation, padding)

    options = window_options(tflite.DepthwiseConv2DOptionsT, stride, dilation, padding, fused)
    options.depth_multiplier = w_shape[3] // x_shape[3]
    code = BuiltinOperator.DEPTHWISE_CONV_2D
    return hybrid_case(id, code, x_shape, w_shape, compute, options, **kind)


def dense_case(
    id: str,
    x_shape: tuple[int, ...],
    units: int,
    fused: int = NONE,
    asymmetric: bool = False,
    **kind: bool | int,
) -> Case:
    """One FULLY_CONNECTED of [rows, depth] to units."""

    def compute(x: np.ndarray, w: np.ndarray, b: np.ndarray | None) -> np.ndarray:
        return x.astype(np.float64) @ w.T + (0 if b is None else b)

    options = tflite.FullyConnectedOptionsT(
        fused_activation_function=fused, asymmetric_quantize_inputs=asymmetric
    )
    w_shape = (units, x_shape[1])
    return hybrid_case(id, BuiltinOperator.FULLY_CONNECTED, x_shape, w_shape, compute, options, **kind)


CASES = [
    dense_case("dense-640-128", (1, 640), 128, RELU),
    dense_case("dense-one-scale", (1, 128), 40, per_channel=False),
    dense_case("dense-one-scale-asymmetric", (3, 128), 37, asymmetric=True, per_channel=False),
    dense_case("dense-rows-8", (8, 131), 200, RELU6),
    dense_case("dense-no-bias", (2, 7), 5, bias=False),
    dense_case("dense-tanh", (3, 40), 37, TANH, asymmetric=True),
    dense_case("dense-tanh-one-scale", (3, 40), 37, TANH, per_channel=False),
    conv_case("conv-3x3-tanh", (1, 7, 7, 8), (12, 3, 3, 8), fused=TANH, per_channel=False),
    depthwise_case("depthwise-3x3-tanh", (1, 9, 9, 72), (1, 3, 3, 72), fused=TANH),
    dense_case("dense-threads", (64, 512), 256, num_threads=4),
    conv_case("conv-3x3", (1, 9, 7, 32), (40, 3, 3, 32), fused=RELU),
    conv_case("conv-1x1-batch", (2, 6, 6, 32), (40, 1, 1, 32)),
    conv_case("conv-group-a-channel", (2, 12, 13, 33), (33, 7, 7, 1)),
    conv_case("conv-group-a-channel-twice", (1, 11, 9, 16), (32, 3, 3, 1), (2, 1), fused=RELU),
    conv_case("conv-group-a-channel-dilation", (1, 9, 9, 40), (40, 3, 3, 1), dilation=(2, 2), padding=VALID),
    conv_case("conv-3x3-rgb-stride-2", (1, 17, 15, 3), (16, 3, 3, 3), (2, 2)),
    conv_case("conv-3x3-one-scale", (1, 7, 7, 8), (12, 3, 3, 8), per_channel=False),
    conv_case("conv-3x3-dilation-valid", (1, 9, 9, 16), (12, 3, 3, 16), dilation=(2, 2), padding=VALID),
    depthwise_case("depthwise-3x3", (1, 9, 9, 72), (1, 3, 3, 72), fused=RELU6),
    depthwise_case("depthwise-5x5-stride-2", (1, 11, 9, 32), (1, 5, 5, 32), (2, 2)),
    depthwise_case("depthwise-3x3-channels-8", (1, 8, 9, 8), (1, 3, 3, 8)),
    depthwise_case("depthwise-3x3-multiplier-2", (1, 8, 9, 4), (1, 3, 3, 8)),
    depthwise_case("depthwise-3x3-threads", (1, 56, 56, 64), (1, 3, 3, 64), num_threads=4),
    depthwise_case("depthwise-5x5-multiplier-8-stride-2", (2, 12, 13, 1), (1, 5, 5, 8), (2, 2)),
]
