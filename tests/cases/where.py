"""Cases of WHERE and UNIQUE."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case, Refuses
from .movement_case import movement_case

_EMPTY = Refuses("Invalid tensor size")


def _small(id: str, shape: tuple[int, ...], dtype: type) -> np.ndarray:
    """Few different values, so that some are zero and some occur again."""
    return np.random.default_rng(sum(map(ord, id))).integers(0, 4, shape).astype(dtype)


def where_case(shape: tuple[int, ...], dtype: type) -> Case:
    id = f"WHERE-{np.dtype(dtype).name}-{list(shape)}"
    options = tflite.WhereOptionsT()
    litert = _EMPTY if 0 in shape else None
    return movement_case(
        id,
        BuiltinOperator.WHERE,
        [_small(id, shape, dtype)],
        np.argwhere,
        options,
        version=2,
        litert_default=litert,
        litert_reference=litert,
    )


def unique_case(size: int, dtype: type, index_type: type) -> Case:
    id = f"UNIQUE-{np.dtype(dtype).name}-{np.dtype(index_type).name}-{size}"

    def oracle(x: np.ndarray) -> list[np.ndarray]:
        values = list(dict.fromkeys(x.tolist()))
        places = [values.index(value) for value in x.tolist()]
        return [np.array(values, dtype), np.array(places, index_type)]

    kind = tflite.TensorType.INT64 if index_type is np.int64 else tflite.TensorType.INT32
    options = tflite.UniqueOptionsT(idx_out_type=kind)
    litert = None if size else _EMPTY
    return movement_case(
        id,
        BuiltinOperator.UNIQUE,
        [_small(id, (size,), dtype)],
        oracle,
        options,
        litert_default=litert,
        litert_reference=litert,
    )


CASES = [
    *(where_case((3, 4), t) for t in (np.bool_, np.float32, np.int32, np.int64, np.uint8, np.uint32)),
    where_case((2, 2, 2, 3), np.bool_),
    where_case((0, 3), np.bool_),
    *(unique_case(20, t, np.int32) for t in (np.float32, np.int8, np.uint8, np.int16, np.int32, np.int64)),
    unique_case(20, np.float32, np.int64),
    unique_case(0, np.float32, np.int32),
]
