"""Cases of FILL, ZEROS_LIKE and ONE_HOT."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .movement_case import EVERY_SIZE, movement_case, random_array


def fill_case(dims: tuple[int, ...], dtype: type, constant: bool = True) -> Case:
    id = f"FILL-{np.dtype(dtype).name}-{list(dims)}-{constant}"
    return movement_case(
        id,
        BuiltinOperator.FILL,
        [np.array(dims, np.int32), random_array(id, (), dtype)],
        np.full,
        tflite.FillOptionsT(),
        constants=(0,) if constant else (),
    )


def zeros_like_case(shape: tuple[int, ...], dtype: type) -> Case:
    id = f"ZEROS_LIKE-{np.dtype(dtype).name}-{list(shape)}"
    options = tflite.ZerosLikeOptionsT()
    return movement_case(
        id, BuiltinOperator.ZEROS_LIKE, [random_array(id, shape, dtype)], np.zeros_like, options
    )


def one_hot_case(
    indices: np.ndarray,
    depth: int,
    axis: int,
    dtype: type = np.float32,
    constant: bool = True,
    depth_type: type = np.int32,
) -> Case:
    """The name tells depth's type where it is not int32."""
    wide = "" if depth_type is np.int32 else f"-{np.dtype(depth_type).name}"
    id = (
        f"ONE_HOT-{np.dtype(dtype).name}-{indices.dtype.name}-{list(indices.shape)}-{depth}-{axis}-{constant}"
        f"{wide}"
    )

    def oracle(indices: np.ndarray, depth: np.ndarray, on: np.ndarray, off: np.ndarray) -> np.ndarray:
        last = np.where(indices[..., None] == np.arange(depth), on, off)
        return np.moveaxis(last, -1, axis).astype(dtype)

    return movement_case(
        id,
        BuiltinOperator.ONE_HOT,
        [indices, np.array(depth, depth_type), np.array(5, dtype), np.array(2, dtype)],
        oracle,
        tflite.OneHotOptionsT(axis=axis),
        constants=(1,) if constant else (),
    )


_CLASSES = np.array([[0, 2, 4], [-1, 1, 7]], np.int32)

CASES = [
    one_hot_case(_CLASSES, 5, -1, depth_type=np.int64),
    *(fill_case((2, 35), dtype) for dtype in EVERY_SIZE),
    fill_case((), np.float32),
    fill_case((3, 0), np.float32),
    fill_case((3, 2), np.float32, constant=False),
    *(zeros_like_case((2, 3), dtype) for dtype in (np.float32, np.int32, np.int64)),
    *(one_hot_case(_CLASSES, 5, -1, dtype) for dtype in (np.int8, np.float32, np.int32, np.int64)),
    *(one_hot_case(_CLASSES, 5, axis) for axis in (0, 1)),
    one_hot_case(_CLASSES.astype(np.int64), 5, 1),
    one_hot_case(np.array(2, np.int32), 4, -1, constant=False),
]
