"""Cases of DYNAMIC_UPDATE_SLICE."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .movement_case import EVERY_SIZE, movement_case, random_array


def update_case(
    shape: tuple[int, ...],
    box: tuple[int, ...],
    starts: tuple[int, ...],
    dtype: type = np.float32,
    start_type: type = np.int32,
) -> Case:
    id = f"DYNAMIC_UPDATE_SLICE-{np.dtype(dtype).name}-{list(shape)}-{list(box)}-{list(starts)}"

    def oracle(x: np.ndarray, update: np.ndarray, starts: np.ndarray) -> np.ndarray:
        y = x.copy()
        first = np.clip(starts, 0, np.array(shape) - np.array(box))
        y[tuple(slice(at, at + n) for at, n in zip(first, box, strict=True))] = update
        return y

    return movement_case(
        id,
        BuiltinOperator.DYNAMIC_UPDATE_SLICE,
        [random_array(id, shape, dtype), random_array(id + "u", box, dtype), np.array(starts, start_type)],
        oracle,
        tflite.DynamicUpdateSliceOptionsT(),
        version=2,
    )


CASES = [
    *(update_case((4, 5, 3), (2, 3, 3), (1, 1, 0), dtype) for dtype in EVERY_SIZE),
    update_case((4, 5, 3), (2, 3, 2), (9, -4, 1)),
    update_case((4, 5, 3), (1, 5, 3), (2, 0, 0), start_type=np.int64),
    update_case((4, 5, 3), (4, 5, 3), (2, 1, 0)),
    update_case((4, 5, 3), (0, 2, 2), (1, 1, 1)),
    update_case((2,) * 8, (1, 2, 1, 1, 2, 1, 2, 1), (1,) * 8),
]
