"""Cases of weights as old converters wrote them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import Case, Refuses
from .hybrid import QUANTIZED, SAME_WAY
from .window_oracle import SAME, conv_2d

_REFUSED = Refuses("quantized_dimension must be in range")
_SCALE = np.float32(0.004)


def _uint8_case(code: BuiltinOperator, x_shape: Sequence[int], w_shape: Sequence[int], zero: int) -> Case:
    """float32 inputs and weights called uint8 whose bytes are int8, whatever the zero point."""
    id = f"{code.name}-uint8-weights-{zero}"
    random = np.random.default_rng(zero)
    x = random.standard_normal(x_shape).astype(np.float32)
    w = random.integers(-127, 128, w_shape).astype(np.int8)
    b = random.standard_normal(w_shape[0]).astype(np.float32)
    convolves = code == BuiltinOperator.CONV_2D
    options = tflite.Conv2DOptionsT(stride_h=1, stride_w=1) if convolves else tflite.FullyConnectedOptionsT()

    def oracle(x: np.ndarray) -> np.ndarray:
        real = w * np.float64(_SCALE)
        y = conv_2d(x, real, b, (1, 1), (1, 1), SAME) if convolves else x @ real.T + b
        return np.asarray(y).astype(np.float32)

    def make() -> bytes:
        model = ModelBuilder()
        weights = model.constant(w.view(np.uint8), scale=_SCALE, zero_point=zero)
        inputs = [model.tensor(x_shape), weights, model.constant(b)]
        y = model.tensor(oracle(x).shape)
        model.op(code, inputs, [y], options)
        return model.build(inputs[:1], [y])

    return Case(id, make, [x], oracle, QUANTIZED, SAME_WAY, SAME_WAY)


def _dimension_case(dimension: int) -> Case:
    """FULLY_CONNECTED of int8 whose weights have one scale along a dimension that they lack."""
    random = np.random.default_rng(dimension % 7)
    x = random.integers(-128, 128, (2, 16)).astype(np.int8)
    w = random.integers(-127, 128, (5, 16)).astype(np.int8)

    def oracle(x: np.ndarray) -> np.ndarray:
        reals = 0.05 * (x.astype(np.float64) - 3) @ (0.004 * w.T.astype(np.float64))
        return np.clip(np.rint(reals / 0.1), -128, 127).astype(np.int8)

    def make() -> bytes:
        model = ModelBuilder()
        inputs = [
            model.tensor(x.shape, np.int8, scale=0.05, zero_point=3),
            model.constant(w, scale=_SCALE, zero_point=0, quantized_dimension=dimension),
        ]
        y = model.tensor((2, 5), np.int8, scale=0.1, zero_point=0)
        model.op(BuiltinOperator.FULLY_CONNECTED, inputs, [y], tflite.FullyConnectedOptionsT(), 4)
        return model.build(inputs[:1], [y])

    id = f"FULLY_CONNECTED-one-scale-dimension-{dimension}"
    return Case(id, make, [x], oracle, litert_default=_REFUSED, litert_reference=_REFUSED)


CASES = [
    *(
        case
        for zero in (0, 128)
        for case in (
            _uint8_case(BuiltinOperator.FULLY_CONNECTED, (3, 20), (7, 20), zero),
            _uint8_case(BuiltinOperator.CONV_2D, (2, 6, 5, 4), (8, 3, 3, 4), zero),
        )
    ),
    _dimension_case(3),
    _dimension_case(-1),
]
