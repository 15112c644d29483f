"""Cases of PAD, PADV2 and MIRROR_PAD."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .movement_case import movement_case, random_array

_SHAPE = (2, 3, 4, 5)
_IMAGE = ((0, 0), (1, 2), (3, 0), (0, 0))
_ALL = ((0, 1), (1, 0), (2, 2), (1, 3))
_QUANTIZED = {np.int8: (0.5, 3), np.uint8: (0.5, 7)}


def pad_case(paddings: tuple, dtype: type, shape: tuple[int, ...] = _SHAPE, constant: bool = True) -> Case:
    """Zeros are the zero point of a quantized type."""
    id = f"PAD-{np.dtype(dtype).name}-{list(shape)}-{np.ravel(paddings).tolist()}-{constant}"
    quantization = _QUANTIZED.get(dtype)
    return movement_case(
        id,
        BuiltinOperator.PAD,
        [random_array(id, shape, dtype), np.array(paddings, np.int32)],
        lambda x, paddings: np.pad(x, paddings, constant_values=quantization[1] if quantization else 0),
        tflite.PadOptionsT(),
        constants=(1,) if constant else (),
        quantization=quantization,
        version=2,
    )


def padv2_case(paddings: tuple, dtype: type, constants: tuple[int, ...]) -> Case:
    id = f"PADV2-{np.dtype(dtype).name}-{np.ravel(paddings).tolist()}-{list(constants)}"
    return movement_case(
        id,
        BuiltinOperator.PADV2,
        [random_array(id, _SHAPE, dtype), np.array(paddings, np.int32), np.array([5], dtype)],
        lambda x, paddings, value: np.pad(x, paddings, constant_values=value[0]),
        tflite.PadV2OptionsT(),
        constants=constants,
        quantization=_QUANTIZED.get(dtype),
        version=2,
    )


def mirror_pad_case(paddings: tuple, mode: str, dtype: type, constant: bool = True) -> Case:
    id = f"MIRROR_PAD-{np.dtype(dtype).name}-{mode}-{np.ravel(paddings).tolist()}-{constant}"
    return movement_case(
        id,
        BuiltinOperator.MIRROR_PAD,
        [random_array(id, _SHAPE, dtype), np.array(paddings, np.int32)],
        lambda x, paddings: np.pad(x, paddings, mode.lower()),
        tflite.MirrorPadOptionsT(mode=tflite.MirrorPadMode[mode]),
        constants=(1,) if constant else (),
        quantization=_QUANTIZED.get(dtype),
        version=2,
    )


_TYPES = (np.float32, np.int8, np.uint8, np.int32, np.int64)
_MIRRORED = ((1, 0), (2, 1), (0, 3), (1, 1))

CASES = [
    *(pad_case(paddings, dtype) for paddings in (_IMAGE, _ALL) for dtype in _TYPES),
    pad_case(((0, 0),) * 4, np.float32),
    pad_case(((2, 3),), np.float32, (70,)),
    pad_case(((1, 1), (1, 1)), np.float32, (3, 0)),
    pad_case(_ALL, np.int8, constant=False),
    *(padv2_case(_ALL, dtype, (1, 2)) for dtype in _TYPES),
    padv2_case(_IMAGE, np.float32, (1,)),
    padv2_case(_IMAGE, np.float32, ()),
    *(mirror_pad_case(_MIRRORED, "REFLECT", dtype) for dtype in (np.float32, np.int8)),
    *(mirror_pad_case(_MIRRORED, "SYMMETRIC", dtype) for dtype in (np.float32, np.uint8)),
    mirror_pad_case(_MIRRORED, "REFLECT", np.float32, constant=False),
]
