"""Updates at places that indices name, one after another."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run, strings

NAN = float("nan")
TENSOR = np.float32([[1, 2], [3, 4], [5, 6]])
PLACES, UPDATES = np.int32([[2], [0], [2]]), np.float32([[10, -10], [7, 7], [-1, 20]])
COMBINE = {
    "Update": lambda held, new: new,
    "Add": np.add,
    "Sub": np.subtract,
    "Max": np.maximum,
    "Min": np.minimum,
}


@pytest.mark.parametrize("how", COMBINE)
def test_updates_in_order(how: str) -> None:
    wanted = TENSOR.copy()
    for (row,), update in zip(PLACES, UPDATES, strict=True):
        wanted[row] = COMBINE[how](wanted[row], update)
    found = run(f"TensorScatter{how}", [TENSOR, PLACES, UPDATES], T="f32", Tindices="i32")[0]
    assert found.tolist() == wanted.tolist()
    assert TENSOR[2].tolist() == [5, 6]


@pytest.mark.parametrize(("held", "new", "kept"), [(1, NAN, 1), (NAN, 1, NAN), (NAN, NAN, NAN)])
@pytest.mark.parametrize("how", ["Max", "Min"])
def test_a_nan_never_replaces_and_never_leaves(how: str, held: float, new: float, kept: float) -> None:
    inputs = [np.float32([held]), np.int32([[0]]), np.float32([new])]
    found = run(f"TensorScatter{how}", inputs, T="f32", Tindices="i32")[0]
    np.testing.assert_array_equal(found, np.float32([kept]))


def test_strings_are_joined_and_bools_are_ored() -> None:
    places = np.int32([[1], [1]])
    made = run("ScatterNd", [places, strings([b"a", b"b"]), np.int32([3])], T="string", Tindices="i32")[0]
    assert made.tolist() == [b"", b"ab", b""]
    inputs = [np.array([False, False]), places, np.array([True, False])]
    assert run("ScatterNdNonAliasingAdd", inputs, T="i1", Tindices="i32")[0].tolist() == [False, True]


@pytest.mark.parametrize(
    ("places", "updates"),
    [
        ([[3]], [[1, 1]]),
        ([[-1]], [[1, 1]]),
        ([[0, 0, 0]], [1]),
        ([[0]], [[1, 1, 1]]),
        ([[0]], [1, 1]),
        (0, [1, 1]),
        ([[]], [[[1, 2], [3, 4], [5, 6]]]),
    ],
)
def test_places_and_updates_that_do_not_fit(places: object, updates: object) -> None:
    inputs = [TENSOR, np.array(places, np.int32), np.float32(updates)]  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError):
        run("TensorScatterAdd", inputs, T="f32", Tindices="i32")
