"""Cases of CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED in int16."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from .case import NO_KERNEL, Case, Quanta
from .conv import NONE, RELU, RELU6
from .window_oracle import clamp

SAME, VALID = 0, 1
_CODE = tflite.BuiltinOperator


def _padded(x: np.ndarray, size: int, stride: int, dilation: int, padding: int) -> np.ndarray:
    """x [N, H, W, C] with the zeros of SAME padding around it."""
    extent = (size - 1) * dilation + 1
    widths = [(0, 0)]
    for length in x.shape[1:3]:
        total = max(0, (-(-length // stride) - 1) * stride + extent - length) if padding == SAME else 0
        widths.append((total // 2, total - total // 2))
    return np.pad(x, [*widths, (0, 0)])


def _windows(x: np.ndarray, size: int, stride: int, dilation: int) -> np.ndarray:
    """[N, OH, OW, taps, C] of padded x."""
    height, width = ((n - (size - 1) * dilation - 1) // stride + 1 for n in x.shape[1:3])
    taps = [
        x[:, i * dilation :, j * dilation :][
            :, : (height - 1) * stride + 1 : stride, : (width - 1) * stride + 1 : stride
        ]
        for i in range(size)
        for j in range(size)
    ]
    return np.stack(taps, axis=3)


def filter_q16_case(
    id: str,
    x_shape: tuple[int, ...],
    size: int,
    out_depth: int,
    *,
    depthwise: bool = False,
    groups: int = 1,
    stride: int = 1,
    dilation: int = 1,
    padding: int = SAME,
    fused: int = NONE,
    bias: type | None = np.int64,
    w_dtype: type = np.int8,
    per_channel: bool = True,
    num_threads: int = 1,
) -> Case:
    """One operator: FULLY_CONNECTED for an x of rank 2; out_depth is the multiplier if depthwise."""
    random = np.random.default_rng(sum(map(ord, id)))
    depth = x_shape[-1]
    connected = len(x_shape) == 2
    channels = depth * out_depth if depthwise else out_depth
    if connected:
        w_shape: tuple[int, ...] = (out_depth, depth)
    else:
        w_shape = (1, size, size, channels) if depthwise else (out_depth, size, size, depth // groups)
    x = random.integers(-32768, 32768, x_shape).astype(np.int16)
    w = random.integers(-127, 128, w_shape).astype(w_dtype)
    b = None if bias is None else random.integers(-100000, 100000, channels).astype(bias)
    scales = random.uniform(0.005, 0.02, channels) if per_channel else np.full(channels, 0.01)
    scales = scales.astype(np.float32).astype(np.float64)
    x_scale, terms = 1e-4, w.size // (1 if depthwise else channels)
    y_scale = float(np.float32(x_scale * 0.6 * np.sqrt(terms)))
    x_real = float(np.float32(x_scale))

    def oracle(x: np.ndarray) -> np.ndarray:
        if connected:
            sums = x.astype(np.int64) @ w.astype(np.int64).T
        else:
            windows = _windows(
                _padded(x, size, stride, dilation, padding).astype(np.int64), size, stride, dilation
            )
            if depthwise:
                windows = np.repeat(windows, out_depth, axis=-1)
                sums = (windows * w.reshape(-1, channels)).sum(axis=3)
            else:
                parts = zip(np.split(windows, groups, -1), np.split(w.astype(np.int64), groups), strict=True)
                sums = np.concatenate(
                    [
                        np.tensordot(a, k.reshape(len(k), -1, depth // groups), ([3, 4], [1, 2]))
                        for a, k in parts
                    ],
                    axis=-1,
                )
        real = clamp((sums + (0 if b is None else b)) * (x_real * scales), fused)
        return np.clip(np.rint(real / y_scale), -32768, 32767).astype(np.int16)

    def make() -> bytes:
        model = ModelBuilder()
        w_scales, zeros = (list(scales), [0] * channels) if per_channel else (scales[0], 0)
        b_scales = list(scales * x_real) if per_channel else scales[0] * x_real
        tensors = [
            model.tensor(x.shape, x.dtype, scale=x_scale, zero_point=0),
            model.constant(w, scale=w_scales, zero_point=zeros, quantized_dimension=3 if depthwise else 0),
            -1 if b is None else model.constant(b, scale=b_scales, zero_point=zeros),
        ]
        y = model.tensor(oracle(x).shape, np.int16, scale=y_scale, zero_point=0)
        narrow = {"quantized_bias_type": tflite.TensorType.INT32} if bias is np.int32 else {}
        window = dict(
            padding=padding,
            stride_w=stride,
            stride_h=stride,
            dilation_w_factor=dilation,
            dilation_h_factor=dilation,
            fused_activation_function=fused,
        )
        if connected:
            if w_dtype is np.int16:
                narrow = {"quantized_bias_type": tflite.TensorType.INT64}
            options = tflite.FullyConnectedOptionsT(fused_activation_function=fused, **narrow)
            model.op(_CODE.FULLY_CONNECTED, tensors, [y], options, 11)
        elif depthwise:
            options = tflite.DepthwiseConv2DOptionsT(depth_multiplier=out_depth, **window)
            model.op(_CODE.DEPTHWISE_CONV_2D, tensors, [y], options, 7)
        else:
            model.op(_CODE.CONV_2D, tensors, [y], tflite.Conv2DOptionsT(**window, **narrow), 8)
        return model.build(tensors[:1], [y])

    return Case(
        id=id,
        make=make,
        inputs=[x],
        oracle=oracle,
        closeness=Quanta(1),
        litert_reference=NO_KERNEL if depthwise else None,
        num_threads=num_threads,
    )


CASES = [
    filter_q16_case("conv-q16", (1, 9, 8, 5), 3, 7),
    filter_q16_case("conv-q16-stride-2-valid", (2, 9, 8, 16), 3, 9, stride=2, padding=VALID, fused=RELU),
    filter_q16_case("conv-q16-pointwise", (1, 5, 7, 600), 1, 33),
    filter_q16_case("conv-q16-groups", (1, 5, 7, 8), 3, 6, groups=2),
    filter_q16_case("conv-q16-dilation", (1, 9, 9, 4), 3, 6, dilation=2),
    filter_q16_case("conv-q16-bias-i32", (1, 9, 8, 5), 3, 7, bias=np.int32),
    filter_q16_case("conv-q16-groups-bias-i32", (1, 9, 8, 8), 3, 6, groups=2, bias=np.int32),
    filter_q16_case("conv-q16-threads", (1, 30, 30, 16), 3, 16, num_threads=4),
    filter_q16_case("depthwise-conv-q16", (1, 9, 8, 5), 3, 1, depthwise=True),
    filter_q16_case(
        "depthwise-conv-q16-stride-2", (2, 9, 8, 16), 5, 1, depthwise=True, stride=2, fused=RELU6
    ),
    filter_q16_case("depthwise-conv-q16-multiplier", (1, 9, 8, 3), 3, 4, depthwise=True, dilation=2),
    filter_q16_case("depthwise-conv-q16-many-taps", (1, 20, 20, 2), 17, 1, depthwise=True),
    filter_q16_case("fully-connected-q16", (3, 300), 1, 17),
    filter_q16_case("fully-connected-q16-one-scale", (1, 700), 1, 17, per_channel=False, fused=RELU),
    filter_q16_case("fully-connected-q16-no-bias", (3, 30), 1, 17, bias=None),
    filter_q16_case("fully-connected-q16-bias-i32", (3, 30), 1, 17, bias=np.int32),
    filter_q16_case("fully-connected-q16-w16", (3, 30), 1, 17, w_dtype=np.int16),
]
