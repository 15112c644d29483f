"""Splits, and groups of sparse tensors, that do not ascend: they are gone through as TensorFlow does."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

OUT_OF_ORDER = np.array([[1, 0], [0, 1], [1, 1]])
SHAPE = np.array([3, 4])


def gathered(splits: list[int]) -> list[list[int]]:
    found = run(
        "RaggedGather",
        [np.array(splits), np.int32([5, 6, 7]), np.array([1, 0])],
        **{"Tvalues": "i32", "Tindices": "i64", "Tsplits": "i64"},
        **{"PARAMS_RAGGED_RANK": "i64$1", "OUTPUT_RAGGED_RANK": "i64$1"},
    )
    return [part.tolist() for part in found]


def test_rows_may_begin_late() -> None:
    assert gathered([1, 2, 2]) == [[0, 0, 1], [6]]
    assert gathered([2, 2, 2]) == [[0, 0, 0], []]
    for splits in ([-1, 1, 2], [0, 2, 1], [0, 1, 4]):
        with pytest.raises(InvalidArgumentError, match="splits must not fall"):
            gathered(splits)


def counted(splits: list[int], values: list[int], most: int) -> list[list]:
    kinds = {"T": "i32", "output_type": "i64", "maxlength": f"i64${most}", "binary_output": "bool$false"}
    given = [np.array(splits), np.array(values, np.int32), np.zeros(0, np.int64)]
    return [part.tolist() for part in run("RaggedCountSparseOutput", given, **kinds)]


def test_values_of_splits_that_fall() -> None:
    splits, values = [0, 0, 3, 0, 5], [1, 3, 1, 1, 3]
    assert counted(splits, values, -1) == [[[1, 1], [1, 3], [3, 1], [3, 3]], [2, 1, 1, 1], [4, 4]]
    given = [np.array([0, 3, 2, 5]), np.int32(values), np.int32(4), np.zeros(0, np.int64)]
    (found,) = run("RaggedBincount", given, Tidx="i32", T="i64", binary_output="bool$false")
    assert found.tolist() == [[0, 2, 0, 1], [0, 0, 0, 0], [0, 1, 0, 1]]
    with pytest.raises(InvalidArgumentError, match="must go from 0 to 5"):
        counted([0, 3, 2, 4], values, -1)


def test_counts_of_nothing_are_one_wide() -> None:
    assert counted([0, 3, 0], [], -1) == [[], [], [2, 1]]
    assert counted([0, 3, 0], [], 0) == [[], [], [2, 0]]


@pytest.mark.parametrize(
    ("other", "values", "operation", "wanted"),
    [
        ([[0, 0], [1, 1]], [6, 5], "union", [[[0, 0], [1, 0], [0, 0], [1, 0]], [6, 5, 6, 7], [3, 1]]),
        ([[1, 0], [2, 1]], [6, 5], "a-b", [[[1, 0], [0, 0], [1, 0]], [5, 6, 7], [3, 1]]),
        ([[2, 0], [0, 1]], [6, 5], "b-a", [[[2, 0], [0, 0]], [6, 5], [3, 1]]),
    ],
)
def test_sets_of_sparse_tensors(
    other: list[list[int]], values: list[int], operation: str, wanted: list[list]
) -> None:
    given = [OUT_OF_ORDER, np.array([5, 6, 7]), SHAPE, np.array(other), np.array(values), SHAPE]
    found = run("SparseToSparseSetOperation", given, T="i64", set_operation=f"string${operation}")
    assert [part.tolist() for part in found] == wanted


def test_sets_beside_dense_ones() -> None:
    dense = np.array([[1, 2, 3], [2, 3, 3], [5, 6, 7]])
    given = [dense, OUT_OF_ORDER, np.array([2, 8, 7]), SHAPE]
    indices, values, shape = run("DenseToSparseSetOperation", given, T="i64", set_operation="string$a-b")
    assert values.tolist() == [1, 2, 3, 3, 5, 6, 7] and shape.tolist() == [3, 3]
    assert indices[:, 0].tolist() == [0, 0, 0, 1, 2, 2, 2]


def test_the_last_elements_of_a_set_are_its_size() -> None:
    places = np.array([[1, 1], [1, 0], [0, 1], [1, 0], [1, 0], [1, 1]])
    given = [places, np.array([1, 2, 3, 3, 4, 5]), SHAPE]
    assert run("SetSize", given, T="i64")[0].tolist() == [1, 3, 0]


@pytest.mark.parametrize(
    ("bounds", "splits", "values"),
    [
        ([0, 0.3, 0.1], [0, 3], [0, 0.1, 0.2]),
        ([np.inf, 0, 1], [0, 0], []),
        ([[0, -np.inf, 3], 3, [2, -1, np.inf]], [0, 2, 2, 2], [0, 2]),
    ],
)
def test_ranges_of_floats_are_as_long_as_division_in_their_type_says(
    bounds: list, splits: list[int], values: list[float]
) -> None:
    found = run("RaggedRange", [np.float32(bound) for bound in bounds], T="f32", Tsplits="i64")
    assert found[0].tolist() == splits
    np.testing.assert_array_equal(found[1], np.float32(values))


def test_ranges_of_floats_add_step_by_step_as_tensorflow_does() -> None:
    bounds = [np.float32(bound) for bound in (0, 100000, 0.1)]
    _, values = run("RaggedRange", bounds, T="f32", Tsplits="i64")
    assert len(values) == 1000000
    assert values[-1] == np.float32(100958.24)


def test_ranges_of_integers_that_no_float_holds() -> None:
    bounds = [np.array(bound) for bound in (0, 2**53 + 1, 2**52)]
    assert run("RaggedRange", bounds, T="i64", Tsplits="i64")[1].tolist() == [0, 2**52, 2**53]


@pytest.mark.parametrize("bounds", [[0, np.inf, 1], [np.nan, 1, 1], [0, 1, np.nan], [[0], [1, 2], 1]])
def test_ranges_without_end_or_of_two_lengths(bounds: list) -> None:
    with pytest.raises(InvalidArgumentError, match=r"RaggedRange: (no steps of|starts, limits and deltas)"):
        run("RaggedRange", [np.float32(bound) for bound in bounds], T="f32", Tsplits="i64")
