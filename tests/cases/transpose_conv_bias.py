"""Cases of Convolution2DTransposeBias."""

from __future__ import annotations

import numpy as np

from .case import NO_KERNEL, Case, Close
from .custom_case import custom_model, structure

_SAME, _VALID = 1, 2  # TfLitePadding


def case(taps: tuple[int, int], strides: tuple[int, int], padding: int, constant: bool = True) -> Case:
    random = np.random.default_rng(6)
    x = random.standard_normal((2, 4, 3, 5)).astype(np.float32)
    w = random.standard_normal((7, *taps, 5)).astype(np.float32)
    bias = random.standard_normal(7).astype(np.float32)
    cut = [
        max(0, k - (n - 1) % s - 1) if padding == _SAME else 0
        for n, k, s in zip(x.shape[1:3], taps, strides, strict=True)
    ]
    whole = [s * (n - 1) + k for n, k, s in zip(x.shape[1:3], taps, strides, strict=True)]
    shape = (2, *(n - c for n, c in zip(whole, cut, strict=True)), 7)

    def oracle(x: np.ndarray, *_: np.ndarray) -> np.ndarray:
        y = np.zeros((2, *whole, 7)) + bias
        for i, j, k, m in np.ndindex(*x.shape[1:3], *taps):
            y[:, i * strides[0] + k, j * strides[1] + m] += x[:, i, j].astype(np.float64) @ w[:, k, m].T
        top, left = (c // 2 for c in cut)
        return y[:, top : top + shape[1], left : left + shape[2]].astype(np.float32)

    inputs, constants = ([x], [w, bias]) if constant else ([x, w, bias], [])
    raw = structure(padding, strides[1], strides[0])
    return Case(
        id=f"Convolution2DTransposeBias-{taps}-{strides}-{padding}{'' if constant else '-given'}",
        make=lambda: custom_model(
            "Convolution2DTransposeBias", inputs, [(shape, np.float32)], raw, constants=constants
        ),
        inputs=inputs,
        oracle=oracle,
        closeness=Close(rtol=1e-5, atol=1e-5),
        litert_default=None if constant else NO_KERNEL,
        litert_reference=NO_KERNEL,
    )


CASES = [
    case((2, 2), (2, 2), _SAME),
    case((3, 4), (2, 1), _SAME),
    case((3, 3), (2, 3), _VALID),
    case((3, 2), (2, 2), _SAME, constant=False),
]
