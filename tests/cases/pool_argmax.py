"""Cases of MaxPoolWithArgmax, MaxPoolingWithArgmax2D and MaxUnpooling2D."""

from __future__ import annotations

import numpy as np

from .case import NO_KERNEL, Case
from .custom_case import custom_model, structure

_SAME, _VALID = 1, 2  # TfLitePadding
Pair = tuple[int, int]


def _out(n: int, size: int, stride: int, padding: int) -> int:
    return -(-n // stride) if padding == _SAME else (n - size) // stride + 1


def pool_case(
    in_image: bool, sizes: Pair, strides: Pair, padding: int, activation: int = 0, wide: bool = False
) -> Case:
    x = np.random.default_rng(1).standard_normal((2, 7, 6, 3)).astype(np.float32)
    out = tuple(_out(n, k, s, padding) for n, k, s in zip(x.shape[1:3], sizes, strides, strict=True))
    shape = (2, *out, 3)
    pads = [
        max(0, (m - 1) * s + k - n) // 2 if padding == _SAME else 0
        for n, m, k, s in zip(x.shape[1:3], out, sizes, strides, strict=True)
    ]
    index_type = (np.int64 if wide else np.int32) if in_image else np.float32

    def oracle(x: np.ndarray) -> list[np.ndarray]:
        values, places = np.zeros(shape, np.float32), np.zeros(shape, index_type)
        for b, i, j, c in np.ndindex(*shape):
            top, left = i * strides[0] - pads[0], j * strides[1] - pads[1]
            found = [
                (x[b, top + k, left + m, c], k, m)
                for k in range(sizes[0])
                for m in range(sizes[1])
                if 0 <= top + k < x.shape[1] and 0 <= left + m < x.shape[2]
            ]
            value, k, m = max(found, key=lambda entry: entry[0])
            values[b, i, j, c] = max(value, 0) if activation == 1 else value
            in_window = k * sizes[1] + m + np.float32(0.1)
            flat = ((top + k) * x.shape[2] + left + m) * x.shape[3] + c
            places[b, i, j, c] = flat if in_image else in_window
        return [values, places]

    options = {
        "padding": "SAME" if padding == _SAME else "VALID",
        "ksize": [1, *sizes, 1],
        "strides": [1, *strides, 1],
        "include_batch_in_index": False,
    }
    raw = structure(padding, strides[1], strides[0], sizes[1], sizes[0], activation, 0, 0, 0, 0)
    name = "MaxPoolWithArgmax" if in_image else "MaxPoolingWithArgmax2D"
    outputs = [(shape, np.float32), (shape, index_type)]
    return Case(
        id=f"{name}-{sizes}-{strides}-{padding}-{activation}{'-int64' * wide}",
        make=lambda: custom_model(name, [x], outputs, options if in_image else raw),
        inputs=[x],
        oracle=oracle,
        litert_default=NO_KERNEL,
        litert_reference=NO_KERNEL,
    )


def unpool_case(in_image: bool, padding: int) -> Case:
    random = np.random.default_rng(4)
    x = random.standard_normal((2, 3, 4, 2)).astype(np.float32)
    sizes, strides = ((3, 2), (2, 2)) if in_image and padding == _VALID else ((2, 2), (2, 2))
    out = [
        (n - 1) * s + k if in_image and padding == _VALID else n * s
        for n, s, k in zip(x.shape[1:3], strides, sizes, strict=True)
    ]
    shape = (2, *out, 2)
    rows, columns = (random.integers(0, 2, x.shape) for _ in range(2))
    rows += 2 * np.arange(3)[:, np.newaxis, np.newaxis]
    columns += 2 * np.arange(4)[:, np.newaxis]
    if in_image:
        indices = ((rows * out[1] + columns) * 2 + np.arange(2)).astype(np.int32)
    else:
        indices = (rows % 2 * 2 + columns % 2).astype(np.float32) + np.float32(0.1)

    def oracle(x: np.ndarray, indices: np.ndarray) -> np.ndarray:
        y = np.zeros(shape, np.float32)
        for at in np.ndindex(*x.shape):
            y[at[0], rows[at], columns[at], at[3]] = x[at]
        return y

    raw = structure(padding, strides[1], strides[0], sizes[1], sizes[0], 0, 0, 0, 0, 0)
    return Case(
        id=f"MaxUnpooling2D-{'image' if in_image else 'window'}-{padding}",
        make=lambda: custom_model("MaxUnpooling2D", [x, indices], [(shape, np.float32)], raw),
        inputs=[x, indices],
        oracle=oracle,
        litert_default=NO_KERNEL,
        litert_reference=NO_KERNEL,
    )


CASES = [
    pool_case(True, (2, 2), (2, 2), _VALID),
    pool_case(True, (3, 2), (2, 3), _SAME),
    pool_case(True, (3, 2), (2, 3), _SAME, wide=True),
    pool_case(False, (2, 2), (2, 2), _SAME, activation=1),
    pool_case(False, (3, 3), (1, 2), _VALID),
    unpool_case(True, _SAME),
    unpool_case(True, _VALID),
    unpool_case(False, _SAME),
]
