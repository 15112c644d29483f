"""Cases of SCATTER_ND and SPARSE_TO_DENSE."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case, Refuses
from .movement_case import movement_case, random_array

_NO_TYPE = Refuses("are not supported by scatter_nd")


def _random(id: str, shape: tuple[int, ...], dtype: type) -> np.ndarray:
    if dtype is np.bool_:
        return random_array(id, shape, np.int8) > 0
    return random_array(id, shape, dtype)


def scatter_case(
    places: list,
    shape: tuple[int, ...],
    dtype: type = np.float32,
    index_type: type = np.int32,
    constant: bool = True,
    litert: Refuses | None = None,
) -> Case:
    indices = np.array(places, index_type)
    kind = f"{np.dtype(dtype).name}-{indices.dtype.name}"
    id = f"SCATTER_ND-{kind}-{list(indices.shape)}-{list(shape)}-{constant}"
    updates = _random(id, (*indices.shape[:-1], *shape[indices.shape[-1] :]), dtype)

    def oracle(indices: np.ndarray, updates: np.ndarray, shape: np.ndarray) -> np.ndarray:
        y = np.zeros(shape, dtype)
        np.add.at(y, tuple(np.moveaxis(indices, -1, 0)), updates)
        return y

    return movement_case(
        id,
        BuiltinOperator.SCATTER_ND,
        [indices, updates, np.array(shape, index_type)],
        oracle,
        tflite.ScatterNdOptionsT(),
        constants=(2,) if constant else (),
        litert_default=litert,
        litert_reference=litert,
    )


def sparse_case(
    places: list, shape: tuple[int, ...], scalar: bool, dtype: type = np.float32, constant: bool = True
) -> Case:
    indices = np.array(places, np.int64 if constant else np.int32)
    id = f"SPARSE_TO_DENSE-{np.dtype(dtype).name}-{list(indices.shape)}-{list(shape)}-{scalar}-{constant}"
    values = random_array(id, () if scalar else indices.shape[:1], dtype)

    def oracle(indices: np.ndarray, shape: np.ndarray, values: np.ndarray, default: np.ndarray) -> np.ndarray:
        y = np.full(shape, default)
        places = indices.reshape(-1, y.ndim)
        for place, value in zip(places, np.broadcast_to(values, len(places)), strict=True):
            y[tuple(place)] = value
        return y

    return movement_case(
        id,
        BuiltinOperator.SPARSE_TO_DENSE,
        [indices, np.array(shape, np.int32), values, np.array(7, dtype)],
        oracle,
        tflite.SparseToDenseOptionsT(),
        constants=(1,) if constant else (),
        version=3,
    )


_ROWS = [[1], [3], [1]]
_PAIRS = [[1, 3], [0, 1], [1, 3]]
_TYPES = (np.int8, np.uint8, np.int32, np.int64, np.float32)

CASES = [
    *(scatter_case(_ROWS, (4, 5), dtype) for dtype in (*_TYPES, np.bool_)),
    scatter_case([_PAIRS, _PAIRS], (2, 4)),
    scatter_case(_ROWS, (4, 2, 2), constant=False),
    scatter_case(_ROWS, (4, 2), np.int16, litert=_NO_TYPE),
    scatter_case(_ROWS, (4, 2), index_type=np.int64, litert=_NO_TYPE),
    *(sparse_case(_PAIRS, (4, 5), False, dtype) for dtype in _TYPES),
    sparse_case(_PAIRS, (4, 5), True),
    sparse_case([2, 0], (5,), False),
    sparse_case(_PAIRS, (4, 5), False, constant=False),
]
