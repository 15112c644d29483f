"""Cases of MATRIX_DIAG and MATRIX_SET_DIAG."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .movement_case import EVERY_SIZE, movement_case, random_array


def diag_case(shape: tuple[int, ...], dtype: type = np.float32) -> Case:
    id = f"MATRIX_DIAG-{np.dtype(dtype).name}-{list(shape)}"
    return movement_case(
        id,
        BuiltinOperator.MATRIX_DIAG,
        [random_array(id, shape, dtype)],
        lambda x: x[..., None] * np.eye(shape[-1], dtype=dtype),
        tflite.MatrixDiagOptionsT(),
    )


def set_diag_case(shape: tuple[int, ...], dtype: type = np.float32) -> Case:
    id = f"MATRIX_SET_DIAG-{np.dtype(dtype).name}-{list(shape)}"
    length = min(shape[-2:])

    def oracle(x: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
        y = x.copy()
        y[..., np.arange(length), np.arange(length)] = diagonal
        return y

    return movement_case(
        id,
        BuiltinOperator.MATRIX_SET_DIAG,
        [random_array(id, shape, dtype), random_array(id + "d", (*shape[:-2], length), dtype)],
        oracle,
        tflite.MatrixSetDiagOptionsT(),
    )


CASES = [
    *(diag_case((2, 3, 5), dtype) for dtype in EVERY_SIZE),
    diag_case((4,)),
    *(set_diag_case((2, 3, 5), dtype) for dtype in EVERY_SIZE),
    set_diag_case((5, 3)),
]
