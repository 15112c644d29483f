"""Cases of LSTM's basic kernel."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import Case, Close, Quanta

BATCH, DEPTH, CELLS = 3, 11, 19
_BASIC = 1  # LSTMKernelType
_SCALES = {np.uint8: 1 / 128, np.int16: 2.0**-11}


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def oracle(x: np.ndarray, h: np.ndarray, c: np.ndarray, w: np.ndarray, bias: np.ndarray) -> list[np.ndarray]:
    """(activation, state, inputs joined, gates) in float64."""
    joined = np.concatenate([x, h], 1, dtype=np.float64)
    gates = joined @ w.T + bias
    enter, candidate, forget, leave = np.split(gates, 4, 1)
    state = _sigmoid(enter) * np.tanh(candidate) + _sigmoid(forget) * c
    return [_sigmoid(leave) * np.tanh(state), state, joined, gates]


def case(quantized: bool) -> Case:
    random = np.random.default_rng(2)
    real = [random.uniform(-1, 1, (BATCH, n)) for n in (DEPTH, CELLS, CELLS)]
    w = random.uniform(-0.9, 0.9, (4 * CELLS, DEPTH + CELLS))
    bias = random.uniform(-0.5, 0.5, 4 * CELLS)
    scale, zero_point = 2 / 255, 120
    stored_w = np.clip(np.rint(w / scale) + zero_point, 0, 255).astype(np.uint8)
    stored_bias = np.rint(bias * 128 / scale).astype(np.int32)
    types = [np.uint8, np.uint8, np.int16] if quantized else [np.float32] * 3
    inputs = [value.astype(np.float32) for value in real]
    if quantized:
        zeros = [128, 128, 0]
        inputs = [
            np.clip(np.rint(value / _SCALES[t]) + zero, np.iinfo(t).min, np.iinfo(t).max).astype(t)
            for value, t, zero in zip(real, types, zeros, strict=True)
        ]

    def make() -> bytes:
        model = ModelBuilder()

        def tensor(columns: int, dtype: type) -> int:
            if not quantized:
                return model.tensor((BATCH, columns))
            zero = 128 if dtype is np.uint8 else 0
            return model.tensor((BATCH, columns), dtype, scale=_SCALES[dtype], zero_point=zero)

        x, h, c = (tensor(v.shape[1], t) for v, t in zip(inputs, types, strict=True))
        if quantized:
            constants = [
                model.constant(stored_w, scale=scale, zero_point=zero_point),
                model.constant(stored_bias, scale=scale / 128),
            ]
        else:
            constants = [model.constant(value.astype(np.float32)) for value in (w, bias)]
        outputs = [
            tensor(columns, types[k])
            for columns, k in ((CELLS, 0), (CELLS, 2), (DEPTH + CELLS, 0), (4 * CELLS, 2))
        ]
        options = tflite.LSTMOptionsT(fused_activation_function=4, kernel_type=_BASIC)
        model.op(BuiltinOperator.LSTM, [x, h, *constants, c], outputs, options, 2)
        return model.build([x, h, c], outputs)

    def quantized_oracle(x: np.ndarray, h: np.ndarray, c: np.ndarray) -> list[np.ndarray]:
        values = [(x - 128.0) / 128, (h - 128.0) / 128, c * 2.0**-11]
        found = oracle(*values, scale * (stored_w - float(zero_point)), stored_bias * scale / 128)
        steps = [
            (1 / 128, 128, np.uint8),
            (2.0**-11, 0, np.int16),
            (1 / 128, 128, np.uint8),
            (2.0**-12, 0, np.int16),
        ]
        return [
            np.clip(np.rint(value / s) + zero, np.iinfo(t).min, np.iinfo(t).max).astype(t)
            for value, (s, zero, t) in zip(found, steps, strict=True)
        ]

    def float_oracle(x: np.ndarray, h: np.ndarray, c: np.ndarray) -> list[np.ndarray]:
        return [value.astype(np.float32) for value in oracle(x, h, c, w, bias)]

    return Case(
        id=f"LSTM-basic-{'uint8' if quantized else 'float32'}",
        make=make,
        inputs=inputs,
        oracle=quantized_oracle if quantized else float_oracle,
        closeness=Quanta(3) if quantized else Close(rtol=1e-5, atol=1e-5),
    )


CASES = [case(False), case(True)]
