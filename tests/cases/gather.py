"""Cases of GATHER."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .movement_case import EVERY_SIZE, movement_case, random_array


def gather_case(
    shape: tuple[int, ...],
    positions: np.ndarray,
    axis: int,
    dtype: type,
    batch_dims: int = 0,
    constant: bool = False,
) -> Case:
    id = (
        f"GATHER-{np.dtype(dtype).name}-{list(shape)}-{list(positions.shape)}-{positions.dtype.name}"
        f"-{axis}-{batch_dims}-{constant}"
    )

    def oracle(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        if batch_dims == 0:
            return np.take(x, positions, axis)
        return np.stack([np.take(a, p, axis - 1) for a, p in zip(x, positions, strict=True)])

    return movement_case(
        id,
        BuiltinOperator.GATHER,
        [random_array(id, shape, dtype), positions],
        oracle,
        tflite.GatherOptionsT(axis=axis, batch_dims=batch_dims),
        constants=(1,) if constant else (),
        version=5 if batch_dims else 2,
    )


_PLACES = np.array([[2, 0, 1], [2, 2, 0]], np.int32)

CASES = [
    *(gather_case((3, 4, 5), _PLACES, 0, dtype) for dtype in EVERY_SIZE),
    *(gather_case((3, 4, 5), _PLACES, axis, np.float32) for axis in (1, 2, -1)),
    gather_case((3, 4), np.array(1, np.int32), 0, np.float32),
    gather_case((3, 4, 5), _PLACES.astype(np.int64), 1, np.int8),
    gather_case((2, 4, 5), _PLACES, 1, np.float32, batch_dims=1),
    gather_case((100, 70), np.arange(0, 100, 7, dtype=np.int32), 0, np.float32, constant=True),
]
