"""Cases of GATHER_ND."""

from __future__ import annotations

import numpy as np
from numlite.schema.tflite import BuiltinOperator, GatherNdOptionsT

from .case import Case
from .movement_case import EVERY_SIZE, movement_case, random_array


def gather_nd_case(shape: tuple[int, ...], places: list, dtype: type, index_type: type = np.int32) -> Case:
    indices = np.array(places, index_type)
    id = f"GATHER_ND-{np.dtype(dtype).name}-{list(shape)}-{list(indices.shape)}-{indices.dtype.name}"
    return movement_case(
        id,
        BuiltinOperator.GATHER_ND,
        [random_array(id, shape, dtype), indices],
        lambda x, indices: x[tuple(np.moveaxis(indices, -1, 0))],
        GatherNdOptionsT(),
    )


CASES = [
    *(gather_nd_case((2, 3, 4), [[0, 1], [1, 2], [0, 0]], dtype) for dtype in EVERY_SIZE),
    gather_nd_case((2, 3, 4), [[[1], [0]], [[0], [0]]], np.float32),
    gather_nd_case((2, 3, 4), [[1, 2, 3], [0, 0, 0]], np.float32, np.int64),
    gather_nd_case((2, 3, 4), [1, 2], np.float32, np.int64),
    gather_nd_case((2, 3, 4), [[1, 2, 3], [0, 0, 0]], np.int8, np.int16),
]
