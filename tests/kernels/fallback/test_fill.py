"""Ranges, filled tensors and one-hot rows by their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError, OpError, ResourceExhaustedError

from .nodes import run

FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


@pytest.mark.parametrize("type", FLOATS)
@pytest.mark.parametrize(("start", "limit", "delta"), [(0, 1, 0.1), (1, -2, -0.3), (5, 5, 1), (0, 40, 0.7)])
def test_ranges_are_multiples_in_the_type_itself(type: str, start: float, limit: float, delta: float) -> None:
    first, last, step = (FLOATS[type](value) for value in (start, limit, delta))
    count = math.ceil(abs((last - first) / step))
    found = run("Range", [first, last, step], Tidx=type)[0]
    assert found.tolist() == [first + FLOATS[type](i) * step for i in range(count)]


@pytest.mark.parametrize(("start", "limit", "delta"), [(0, 10, 3), (10, 0, -3), (0, 9, 3), (7, 7, 1)])
def test_ranges_of_integers(start: int, limit: int, delta: int) -> None:
    found = run("Range", [np.int32(start), np.int32(limit), np.int32(delta)], Tidx="i32")[0]
    assert found.tolist() == list(range(start, limit, delta))


@pytest.mark.parametrize("bounds", [(0, 1, 0), (0, 1, -1), (1, 0, 1), (0, math.inf, 1), (math.nan, 1, 1)])
def test_ranges_without_an_end(bounds: tuple[float, ...]) -> None:
    with pytest.raises(InvalidArgumentError, match="delta must lead from start to limit"):
        run("Range", [np.float32(value) for value in bounds], Tidx="f32")


def test_old_graphs_have_vectors_of_one() -> None:
    assert run("Fill", [np.int32(2), np.float32([7])], T="f32")[0].tolist() == [7, 7]
    assert run("Range", [np.int32([0]), np.int32(2), np.int32(1)], Tidx="i32")[0].tolist() == [0, 1]


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(axis: int) -> None:
    indices = np.array([0, 2, -1, 3])
    values = [indices, np.int32(3), np.int32(5), np.int32(-5)]
    found = run("OneHot", values, T="i32", TI="i64", axis=f"i64${axis}")[0]
    wanted = [[5 if place == i else -5 for i in range(3)] for place in indices]
    assert (found.T if axis == 0 else found).tolist() == wanted


def test_one_hot_of_what_cannot_be() -> None:
    one = np.float32(1)
    for depth, on, axis in ((-1, one, -1), ([2], one, -1), (2, [one, one], -1), (2, one, -2), (2, one, 2)):
        with pytest.raises(InvalidArgumentError, match="OneHot: "):
            inputs = [np.array([0]), np.int32(depth), np.float32(on), one]
            run("OneHot", inputs, T="f32", TI="i64", axis=f"i64${axis}")


@pytest.mark.parametrize(
    ("op", "inputs", "attributes"),
    [
        ("Fill", [np.array([2**45]), np.float32(1)], {"T": "f32", "index_type": "i64"}),
        ("OneHot", [np.array([0]), np.int32(2**31 - 1), *[np.ones(())] * 2], {"T": "f64", "TI": "i64"}),
        ("Tile", [np.ones(9), np.array([2**50])], {"T": "f64", "Tmultiples": "i64"}),
        ("Pad", [np.ones(9), np.array([[2**50, 0]])], {"T": "f64", "Tpaddings": "i64"}),
        ("Range", [np.array(0), np.array(2**50), np.array(1)], {"Tidx": "i64"}),
        ("LinSpace", [np.array(0.0), np.array(1.0), np.array(2**50)], {"T": "f64", "Tidx": "i64"}),
        ("BroadcastTo", [np.ones(()), np.array([2**50])], {"T": "f64", "Tidx": "i64"}),
        ("ScatterNd", [np.array([[0]]), np.ones(1), np.array([2**50])], {"T": "f64", "Tindices": "i64"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_huge_results_are_refused(
    op: str, inputs: list[np.ndarray], attributes: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numlite.kernels.fallback.kernel.available_bytes", lambda: 1 << 30)
    with pytest.raises(ResourceExhaustedError, match="does not fit in memory"):
        run(op, inputs, **attributes)


@pytest.mark.parametrize("sizes", [[-1], [2**62, 2**62], [[1]]])
def test_shapes_that_cannot_be(sizes: list[int]) -> None:
    with pytest.raises(OpError):
        run("Fill", [np.array(sizes), np.float32(1)], T="f32", index_type="i64")


@pytest.mark.parametrize(("start", "stop"), [(-1, np.nan), (np.inf, 3), (-np.inf, np.inf)])
def test_a_line_has_its_ends_whatever_lies_between(start: float, stop: float) -> None:
    (y,) = run("LinSpace", [np.float32(start), np.float32(stop), np.int32(4)], T="f32", Tidx="i32")
    np.testing.assert_array_equal(y[[0, -1]], np.float32([start, stop]))


@pytest.mark.parametrize("bounds", [(0, np.inf, 1), (0, -1e-200, 1e-200), (-1e308, 1e308, 1), (0, 1, np.nan)])
def test_ranges_that_lead_nowhere(bounds: tuple[float, float, float]) -> None:
    with pytest.raises(InvalidArgumentError, match="Range: delta must lead"):
        run("Range", [np.float64(bound) for bound in bounds], Tidx="f64")
