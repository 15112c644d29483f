"""Cases of CONCATENATION."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import Case
from .movement_case import EVERY_SIZE, movement_case, random_array


def concatenation_case(sizes: tuple[int, ...], axis: int, dtype: type, num_threads: int = 1) -> Case:
    """Inputs of (3, 4, 5), but for the joined axis."""
    id = f"CONCATENATION-{np.dtype(dtype).name}-{list(sizes)}-{axis}-{num_threads}"
    shapes = []
    for size in sizes:
        shape = [3, 4, 5]
        shape[axis] = size
        shapes.append(shape)
    return movement_case(
        id,
        BuiltinOperator.CONCATENATION,
        [random_array(f"{id}{i}", shape, dtype) for i, shape in enumerate(shapes)],
        lambda *arrays: np.concatenate(arrays, axis),
        tflite.ConcatenationOptionsT(axis=axis),
        version=2,
        num_threads=num_threads,
    )


def _rescaled_case(axis: int) -> Case:
    """uint8 inputs of three scales: each is rescaled in float32, half away from zero."""
    id = f"CONCATENATION-rescaled-{axis}"
    kinds = [(0.1, 5), (0.3, 100), (0.2, 50)]
    scale, zero_point = kinds[-1]

    def make() -> bytes:
        model = ModelBuilder()
        inputs = [model.tensor((2, 9, 7), np.uint8, scale=s, zero_point=z) for s, z in kinds]
        shape = [2, 9, 7]
        shape[axis] *= 3
        y = model.tensor(shape, np.uint8, scale=scale, zero_point=zero_point)
        model.op(BuiltinOperator.CONCATENATION, inputs, [y], tflite.ConcatenationOptionsT(axis=axis))
        return model.build(inputs, [y])

    def oracle(*arrays: np.ndarray) -> np.ndarray:
        parts = []
        for x, (s, z) in zip(arrays, kinds, strict=True):
            factor = np.float32(s) * (np.float32(1) / np.float32(scale))
            real = x.astype(np.float32) * factor + np.float32(-z) * factor
            rounded = np.sign(real) * np.floor(np.abs(real) + np.float32(0.5)) + zero_point
            parts.append(x if (s, z) == (scale, zero_point) else np.clip(rounded, 0, 255).astype(np.uint8))
        return np.concatenate(parts, axis)

    inputs = [random_array(f"{id}{i}", (2, 9, 7), np.uint8) for i in range(3)]
    return Case(id=id, make=make, inputs=inputs, oracle=oracle)


CASES = [
    *(concatenation_case((4, 1, 2), 1, dtype) for dtype in EVERY_SIZE),
    *(concatenation_case((1, 7), axis, np.float32) for axis in (0, 2, -1, -3)),
    concatenation_case((5,), 2, np.int8),
    concatenation_case((3, 0, 2), 1, np.float32),
    concatenation_case((3000, 5000), 1, np.float32, num_threads=2),
    *(_rescaled_case(axis) for axis in (0, 2)),
]
