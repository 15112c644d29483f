"""Models that the tests of batches run."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from ..model_builder import ModelBuilder

Op = tflite.BuiltinOperator


def classifier(open_batch: bool = True) -> bytes:
    """scores [2] = x [3] times a matrix, of any number of rows or of one."""
    model = ModelBuilder()
    signature = (lambda *shape: [-1, *shape]) if open_batch else (lambda *shape: [1, *shape])
    x = model.tensor([1, 3], name="x", shape_signature=signature(3))
    w = model.constant(np.float32([[1, 2, 3], [-1, 0, 1]]))
    y = model.tensor([1, 2], name="scores", shape_signature=signature(2))
    model.op(Op.FULLY_CONNECTED, [x, w, -1], [y], tflite.FullyConnectedOptionsT())
    return model.build([x], [y])


def expected(x: np.ndarray) -> np.ndarray:
    return x @ np.float32([[1, -1], [2, 0], [3, 1]])


def gather() -> bytes:
    """picked = table[index]: an index out of range fails when it runs."""
    model = ModelBuilder()
    table = model.constant(np.float32([10, 20, 30]))
    index = model.tensor([1], np.int32, name="index", shape_signature=[-1])
    y = model.tensor([1], name="picked", shape_signature=[-1])
    model.op(Op.GATHER, [table, index], [y], tflite.GatherOptionsT())
    return model.build([index], [y])


def brightness(dtype: type = np.uint8, scale: float | None = None, zero_point: int = 0) -> bytes:
    """The pixels of [1, 4, 4, 3] as they come in."""
    model = ModelBuilder()
    q = {} if scale is None else {"scale": scale, "zero_point": zero_point}
    x = model.tensor([1, 4, 4, 3], dtype, name="image", **q)
    shape = model.constant([1, 48])
    y = model.tensor([1, 48], dtype, name="pixels", **q)
    model.op(Op.RESHAPE, [x, shape], [y], tflite.ReshapeOptionsT(new_shape=[1, 48]))
    return model.build([x], [y])
