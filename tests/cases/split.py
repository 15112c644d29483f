"""Cases of SPLIT, SPLIT_V, PACK and UNPACK."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .movement_case import index, movement_case, random_array

_SHAPE = (4, 6, 8)


def split_case(axis: int, pieces: int, dtype: type, constant: bool = True) -> Case:
    id = f"SPLIT-{np.dtype(dtype).name}-{axis}-{pieces}-{constant}"
    return movement_case(
        id,
        BuiltinOperator.SPLIT,
        [np.array(axis, np.int32), random_array(id, _SHAPE, dtype)],
        lambda axis, x: np.split(x, pieces, int(axis)),
        tflite.SplitOptionsT(num_splits=pieces),
        constants=(0,) if constant else (),
        version=2,
    )


def split_v_case(axis: int, sizes: tuple[int, ...], dtype: type, constant: bool = True) -> Case:
    id = f"SPLIT_V-{np.dtype(dtype).name}-{axis}-{list(sizes)}-{constant}"
    rest = _SHAPE[axis] - sum(size for size in sizes if size != -1)
    ends = np.cumsum([rest if size == -1 else size for size in sizes])[:-1]
    return movement_case(
        id,
        BuiltinOperator.SPLIT_V,
        [random_array(id, _SHAPE, dtype), index(*sizes), np.array(axis, np.int32)],
        lambda x, *_: np.split(x, ends, axis),
        tflite.SplitVOptionsT(num_splits=len(sizes)),
        constants=(1, 2) if constant else (),
        version=2,
    )


def pack_case(axis: int, count: int, dtype: type, shape: tuple[int, ...] = (4, 3)) -> Case:
    id = f"PACK-{np.dtype(dtype).name}-{list(shape)}-{axis}-{count}"
    return movement_case(
        id,
        BuiltinOperator.PACK,
        [random_array(f"{id}{i}", shape, dtype) for i in range(count)],
        lambda *arrays: np.stack(arrays, axis),
        tflite.PackOptionsT(values_count=count, axis=axis),
        version=2,
    )


def unpack_case(axis: int, dtype: type) -> Case:
    id = f"UNPACK-{np.dtype(dtype).name}-{axis}"
    return movement_case(
        id,
        BuiltinOperator.UNPACK,
        [random_array(id, _SHAPE, dtype)],
        lambda x: [np.ascontiguousarray(part) for part in np.moveaxis(x, axis, 0)],
        tflite.UnpackOptionsT(num=_SHAPE[axis], axis=axis),
        version=2,
    )


_TYPES = (np.int8, np.float32)

CASES = [
    *(split_case(axis, 2, dtype) for axis in (0, 1, -1) for dtype in _TYPES),
    split_case(1, 3, np.float32, constant=False),
    *(split_v_case(axis, (1, -1), dtype) for axis in (0, 1, -1) for dtype in _TYPES),
    split_v_case(2, (3, 0, 5), np.float32),
    split_v_case(2, (3, 5), np.int8, constant=False),
    *(pack_case(axis, 3, dtype) for axis in (0, 1, -1) for dtype in _TYPES),
    pack_case(0, 4, np.int32, ()),
    pack_case(1, 1, np.uint8),
    *(unpack_case(axis, dtype) for axis in (0, 1, -1) for dtype in _TYPES),
]
