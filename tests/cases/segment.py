"""Cases of SEGMENT_SUM and of the UNSORTED_SEGMENT operators; BUCKETIZE."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import NO_KERNEL, Case, Refuses
from .movement_case import movement_case, random_array

# The fold, and what an empty segment holds as a float and as an int32.
_FOLDS = {
    "SUM": (np.add, 0, 0),
    "PROD": (np.multiply, 1, 1),
    "MAX": (np.maximum, np.finfo(np.float32).min, -(2**31)),
    "MIN": (np.minimum, np.finfo(np.float32).max, 2**31 - 1),
}


def segment_case(
    name: str, shape: tuple[int, ...], ids: list, segments: int, dtype: type, constant: bool
) -> Case:
    places = np.array(ids, np.int32)
    id = f"UNSORTED_SEGMENT_{name}-{np.dtype(dtype).name}-{list(shape)}-{list(places.shape)}-{constant}"
    fold, real, stored = _FOLDS[name]

    def oracle(data: np.ndarray, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
        y = np.full((segments, *data.shape[ids.ndim :]), real if dtype is np.float32 else stored, dtype)
        for place in np.ndindex(ids.shape):
            if ids[place] >= 0:
                with np.errstate(over="ignore"):
                    y[ids[place]] = fold(y[ids[place]], data[place])
        return y

    return movement_case(
        id,
        BuiltinOperator[f"UNSORTED_SEGMENT_{name}"],
        [random_array(id, shape, dtype), places, np.array(segments, np.int32)],
        oracle,
        constants=(1, 2) if constant else (),
    )


def segment_sum_case(shape: tuple[int, ...], ids: list[int], dtype: type, constant: bool) -> Case:
    gaps = any(step > 1 for step in np.diff([-1, *ids]))
    id = f"SEGMENT_SUM-{np.dtype(dtype).name}-{list(shape)}-{constant}{'-gaps' * gaps}"

    def oracle(data: np.ndarray, ids: np.ndarray) -> np.ndarray:
        y = np.zeros((ids[-1] + 1, *data.shape[1:]), dtype)
        for place, row in zip(ids, data, strict=True):
            with np.errstate(over="ignore"):
                y[place] += row
        return y

    return movement_case(
        id,
        BuiltinOperator.SEGMENT_SUM,
        [random_array(id, shape, dtype), np.array(ids, np.int32)],
        oracle,
        tflite.SegmentSumOptionsT(),
        constants=(1,) if constant else (),
        litert_default=Refuses("SEGMENT_SUM") if gaps else None,
        litert_reference=NO_KERNEL,
    )


def bucketize_case(dtype: type, boundaries: list[float]) -> Case:
    return movement_case(
        f"BUCKETIZE-{np.dtype(dtype).name}-{boundaries}",
        BuiltinOperator.BUCKETIZE,
        [np.array([[-5, 0, 1], [3, 10, 100]], dtype)],
        lambda x: np.digitize(x, boundaries).astype(np.int32) if boundaries else np.zeros(x.shape, np.int32),
        tflite.BucketizeOptionsT(boundaries=np.array(boundaries, np.float32)),
    )


CASES = [
    *(
        segment_case(name, (6, 3), [0, 3, 1, -1, 1, 3], 5, dtype, constant)
        for name in _FOLDS
        for dtype in (np.float32, np.int32)
        for constant in (True, False)
    ),
    *(segment_case(name, (2, 3, 4), [[0, 1, 0], [2, 2, 0]], 3, np.float32, True) for name in _FOLDS),
    *(
        segment_sum_case((6, 3), ids, dtype, constant)
        for ids in ([0, 0, 1, 2, 2, 2], [1, 1, 3, 3, 3, 6])
        for dtype in (np.float32, np.int32)
        for constant in (True, False)
    ),
    *(bucketize_case(t, [0, 3, 10.5]) for t in (np.float32, np.float64, np.int32, np.int64)),
    bucketize_case(np.float32, []),
]
