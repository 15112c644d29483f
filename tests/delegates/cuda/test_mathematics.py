"""Functions of the device's own, over the whole range of float32."""

from __future__ import annotations

import math

import numpy as np
import pytest

from .graphs import NetworkBuilder, Op
from .simulation import interpreter_of, needs_triton, run, simulated

pytestmark = needs_triton


def angles() -> np.ndarray:
    """Of every exponent, those next to multiples of pi / 2, and what is no angle."""
    random = np.random.default_rng(0)
    bits = random.integers(0, 0x7F800000, 4096).astype(np.uint32)
    bits[::2] |= np.uint32(1 << 31)
    multiples = np.float32(np.pi / 2) * random.integers(0, 1 << 30, 512).astype(np.float32)
    # The float32 that is nearest to a multiple of pi / 2, among all: 2**-29 from it.
    edges = [0.0, -0.0, 16367173.0 * 2.0**72, 2.0**28, np.nextafter(np.float32(2.0**28), np.float32(0))]
    largest = [np.finfo(np.float32).max, np.finfo(np.float32).tiny, np.inf, -np.inf, np.nan]
    return np.concatenate([bits.view(np.float32), multiples, np.array(edges + largest, np.float32)])


@pytest.mark.parametrize("name", ("sin", "cos"))
def test_sines_of_all_magnitudes(name: str) -> None:
    """As near as float32 results are from exact arguments: two units of the last place."""
    x = angles()
    graph = NetworkBuilder("float32")
    tensor = graph.value(x.shape)
    y = graph.unary(getattr(Op, name.upper()), tensor, x.shape)
    (got,) = run(interpreter_of(graph.build([tensor], [y]), simulated()), [x])
    exact = np.array([getattr(math, name)(v) if math.isfinite(v) else math.nan for v in map(float, x)])
    np.testing.assert_allclose(got, exact, rtol=2.5e-7, atol=1e-44)
    assert np.array_equal(np.signbit(got[x == 0]), np.signbit(exact[x == 0]))
