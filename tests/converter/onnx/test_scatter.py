"""Many updates of the same places, joined by products and extremes, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter
from numlite.lite.errors import UnsupportedError

from ...onnx_builder import model, node, value

RANDOM = np.random.default_rng(31)
JOINS = {"mul": np.multiply, "max": np.maximum, "min": np.minimum}


def run(
    op: str, x: np.ndarray, at: np.ndarray, updates: np.ndarray, shape: list, **how: object
) -> np.ndarray:
    inputs = {"x": (x, shape), "at": (at, [None] * at.ndim), "u": (updates, [None] * updates.ndim)}
    if op == "ScatterND":
        inputs["at"] = (at, [None, at.shape[1]])
    infos = [value(name, sizes, array.dtype.type) for name, (array, sizes) in inputs.items()]
    built = model([node(op, list(inputs), "y", **how)], infos, [value("y", None, x.dtype.type)])
    content = Converter.from_onnx(built).convert()
    runner = Interpreter(model_content=content).get_signature_runner()
    return runner(**{name: array for name, (array, _) in inputs.items()})["y"]


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("reduction", JOINS)
def test_elements(reduction: str, dtype: type) -> None:
    x, updates = (RANDOM.integers(1, 9, (3, 4)).astype(dtype), RANDOM.integers(1, 3, (3, 40)).astype(dtype))
    at = RANDOM.integers(-4, 3, (3, 40))
    found = run("ScatterElements", x, at, updates, ["n", "m"], axis=1, reduction=reduction)
    wanted = x.copy()
    JOINS[reduction].at(wanted, (np.arange(3)[:, None], at), updates)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("reduction", JOINS)
def test_slices_and_places_that_nothing_changes(reduction: str) -> None:
    x = np.full((5, 2, 3), -np.inf, np.float32)
    at, updates = RANDOM.integers(0, 2, (90, 2)), RANDOM.uniform(0.9, 1.1, (90, 3)).astype(np.float32)
    found = run("ScatterND", x, at, updates, ["n", 2, 3], reduction=reduction)
    wanted = x.copy()
    JOINS[reduction].at(wanted, tuple(at.T), updates)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert (found[2:] == -np.inf).all()


def test_many_of_int64_are_refused() -> None:
    x, at = np.arange(4), RANDOM.integers(0, 4, 65)
    with pytest.raises(
        UnsupportedError, match="reduction max of int64: at most 64 updates, as many as are known"
    ):
        run("ScatterElements", x, at, at, [4], reduction="max")
