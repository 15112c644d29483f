"""Cases of TILE and BROADCAST_TO."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .movement_case import EVERY_SIZE, movement_case, random_array


def tile_case(
    shape: tuple[int, ...], multipliers: tuple[int, ...], dtype: type = np.float32, constant: bool = True
) -> Case:
    id = f"TILE-{np.dtype(dtype).name}-{list(shape)}-{list(multipliers)}-{constant}"
    return movement_case(
        id,
        BuiltinOperator.TILE,
        [random_array(id, shape, dtype), np.array(multipliers, np.int32)],
        lambda x, multipliers: np.tile(x, multipliers) if x.ndim else x.copy(),
        tflite.TileOptionsT(),
        constants=(1,) if constant else (),
    )


def broadcast_case(
    shape: tuple[int, ...], wanted: tuple[int, ...], dtype: type = np.float32, constant: bool = True
) -> Case:
    id = f"BROADCAST_TO-{np.dtype(dtype).name}-{list(shape)}-{list(wanted)}-{constant}"
    return movement_case(
        id,
        BuiltinOperator.BROADCAST_TO,
        [random_array(id, shape, dtype), np.array(wanted, np.int64)],
        lambda x, wanted: np.broadcast_to(x, wanted).copy(),
        tflite.BroadcastToOptionsT(),
        constants=(1,) if constant else (),
        version=2,
    )


CASES = [
    *(tile_case((2, 3, 4), (2, 1, 3), dtype) for dtype in EVERY_SIZE),
    tile_case((2, 3), (3, 2), constant=False),
    tile_case((), ()),
    tile_case((2, 3), (0, 2)),
    tile_case((2, 2, 2, 1, 2, 2), (2, 2, 1, 3, 2, 2)),
    *(broadcast_case((2, 1, 4), (3, 2, 5, 4), dtype) for dtype in EVERY_SIZE),
    broadcast_case((2, 3, 1), (2, 3, 37)),
    broadcast_case((), (2, 3)),
    broadcast_case((1, 3), (2, 3), constant=False),
    broadcast_case((2, 1, 2, 1, 2, 1, 2, 1), (2,) * 8),
]
