"""Cases of BIDIRECTIONAL_SEQUENCE_LSTM."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import QUANTIZED, Case, Close, Differs

BATCH, TIME, DEPTH, AUX_DEPTH = 2, 4, 5, 3
CELLS, OUTPUTS = 18, 6
_TANH = 4  # ActivationFunctionType


@dataclass(frozen=True)
class Form:
    """stacked: "crossed" feeds an auxiliary input to both cells, "apart" only it to the backward one."""

    merge: bool = False
    time_major: bool = False
    stacked: str = ""

    def __str__(self) -> str:
        names = (
            ["merged"] * self.merge + ["time_major"] * self.time_major + [self.stacked] * bool(self.stacked)
        )
        return "-".join(names) or "plain"

    @property
    def aux_depth(self) -> int:
        return {"": 0, "crossed": AUX_DEPTH, "apart": DEPTH}[self.stacked]

    def in_order(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """[batch, time, ...] as the operator has it."""
        return (shape[1], shape[0], *shape[2:]) if self.time_major else shape


def _cell(direction: int, form: Form) -> dict[str, np.ndarray]:
    random = np.random.default_rng(11 + direction)
    return {
        "w": random.uniform(-0.6, 0.6, (4, CELLS, DEPTH)),
        "r": random.uniform(-0.5, 0.5, (4, CELLS, OUTPUTS)),
        "peephole": random.uniform(-0.5, 0.5, (3, CELLS)),
        "bias": random.uniform(-0.3, 0.3, (4, CELLS)),
        "aux": random.uniform(-0.6, 0.6, (4, CELLS, form.aux_depth)),
        "projection": random.uniform(-0.5, 0.5, (OUTPUTS, CELLS)),
    }


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _run(cell: dict[str, np.ndarray], x: np.ndarray, aux: np.ndarray | None) -> np.ndarray:
    """[time, batch, outputs] of the recurrence in float64; x and aux are [time, batch, depth]."""
    h, c = np.zeros((BATCH, OUTPUTS)), np.zeros((BATCH, CELLS))
    outputs = []
    for t, step in enumerate(x):
        given = [step @ cell["w"][k].T + h @ cell["r"][k].T + cell["bias"][k] for k in range(4)]
        if aux is not None:
            given = [value + aux[t] @ cell["aux"][k].T for k, value in enumerate(given)]
        enter, forget = (_sigmoid(given[k] + cell["peephole"][k] * c) for k in (0, 1))
        c = forget * c + enter * np.tanh(given[2])
        h = (_sigmoid(given[3] + cell["peephole"][2] * c) * np.tanh(c)) @ cell["projection"].T
        outputs.append(h)
    return np.stack(outputs)


def case(form: Form, hybrid: bool = False) -> Case:
    cells = [_cell(direction, form) for direction in (0, 1)]
    random = np.random.default_rng(5)
    inputs = [random.standard_normal(form.in_order((BATCH, TIME, DEPTH))).astype(np.float32)]
    if form.stacked:
        shape = form.in_order((BATCH, TIME, form.aux_depth))
        inputs.append(random.standard_normal(shape).astype(np.float32))

    def make() -> bytes:
        model = ModelBuilder()
        sources = [model.tensor(value.shape) for value in inputs]
        tensors = [-1] * 48
        tensors[0] = sources[0]

        def weights(value: np.ndarray) -> int:
            if not hybrid:
                return model.constant(value.astype(np.float32))
            scale = float(np.abs(value).max() / 127)
            return model.constant(np.rint(value / scale).astype(np.int8), scale=scale)

        for direction, cell in enumerate(cells):
            first = 1 + 17 * direction
            for k in range(4):
                tensors[first + k] = weights(cell["w"][k])
                tensors[first + 4 + k] = weights(cell["r"][k])
                tensors[first + 11 + k] = model.constant(cell["bias"][k].astype(np.float32))
                if form.stacked == "crossed":
                    tensors[40 + 4 * direction + k] = weights(cell["aux"][k])
            for k in range(3):
                tensors[first + 8 + k] = weights(cell["peephole"][k])
            tensors[first + 15] = weights(cell["projection"])
            tensors[35 + 2 * direction] = model.tensor((BATCH, OUTPUTS), is_variable=True)
            tensors[36 + 2 * direction] = model.tensor((BATCH, CELLS), is_variable=True)
        if form.stacked:
            tensors[39] = sources[1]
        depths = [2 * OUTPUTS] if form.merge else [OUTPUTS, OUTPUTS]
        results = [model.tensor(form.in_order((BATCH, TIME, depth))) for depth in depths]
        options = tflite.BidirectionalSequenceLSTMOptionsT(
            fused_activation_function=_TANH, merge_outputs=form.merge, time_major=form.time_major
        )
        model.op(BuiltinOperator.BIDIRECTIONAL_SEQUENCE_LSTM, tensors, results, options, 3)
        return model.build(sources, results)

    def oracle(*values: np.ndarray) -> list[np.ndarray]:
        steps = [np.asarray(v, np.float64) if form.time_major else v.swapaxes(0, 1) for v in values]
        aux = steps[1] if form.stacked == "crossed" else None
        back = steps[1] if form.stacked == "apart" else steps[0]
        forward = _run(cells[0], steps[0], aux)
        backward = _run(cells[1], back[::-1], None if aux is None else aux[::-1])[::-1]
        results = [np.concatenate([forward, backward], -1)] if form.merge else [forward, backward]
        ordered = results if form.time_major else [result.swapaxes(0, 1) for result in results]
        return [result.astype(np.float32) for result in ordered]

    near = Close(rtol=1e-4, atol=1e-4) if hybrid else Close(rtol=1e-5, atol=1e-5)
    unlike = Differs("LiteRT writes merged outputs of a batch-major sequence to wrong places")
    litert = unlike if form.merge and not form.time_major else None
    return Case(
        id=f"BIDIRECTIONAL_SEQUENCE_LSTM-{'hybrid' if hybrid else 'float32'}-{form}",
        make=make,
        inputs=inputs,
        oracle=oracle,
        closeness=QUANTIZED if hybrid else near,
        litert_default=litert or near,
        litert_reference=litert or near,
    )


CASES = [
    case(Form()),
    case(Form(merge=True)),
    case(Form(time_major=True, stacked="crossed")),
    case(Form(merge=True, time_major=True, stacked="apart")),
    case(Form(), hybrid=True),
    case(Form(time_major=True), hybrid=True),
]
