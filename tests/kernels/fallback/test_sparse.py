"""Sparse and ragged tensors against the dense ones that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

DENSE = np.float32([[0, 2, 0, 0], [0, 0, 0, 0], [-3, 0, 4, 5]])


def sparse(dense: np.ndarray) -> list[np.ndarray]:
    places = np.argwhere(dense)
    return [places, dense[tuple(places.T)], np.array(dense.shape)]


def dense(indices: np.ndarray, values: np.ndarray, shape: np.ndarray) -> np.ndarray:
    made = np.zeros(shape, values.dtype)
    for place, value in zip(indices.tolist(), values, strict=True):
        made[tuple(place)] = value
    return made


def whole(parts: list[np.ndarray]) -> list[list[float]]:
    found: list[list[float]] = dense(*parts).tolist()
    return found


def test_order_shape_and_cuts() -> None:
    indices, values, shape = sparse(DENSE)
    back = run("SparseReorder", [indices[::-1], values[::-1], shape], T="f32")
    assert back[0].tolist() == indices.tolist() and back[1].tolist() == values.tolist()
    places, sizes = run("SparseReshape", [indices, shape, np.array([2, -1])])
    assert whole([places, values, sizes]) == DENSE.reshape(2, 6).tolist()
    cut = run("SparseSlice", [indices, values, shape, np.array([1, 1]), np.array([9, 2])], T="f32")
    assert whole(cut) == DENSE[1:, 1:3].tolist()
    joined = run(
        "SparseConcat",
        [indices, indices, values, values, shape, shape],
        T="f32",
        N="i64$2",
        concat_dim="i64$-1",
    )
    assert whole(joined) == np.concatenate([DENSE, DENSE], -1).tolist()


def test_gradients_of_slices_go_to_the_first_of_equal_indices() -> None:
    given, start = np.array([[3], [0], [0], [1]]), np.array([1])

    def gradients(values: list[float], kept: list[int]) -> list[float]:
        places = np.array(kept, np.int64).reshape(-1, 1)
        (made,) = run("SparseSliceGrad", [np.float32(values), given, start, places], T="f32")
        return made.tolist()

    assert gradients([5], [-1]) == [0, 5, 0, 0]
    assert gradients([5, 7], [-1, 0]) == [0, 5, 0, 7]
    with pytest.raises(InvalidArgumentError, match="in order, got 1 of 2"):
        gradients([5, 7], [0, 2])


@pytest.mark.parametrize(
    ("row", "wanted"),
    [([3, np.nan, 1], 1), ([1, np.nan], np.nan), ([np.nan, 1, 2], 2), ([5, 2, 3], 5)],
    ids=str,
)
def test_largest_elements_are_those_behind_what_is_no_number(row: list[float], wanted: float) -> None:
    """As in TensorFlow, in the order of the indices."""
    places = np.array([[0, i] for i in range(len(row))])[::-1]
    inputs = [places, np.float32(row)[::-1], np.array([1, len(row)]), np.int32([1])]
    np.testing.assert_array_equal(run("SparseReduceMax", inputs, T="f32")[0], np.float32([wanted]))


def test_rows_without_elements_are_filled() -> None:
    indices, values, empty, places = run("SparseFillEmptyRows", [*sparse(DENSE), np.float32(9)], T="f32")
    assert indices.tolist() == [[0, 1], [1, 0], [2, 0], [2, 2], [2, 3]]
    assert values.tolist() == [2, 9, -3, 4, 5]
    assert empty.tolist() == [False, True, False] and places.tolist() == [0, 2, 3, 4]


def test_sums_keep_single_elements() -> None:
    other = np.float32([[1, -2.1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 9]])
    made = run("SparseAdd", [*sparse(DENSE), *sparse(other), np.float32(3)], T="f32", Treal="f32")
    assert whole(made) == np.float32([[1, 0, 0, 0], [0, 0, 0, 0], [-3, 0, 4, 14]]).tolist()


@pytest.mark.parametrize("axes", [[0], [-1], [0, 1], []])
@pytest.mark.parametrize("keep", [True, False])
def test_sums_along_axes(axes: list[int], keep: bool) -> None:
    inputs = [*sparse(DENSE), np.array(axes, np.int32)]
    wanted = DENSE.sum(tuple(axes), keepdims=keep)
    made = run("SparseReduceSum", inputs, T="f32", keep_dims=f"bool${keep}".lower())[0]
    np.testing.assert_array_equal(made, wanted)
    parts = run("SparseReduceSumSparse", inputs, T="f32", keep_dims=f"bool${keep}".lower())
    np.testing.assert_array_equal(dense(*parts), wanted)


@pytest.mark.parametrize("adjoint_a", [True, False])
@pytest.mark.parametrize("adjoint_b", [True, False])
def test_products(adjoint_a: bool, adjoint_b: bool) -> None:
    left = DENSE.T if adjoint_a else DENSE
    right = np.arange(left.shape[1] * 2, dtype=np.float32).reshape(-1, 2)
    attributes = {"adjoint_a": f"bool${adjoint_a}".lower(), "adjoint_b": f"bool${adjoint_b}".lower()}
    inputs = [*sparse(DENSE), right.T if adjoint_b else right]
    made = run("SparseTensorDenseMatMul", inputs, T="f32", Tindices="i64", **attributes)[0]
    np.testing.assert_allclose(made, left @ right)


def test_quotients_of_integers() -> None:
    places = np.array([[0], [1], [2]])
    inputs = [places, np.int32([7, -7, 6]), np.array([3])]
    made = run("SparseDenseCwiseDiv", [*inputs, np.int32([2, 2, 3])], T="i32")[0]
    assert made.tolist() == [3, -3, 2]
    with pytest.raises(InvalidArgumentError, match="division by zero"):
        run("SparseDenseCwiseDiv", [*inputs, np.int32([0, 1, 1])], T="i32")


ROWS = [[1, 2], [], [3, 4, 5]]
SPLITS, VALUES = np.array([0, 2, 2, 5]), np.int32([1, 2, 3, 4, 5])


@pytest.mark.parametrize("shape", [[-1, -1], [2, 2], [4, 4], [-1, 2]])
def test_ragged_tensors_as_dense(shape: list[int]) -> None:
    height, width = (3 if shape[0] < 0 else shape[0]), (3 if shape[1] < 0 else shape[1])
    rows = [*ROWS, []][:height]
    wanted = [(row + [9] * width)[:width] for row in rows]
    for kinds, parts in (
        ("list(string)$ROW_SPLITS", [SPLITS]),
        ("list(string)$FIRST_DIM_SIZE,VALUE_ROWIDS", [np.array(3), np.array([0, 0, 2, 2, 2])]),
    ):
        made = run(
            "RaggedTensorToTensor",
            [np.array(shape), VALUES, np.int32(9), *parts],
            **{"T": "i32", "Tindex": "i64", "Tshape": "i64", "row_partition_types": kinds},
            num_row_partition_tensors=f"i64${len(parts)}",
        )[0]
        assert made.tolist() == wanted


def as_dense(shape: list[int], values: list[int], splits: list[int]) -> list:
    (made,) = run(
        "RaggedTensorToTensor",
        [np.array(shape), np.int32(values), np.int32(9), np.array(splits)],
        **{"T": "i32", "Tindex": "i64", "Tshape": "i64", "row_partition_types": "list(string)$ROW_SPLITS"},
        num_row_partition_tensors="i64$1",
    )
    found: list = made.tolist()
    return found


def test_ragged_values_that_are_cut_off_need_not_be_there() -> None:
    assert as_dense([-1, 2], [1, 2, 3, 4], [0, 2, 2, 5]) == [[1, 2], [9, 9], [3, 4]]
    assert as_dense([-1, 2], [1, 2, 3, 4, 5, 6], [0, 2, 2, 5]) == [[1, 2], [9, 9], [3, 4]]
    with pytest.raises(InvalidArgumentError, match="must be of 4 values"):
        as_dense([-1, 3], [1, 2, 3, 4], [0, 2, 2, 5])


@pytest.mark.parametrize("default", [np.int32([]), np.int32([1, 2]), np.int32([[1]])], ids=str)
def test_what_fills_short_rows_must_stretch_to_a_value(default: np.ndarray) -> None:
    kinds = {"T": "i32", "Tindex": "i64", "Tshape": "i64", "row_partition_types": "list(string)$ROW_SPLITS"}
    with pytest.raises(InvalidArgumentError, match=r"default_value must stretch to \[\]"):
        run(
            "RaggedTensorToTensor",
            [np.array([-1, -1]), np.int32([1, 2, 3]), default, np.array([0, 1, 3])],
            **kinds,
            num_row_partition_tensors="i64$1",
        )


def test_no_one_looks_at_the_splits_of_nothing() -> None:
    assert as_dense([-1, -1], [1, 2, 3], [5, 5]) == [[]]
    assert as_dense([-1, -1], [1, 2, 3], [2, 1, 1]) == [[], []]
    with pytest.raises(InvalidArgumentError, match="must rise from 0"):
        as_dense([1, 2], [1, 2, 3], [5, 5])


@pytest.mark.parametrize("binary", [True, False])
def test_whether_values_come_hangs_on_no_weights(binary: bool) -> None:
    given = [np.array([0, 3, 5]), np.int32([0, 1, 1, 2, 2]), np.int32(3), np.float32([1, 2])]
    kinds = {"Tidx": "i32", "T": "f32", "binary_output": f"bool${str(binary).lower()}"}
    if binary:
        assert run("RaggedBincount", given, **kinds)[0].tolist() == [[1, 1, 0], [0, 0, 1]]
        return
    with pytest.raises(InvalidArgumentError, match="weights must be"):
        run("RaggedBincount", given, **kinds)


def test_rows_of_ragged_tensors() -> None:
    splits, values = run(
        "RaggedGather",
        [SPLITS, VALUES, np.array([2, 0, 2])],
        **{"Tvalues": "i32", "Tindices": "i64", "Tsplits": "i64"},
        **{"PARAMS_RAGGED_RANK": "i64$1", "OUTPUT_RAGGED_RANK": "i64$1"},
    )
    assert splits.tolist() == [0, 3, 5, 8] and values.tolist() == [3, 4, 5, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("indices", "values", "shape"),
    [
        (np.array([[3, 0]]), np.float32([1]), np.array([3, 4])),
        (np.array([[-1, 0]]), np.float32([1]), np.array([3, 4])),
        (np.array([[0, 0]]), np.float32([1, 2]), np.array([3, 4])),
        (np.array([[0, 0]]), np.float32([1]), np.array([3])),
        (np.array([[0, 0]]), np.float32([1]), np.array([3, -4])),
        (np.array([[0, 0]]), np.float32([1]), np.array([2**40, 2**40])),
        (np.array(0), np.float32([1]), np.array([3])),
    ],
)
def test_parts_that_do_not_fit(indices: np.ndarray, values: np.ndarray, shape: np.ndarray) -> None:
    with pytest.raises(InvalidArgumentError):
        run("SparseReorder", [indices, values, shape], T="f32")


def test_softmax_gives_elements_in_the_order_of_their_places() -> None:
    places, values = np.array([[0, 1], [2, 2], [1, 3], [2, 2], [2, 0]]), np.array([2.0, -1, 3, -2, 1])
    [found] = run("SparseSoftmax", [places, values, np.array([4, 4])], T="f64")
    powers = np.exp([1.0, -1, -2])
    np.testing.assert_allclose(found, [1, 1, *(powers / powers.sum())], rtol=1e-12)


def test_places_without_axes_name_the_one_there_is() -> None:
    given = [np.zeros((3, 0), np.int64), np.zeros(0, np.int64), np.int32([4, 5, 6]), np.int32(-1)]
    kinds = {"T": "i32", "Tindices": "i64", "validate_indices": "bool$false"}
    assert run("SparseToDense", given, **kinds)[0].tolist() == 6
    given[0], given[2] = given[0][:0], np.int32(4)
    assert run("SparseToDense", given, **kinds)[0].tolist() == -1
