"""Cases of RESHAPE, SQUEEZE and EXPAND_DIMS."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .movement_case import EVERY_SIZE, index, movement_case, random_array


def _reshape(
    shape: tuple[int, ...], wanted: tuple[int, ...], told: str, dtype: type, result: tuple[int, ...]
) -> Case:
    """told says where the shape stands: in the options, in a constant, or in an input."""
    id = f"RESHAPE-{np.dtype(dtype).name}-{list(shape)}-{list(wanted)}-{told}"
    x = random_array(id, shape, dtype)
    in_options = told == "options"
    return movement_case(
        id,
        BuiltinOperator.RESHAPE,
        [x] if in_options else [x, index(*wanted)],
        lambda x, *_: x.reshape(result),
        tflite.ReshapeOptionsT(new_shape=list(wanted)) if in_options else None,
        constants=(1,) if told == "constant" else (),
    )


def _squeeze(shape: tuple[int, ...], axes: tuple[int, ...]) -> Case:
    id = f"SQUEEZE-{list(shape)}-{list(axes)}"
    return movement_case(
        id,
        BuiltinOperator.SQUEEZE,
        [random_array(id, shape, np.float32)],
        lambda x: np.squeeze(x, axes or None),
        tflite.SqueezeOptionsT(squeeze_dims=list(axes)),
    )


def _expand_dims(shape: tuple[int, ...], axis: int, constant: bool) -> Case:
    id = f"EXPAND_DIMS-{list(shape)}-{axis}-{'constant' if constant else 'input'}"
    return movement_case(
        id,
        BuiltinOperator.EXPAND_DIMS,
        [random_array(id, shape, np.int8), index(axis)],
        lambda x, axis: np.expand_dims(x, int(axis[0])),
        constants=(1,) if constant else (),
    )


CASES = [
    *(_reshape((2, 3, 4), (4, -1), "constant", dtype, (4, 6)) for dtype in EVERY_SIZE),
    *(_reshape((2, 3, 4), (-1,), told, np.float32, (24,)) for told in ("options", "constant", "input")),
    _reshape((2, 3, 4), (1, 24, 1), "options", np.uint8, (1, 24, 1)),
    _reshape((1, 1), (), "constant", np.float32, ()),
    _reshape((300, 700), (700, 300), "constant", np.float32, (700, 300)),
    _reshape((2, 0, 4), (0, 4), "constant", np.float32, (0, 4)),
    _reshape((2, 0, 4), (3, -1), "constant", np.float32, (3, 0)),
    *(_squeeze((1, 3, 1, 2), axes) for axes in ((), (0,), (-2,), (0, 2))),
    *(_expand_dims((2, 3), axis, constant) for axis in (0, 1, -1, -3) for constant in (True, False)),
]
