"""Float models with UNIDIRECTIONAL_SEQUENCE_LSTM and SVDF."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from ...model_builder import ModelBuilder

Op = tflite.BuiltinOperator
TANH, RELU = tflite.ActivationFunctionType.TANH, tflite.ActivationFunctionType.RELU


def lstm(
    *,
    peephole: bool = False,
    norm: bool = False,
    projection: int = 0,
    coupled: bool = False,
    time_major: bool = False,
    activation: int = TANH,
    cell_clip: float = 0.0,
    cells: int = 8,
    depth: int = 5,
    begins_anew: bool = False,
) -> bytes:
    """x [batch 2, time 6, depth] (time first when time_major) -> LSTM -> y; where it begins anew an UNPACK
    sets its states, and those of nobody, in each run."""
    random = np.random.default_rng(7)
    model = ModelBuilder()
    out, first = projection or cells, 1 if coupled else 0

    def constant(*shape: int, spread: float = 0.5, mean: float = 0.0) -> int:
        values = random.normal(mean, spread, shape).astype(np.float32)
        return model.constant(values, name=f"constant{len(operands)}")

    shape = (6, 2) if time_major else (2, 6)
    operands = [model.tensor((*shape, depth), name="x")]
    for width in (depth, out):
        operands += [constant(cells, width) if gate >= first else -1 for gate in range(4)]
    operands += [constant(cells) if peephole and gate >= first else -1 for gate in (0, 1, 3)]
    operands += [constant(cells, spread=0.2) if gate >= first else -1 for gate in range(4)]
    operands += [constant(out, cells), constant(out)] if projection else [-1, -1]
    operands += [
        model.tensor((2, size), name=name, is_variable=True)
        for size, name in ((out, "state"), (cells, "cell"))
    ]
    if begins_anew:
        other = model.tensor((2, cells), name="other", is_variable=True)
        first = model.constant(np.stack([np.full((2, cells), n, np.float32) for n in (0.25, 1, -0.5)]))
        states = [operands[-2], other, operands[-1]]
        model.op(Op.UNPACK, [first], states, tflite.UnpackOptionsT(num=3))
    operands += [constant(cells, spread=0.2, mean=1.0) if norm and g >= first else -1 for g in range(4)]
    y = model.tensor((*shape, out), name="y")
    options = tflite.UnidirectionalSequenceLSTMOptionsT(
        fused_activation_function=activation, cell_clip=cell_clip, time_major=time_major
    )
    model.op(Op.UNIDIRECTIONAL_SEQUENCE_LSTM, operands, [y], options)
    return model.build([operands[0]], [y])


def bidirectional(
    *,
    merge: bool = True,
    time_major: bool = False,
    projection: int = 0,
    aux: str = "",
    activation: int = TANH,
    cells: int = 8,
    depth: int = 5,
) -> bytes:
    """x [batch 2, time 6, depth] (time first when time_major) -> LSTMs of two directions -> y, or y0 and y1.

    aux "apart" gives the backward one an input of its own, "crossed" both another one, with weights.
    """
    random = np.random.default_rng(9)
    model = ModelBuilder()
    out, operands = projection or cells, [-1] * 48

    def constant(*shape: int) -> int:
        return model.constant(random.normal(0, 0.5, shape).astype(np.float32))

    shape = (6, 2) if time_major else (2, 6)
    entries = [model.tensor((*shape, depth), name=f"x{i}") for i in range(2 if aux else 1)]
    operands[0] = entries[0]
    for direction, first in enumerate((1, 18)):
        for gate in range(4):
            operands[first + gate] = constant(cells, depth)
            operands[first + 4 + gate] = constant(cells, out)
            operands[first + 11 + gate] = constant(cells)
            if aux == "crossed":
                operands[40 + 4 * direction + gate] = constant(cells, depth)
        if projection:
            operands[first + 15] = constant(out, cells)
        operands[35 + 2 * direction] = model.tensor((2, out), name=f"state{direction}", is_variable=True)
        operands[36 + 2 * direction] = model.tensor((2, cells), name=f"cell{direction}", is_variable=True)
    if aux:
        operands[39] = entries[1]
    results = [
        model.tensor((*shape, width), name=f"y{i}")
        for i, width in enumerate([2 * out] if merge else [out] * 2)
    ]
    options = tflite.BidirectionalSequenceLSTMOptionsT(
        fused_activation_function=activation, merge_outputs=merge, time_major=time_major
    )
    model.op(Op.BIDIRECTIONAL_SEQUENCE_LSTM, operands, results, options, 3)
    return model.build(entries, results)


def svdf(rank: int = 1, bias: bool = True, activation: int = RELU) -> bytes:
    """x [2, 5] -> SVDF of 4 units with a memory of 3 -> y."""
    random = np.random.default_rng(8)
    model = ModelBuilder()
    filters = 4 * rank
    x = model.tensor((2, 5), name="x")
    operands = [
        x,
        model.constant(random.normal(size=(filters, 5)).astype(np.float32), name="features"),
        model.constant(random.normal(size=(filters, 3)).astype(np.float32), name="time"),
        model.constant(random.normal(size=4).astype(np.float32), name="bias") if bias else -1,
        model.tensor((2, filters * 3), name="state", is_variable=True),
    ]
    y = model.tensor((2, 4), name="y")
    options = tflite.SVDFOptionsT(rank=rank, fused_activation_function=activation)
    model.op(Op.SVDF, operands, [y], options)
    return model.build([x], [y])
