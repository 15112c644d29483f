"""Cases of RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import EXACT, Case, Close, Closeness, Quanta
from .movement_case import index, movement_case, random_array

MODES = {"legacy": (False, False), "corners": (True, False), "centers": (False, True)}


def _positions(in_size: int, out_size: int, mode: str) -> np.ndarray:
    """Where each output position lies in the input, in float64."""
    at = np.arange(out_size, dtype=np.float64)
    if mode == "corners" and out_size > 1:
        return at * (in_size - 1) / (out_size - 1)
    if mode == "centers":
        return np.clip((at + 0.5) * in_size / out_size - 0.5, 0, in_size - 1)
    return np.minimum(at * in_size / out_size, in_size - 1)


def _along(x: np.ndarray, axis: int, positions: np.ndarray) -> np.ndarray:
    low = np.floor(positions).astype(int)
    high = np.minimum(low + 1, x.shape[axis] - 1)
    weight = (positions - low).reshape([-1 if a == axis else 1 for a in range(x.ndim)])
    return np.take(x, low, axis) * (1 - weight) + np.take(x, high, axis) * weight


def bilinear_case(
    shape: tuple[int, ...],
    size: tuple[int, int],
    mode: str,
    dtype: type,
    constant: bool = True,
    num_threads: int = 1,
) -> Case:
    id = f"RESIZE_BILINEAR-{np.dtype(dtype).name}-{list(shape)}-{list(size)}-{mode}-{constant}"

    def oracle(x: np.ndarray, size: np.ndarray) -> np.ndarray:
        real = _along(x.astype(np.float64), 1, _positions(x.shape[1], size[0], mode))
        real = _along(real, 2, _positions(x.shape[2], size[1], mode))
        return (np.rint(real) if np.dtype(dtype).kind != "f" else real).astype(dtype)

    align_corners, half_pixel_centers = MODES[mode]
    # Weights have 10 bits in the reference's int8 kernel, 11 in XNNPACK's.
    closeness: Closeness = Close(rtol=1e-5, atol=1e-5) if dtype is np.float32 else Quanta(2)
    # An image that doubles so, its own kernel adds up in pairs.
    doubles = not constant and mode == "legacy" and size == (2 * shape[1], 2 * shape[2])
    return movement_case(
        id,
        BuiltinOperator.RESIZE_BILINEAR,
        [random_array(id, shape, dtype), index(*size)],
        oracle,
        tflite.ResizeBilinearOptionsT(align_corners=align_corners, half_pixel_centers=half_pixel_centers),
        constants=(1,) if constant else (),
        quantization=None if dtype is np.float32 else (0.5, 3),
        version=3,
        num_threads=num_threads,
        closeness=closeness,
        litert_default=Close(rtol=1e-6, atol=1e-6) if doubles and dtype is np.float32 else EXACT,
        litert_reference=EXACT,
    )


def nearest_case(
    shape: tuple[int, ...], size: tuple[int, int], mode: str, dtype: type, constant: bool
) -> Case:
    id = f"RESIZE_NEAREST_NEIGHBOR-{np.dtype(dtype).name}-{list(shape)}-{list(size)}-{mode}-{constant}"

    def chosen(in_size: int, out_size: int) -> np.ndarray:
        at = np.arange(out_size) + (0.5 if mode == "centers" else 0.0)
        if mode == "corners" and out_size > 1:
            return np.floor(at * (in_size - 1) / (out_size - 1) + 0.5).astype(int)
        return np.floor(at * in_size / out_size).astype(int)

    align_corners, half_pixel_centers = MODES[mode]
    return movement_case(
        id,
        BuiltinOperator.RESIZE_NEAREST_NEIGHBOR,
        [random_array(id, shape, dtype), index(*size)],
        lambda x, size: x[:, chosen(x.shape[1], size[0])][:, :, chosen(x.shape[2], size[1])],
        tflite.ResizeNearestNeighborOptionsT(
            align_corners=align_corners, half_pixel_centers=half_pixel_centers
        ),
        constants=(1,) if constant else (),
        quantization=None if dtype is np.float32 else (0.5, 3),
        version=3,
    )


_SIZES = [
    ((1, 7, 9, 21), (33, 20)),
    ((2, 5, 4, 3), (3, 9)),
    ((1, 1, 1, 64), (9, 9)),
    ((1, 33, 33, 1), (8, 8)),
    ((2, 3, 3, 5), (1, 1)),
]
_TYPES = (np.float32, np.int8, np.uint8)

CASES = [
    *(
        bilinear_case(shape, size, mode, dtype)
        for shape, size in _SIZES
        for mode in MODES
        for dtype in _TYPES
    ),
    *(bilinear_case((1, 6, 6, 4), (12, 12), mode, dtype, False) for mode in MODES for dtype in _TYPES),
    bilinear_case((2, 5, 4, 3), (13, 9), "centers", np.float32, constant=False),
    bilinear_case((1, 40, 40, 16), (200, 200), "corners", np.uint8, num_threads=2),
    *(nearest_case((2, 5, 4, 3), (8, 3), mode, dtype, True) for mode in MODES for dtype in _TYPES),
    nearest_case((1, 4, 4, 2), (8, 8), "legacy", np.float32, False),
]
