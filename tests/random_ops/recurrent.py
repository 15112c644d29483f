"""Random cases of operators with a state: RNN, LSTM, SVDF."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from .draw import Draw, Kind, Shape
from .entry import Entry
from .one_op import OneOp, activation

TANH = tflite.ActivationFunctionType.TANH


class Weights:
    """Constants of a float operator, as float32, or int8 with one scale each; or float32 that is given."""

    def __init__(self, draw: Draw, op: OneOp, stored: str) -> None:
        self.draw, self.op, self.stored = draw, op, stored

    def matrix(self, *shape: int) -> int:
        real = self.draw.random.uniform(-0.6, 0.6, shape)
        if self.stored == "float32":
            return self.op.constant(real.astype(np.float32))
        if self.stored == "given":
            return self.op.input(shape, "float32", lambda shape: real.astype(np.float32), 0.0)
        scale = float(np.float32(max(np.abs(real).max(initial=0), 1e-3) / 127))
        if self.stored == "uint8":
            return self.op.constant(
                np.clip(np.rint(real / scale) + 128, 0, 255).astype(np.uint8), Kind("uint8", (scale,), 128)
            )
        return self.op.constant(np.rint(real / scale).astype(np.int8), Kind("int8", (scale,)))

    def vector(self, size: int, low: float = -0.4) -> int:
        return self.op.constant(self.draw.random.uniform(low, 0.8, size).astype(np.float32))


def _weights(draw: Draw, op: OneOp) -> Weights:
    seldom = draw.pick("uint8", "given") if draw.chance(0.2) else "int8"
    return Weights(draw, op, draw.pick("float32", "float32", "int8", seldom))


def _ordered(time_major: bool, batch: int, time: int, depth: int) -> Shape:
    return (time, batch, depth) if time_major else (batch, time, depth)


def _given(draw: Draw, op: OneOp, shape: Shape) -> int:
    scale = draw.pick(0.5, 1.0, 3.0)
    return op.input(
        shape, "float32", lambda shape: (draw.random.standard_normal(shape) * scale).astype(np.float32), 0
    )


def _rnn(draw: Draw, op: OneOp) -> None:
    weights = _weights(draw, op)
    batch, time, depth, units = draw.number(1, 3), draw.number(1, 5), draw.number(1, 9), draw.number(1, 9)
    shared = {"fused_activation_function": draw.number(0, 5), "asymmetric_quantize_inputs": draw.chance()}
    major = draw.chance()
    one = op.name == "RNN"
    x = _given(draw, op, (batch, depth) if one else _ordered(major, batch, time, depth))
    inputs = [x, weights.matrix(units, depth), weights.matrix(units, units), weights.vector(units)]
    inputs.append(op.variable((batch, units), "float32"))
    op.output("float32")
    op.op(
        inputs,
        tflite.RNNOptionsT(**shared) if one else tflite.SequenceRNNOptionsT(time_major=major, **shared),
    )


def _bidirectional_rnn(draw: Draw, op: OneOp) -> None:
    weights = _weights(draw, op)
    batch, time, depth = draw.number(1, 3), draw.number(1, 5), draw.number(1, 7)
    major, stacked = draw.chance(), draw.pick("", "", "crossed", "apart")
    inputs = [_given(draw, op, _ordered(major, batch, time, depth))]
    units = [draw.number(1, 7) for _ in range(2)]
    aux = depth
    if stacked == "crossed" and draw.chance(0.2):
        aux = draw.number(1, 6)
        op.told.append("auxiliary depth")
    for n in units:
        inputs += [
            weights.matrix(n, depth),
            weights.matrix(n, n),
            weights.vector(n),
            op.variable((batch, n), "float32"),
        ]
    inputs.append(_given(draw, op, _ordered(major, batch, time, aux)) if stacked else -1)
    inputs += [weights.matrix(n, aux) if stacked == "crossed" else -1 for n in units]
    merge = draw.chance(0.4)
    for _ in range(1 if merge else 2):
        op.output("float32")
    op.op(inputs, tflite.BidirectionalSequenceRNNOptionsT(
        time_major=major, merge_outputs=merge,
        fused_activation_function=draw.number(0, 5), asymmetric_quantize_inputs=draw.chance(),
    ))  # fmt: skip


class Cell:
    """Inputs 1 to 19 of an LSTM with float activations, its optional parts drawn; sizes: cells, outputs."""

    def __init__(
        self, draw: Draw, weights: Weights, batch: int, depth: int, sizes: tuple[int, int] | None = None
    ) -> None:
        self.cells, self.outputs = sizes or (draw.number(1, 9), draw.number(1, 7) if draw.chance(0.3) else 0)
        coupled, peephole = draw.chance(0.25), draw.chance(0.3)
        self.state_depth = self.outputs or self.cells
        self.inputs = [-1] * 20
        gates = [gate for gate in range(4) if not (coupled and gate == 0)]
        for gate in gates:
            self.inputs[1 + gate] = weights.matrix(self.cells, depth)
            self.inputs[5 + gate] = weights.matrix(self.cells, self.state_depth)
            self.inputs[12 + gate] = weights.vector(self.cells)
        if peephole:
            for place, gate in enumerate((0, 1, 3)):
                if gate in gates:
                    self.inputs[9 + place] = weights.matrix(self.cells)
        if self.outputs:
            self.inputs[16] = weights.matrix(self.outputs, self.cells)
            self.inputs[17] = weights.vector(self.outputs) if draw.chance(0.6) else -1
        self.inputs[18] = weights.op.variable((batch, self.state_depth), "float32")
        self.inputs[19] = weights.op.variable((batch, self.cells), "float32")
        self.gates = gates


def _clips(draw: Draw) -> dict[str, float]:
    return {"cell_clip": draw.pick(0.0, 0.0, 10.0, 0.5), "proj_clip": draw.pick(0.0, 0.0, 0.3)}


def _lstm(draw: Draw, op: OneOp) -> None:
    weights = _weights(draw, op)
    batch, time, depth = draw.number(1, 3), draw.number(1, 5), draw.number(1, 9)
    one, major = op.name == "LSTM", draw.chance()
    x = _given(draw, op, (batch, depth) if one else _ordered(major, batch, time, depth))
    cell = Cell(draw, weights, batch, depth)
    inputs = [x, *cell.inputs[1:]]
    if draw.chance(0.3):
        inputs += [weights.vector(cell.cells, 0.3) if gate in cell.gates else -1 for gate in range(4)]
    op.output("float32")
    shared = {"fused_activation_function": draw.pick(TANH, TANH, activation(draw)), **_clips(draw)}
    shared["asymmetric_quantize_inputs"] = draw.chance()
    table = tflite.LSTMOptionsT if one else tflite.UnidirectionalSequenceLSTMOptionsT
    op.op(inputs, table(**shared) if one else table(time_major=major, **shared))


def _bidirectional_lstm(draw: Draw, op: OneOp) -> None:
    weights = _weights(draw, op)
    batch, time, depth = draw.number(1, 3), draw.number(1, 5), draw.number(1, 7)
    major, merge = draw.chance(), draw.chance(0.3)
    x = _given(draw, op, _ordered(major, batch, time, depth))
    cells = [Cell(draw, weights, batch, depth)]
    alike = None if draw.chance(0.05) else (cells[0].cells, cells[0].outputs)  # LiteRT asks for
    cells.append(Cell(draw, weights, batch, depth, alike))
    stacked = draw.pick("", "", "crossed", "apart")
    aux = draw.number(1, 6) if stacked == "crossed" else depth
    inputs = [x, *cells[0].inputs[1:18], *cells[1].inputs[1:18]]
    inputs += [*cells[0].inputs[18:], *cells[1].inputs[18:]]
    inputs.append(_given(draw, op, _ordered(major, batch, time, aux)) if stacked else -1)
    for cell in cells:
        crossed = [weights.matrix(cell.cells, aux) if stacked == "crossed" else -1 for _ in range(4)]
        inputs += [tensor if gate in cell.gates else -1 for gate, tensor in enumerate(crossed)]
    for _ in range(1 if merge else 2):
        op.output("float32")
    op.op(inputs, tflite.BidirectionalSequenceLSTMOptionsT(
        time_major=major, merge_outputs=merge, asymmetric_quantize_inputs=draw.chance(),
        fused_activation_function=TANH, **_clips(draw),
    ))  # fmt: skip


def _svdf(draw: Draw, op: OneOp) -> None:
    rank, batch, depth = draw.number(1, 3), draw.number(1, 3), draw.number(1, 9)
    units, memory = draw.number(1, 6), draw.number(1, 7)
    filters = units * rank
    options = tflite.SVDFOptionsT(
        rank=rank, fused_activation_function=activation(draw), asymmetric_quantize_inputs=draw.chance()
    )
    if draw.chance(0.4):
        if draw.chance(0.95):  # LiteRT asks for
            options.fused_activation_function = tflite.ActivationFunctionType.RELU
        x = op.input((batch, depth), draw.quantized("int8"), constant=0)
        features = op.constant(
            draw.random.integers(-128, 128, (filters, depth)).astype(np.int8), Kind("int8", (0.01,))
        )
        time = op.constant(
            draw.random.integers(-32767, 32768, (filters, memory)).astype(np.int16),
            Kind("int16", (1 / 32767,)),
        )
        bias = op.constant(
            draw.random.integers(-30000, 30000, units).astype(np.int32), Kind("int32", (1e-6,))
        )
        state = op.variable((batch, filters * memory), Kind("int16", (1 / 4096,)))
        op.output(draw.quantized("int8"))
    else:
        weights = _weights(draw, op)
        x = _given(draw, op, (batch, depth))
        features, time = weights.matrix(filters, depth), weights.matrix(filters, memory)
        bias, state = weights.vector(units), op.variable((batch, filters * memory), "float32")
        op.output("float32")
    op.op([x, features, time, bias if draw.chance(0.7) else -1, state], options)


ENTRIES = {
    "RNN": Entry(_rnn, rtol=1e-4, atol=1e-5, nudges=True),
    "UNIDIRECTIONAL_SEQUENCE_RNN": Entry(_rnn, rtol=1e-4, atol=1e-5, nudges=True),
    "BIDIRECTIONAL_SEQUENCE_RNN": Entry(_bidirectional_rnn, rtol=1e-4, atol=1e-5, nudges=True),
    "LSTM": Entry(_lstm, rtol=1e-4, atol=1e-5, nudges=True),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": Entry(_lstm, rtol=1e-4, atol=1e-5, nudges=True),
    "BIDIRECTIONAL_SEQUENCE_LSTM": Entry(_bidirectional_lstm, rtol=1e-4, atol=1e-5, nudges=True),
    "SVDF": Entry(_svdf, rtol=1e-4, atol=1e-5, nudges=True),
}
