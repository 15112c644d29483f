"""Cases of RNN, UNIDIRECTIONAL_SEQUENCE_RNN and BIDIRECTIONAL_SEQUENCE_RNN."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import QUANTIZED, Case, Close

BATCH, TIME, DEPTH, UNITS = 3, 4, 5, 18
_ACTIVATIONS = {
    0: lambda x: x,
    1: lambda x: np.maximum(x, 0),
    2: lambda x: np.clip(x, -1, 1),
    3: lambda x: np.clip(x, 0, 6),
    4: np.tanh,
    5: lambda x: np.signbit(x).astype(float),
}


@dataclass(frozen=True)
class Form:
    """hybrid: 0 for float32 weights, 1 for symmetric inputs, 2 for asymmetric ones.

    stacked: "crossed" feeds an auxiliary input to both cells, "apart" only it to the backward one.
    """

    operator: BuiltinOperator
    activation: int = 4
    hybrid: int = 0
    time_major: bool = False
    merge: bool = False
    stacked: str = ""

    def __str__(self) -> str:
        names = [["float32", "hybrid", "hybrid-asymmetric"][self.hybrid], f"activation{self.activation}"]
        names += (
            ["time_major"] * self.time_major + ["merged"] * self.merge + [self.stacked] * bool(self.stacked)
        )
        return f"{self.operator.name}-{'-'.join(names)}"

    @property
    def directions(self) -> int:
        return 2 if self.operator == BuiltinOperator.BIDIRECTIONAL_SEQUENCE_RNN else 1

    def in_order(self, depth: int) -> tuple[int, ...]:
        if self.operator == BuiltinOperator.RNN:
            return (BATCH, depth)
        return (TIME, BATCH, depth) if self.time_major else (BATCH, TIME, depth)

    def options(self) -> TableT:
        shared = {
            "fused_activation_function": self.activation,
            "asymmetric_quantize_inputs": self.hybrid == 2,
        }
        if self.operator == BuiltinOperator.RNN:
            return tflite.RNNOptionsT(**shared)
        if self.directions == 1:
            return tflite.SequenceRNNOptionsT(time_major=self.time_major, **shared)
        return tflite.BidirectionalSequenceRNNOptionsT(
            time_major=self.time_major, merge_outputs=self.merge, **shared
        )


def _weights(direction: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(3 + direction)
    return {
        "w": random.uniform(-0.7, 0.7, (UNITS, DEPTH)),
        "r": random.uniform(-0.3, 0.3, (UNITS, UNITS)),
        "bias": random.uniform(-0.3, 0.3, UNITS),
        "aux": random.uniform(-0.5, 0.5, (UNITS, DEPTH)),
    }


def _run(form: Form, cell: dict[str, np.ndarray], x: np.ndarray, aux: np.ndarray | None) -> np.ndarray:
    """[time, batch, units] of the recurrence in float64.

    With int8 weights, LiteRT runs a time-major sequence as many times as it has steps, on and on.
    """
    h = np.zeros((BATCH, UNITS))
    again = len(x) if form.hybrid and form.time_major and form.directions == 2 else 1
    for _ in range(again):
        outputs = []
        for t, step in enumerate(x):
            total = step @ cell["w"].T + h @ cell["r"].T + cell["bias"]
            h = _ACTIVATIONS[form.activation](total if aux is None else total + aux[t] @ cell["aux"].T)
            outputs.append(h)
    return np.stack(outputs)


def case(form: Form) -> Case:
    cells = [_weights(direction) for direction in range(form.directions)]
    random = np.random.default_rng(5)
    shapes = [form.in_order(DEPTH)] * (2 if form.stacked else 1)
    inputs = [random.standard_normal(shape).astype(np.float32) for shape in shapes]

    def make() -> bytes:
        model = ModelBuilder()
        sources = [model.tensor(shape) for shape in shapes]
        tensors = [sources[0]]

        def weights(value: np.ndarray) -> int:
            if not form.hybrid:
                return model.constant(value.astype(np.float32))
            scale = float(np.abs(value).max() / 127)
            return model.constant(np.rint(value / scale).astype(np.int8), scale=scale)

        for cell in cells:
            tensors += [
                weights(cell["w"]),
                weights(cell["r"]),
                model.constant(cell["bias"].astype(np.float32)),
            ]
            tensors.append(model.tensor((BATCH, UNITS), is_variable=True))
        if form.directions == 2:
            tensors.append(sources[1] if form.stacked else -1)
            crossed = form.stacked == "crossed"
            tensors += [weights(cell["aux"]) if crossed else -1 for cell in cells]
        merged = form.merge or form.directions == 1
        depths = [UNITS * form.directions] if merged else [UNITS, UNITS]
        results = [model.tensor(form.in_order(depth)) for depth in depths]
        model.op(form.operator, tensors, results, form.options(), 3)
        return model.build(sources, results)

    def oracle(*values: np.ndarray) -> list[np.ndarray]:
        def steps(x: np.ndarray) -> np.ndarray:
            return x[np.newaxis] if x.ndim == 2 else x if form.time_major else x.swapaxes(0, 1)

        x = [steps(value.astype(np.float64)) for value in values]
        aux = x[1] if form.stacked == "crossed" else None
        found = [_run(form, cells[0], x[0], aux)]
        if form.directions == 2:
            back = x[1] if form.stacked == "apart" else x[0]
            found.append(_run(form, cells[1], back[::-1], None if aux is None else aux[::-1])[::-1])
        results = [np.concatenate(found, -1)] if form.merge else found
        if form.operator == BuiltinOperator.RNN:
            return [results[0][0].astype(np.float32)]
        return [(r if form.time_major else r.swapaxes(0, 1)).astype(np.float32) for r in results]

    near = Close(rtol=1e-4, atol=1e-4) if form.hybrid else Close(rtol=1e-5, atol=1e-5)
    return Case(
        id=str(form),
        make=make,
        inputs=inputs,
        oracle=oracle,
        closeness=QUANTIZED if form.hybrid else near,
        litert_default=near,
        litert_reference=near,
    )


_ONE_STEP = BuiltinOperator.RNN
_SEQUENCE = BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_RNN
_BOTH = BuiltinOperator.BIDIRECTIONAL_SEQUENCE_RNN

CASES = [
    *(case(Form(_ONE_STEP, activation)) for activation in _ACTIVATIONS),
    case(Form(_ONE_STEP, hybrid=1)),
    case(Form(_ONE_STEP, activation=0, hybrid=2)),
    case(Form(_SEQUENCE)),
    case(Form(_SEQUENCE, activation=2, time_major=True)),
    case(Form(_SEQUENCE, hybrid=1)),
    case(Form(_SEQUENCE, hybrid=2, time_major=True)),
    case(Form(_BOTH)),
    case(Form(_BOTH, merge=True, stacked="crossed")),
    case(Form(_BOTH, time_major=True, stacked="apart")),
    case(Form(_BOTH, hybrid=1, merge=True)),
    case(Form(_BOTH, hybrid=1, time_major=True)),
    case(Form(_BOTH, hybrid=2, stacked="crossed")),
]
