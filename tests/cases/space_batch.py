"""Cases of SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND."""

from __future__ import annotations

from itertools import product

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .movement_case import EVERY_SIZE, movement_case, random_array

_QUANTIZED = {np.int8: (0.5, -5), np.uint8: (0.5, 77), np.int16: (0.5, 0)}


def to_batch_case(
    shape: tuple[int, ...], block: list[int], paddings: list, dtype: type = np.float32, constant: bool = True
) -> Case:
    id = f"SPACE_TO_BATCH_ND-{np.dtype(dtype).name}-{list(shape)}-{block}-{constant}"
    filler = _QUANTIZED.get(dtype, (0, 0))[1]

    def oracle(x: np.ndarray, block: np.ndarray, paddings: np.ndarray) -> np.ndarray:
        padded = np.pad(x, [(0, 0), *paddings.tolist(), (0, 0)], constant_values=filler)
        places = product(*(range(step) for step in block))
        cut = [tuple(slice(at, None, step) for at, step in zip(p, block, strict=True)) for p in places]
        return np.concatenate([padded[(slice(None), *spatial)] for spatial in cut])

    return movement_case(
        id,
        BuiltinOperator.SPACE_TO_BATCH_ND,
        [random_array(id, shape, dtype), np.array(block, np.int32), np.array(paddings, np.int32)],
        oracle,
        tflite.SpaceToBatchNDOptionsT(),
        constants=(1, 2) if constant else (),
        quantization=_QUANTIZED.get(dtype),
        version=3,
    )


def to_space_case(
    shape: tuple[int, ...], block: list[int], crops: list, dtype: type = np.float32, constant: bool = True
) -> Case:
    id = f"BATCH_TO_SPACE_ND-{np.dtype(dtype).name}-{list(shape)}-{block}-{constant}"

    def oracle(x: np.ndarray, block: np.ndarray, crops: np.ndarray) -> np.ndarray:
        batch = len(x) // int(np.prod(block))
        sizes = [n * int(step) for n, step in zip(x.shape[1:-1], block, strict=True)]
        y = np.zeros((batch, *sizes, x.shape[-1]), x.dtype)
        for i, place in enumerate(product(*(range(step) for step in block))):
            spatial = tuple(slice(at, None, step) for at, step in zip(place, block, strict=True))
            y[(slice(None), *spatial)] = x[i * batch : (i + 1) * batch]
        kept = [slice(a, n - b) for n, (a, b) in zip(sizes, crops, strict=True)]
        return y[(slice(None), *kept)]

    return movement_case(
        id,
        BuiltinOperator.BATCH_TO_SPACE_ND,
        [random_array(id, shape, dtype), np.array(block, np.int32), np.array(crops, np.int32)],
        oracle,
        tflite.BatchToSpaceNDOptionsT(),
        constants=(1, 2) if constant else (),
        quantization=_QUANTIZED.get(dtype),
        version=3,
    )


CASES = [
    *(to_batch_case((2, 5, 6, 3), [2, 3], [[1, 2], [0, 0]], dtype) for dtype in EVERY_SIZE),
    to_batch_case((2, 5, 3), [3], [[1, 0]]),
    to_batch_case((2, 5, 5, 3), [2, 3], [[1, 2], [0, 1]], np.uint8, constant=False),
    *(to_space_case((12, 4, 2, 3), [2, 3], [[1, 2], [0, 1]], dtype) for dtype in EVERY_SIZE),
    to_space_case((6, 5, 3), [3], [[0, 1]]),
    to_space_case((12, 4, 3, 3), [2, 3], [[1, 2], [0, 1]], constant=False),
]
