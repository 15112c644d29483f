"""Random cases of LSTM operators of int8 throughout, with a cell state of int16."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from .draw import Draw, Kind, Shape
from .entry import Entry
from .one_op import OneOp

_TANH = tflite.ActivationFunctionType.TANH


class Quantized:
    """Constants, each with the scale that its values have."""

    def __init__(self, draw: Draw, op: OneOp) -> None:
        self.draw, self.op = draw, op

    def stored(self, shape: Shape, type_: str, real: float) -> tuple[int, float]:
        """A tensor of values up to real, and its scale."""
        scale = float(np.float32(real / (127 if type_ == "int8" else 32767)))
        limit = 127 if type_ == "int8" else 32767
        values = self.draw.random.integers(-limit, limit + 1, shape).astype(type_)
        return self.op.constant(values, Kind(type_, (scale,))), scale

    def bias(self, size: int, scale: float) -> int:
        values = np.rint(self.draw.random.uniform(-0.5, 0.5, size) / scale)
        return self.op.constant(np.clip(values, -(2**30), 2**30).astype(np.int32), Kind("int32", (scale,)))


def _lstm(draw: Draw, op: OneOp) -> None:
    quantized = Quantized(draw, op)
    batch, time, depth, cells = (draw.number(1, n) for n in (3, 5, 9, 20))
    outputs = draw.number(1, 9) if draw.chance(0.4) else 0
    coupled, peephole, normalized = draw.chance(0.3), draw.chance(0.3), draw.chance(0.3)
    one, major = op.name == "LSTM int8", draw.chance()
    x_kind = Kind("int8", (draw.pick(1 / 64, 0.03, 0.1),), draw.number(-20, 20))
    shape = (batch, depth) if one else (time, batch, depth) if major else (batch, time, depth)
    inputs = [op.input(shape, x_kind, constant=0), *([-1] * (23 if normalized else 19))]
    state_depth = outputs or cells
    y = Kind("int8", (draw.pick(1 / 100, 1 / 128, 0.02),), draw.number(-20, 20))
    hidden = Kind("int8", (1 / 128,), 0) if outputs else y
    for gate in range(1 if coupled else 0, 4):
        inputs[1 + gate], scale = quantized.stored((cells, depth), "int8", 0.6)
        inputs[5 + gate], _ = quantized.stored((cells, state_depth), "int8", 0.4)
        bias_scale = x_kind.scale[0] * scale
        if normalized:
            inputs[20 + gate], scale = quantized.stored((cells,), "int16", 0.9)
            bias_scale = scale / 1024
        inputs[12 + gate] = quantized.bias(cells, bias_scale)
        if peephole and gate != 2:
            inputs[{0: 9, 1: 10, 3: 11}[gate]], _ = quantized.stored((cells,), "int16", 0.5)
    if outputs:
        inputs[16], scale = quantized.stored((outputs, cells), "int8", 0.5)
        if draw.chance(0.7):
            inputs[17] = quantized.bias(outputs, hidden.scale[0] * scale)
    inputs[18] = op.variable((batch, state_depth), y)
    inputs[19] = op.variable((batch, cells), Kind("int16", (2.0 ** -draw.number(10, 13),)))
    if peephole and outputs > cells and batch > 1 and (one or major):
        op.told.append("peepholes behind the weights")
    op.output(y)
    between = [Kind("int16", (2.0**-12,)) for _ in range(4)] + [hidden]
    tensors = [op.scratch(kind) for kind in between]
    shared = {"fused_activation_function": _TANH, "cell_clip": draw.pick(0.0, 10.0, 1.0)}
    shared["proj_clip"] = draw.pick(0.0, 0.0, 0.5)
    table = tflite.LSTMOptionsT if one else tflite.UnidirectionalSequenceLSTMOptionsT
    options = table(**shared) if one else table(time_major=major, **shared)
    op.op(inputs, options, intermediates=tensors)


ENTRIES = {"LSTM int8": Entry(_lstm), "UNIDIRECTIONAL_SEQUENCE_LSTM int8": Entry(_lstm)}
