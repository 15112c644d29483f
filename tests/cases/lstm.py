"""Cases of UNIDIRECTIONAL_SEQUENCE_LSTM, and of LSTM, which is one step of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import QUANTIZED, Case, Close, Differs, Quanta

BATCH, TIME, DEPTH, CELLS = 2, 5, 7, 20
_TANH = 4  # ActivationFunctionType


@dataclass(frozen=True)
class Parts:
    """Which optional parts the operator has; outputs is the projection's depth, 0 for none.

    one_step stands for the operator LSTM.
    """

    coupled: bool = False
    peephole: bool = False
    normalized: bool = False
    outputs: int = 0
    time_major: bool = False
    one_step: bool = False
    diagonal: bool = False
    linear: bool = False

    @property
    def operator(self) -> BuiltinOperator:
        return BuiltinOperator.LSTM if self.one_step else BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM

    def __str__(self) -> str:
        flags = ("coupled", "peephole", "normalized", "time_major", "diagonal", "linear")
        names = [name for name in flags if getattr(self, name)]
        return "-".join(names + [f"projected{self.outputs}"] * bool(self.outputs)) or "plain"

    @property
    def depth(self) -> int:
        return self.outputs or CELLS

    @property
    def x_shape(self) -> tuple[int, ...]:
        if self.one_step:
            return (BATCH, DEPTH)
        return (TIME, BATCH, DEPTH) if self.time_major else (BATCH, TIME, DEPTH)


def _constants(parts: Parts) -> dict[int, np.ndarray]:
    """Real weights and biases, by the operator's input."""
    random = np.random.default_rng(7)
    gates = range(1 if parts.coupled else 0, 4)
    found = {1 + g: random.uniform(-0.6, 0.6, (CELLS, DEPTH)) for g in gates}
    recurrent_shape = (CELLS,) if parts.diagonal else (CELLS, parts.depth)
    found |= {5 + g: random.uniform(-0.4, 0.4, recurrent_shape) for g in gates}
    found |= {12 + g: random.uniform(-0.3, 0.3, CELLS) for g in gates}
    if parts.peephole:
        found |= {9 + i: random.uniform(-0.5, 0.5, CELLS) for i, g in enumerate((0, 1, 3)) if g in gates}
    if parts.normalized:
        found |= {20 + g: random.uniform(0.3, 0.9, CELLS) for g in gates}
    if parts.outputs:
        found[16] = random.uniform(-0.5, 0.5, (parts.outputs, CELLS))
        found[17] = random.uniform(-0.1, 0.1, parts.outputs)
    return found


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def lstm_oracle(
    parts: Parts, constants: dict[int, np.ndarray], peepholes: int = CELLS
) -> Callable[[np.ndarray], np.ndarray]:
    """The recurrence in float64, from states of zeros; only so many cells have peepholes."""
    seen = np.arange(CELLS) < peepholes

    def gate(k: int, x: np.ndarray, h: np.ndarray, c: np.ndarray) -> np.ndarray:
        recurrent = constants[5 + k]
        total = x @ constants[1 + k].T + (h * recurrent if parts.diagonal else h @ recurrent.T)
        peephole = constants.get({0: 9, 1: 10, 3: 11}.get(k, -1))
        if peephole is not None:
            total = total + peephole * seen * c
        if parts.normalized:
            total = total - total.mean(-1, keepdims=True)
            total = total / np.sqrt((total**2).mean(-1, keepdims=True) + 1e-8) * constants[20 + k]
        return total + constants[12 + k]

    def oracle(x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, np.float64)
        x = x[np.newaxis] if parts.one_step else x if parts.time_major else x.swapaxes(0, 1)
        h, c = np.zeros((BATCH, parts.depth)), np.zeros((BATCH, CELLS))
        outputs = []
        for step in x:
            forget = _sigmoid(gate(1, step, h, c))
            enter = 1 - forget if parts.coupled else _sigmoid(gate(0, step, h, c))
            c = forget * c + enter * np.tanh(gate(2, step, h, c))
            hidden = _sigmoid(gate(3, step, h, c)) * np.tanh(c)
            h = hidden @ constants[16].T + constants[17] if parts.outputs else hidden
            outputs.append(h)
        result = np.stack(outputs)
        return result[0] if parts.one_step else result if parts.time_major else result.swapaxes(0, 1)

    return oracle


