"""Cases of CUMSUM."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .movement_case import movement_case, random_array


def cumsum_case(
    shape: tuple[int, ...],
    axis: int,
    exclusive: bool = False,
    reverse: bool = False,
    dtype: type = np.float32,
    constant: bool = True,
) -> Case:
    id = f"CUMSUM-{np.dtype(dtype).name}-{list(shape)}-{axis}-{exclusive}-{reverse}-{constant}"

    def oracle(x: np.ndarray, axis: np.ndarray) -> np.ndarray:
        rows = np.moveaxis(x, axis, 0)[:: -1 if reverse else 1]
        sums = np.zeros_like(rows)
        total = np.zeros(rows.shape[1:], dtype)
        for i, row in enumerate(rows):
            sums[i] = total if exclusive else total + row
            total = total + row
        return np.moveaxis(sums[:: -1 if reverse else 1], 0, axis)

    return movement_case(
        id,
        BuiltinOperator.CUMSUM,
        [random_array(id, shape, dtype), np.array(axis, np.int32)],
        oracle,
        tflite.CumsumOptionsT(exclusive=exclusive, reverse=reverse),
        constants=(1,) if constant else (),
    )


CASES = [
    *(cumsum_case((3, 7, 5), axis, dtype=t) for axis in (0, 1, -1) for t in (np.float32, np.int32, np.int64)),
    *(cumsum_case((3, 7, 5), 1, exclusive, reverse) for exclusive, reverse in ((1, 0), (0, 1), (1, 1))),
    cumsum_case((2, 1000), 1),
    cumsum_case((3, 7), 0, True, True, constant=False),
]
