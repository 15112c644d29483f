"""Cases of REVERSE_V2 and REVERSE_SEQUENCE."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .movement_case import EVERY_SIZE, movement_case, random_array


def reverse_case(
    shape: tuple[int, ...], axes: tuple[int, ...], dtype: type = np.float32, constant: bool = True
) -> Case:
    id = f"REVERSE_V2-{np.dtype(dtype).name}-{list(shape)}-{list(axes)}-{constant}"
    return movement_case(
        id,
        BuiltinOperator.REVERSE_V2,
        [random_array(id, shape, dtype), np.array(axes, np.int32)],
        lambda x, axes: np.flip(x, axes).copy(),
        tflite.ReverseV2OptionsT(),
        constants=(1,) if constant else (),
        version=3,
    )


def sequence_case(
    shape: tuple[int, ...], sequence: int, batch: int, lengths: list[int], dtype: type = np.float32
) -> Case:
    id = f"REVERSE_SEQUENCE-{np.dtype(dtype).name}-{list(shape)}-{sequence}-{batch}"

    def oracle(x: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        y = x.copy()
        to, of = np.moveaxis(y, (batch, sequence), (0, 1)), np.moveaxis(x, (batch, sequence), (0, 1))
        for i, length in enumerate(lengths):
            to[i, :length] = of[i, :length][::-1]
        return y

    return movement_case(
        id,
        BuiltinOperator.REVERSE_SEQUENCE,
        [random_array(id, shape, dtype), np.array(lengths, np.int32 if sequence else np.int64)],
        oracle,
        tflite.ReverseSequenceOptionsT(seq_dim=sequence, batch_dim=batch),
    )


CASES = [
    *(reverse_case((2, 5, 3), (1,), dtype) for dtype in EVERY_SIZE),
    *(reverse_case((2, 3, 4, 5), axes) for axes in ((0,), (-1,), (1, 2), (0, 1, 2, 3))),
    reverse_case((40, 70), (1,)),
    reverse_case((2, 3), (0,), constant=False),
    *(sequence_case((3, 4, 5), 1, 0, [0, 4, 2], t) for t in (np.uint8, np.int16, np.float32, np.int64)),
    sequence_case((3, 4, 5), 0, 2, [3, 1, 2, 0, 3]),
    sequence_case((3, 4, 5), 2, 1, [5, 1, 2, 0]),
]
