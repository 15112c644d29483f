"""Models of pools, products and recurrent cells, at sizes common in networks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numlite.schema import tflite
from operator_model import (
    FLOAT,
    LARGE,
    Operand,
    OperatorModel,
    Result,
    constant,
    floats,
    indices,
    integers,
    model_of,
    quantized,
)


def windows() -> Iterator[OperatorModel]:
    """Pooling, convolutions, matrix products and recurrent cells."""
    for name in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"):
        for dtype in (np.float32, np.int8, np.uint8, np.int16):
            if name == "L2_POOL_2D" and dtype is not np.float32:
                continue
            x = floats(*LARGE) if dtype is np.float32 else quantized(dtype, *LARGE)
            y = Result(dtype, x.scale, x.zero_point)
            for size, stride, padding in ((2, 2, 1), (3, 2, 0), (3, 1, 0), (56, 56, 1)):
                options = tflite.Pool2DOptionsT(
                    padding=padding, stride_w=stride, stride_h=stride, filter_width=size, filter_height=size
                )
                version = 1 if name == "L2_POOL_2D" else 3 if dtype is np.int16 else 2
                yield model_of(f"{name} {size}x{size} s{stride}", [x], y, options, version)
    yield from _dense()
    yield from _batch_matmul()
    yield from _recurrent()
    conv3d = tflite.Conv3DOptionsT(stride_d=1, stride_w=1, stride_h=1)
    yield model_of(
        "CONV_3D", [floats(1, 8, 28, 28, 16), constant(floats(3, 3, 3, 16, 32)), None], FLOAT, conv3d
    )
    up = tflite.TransposeConvOptionsT(stride_w=2, stride_h=2)
    shape = indices(1, 56, 56, 32)
    for dtype in (np.float32, np.int8):
        x = floats(1, 28, 28, 64) if dtype is np.float32 else quantized(dtype, 1, 28, 28, 64)
        w = constant(
            floats(32, 3, 3, 64)
            if dtype is np.float32
            else replace(integers(np.int8, -127, 127, 32, 3, 3, 64), scale=0.01)
        )
        y = FLOAT if dtype is np.float32 else Result(np.int8, 1.0, 3)
        name = f"TRANSPOSE_CONV {np.dtype(dtype).name}"
        operands = [shape, w, x]
        yield model_of(name, operands, y, up, 2)


def _dense() -> Iterator[OperatorModel]:
    options = tflite.FullyConnectedOptionsT
    for batch, depth, units in ((1, 640, 128), (1, 128, 128), (1, 1024, 1001), (64, 768, 768)):
        x, w, b = floats(batch, depth), constant(floats(units, depth)), constant(floats(units))
        yield model_of(f"FULLY_CONNECTED {units}", [x, w, b], FLOAT, options())
        q = replace(integers(np.int8, -127, 127, units, depth), scale=0.01, is_constant=True)
        yield model_of(
            f"FULLY_CONNECTED hybrid {units}", [x, q, b], FLOAT, options(asymmetric_quantize_inputs=True), 9
        )
        bias = replace(integers(np.int32, -999, 999, units), scale=0.0005, is_constant=True)
        yield model_of(
            f"FULLY_CONNECTED {units}",
            [quantized(np.int8, batch, depth), q, bias],
            Result(np.int8, 4.0, 3),
            options(),
            4,
        )
        u = replace(integers(np.uint8, 0, 255, units, depth), scale=0.01, zero_point=120, is_constant=True)
        yield model_of(
            f"FULLY_CONNECTED {units}",
            [quantized(np.uint8, batch, depth), u, bias],
            Result(np.uint8, 4.0, 3),
            options(),
            4,
        )
        x16 = quantized(np.int16, batch, depth, scale=2.0**-12)
        b16 = Operand(integers(np.int64, -999, 999, units).value, 0.01 * 2.0**-12, is_constant=True)
        yield model_of(f"FULLY_CONNECTED {units}", [x16, q, b16], Result(np.int16, 0.01), options(), 4)


def _batch_matmul() -> Iterator[OperatorModel]:
    for adj in (False, True):
        options = tflite.BatchMatMulOptionsT(adj_y=adj)
        a, b = (1, 12, 196, 64), (1, 12, 196, 64) if adj else (1, 12, 64, 196)
        yield model_of(f"BATCH_MATMUL adj={adj}", [floats(*a), floats(*b)], FLOAT, options, 2)
        operands = [quantized(np.int8, *a), replace(quantized(np.int8, *b), zero_point=0)]
        yield model_of(f"BATCH_MATMUL adj={adj}", operands, Result(np.int8, 1.0, 3), options, 2)


def _recurrent() -> Iterator[OperatorModel]:
    cells, depth, steps = 128, 64, 16
    weights = [constant(floats(cells, depth)) for _ in range(4)]
    recurrent = [constant(floats(cells, cells)) for _ in range(4)]
    biases = [constant(floats(cells)) for _ in range(4)]
    states = [Operand(np.zeros((1, cells), np.float32), is_variable=True) for _ in range(2)]
    operands = [floats(1, steps, depth), *weights, *recurrent, None, None, None, *biases, None, None, *states]
    options = tflite.UnidirectionalSequenceLSTMOptionsT(fused_activation_function=4)
    yield model_of("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, FLOAT, options)
    rnn = [floats(1, steps, depth), weights[0], recurrent[0], biases[0], states[0]]
    yield model_of(
        "UNIDIRECTIONAL_SEQUENCE_RNN", rnn, FLOAT, tflite.SequenceRNNOptionsT(fused_activation_function=4)
    )
    rnn = [floats(1, depth), weights[0], recurrent[0], biases[0], states[0]]
    yield model_of("RNN", rnn, FLOAT, tflite.RNNOptionsT(fused_activation_function=4))
    state = Operand(np.zeros((1, 128 * 10), np.float32), is_variable=True)
    svdf = [
        floats(1, depth),
        constant(floats(128, depth)),
        constant(floats(128, 10)),
        constant(floats(64)),
        state,
    ]
    yield model_of("SVDF", svdf, FLOAT, tflite.SVDFOptionsT(rank=2))