def _options(parts: Parts) -> tflite.UnidirectionalSequenceLSTMOptionsT | tflite.LSTMOptionsT:
    activation = 0 if parts.linear else _TANH
    if parts.one_step:
        return tflite.LSTMOptionsT(fused_activation_function=activation, cell_clip=10.0)
    return tflite.UnidirectionalSequenceLSTMOptionsT(
        fused_activation_function=activation, time_major=parts.time_major, cell_clip=10.0
    )


def _output_shape(parts: Parts) -> tuple[int, ...]:
    return (*parts.x_shape[:-1], parts.depth)


def float_case(parts: Parts, given: bool = False) -> Case:
    """With `given`, weights are inputs of the model instead of constants."""
    constants = _constants(parts)
    oracle = lstm_oracle(parts, constants)
    x = np.random.default_rng(3).standard_normal(parts.x_shape).astype(np.float32)

    def make() -> bytes:
        model = ModelBuilder()
        source = model.tensor(parts.x_shape)
        inputs = [source, *([-1] * (23 if parts.normalized else 19))]
        for i, value in constants.items():
            real = value.astype(np.float32)
            inputs[i] = model.tensor(real.shape) if given else model.constant(real)
        inputs[18] = model.tensor((BATCH, parts.depth), is_variable=True)
        inputs[19] = model.tensor((BATCH, CELLS), is_variable=True)
        y = model.tensor(_output_shape(parts))
        model.op(parts.operator, inputs, [y], _options(parts))
        return model.build([source, *(inputs[i] for i in constants if given)], [y])

    near = Close(rtol=1e-5, atol=1e-5)
    return Case(
        id=f"{parts.operator.name}-float32-{parts}{'-given' * given}",
        make=make,
        inputs=[x, *(value.astype(np.float32) for value in constants.values() if given)],
        oracle=lambda x, *_: oracle(x).astype(np.float32),
        closeness=Differs("LiteRT has its own idea of no activation", 2.1) if parts.linear else near,
        litert_default=near,
        litert_reference=near,
    )


def hybrid_case(parts: Parts, asymmetric: bool, called: type = np.int8) -> Case:
    """int8 weights, which old files call uint8, and inputs that are quantized while running."""
    constants = _constants(parts)
    oracle = lstm_oracle(parts, constants)
    x = np.random.default_rng(4).standard_normal(parts.x_shape).astype(np.float32)

    def make() -> bytes:
        model = ModelBuilder()
        source = model.tensor(parts.x_shape)
        inputs = [source] + [-1] * 19
        for i, value in constants.items():
            scale = float(np.abs(value).max() / 127)
            stored = np.rint(value / scale).astype(np.int8)
            quantized = value.ndim == 2 or 9 <= i <= 11
            real = value.astype(np.float32)
            inputs[i] = (
                model.constant(stored.view(called), scale=scale) if quantized else model.constant(real)
            )
        inputs[18] = model.tensor((BATCH, parts.depth), is_variable=True)
        inputs[19] = model.tensor((BATCH, CELLS), is_variable=True)
        y = model.tensor(_output_shape(parts))
        options = _options(parts)
        options.asymmetric_quantize_inputs = asymmetric
        model.op(parts.operator, inputs, [y], options, 3)
        return model.build([source], [y])

    near = Close(rtol=1e-4, atol=1e-4)
    return Case(
        id=f"{parts.operator.name}-hybrid-{parts}-{asymmetric}{'-uint8' * (called is np.uint8)}",
        make=make,
        inputs=[x],
        oracle=lambda x: oracle(x).astype(np.float32),
        closeness=QUANTIZED,
        litert_default=near,
        litert_reference=near,
    )


