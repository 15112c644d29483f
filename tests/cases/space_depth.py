"""Cases of SPACE_TO_DEPTH and DEPTH_TO_SPACE."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .movement_case import movement_case, random_array


def space_to_depth_case(shape: tuple[int, ...], block: int, dtype: type = np.float32) -> Case:
    id = f"SPACE_TO_DEPTH-{np.dtype(dtype).name}-{list(shape)}-{block}"

    def oracle(x: np.ndarray) -> np.ndarray:
        n, h, w, c = x.shape
        blocks = x.reshape(n, h // block, block, w // block, block, c)
        return blocks.transpose(0, 1, 3, 2, 4, 5).reshape(n, h // block, w // block, -1)

    options = tflite.SpaceToDepthOptionsT(block_size=block)
    return movement_case(
        id, BuiltinOperator.SPACE_TO_DEPTH, [random_array(id, shape, dtype)], oracle, options
    )


def depth_to_space_case(shape: tuple[int, ...], block: int, dtype: type = np.float32) -> Case:
    id = f"DEPTH_TO_SPACE-{np.dtype(dtype).name}-{list(shape)}-{block}"

    def oracle(x: np.ndarray) -> np.ndarray:
        n, h, w, _ = x.shape
        blocks = x.reshape(n, h, w, block, block, -1)
        return blocks.transpose(0, 1, 3, 2, 4, 5).reshape(n, h * block, w * block, -1)

    options = tflite.DepthToSpaceOptionsT(block_size=block)
    return movement_case(
        id, BuiltinOperator.DEPTH_TO_SPACE, [random_array(id, shape, dtype)], oracle, options
    )


_TYPES = (np.int8, np.uint8, np.int32, np.float32, np.int64)

CASES = [
    *(space_to_depth_case((2, 4, 6, 3), 2, dtype) for dtype in _TYPES),
    space_to_depth_case((1, 9, 6, 1), 3),
    *(depth_to_space_case((2, 2, 3, 12), 2, dtype) for dtype in _TYPES),
    depth_to_space_case((1, 3, 2, 9), 3),
    depth_to_space_case((1, 3, 2, 4), 1),
]
