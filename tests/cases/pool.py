"""Cases of pooling: windows that overlap, leave gaps and hang over the edge."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import EXACT, NO_EMPTY, Case, Close, Closeness, Quanta
from .single_op import Kind, single_op
from .window_oracle import SAME, VALID, windows

NONE, RELU, RELU_N1_TO_1, RELU6 = range(4)
_CLAMPS = {NONE: (-np.inf, np.inf), RELU: (0, np.inf), RELU_N1_TO_1: (-1, 1), RELU6: (0, 6)}


def _pooled(
    name: str, x: np.ndarray, size: tuple[int, int], stride: tuple[int, int], padding: int
) -> np.ndarray:
    """The operator on reals; what lies outside the image counts for nothing."""
    seen = windows(x, size, stride, (1, 1), padding, fill=np.nan)
    axes = (3, 4)
    if name == "MAX_POOL_2D":
        return np.nanmax(seen, axis=axes)
    if name == "AVERAGE_POOL_2D":
        return np.nanmean(seen, axis=axes)
    return np.sqrt(np.nanmean(seen**2, axis=axes))


def pool_case(
    name: str,
    x: Kind,
    size: tuple[int, int],
    stride: tuple[int, int],
    padding: int,
    fused: int = NONE,
    num_threads: int = 1,
) -> Case:
    """One pooling; size and stride are (vertical, horizontal)."""
    id = f"{name}-{np.dtype(x.dtype).name}-{'x'.join(map(str, x.shape))}-{size[0]}x{size[1]}-{fused}"
    stored = x.random(id)

    def oracle(stored: np.ndarray) -> np.ndarray:
        real = np.clip(_pooled(name, x.real(stored), size, stride, padding), *_CLAMPS[fused])
        return x.stored(real)

    options = tflite.Pool2DOptionsT(
        padding=padding,
        stride_h=stride[0],
        stride_w=stride[1],
        filter_height=size[0],
        filter_width=size[1],
        fused_activation_function=fused,
    )
    y = Kind(oracle(stored).shape, x.dtype, x.scale, x.zero_point)
    # Sums are taken in another order.
    closeness: Closeness = Quanta(1) if x.scale else Close(rtol=2e-6, atol=3e-6)
    if name == "MAX_POOL_2D":
        closeness = EXACT
    return Case(
        id=id,
        make=lambda: single_op(
            BuiltinOperator[name], [x], y, options, {np.int8: 2, np.int16: 3}.get(x.dtype, 1)
        ),
        inputs=[stored],
        oracle=oracle,
        closeness=closeness,
        litert_default=NO_EMPTY if 0 in x.shape else None,
        num_threads=num_threads,
    )


_WINDOWS = [
    ((1, 7, 7, 40), (7, 7), (1, 1), VALID),
    ((2, 9, 8, 5), (3, 3), (2, 2), SAME),
    ((1, 8, 8, 16), (2, 2), (2, 2), VALID),
    ((1, 6, 6, 3), (2, 3), (1, 2), SAME),
    ((1, 12, 12, 8), (3, 3), (5, 5), SAME),
    ((1, 25, 5, 17), (25, 5), (1, 1), VALID),
]


def _cases(dtype: type, quantization: tuple[float, int] | tuple[None]) -> list[Case]:
    names = ["MAX_POOL_2D", "AVERAGE_POOL_2D"] + (["L2_POOL_2D"] if dtype is np.float32 else [])
    plain = [
        pool_case(name, Kind(shape, dtype, *quantization), *window)
        for name in names
        for shape, *window in _WINDOWS
    ]
    clamped = Kind((1, 9, 9, 20), dtype, *quantization)
    return plain + [
        pool_case(name, clamped, (2, 2), (2, 2), SAME, fused)
        for name in names
        for fused in (RELU, RELU_N1_TO_1, RELU6)
    ]


CASES = [
    *_cases(np.float32, (None,)),
    *_cases(np.int8, (0.037, 11)),
    *_cases(np.uint8, (0.037, 120)),
    *_cases(np.int16, (0.002, 0)),
    pool_case("AVERAGE_POOL_2D", Kind((1, 300, 300, 16)), (3, 3), (1, 1), SAME, num_threads=2),
    *(
        pool_case("MAX_POOL_2D", Kind((2, 7, 6, 5), dtype), (2, 2), (2, 2), VALID)
        for dtype in (np.int8, np.uint8, np.int16)
    ),
    pool_case("MAX_POOL_2D", Kind((0, 4, 4, 3)), (2, 2), (2, 2), VALID),
]
