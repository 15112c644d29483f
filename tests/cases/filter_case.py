"""Builder of cases of quantized CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import Case, Quanta, Refuses

NONE, RELU, RELU_N1_TO_1, RELU6 = range(4)
_ENDS = {NONE: (-np.inf, np.inf), RELU: (0, np.inf), RELU_N1_TO_1: (-1, 1), RELU6: (0, 6)}

Sums = Callable[[np.ndarray, np.ndarray, np.ndarray | None], np.ndarray]


@dataclass(frozen=True)
class FilterKind:
    """How a filter operator is quantized; w_zero matters for uint8, which has one scale.

    Weights have x's type where w_dtype is None; bias_dtype is named in the options where `names_bias`.
    """

    dtype: type = np.int8
    w_dtype: type | None = None
    bias_dtype: type = np.int32
    names_bias: bool = False
    x_scale: float = 0.0235
    x_zero: int = -13
    w_zero: int = 0
    y_scale: float = 0.031
    y_zero: int = -7
    per_channel: bool = True

    @property
    def ends(self) -> tuple[int, int]:
        info = np.iinfo(self.dtype)
        return int(info.min), int(info.max)


INT8 = FilterKind()
INT8_ONE_SCALE = FilterKind(per_channel=False)
UINT8 = FilterKind(np.uint8, x_zero=117, w_zero=121, y_zero=101, per_channel=False)
INT16 = FilterKind(np.int16, np.int8, np.int64, False, 1e-4, 0, 0, 1.5e-4, 0)
UINT8_CENTRED = FilterKind(np.uint8, x_zero=255, w_zero=128, y_zero=0, per_channel=False)


def filter_case(
    id: str,
    code: BuiltinOperator,
    kind: FilterKind,
    x_shape: tuple[int, ...],
    w_shape: tuple[int, ...],
    channel_axis: int,
    sums: Sums,
    options: TableT,
    version: int = 3,
    bias: bool = True,
    constant: bool = True,
    num_threads: int = 1,
    bias_range: int = 20000,
    litert: Refuses | None = None,
    litert_reference: Refuses | None = None,
) -> Case:
    """A model of one operator.

    sums(x, w, bias) are the exact integer sums of values less their zero points. Where the
    filter is not constant it is the model's second input. litert says what its resolvers refuse,
    litert_reference what its reference alone does.
    """
    random = np.random.default_rng(sum(map(ord, id)))
    low, high = kind.ends
    x = random.integers(low, high + 1, x_shape).astype(kind.dtype)
    w_dtype = kind.w_dtype or kind.dtype
    w_low, w_high = (0, 255) if w_dtype is np.uint8 else (-127, 127)
    w = random.integers(w_low, w_high + 1, w_shape).astype(w_dtype)
    channels = w_shape[channel_axis]
    size = 0.01 / np.sqrt(w.size / channels)
    scales = (random.uniform(0.5, 1.5, channels if kind.per_channel else 1) * size).astype(np.float32)
    b = random.integers(-bias_range, bias_range + 1, channels).astype(kind.bias_dtype) if bias else None
    fused = options.fused_activation_function
    if kind.names_bias:
        options.quantized_bias_type = tflite.TensorType[np.dtype(kind.bias_dtype).name.upper()]

    def oracle(x: np.ndarray, *filters: np.ndarray) -> np.ndarray:
        weights = (filters[0] if filters else w).astype(np.int64) - kind.w_zero
        total = sums(x.astype(np.int64) - kind.x_zero, weights, b)
        real = total * np.float64(np.float32(kind.x_scale)) * scales.astype(np.float64)
        y_scale = np.float64(np.float32(kind.y_scale))
        quantized = np.rint(real / y_scale) + kind.y_zero
        ends = [np.rint(end / y_scale) + kind.y_zero for end in _ENDS[fused]]
        return np.clip(np.clip(quantized, *ends), low, high).astype(kind.dtype)

    def make() -> bytes:
        model = ModelBuilder()
        quantization = {"scale": scales, "zero_point": kind.w_zero}
        quantization["quantized_dimension"] = channel_axis if kind.per_channel else 0
        filters = model.tensor(w_shape, w_dtype, w if constant else None, **quantization)
        inputs = [model.tensor(x_shape, kind.dtype, scale=kind.x_scale, zero_point=kind.x_zero), filters]
        if b is not None:
            inputs.append(
                model.tensor(b.shape, b.dtype, b, scale=np.float32(kind.x_scale) * scales, zero_point=0)
            )
        shape = oracle(x).shape
        y = model.tensor(shape, kind.dtype, scale=kind.y_scale, zero_point=kind.y_zero)
        model.op(code, inputs, [y], options, version)
        return model.build(inputs[:1] if constant else inputs[:2], [y])

    return Case(
        id=id,
        make=make,
        inputs=[x] if constant else [x, w],
        oracle=oracle,
        closeness=Quanta(1),
        litert_default=litert,
        litert_reference=litert or litert_reference,
        num_threads=num_threads,
    )


def window_options(
    table: type[TableT], stride: tuple[int, int], dilation: tuple[int, int], padding: int, fused: int
) -> TableT:
    """Conv2DOptionsT or DepthwiseConv2DOptionsT; pairs are (vertical, horizontal)."""
    return table(
        padding=padding,
        stride_h=stride[0],
        stride_w=stride[1],
        dilation_h_factor=dilation[0],
        dilation_w_factor=dilation[1],
        fused_activation_function=fused,
    )


def fully_connected_options(fused: int, keep_num_dims: bool = False) -> TableT:
    return tflite.FullyConnectedOptionsT(fused_activation_function=fused, keep_num_dims=keep_num_dims)