def quantized_case(parts: Parts) -> Case:
    """int8 with a 16-bit cell state, exact with LiteRT; the oracle is the real recurrence.

    LiteRT applies peephole weights to as many cells as there are outputs; of more outputs than cells it
    reads behind the weights from the second entry of a batch on.
    """
    behind = parts.peephole and parts.outputs > CELLS and parts.time_major
    unlike = Differs("LiteRT reads behind the peephole weights") if behind else None
    constants = _constants(parts)
    oracle = lstm_oracle(parts, constants, peepholes=parts.depth)
    x = np.random.default_rng(5).integers(-128, 128, parts.x_shape).astype(np.int8)
    x_scale, x_zero, y_scale, y_zero = 1 / 64, 3, 1 / 100 if parts.outputs else 1 / 128, -4

    def make() -> bytes:
        model = ModelBuilder()
        source = model.tensor(parts.x_shape, np.int8, scale=x_scale, zero_point=x_zero)
        inputs = [source, *([-1] * (23 if parts.normalized else 19))]
        hidden_scale = 1 / 128 if parts.outputs else y_scale
        for i, value in constants.items():
            small = i < 9 or i == 16
            scale = float(np.abs(value).max() / (127 if small else 32767))
            if 12 <= i <= 15:
                gate_scale = float(np.abs(constants[20 + i - 12]).max() / 32767) if parts.normalized else 0
                weights = float(np.abs(constants[1 + i - 12]).max() / 127)
                scale = gate_scale / 1024 if parts.normalized else x_scale * weights
            if i == 17:
                scale = hidden_scale * float(np.abs(constants[16]).max() / 127)
            dtype = np.int8 if small else np.int32 if 12 <= i <= 15 or i == 17 else np.int16
            inputs[i] = model.constant(np.rint(value / scale).astype(dtype), scale=scale)
        inputs[18] = model.tensor(
            (BATCH, parts.depth), np.int8, scale=y_scale, zero_point=y_zero, is_variable=True
        )
        inputs[19] = model.tensor((BATCH, CELLS), np.int16, scale=2.0**-11, is_variable=True)
        y = model.tensor(_output_shape(parts), np.int8, scale=y_scale, zero_point=y_zero)
        intermediates = [model.tensor((0,), np.int16, scale=2.0**-12) for _ in range(4)]
        intermediates.append(
            model.tensor((0,), np.int8, scale=hidden_scale, zero_point=0 if parts.outputs else y_zero)
        )
        model.op(
            parts.operator,
            inputs,
            [y],
            _options(parts),
            3,
            intermediates=intermediates,
        )
        return model.build([source], [y])

    def quantized_oracle(x: np.ndarray) -> np.ndarray:
        real = oracle(x_scale * (x.astype(np.float64) - x_zero))
        return np.clip(np.rint(real / y_scale) + y_zero, -128, 127).astype(np.int8)

    return Case(
        id=f"{parts.operator.name}-int8-{parts}",
        make=make,
        inputs=[x],
        oracle=quantized_oracle,
        closeness=Quanta(4),
        litert_default=unlike,
        litert_reference=unlike,
    )


_PARTS = [
    Parts(),
    Parts(coupled=True),
    Parts(peephole=True),
    Parts(peephole=True, outputs=6),
    Parts(normalized=True),
    Parts(coupled=True, peephole=True, normalized=True, outputs=9),
    Parts(outputs=24, time_major=True),
    Parts(peephole=True, outputs=6, time_major=True),
    Parts(peephole=True, normalized=True, one_step=True),
    Parts(coupled=True, peephole=True, outputs=6, one_step=True),
]
_HYBRID = [*_PARTS[:4], _PARTS[-1]]

CASES = [
    *map(float_case, _PARTS),
    float_case(Parts(diagonal=True, peephole=True)),
    float_case(Parts(linear=True)),
    float_case(Parts(linear=True, coupled=True, outputs=5, one_step=True)),
    float_case(Parts(peephole=True, normalized=True, outputs=7), given=True),
    *map(quantized_case, _PARTS),
    quantized_case(Parts(peephole=True, outputs=24)),
    quantized_case(Parts(peephole=True, outputs=24, time_major=True)),
    *(hybrid_case(parts, asymmetric) for parts in _HYBRID for asymmetric in (False, True)),
    *(hybrid_case(parts, True, np.uint8) for parts in _HYBRID),
]
