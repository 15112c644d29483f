"""Cases of SHAPE, RANK, BROADCAST_ARGS and RANGE, alone and where other shapes hang on them."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import Case
from .movement_case import movement_case


def shape_case(shape: tuple[int, ...], dtype: type) -> Case:
    kind = tflite.TensorType.INT64 if dtype is np.int64 else tflite.TensorType.INT32
    return movement_case(
        f"SHAPE-{np.dtype(dtype).name}-{list(shape)}",
        BuiltinOperator.SHAPE,
        [np.zeros(shape, np.float32)],
        lambda x: np.array(x.shape, dtype),
        tflite.ShapeOptionsT(out_type=kind),
    )


def rank_case(shape: tuple[int, ...]) -> Case:
    return movement_case(
        f"RANK-{list(shape)}",
        BuiltinOperator.RANK,
        [np.zeros(shape, np.float32)],
        lambda x: np.array(x.ndim, np.int32),
        tflite.RankOptionsT(),
    )


def broadcast_args_case(a: list[int], b: list[int], dtype: type, constant: bool) -> Case:
    return movement_case(
        f"BROADCAST_ARGS-{np.dtype(dtype).name}-{a}-{b}-{constant}",
        BuiltinOperator.BROADCAST_ARGS,
        [np.array(a, dtype), np.array(b, dtype)],
        lambda a, b: np.array(np.broadcast_shapes(tuple(a), tuple(b)), dtype),
        constants=(0, 1) if constant else (),
    )


def range_case(start: float, limit: float, delta: float, dtype: type, constant: bool) -> Case:
    def oracle(start: np.ndarray, limit: np.ndarray, delta: np.ndarray) -> np.ndarray:
        count = max(0, int(np.ceil((limit - start) / delta)))
        return np.cumsum([start, *[delta] * count], dtype=dtype)[:count]

    return movement_case(
        f"RANGE-{np.dtype(dtype).name}-{start}-{limit}-{delta}-{constant}",
        BuiltinOperator.RANGE,
        [np.array(value, dtype) for value in (start, limit, delta)],
        oracle,
        tflite.RangeOptionsT(),
        constants=(0, 1, 2) if constant else (),
    )


def known_shape_case() -> Case:
    """ZEROS of the shape that SHAPE finds; the input is resized."""

    def make() -> bytes:
        model = ModelBuilder()
        x = model.tensor((1, 3), np.float32, shape_signature=(-1, 3))
        shape = model.tensor((2,), np.int32)
        zero = model.constant(np.array(0.5, np.float32))
        y = model.tensor((1, 3), np.float32)
        kind = tflite.TensorType.INT32
        model.op(BuiltinOperator.SHAPE, [x], [shape], tflite.ShapeOptionsT(out_type=kind))
        model.op(BuiltinOperator.FILL, [shape, zero], [y], tflite.FillOptionsT())
        return model.build([x], [y, shape])

    return Case(
        id="SHAPE-FILL-resized",
        make=make,
        inputs=[np.zeros((4, 3), np.float32)],
        oracle=lambda x: [np.full((4, 3), 0.5, np.float32), np.array([4, 3], np.int32)],
    )


CASES = [
    shape_case((2, 3, 4), np.int32),
    shape_case((2, 0), np.int64),
    rank_case((2, 3, 4)),
    rank_case(()),
    *(broadcast_args_case([1, 2, 3], [3], np.int32, constant) for constant in (True, False)),
    broadcast_args_case([4, 1], [1, 5], np.int64, False),
    *(range_case(0, 10, 3, dtype, True) for dtype in (np.int32, np.int64, np.float32)),
    *(range_case(10, -3, -2, dtype, False) for dtype in (np.int32, np.int64, np.float32)),
    range_case(0.1, 20.3, 0.1, np.float32, False),
    known_shape_case(),
]
