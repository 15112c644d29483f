"""Cases of TRANSPOSE_CONV."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from .case import Case, Close, Closeness, Quanta
from .conv import NONE, RELU, SUMS
from .single_op import Kind
from .window_oracle import clamp

SAME, VALID = 0, 1
_WEIGHTS = {np.float32: np.float32, np.int8: np.int8, np.uint8: np.uint8, np.int16: np.int8}
_BIAS = {np.float32: np.float32, np.int8: np.int32, np.uint8: np.int32, np.int16: np.int64}


def sums(x: np.ndarray, w: np.ndarray, stride: int, pad: int, height: int, width: int) -> np.ndarray:
    """The scatter of the definition, in float64."""
    whole = np.zeros((x.shape[0], height + 64, width + 64, w.shape[0]))
    for n, h, v in np.ndindex(*x.shape[:3]):
        whole[n, h * stride :, v * stride :][: w.shape[1], : w.shape[2]] += np.tensordot(
            w, x[n, h, v], ([3], [0])
        ).transpose(1, 2, 0)
    return whole[:, pad : pad + height, pad : pad + width]


def transpose_conv_case(
    id: str,
    x_shape: tuple[int, int, int, int],
    size: int,
    out_depth: int,
    stride: int,
    *,
    padding: int = SAME,
    dtype: type = np.float32,
    hybrid: bool = False,
    fused: int = NONE,
    bias: bool = True,
    constant: bool = True,
    late_shape: bool = False,
    num_threads: int = 1,
) -> Case:
    """One TRANSPOSE_CONV with a square filter."""
    n, h, v, depth = x_shape
    extra = max(size - stride, 0) if padding == VALID else 0
    height, width = h * stride + extra, v * stride + extra
    pad = 0 if padding == VALID else max(0, size - stride) // 2
    quantized = dtype is not np.float32
    x = Kind(x_shape, dtype, 0.05 if quantized else None, 0 if dtype is not np.uint8 else 120)
    w_dtype = np.int8 if hybrid else _WEIGHTS[dtype]
    scales = 0.02 if dtype is np.uint8 else tuple(0.01 + 0.001 * o for o in range(out_depth))
    w_scale = scales if quantized or hybrid else None
    w = Kind((out_depth, size, size, depth), w_dtype, w_scale, 130 if dtype is np.uint8 else 0)
    y = Kind((n, height, width, out_depth), dtype, 1.3 if quantized else None, 0 if not x.zero_point else 90)
    random = np.random.default_rng(sum(map(ord, id)))
    x_values, w_values = x.random(id, 1.0), w.random(id + "w", 1 / (size * depth**0.5))
    b_dtype = _BIAS[dtype]
    b = (random.standard_normal(out_depth) * (1000 if quantized else 1)).astype(b_dtype) if bias else None
    b_scale = tuple(0.05 * s for s in scales) if isinstance(scales, tuple) else 0.05 * scales
    shape = np.array(y.shape, np.int32)

    def oracle(*inputs: np.ndarray) -> np.ndarray:
        weights = w_values if constant else inputs[1]
        total = sums(x.real(inputs[0]), w.real(weights), stride, pad, height, width)
        if b is not None:
            total = total + (b * np.asarray(b_scale) if quantized else b)
        return y.stored(clamp(total, fused))

    def make() -> bytes:
        model = ModelBuilder()
        x_tensor = model.tensor(x.shape, x.dtype, scale=x.scale, zero_point=x.zero_point)
        w_tensor = model.tensor(
            w.shape, w.dtype, w_values if constant else None, scale=w.scale, zero_point=w.zero_point
        )
        shape_tensor = model.tensor((4,), np.int32, None if late_shape else shape)
        inputs = [shape_tensor, w_tensor, x_tensor]
        if b is not None:
            inputs.append(model.constant(b, scale=b_scale, zero_point=0) if quantized else model.constant(b))
        y_tensor = model.tensor(y.shape, y.dtype, scale=y.scale, zero_point=y.zero_point)
        options = tflite.TransposeConvOptionsT(
            padding=padding, stride_w=stride, stride_h=stride, fused_activation_function=fused
        )
        model.op(tflite.BuiltinOperator.TRANSPOSE_CONV, inputs, [y_tensor], options, 4)
        late = [shape_tensor] if late_shape else []
        return model.build([x_tensor, *([] if constant else [w_tensor]), *late], [y_tensor])

    values = [x_values, *([] if constant else [w_values]), *([shape] if late_shape else [])]
    closeness: Closeness = Quanta(1) if quantized else SUMS
    if hybrid:  # images are quantized on the way
        closeness = Close(rtol=0, atol=0.25)
    return Case(
        id=id,
        make=make,
        inputs=values,
        oracle=oracle,
        closeness=closeness,
        litert_default=Close(1e-5, 1e-5) if hybrid else None,
        litert_reference=Close(1e-5, 1e-5) if hybrid else None,
        num_threads=num_threads,
    )


CASES = [
    transpose_conv_case("transpose-conv", (1, 5, 4, 3), 3, 7, 2),
    transpose_conv_case("transpose-conv-valid", (2, 4, 5, 8), 4, 20, 2, padding=VALID, fused=RELU),
    transpose_conv_case("transpose-conv-stride-1", (1, 6, 6, 16), 3, 33, 1, bias=False),
    transpose_conv_case("transpose-conv-gaps", (1, 3, 4, 2), 2, 5, 3),
    transpose_conv_case("transpose-conv-gaps-weights-input", (1, 3, 4, 2), 2, 5, 3, constant=False),
    transpose_conv_case("transpose-conv-weights-input", (1, 5, 4, 3), 3, 7, 2, constant=False),
    transpose_conv_case("transpose-conv-late-shape", (1, 5, 4, 3), 3, 7, 2, late_shape=True),
    transpose_conv_case("transpose-conv-threads", (2, 16, 16, 32), 3, 32, 2, num_threads=4),
    transpose_conv_case("transpose-conv-hybrid", (2, 4, 5, 8), 4, 20, 2, hybrid=True),
    *(
        transpose_conv_case(
            f"transpose-conv{name}-{dtype.__name__}", shape, size, depth, stride, dtype=dtype, **more
        )
        for dtype in (np.int8, np.uint8, np.int16)
        for name, shape, size, depth, stride, more in (
            ("", (1, 5, 4, 3), 3, 7, 2, {}),
            ("-valid", (2, 4, 5, 8), 4, 20, 2, {"padding": VALID, "fused": RELU}),
            ("-gaps", (1, 3, 4, 2), 1, 5, 2, {"bias": False}),
            ("-weights-input", (2, 4, 5, 8), 3, 20, 2, {"constant": False}),
            ("-late-shape", (1, 5, 4, 3), 3, 9, 2, {"late_shape": True}),
        )
    ),
]
