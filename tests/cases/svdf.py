"""Cases of SVDF, from a state of zeros (tests/kernels/test_recurrent_state.py goes on from there)."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import QUANTIZED, Case, Close, Differs, Quanta, Relation

BATCH, DEPTH, UNITS, MEMORY = 2, 7, 5, 6
_RELU = 1
_KINDS = ("float32", "hybrid", "hybrid-asymmetric", "hybrid-float-time", "int8")
_X_SCALE, _STATE_SCALE, _TIME_SCALE, _Y_SCALE = 1 / 64, 1 / 4096, 1 / 32767, 1 / 100


def case(kind: str, rank: int, bias: bool = True) -> Case:
    random = np.random.default_rng(4)
    filters = UNITS * rank
    real_features = random.uniform(-0.8, 0.8, (filters, DEPTH))
    real_time = random.uniform(-1, 1, (filters, MEMORY))
    real_bias = random.uniform(-0.5, 0.5, UNITS) if bias else np.zeros(UNITS)
    feature_scale = float(np.abs(real_features).max() / 127)
    quantized = kind == "int8"
    x = random.standard_normal((BATCH, DEPTH)).astype(np.float32)
    if quantized:
        x = np.clip(np.rint(x / _X_SCALE) + 3, -128, 127).astype(np.int8)

    def make() -> bytes:
        model = ModelBuilder()
        if quantized:
            source = model.tensor(x.shape, np.int8, scale=_X_SCALE, zero_point=3)
            time = model.constant(np.rint(real_time / _TIME_SCALE).astype(np.int16), scale=_TIME_SCALE)
            bias_scale = _STATE_SCALE * _TIME_SCALE
            biases = model.constant(np.rint(real_bias / bias_scale).astype(np.int32), scale=bias_scale)
            state = model.tensor((BATCH, filters * MEMORY), np.int16, scale=_STATE_SCALE, is_variable=True)
            y = model.tensor((BATCH, UNITS), np.int8, scale=_Y_SCALE, zero_point=-100)
        else:
            source = model.tensor(x.shape)
            if kind in ("float32", "hybrid-float-time"):
                time = model.constant(real_time.astype(np.float32))
            else:
                time = model.constant(np.rint(real_time * 127).astype(np.int8), scale=1 / 127)
            biases = model.constant(real_bias.astype(np.float32))
            state = model.tensor((BATCH, filters * MEMORY), is_variable=True)
            y = model.tensor((BATCH, UNITS))
        if kind == "float32":
            features = model.constant(real_features.astype(np.float32))
        else:
            features = model.constant(
                np.rint(real_features / feature_scale).astype(np.int8), scale=feature_scale
            )
        options = tflite.SVDFOptionsT(
            rank=rank,
            fused_activation_function=_RELU if quantized else 0,
            asymmetric_quantize_inputs=kind == "hybrid-asymmetric",
        )
        model.op(
            BuiltinOperator.SVDF, [source, features, time, biases if bias else -1, state], [y], options, 4
        )
        return model.build([source], [y])

    def oracle(x: np.ndarray) -> np.ndarray:
        # In a state of zeros only the latest feature counts.
        real = _X_SCALE * (x.astype(np.float64) - 3) if quantized else x.astype(np.float64)
        filtered = (real @ real_features.T) * real_time[:, -1]
        y = filtered.reshape(BATCH, UNITS, rank).sum(-1) + real_bias
        if quantized:
            return np.clip(np.rint(y / _Y_SCALE) - 100, -128, 127).astype(np.int8)
        return y.astype(np.float32)

    hybrid = kind.startswith("hybrid")
    near = Close(rtol=1e-5, atol=1e-5)
    litert: Relation | None = None if quantized else near
    if kind == "hybrid-float-time":
        litert = Differs("LiteRT takes float32 time weights for zeros")
    return Case(
        id=f"SVDF-{kind}-rank{rank}{'' if bias else '-no-bias'}",
        make=make,
        inputs=[x],
        oracle=oracle,
        closeness=QUANTIZED if hybrid else Quanta(2) if quantized else near,
        litert_default=litert,
        litert_reference=litert,
    )


CASES = [*(case(kind, 2) for kind in _KINDS), case("float32", 1, bias=False), case("int8", 1, bias=False)]
