"""Cases of RFFT2D."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import Case, Close, Refuses


def case(shape: tuple[int, ...], lengths: tuple[int, int], constant: bool = True) -> Case:
    x = np.random.default_rng(2).standard_normal(shape).astype(np.float32)
    height, width = lengths
    stored = np.array(lengths, np.int32)

    def make() -> bytes:
        model = ModelBuilder()
        source = model.tensor(shape)
        sizes = model.constant(stored) if constant else model.tensor((2,), np.int32)
        y = model.tensor((*shape[:-2], height, width // 2 + 1), np.complex64)
        model.op(BuiltinOperator.RFFT2D, [source, sizes], [y], tflite.Rfft2dOptionsT())
        return model.build([source] if constant else [source, sizes], [y])

    def oracle(x: np.ndarray, *_: np.ndarray) -> np.ndarray:
        padded = np.zeros((*shape[:-2], max(height, shape[-2]), max(width, shape[-1])))
        padded[..., : shape[-2], : shape[-1]] = x
        used = padded[..., :height, :width]

        def waves(n: int, frequencies: int) -> np.ndarray:
            return np.exp(-2j * np.pi * np.outer(np.arange(frequencies), np.arange(n)) / n)

        found = waves(height, height) @ used @ waves(width, width // 2 + 1).T
        return found.astype(np.complex64)

    powers = all(length & (length - 1) == 0 and length > 1 for length in lengths)
    unlike = None if powers else Refuses("IsPowerOfTwo")
    return Case(
        id=f"RFFT2D-{'x'.join(map(str, shape))}-{height}x{width}-{'constant' if constant else 'given'}",
        make=make,
        inputs=[x] if constant else [x, stored],
        oracle=oracle,
        closeness=Close(rtol=1e-5, atol=1e-5),
        litert_default=unlike,
        litert_reference=unlike,
    )


CASES = [
    case((2, 3, 4, 8), (4, 8)),
    case((3, 5), (8, 4)),
    case((2, 4, 4), (2, 16), constant=False),
    case((6, 10), (6, 10)),
    case((9, 20), (16, 32)),
    case((3, 2, 64), (2, 64)),
]
