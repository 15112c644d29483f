"""Float models of one operator that has weights, by name, and how they are run."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
from numlite.schema import tflite

from ...model_builder import ModelBuilder

Op = tflite.BuiltinOperator
SIGMOID_LIKE = tflite.ActivationFunctionType.TANH


def weights(*shape: int, scale: float = 1.0) -> np.ndarray:
    seed = int(np.prod(shape)) + len(shape)
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def conv(depth: int = 16, units: int = 32) -> bytes:
    g = ModelBuilder()
    x, y = g.tensor((1, 6, 6, depth), name="x"), g.tensor((1, 6, 6, units), name="y")
    w, b = g.constant(weights(units, 3, 3, depth), name="w"), g.constant(weights(units), name="b")
    g.op(Op.CONV_2D, [x, w, b], [y], tflite.Conv2DOptionsT(stride_w=1, stride_h=1))
    return g.build([x], [y])


def depthwise() -> bytes:
    g = ModelBuilder()
    x, y = g.tensor((1, 6, 6, 16), name="x"), g.tensor((1, 6, 6, 16), name="y")
    w, b = g.constant(weights(1, 3, 3, 16), name="w"), g.constant(weights(16), name="b")
    options = tflite.DepthwiseConv2DOptionsT(stride_w=1, stride_h=1, depth_multiplier=1)
    g.op(Op.DEPTHWISE_CONV_2D, [x, w, b], [y], options)
    return g.build([x], [y])


def fully_connected(depth: int = 64, units: int = 32, bias: bool = True) -> bytes:
    g = ModelBuilder()
    x, y = g.tensor((3, depth), name="x"), g.tensor((3, units), name="y")
    w = g.constant(weights(units, depth), name="w")
    b = g.constant(weights(units), name="b") if bias else -1
    g.op(Op.FULLY_CONNECTED, [x, w, b], [y], tflite.FullyConnectedOptionsT())
    return g.build([x], [y])


def transpose_conv() -> bytes:
    g = ModelBuilder()
    size, x = g.constant([1, 8, 8, 16]), g.tensor((1, 4, 4, 8), name="x")
    w, y = g.constant(weights(16, 3, 3, 8), name="w"), g.tensor((1, 8, 8, 16), name="y")
    g.op(Op.TRANSPOSE_CONV, [size, w, x], [y], tflite.TransposeConvOptionsT(stride_w=2, stride_h=2))
    return g.build([x], [y])


def batch_matmul() -> bytes:
    g = ModelBuilder()
    x, y = g.tensor((2, 5, 16), name="x"), g.tensor((2, 5, 24), name="y")
    w = g.constant(weights(1, 24, 16), name="w")
    g.op(Op.BATCH_MATMUL, [x, w], [y], tflite.BatchMatMulOptionsT(adj_y=True))
    return g.build([x], [y])


def embedding() -> bytes:
    g = ModelBuilder()
    x, y = g.tensor((4,), np.int32, name="x"), g.tensor((4, 64), name="y")
    g.op(Op.EMBEDDING_LOOKUP, [x, g.constant(weights(50, 64), name="w")], [y])
    return g.build([x], [y])


def conv_3d() -> bytes:
    g = ModelBuilder()
    x, y = g.tensor((1, 4, 4, 4, 4), name="x"), g.tensor((1, 4, 4, 4, 8), name="y")
    w, b = g.constant(weights(3, 3, 3, 4, 8), name="w"), g.constant(weights(8), name="b")
    g.op(Op.CONV_3D, [x, w, b], [y], tflite.Conv3DOptionsT(stride_w=1, stride_h=1, stride_d=1))
    return g.build([x], [y])


def svdf() -> bytes:
    g = ModelBuilder()
    x, y = g.tensor((2, 16), name="x"), g.tensor((2, 4), name="y")
    feature, time = g.constant(weights(8, 16), name="w"), g.constant(weights(8, 5), name="v")
    state = g.tensor((2, 40), is_variable=True, name="state")
    g.op(Op.SVDF, [x, feature, time, g.constant(weights(4)), state], [y], tflite.SVDFOptionsT(rank=2))
    return g.build([x], [y])


def rnn() -> bytes:
    g = ModelBuilder()
    x, y = g.tensor((2, 5, 16), name="x"), g.tensor((2, 5, 8), name="y")
    w, r = g.constant(weights(8, 16, scale=0.3), name="w"), g.constant(weights(8, 8, scale=0.1), name="r")
    state = g.tensor((2, 8), is_variable=True, name="state")
    options = tflite.SequenceRNNOptionsT(fused_activation_function=SIGMOID_LIKE)
    g.op(Op.UNIDIRECTIONAL_SEQUENCE_RNN, [x, w, r, g.constant(weights(8)), state], [y], options)
    return g.build([x], [y])


def lstm(extras: bool = False) -> bytes:
    """With extras: peepholes and a projection."""
    g, cells = ModelBuilder(), 12
    units = 10 if extras else cells

    def constants(count: int, *shape: int) -> list[int]:
        return [g.constant(weights(*shape, scale=0.2)) for _ in range(count)]

    x, y = g.tensor((2, 5, 16), name="x"), g.tensor((2, 5, units), name="y")
    operands = [x, *constants(4, cells, 16), *constants(4, cells, units)]
    operands += constants(3, cells) if extras else [-1] * 3
    operands += constants(4, cells)
    operands += [*constants(1, units, cells), -1] if extras else [-1, -1]
    operands += [g.tensor((2, n), is_variable=True, name=f"state{n}") for n in (units, cells)]
    options = tflite.UnidirectionalSequenceLSTMOptionsT(fused_activation_function=SIGMOID_LIKE)
    g.op(Op.UNIDIRECTIONAL_SEQUENCE_LSTM, operands, [y], options)
    return g.build([x], [y])


def shared_weight(second: int = Op.FULLY_CONNECTED) -> bytes:
    """One weight for two operators; y0 and y1 are their results."""
    g = ModelBuilder()
    x, w = g.tensor((3, 64), name="x"), g.constant(weights(64, 64), name="w")
    y = [g.tensor((3, 64), name=f"y{i}") for i in range(2)]
    g.op(Op.FULLY_CONNECTED, [x, w, -1], [y[0]], tflite.FullyConnectedOptionsT())
    if second == Op.FULLY_CONNECTED:
        g.op(Op.FULLY_CONNECTED, [y[0], w, -1], [y[1]], tflite.FullyConnectedOptionsT())
    else:
        g.op(Op.BATCH_MATMUL, [y[0], w], [y[1]], tflite.BatchMatMulOptionsT())
    return g.build([x], [y[1]])


MODELS: dict[str, Callable[[], bytes]] = {
    "conv": conv,
    "conv_odd": lambda: conv(3, 5),
    "depthwise": depthwise,
    "fully_connected": fully_connected,
    "fully_connected_odd": lambda: fully_connected(33, 7),
    "fully_connected_without_bias": lambda: fully_connected(bias=False),
    "transpose_conv": transpose_conv,
    "batch_matmul": batch_matmul,
    "embedding": embedding,
    "conv_3d": conv_3d,
    "svdf": svdf,
    "rnn": rnn,
    "lstm": lstm,
    "lstm_extras": lambda: lstm(extras=True),
}


def sample(module: ModuleType, model: bytes, seed: int = 0) -> np.ndarray:
    [given] = module.Interpreter(model_content=model).get_input_details()
    random = np.random.default_rng(seed)
    if given["dtype"] == np.int32:
        return random.integers(0, 50, given["shape"]).astype(np.int32)
    return random.standard_normal(given["shape"]).astype(np.float32)


def run(module: ModuleType, model: bytes, x: np.ndarray) -> np.ndarray:
    """The first output of numlite's or LiteRT's interpreter."""
    made = module.Interpreter(model_content=model)
    made.allocate_tensors()
    made.set_tensor(made.get_input_details()[0]["index"], x)
    made.invoke()
    result: np.ndarray = made.get_tensor(made.get_output_details()[0]["index"])
    return result
