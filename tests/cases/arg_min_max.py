"""Cases of ARG_MAX and ARG_MIN: ties go to the first, NaNs are passed over."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .movement_case import movement_case, random_array


def arg_case(
    name: str, shape: tuple[int, ...], axis: int, dtype: type, wide: bool, constant: bool = True
) -> Case:
    id = f"{name}-{np.dtype(dtype).name}-{list(shape)}-{axis}-{wide}-{constant}"
    x = random_array(id, shape, dtype)
    # Few values, so that there are ties.
    x = np.round(x) if dtype is np.float32 else x // (np.iinfo(dtype).max // 3)
    find = np.argmax if name == "ARG_MAX" else np.argmin
    made = tflite.ArgMaxOptionsT if name == "ARG_MAX" else tflite.ArgMinOptionsT
    return movement_case(
        id,
        BuiltinOperator[name],
        [x.astype(dtype), np.array(axis, np.int32)],
        lambda x, axis: find(x, int(axis)).astype(np.int64 if wide else np.int32),
        made(output_type=tflite.TensorType.INT64 if wide else tflite.TensorType.INT32),
        constants=(1,) if constant else (),
        version=2,
    )


_SHAPES = [((3, 5, 21), -1), ((3, 5, 21), 1), ((2, 130, 3), 0), ((1, 200), 1), ((4, 65, 33), 1), ((7,), 0)]

CASES = [
    *(
        arg_case(name, shape, axis, dtype, wide=axis < 0)
        for name in ("ARG_MAX", "ARG_MIN")
        for dtype in (np.float32, np.int8, np.uint8, np.int32)
        for shape, axis in _SHAPES
    ),
    arg_case("ARG_MAX", (3, 5), 1, np.float32, wide=True, constant=False),
]
