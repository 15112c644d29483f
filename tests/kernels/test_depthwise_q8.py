"""DEPTHWISE_CONV_2D in 8 bits: what kernels copy of its rows stays small, however the filter steps."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numlite import Interpreter
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator as Op

from ..model_builder import ModelBuilder

_MOST_BYTES = 1 << 24


def result(x: np.ndarray, multiplier: int, stride: int, dilation: int) -> np.ndarray:
    """Of images [1, 11, 14, 2] by a filter 3x3, each channel of it with numbers of its own."""
    depth = 2 * multiplier
    w = np.arange(-40, -40 + 9 * depth, dtype=np.int8).reshape(1, 3, 3, depth)
    side = -(-14 // stride)
    model = ModelBuilder()
    given = model.tensor(x.shape, x.dtype, scale=None if x.dtype == np.float32 else 0.5)
    filter = model.constant(w, scale=[0.25] * depth, zero_point=0, quantized_dimension=3)
    bias = model.constant(np.zeros(depth, np.float32 if x.dtype == np.float32 else np.int32))
    y = model.tensor(
        [1, -(-11 // stride), side, depth], x.dtype, scale=None if x.dtype == np.float32 else 8.0
    )
    options = tflite.DepthwiseConv2DOptionsT(
        padding=tflite.Padding.SAME,
        stride_h=stride,
        stride_w=stride,
        depth_multiplier=multiplier,
        dilation_h_factor=dilation,
        dilation_w_factor=dilation,
    )
    model.op(Op.DEPTHWISE_CONV_2D, [given, filter, bias], [y], options, 3)
    interpreter = Interpreter(model_content=model.build([given], [y]))
    interpreter.allocate_tensors()
    interpreter.set_tensor(given, x)
    interpreter.invoke()
    return interpreter.get_tensor(y)


@pytest.mark.parametrize("dtype", (np.int8, np.float32))
@pytest.mark.parametrize("multiplier", (1, 4))
@pytest.mark.parametrize(("stride", "dilation"), [((1 << 28) + 3, 1), (1, (1 << 27) + 5)])
def test_steps_far_beyond_the_image(dtype: type, multiplier: int, stride: int, dilation: int) -> None:
    """As those that are just beyond it; they took gigabytes."""
    x = np.random.default_rng(4).integers(-128, 128, (1, 11, 14, 2)).astype(dtype)
    near = result(x, multiplier, min(stride, 100), min(dilation, 100))
    tracemalloc.start()
    far = result(x, multiplier, stride, dilation)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_allclose(far, near, 1e-5 if dtype == np.float32 else 0)
    assert near.any() and most < _MOST_BYTES
