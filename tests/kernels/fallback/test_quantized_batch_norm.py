"""A normalization of quantized tensors against that of floats."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

OP = "QuantizedBatchNormWithGlobalNormalization"
RANDOM = np.random.default_rng(23)
TYPES = {"Tinput": "quint8", "out_type": "qint32", "variance_epsilon": "f32$0.01"}
RANGES = [(-3.0, 5.0), (-2.0, 2.0), (0.0, 3.0), (-1.0, 1.0), (0.0, 2.0)]


def tensors(channels: int = 3) -> list[np.ndarray]:
    """t, m, v, beta and gamma, each with its range."""
    found = []
    for number, (low, high) in enumerate(RANGES):
        shape = (2, 2, 2, channels) if number == 0 else (3,)
        found += [RANDOM.integers(64, 256, shape).astype(np.uint8), np.float32(low), np.float32(high)]
    return found


@pytest.mark.parametrize("scaled", [True, False])
def test_it_is_that_of_floats(scaled: bool) -> None:
    inputs = tensors()
    options = {"scale_after_normalization": f"bool${str(scaled).lower()}"}
    y, low, high = run(OP, inputs, **TYPES, **options)
    x, m, v, b, g = (
        run("Dequantize", inputs[at : at + 3], T="quint8", mode="string$MIN_FIRST")[0]
        for at in range(0, 15, 3)
    )
    wanted = (x - m) / np.sqrt(v + 0.01) * (g if scaled else 1) + b
    (found,) = run("Dequantize", [y, low, high], T="qint32", mode="string$MIN_FIRST")
    np.testing.assert_allclose(found, wanted, atol=0.02)


def test_other_channels_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="each channel"):
        run(OP, tensors(channels=2), **TYPES, scale_after_normalization="bool$true")
