"""Cases of TRANSPOSE."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numlite.schema.tflite import BuiltinOperator

from .case import Case, Differs, Refuses
from .movement_case import EVERY_SIZE, index, movement_case, random_array


def transpose_case(
    shape: tuple[int, ...], axes: tuple[int, ...], dtype: type, constant: bool = True, num_threads: int = 1
) -> Case:
    id = f"TRANSPOSE-{np.dtype(dtype).name}-{list(shape)}-{list(axes)}-{constant}-{num_threads}"
    return movement_case(
        id,
        BuiltinOperator.TRANSPOSE,
        [random_array(id, shape, dtype), index(*axes)],
        lambda x, axes: np.ascontiguousarray(x.transpose(axes)),
        constants=(1,) if constant else (),
        version=2,
        num_threads=num_threads,
    )


def _wide_case() -> Case:
    """perm of int64."""
    axes = np.array([2, 0, 1])
    return movement_case(
        "TRANSPOSE-int64-perm",
        BuiltinOperator.TRANSPOSE,
        [random_array("perm", (2, 3, 5), np.float32), axes],
        lambda x, axes: np.ascontiguousarray(x.transpose(axes)),
        constants=(1,),
        litert_default=Refuses("failed to delegate TRANSPOSE"),
        litert_reference=Differs("LiteRT's reference reads every perm as int32"),
    )


CASES = [
    *(transpose_case((37, 70), (1, 0), dtype) for dtype in EVERY_SIZE),
    *(transpose_case((3, 5, 19), axes, np.float32) for axes in permutations(range(3))),
    *(transpose_case((2, 17, 18, 20), axes, np.int8) for axes in ((0, 3, 1, 2), (0, 2, 3, 1), (3, 2, 1, 0))),
    transpose_case((2, 3, 2, 5, 2, 4), (5, 0, 3, 1, 4, 2), np.float32),
    transpose_case((2, 3, 1, 2, 1, 2, 2, 3), (7, 6, 5, 4, 3, 2, 1, 0), np.int8),
    transpose_case((4, 3, 2), (-1, 0, 1), np.float32, constant=False),
    transpose_case((0, 3), (1, 0), np.float32),
    _wide_case(),
    transpose_case((700, 500), (1, 0), np.float32, num_threads=2),
]
