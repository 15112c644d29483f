"""Lists of tensors: what they hold, as one tensor and back, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

FLOAT = {"element_dtype": "f32"}
SHAPED = {**FLOAT, "shape_type": "i32"}
X = np.arange(12, dtype=np.float32).reshape(4, 3)
ANY = np.int32(-1)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def one(op: str, *inputs: object, **attributes: str) -> np.ndarray:
    return run(op, inputs, **attributes)[0]


def listed(x: np.ndarray = X) -> np.ndarray:
    return one("TensorListFromTensor", x, ints(*x.shape[1:]), **SHAPED)


def reserved(count: int, shape: np.ndarray = ANY) -> np.ndarray:
    return one("TensorListReserve", shape, np.int32(count), **SHAPED)


def stacked(handle: np.ndarray, shape: np.ndarray = ANY) -> np.ndarray:
    return one("TensorListStack", handle, shape, **FLOAT)


def length(handle: np.ndarray) -> int:
    return int(one("TensorListLength", handle))


def test_a_tensor_as_a_list_and_back() -> None:
    np.testing.assert_array_equal(stacked(listed()), X)
    np.testing.assert_array_equal(one("TensorListGetItem", listed(), np.int32(2), ANY, **FLOAT), X[2])
    np.testing.assert_array_equal(
        one("TensorListGather", listed(), ints(3, 0, 3), ANY, **FLOAT), X[[3, 0, 3]]
    )
    assert one("TensorListElementShape", listed(), shape_type="i64").tolist() == [3]
    assert one("TensorListElementShape", reserved(1), shape_type="i32") == -1


def test_changing_a_list_makes_another() -> None:
    first = listed()
    second = one("TensorListSetItem", first, np.int32(1), np.float32([7, 8, 9]), **FLOAT)
    third = one("TensorListPushBack", second, np.float32([0, 0, 1]), **FLOAT)
    fourth, last = run("TensorListPopBack", [first, ANY], **FLOAT)
    np.testing.assert_array_equal(stacked(first), X)
    np.testing.assert_array_equal(stacked(second), [X[0], [7, 8, 9], X[2], X[3]])
    assert [length(x) for x in (second, third, fourth)] == [4, 5, 3]
    np.testing.assert_array_equal(last, X[3])


def test_elements_that_were_never_set_are_zeros() -> None:
    handle = one("TensorListSetItem", reserved(3), np.int32(1), np.float32([7, 8]), **FLOAT)
    np.testing.assert_array_equal(stacked(handle), [[0, 0], [7, 8], [0, 0]])
    np.testing.assert_array_equal(one("TensorListGetItem", handle, np.int32(0), ANY, **FLOAT), [0, 0])
    longer = one("TensorListResize", handle, np.int32(4))
    np.testing.assert_array_equal(stacked(longer), [[0, 0], [7, 8], [0, 0], [0, 0]])
    shorter = one("TensorListResize", handle, np.int32(1))
    np.testing.assert_array_equal(stacked(shorter, ints(2)), [[0, 0]])


def test_strings_that_were_never_set_are_empty() -> None:
    attributes = {"element_dtype": "string", "shape_type": "i32"}
    handle = one("TensorListReserve", ints(2), np.int32(1), **attributes)
    found = one("TensorListStack", handle, ints(2), element_dtype="string")
    assert found.tolist() == [[b"", b""]]


def test_setting_behind_the_end_makes_it_longer_where_that_is_allowed() -> None:
    item = np.float32([1, 2, 3])
    longer = one(
        "TensorListSetItem", listed(), np.int32(5), item, **FLOAT, resize_if_index_out_of_bounds="bool$true"
    )
    np.testing.assert_array_equal(stacked(longer), [*X, [0, 0, 0], item])
    with pytest.raises(InvalidArgumentError, match="index must be 0 to 3, got 5"):
        one("TensorListSetItem", listed(), np.int32(5), item, **FLOAT)


def test_scattering_rows() -> None:
    handle = one("TensorListScatter", X[:2], ints(2, 0), ints(3), **SHAPED)
    np.testing.assert_array_equal(stacked(handle), [X[1], [0, 0, 0], X[0]])
    more = one("TensorListScatterIntoExistingList", handle, X[2:], ints(1, 4), **FLOAT)
    np.testing.assert_array_equal(stacked(more), [X[1], X[2], X[0], [0, 0, 0], X[3]])
    wide = one("TensorListScatterV2", X[:1], ints(1), ints(3), np.int32(3), **SHAPED)
    assert length(wide) == 3


@pytest.mark.parametrize("lengths", [[2, 0, 2], [4], [1, 3]])
def test_splitting_and_concatenating(lengths: list[int]) -> None:
    counts = np.array(lengths, np.int64)
    handle = one("TensorListSplit", X, ints(-1, 3), counts, **SHAPED)
    for found in (
        run("TensorListConcat", [handle], **FLOAT),
        run("TensorListConcatV2", [handle, ANY, np.zeros(0, np.int64)], **SHAPED),
    ):
        np.testing.assert_array_equal(found[0], X)
        assert found[1].tolist() == lengths and found[1].dtype == np.int64


def test_lengths_of_elements_that_were_never_set() -> None:
    handle = one("TensorListSetItem", reserved(2), np.int32(1), X, **FLOAT)
    found, lengths = run("TensorListConcatV2", [handle, ANY, np.array([2], np.int64)], **SHAPED)
    np.testing.assert_array_equal(found, [[0, 0, 0], [0, 0, 0], *X])
    assert lengths.tolist() == [2, 4]


def test_lists_in_tensors() -> None:
    handles = np.empty(2, object)
    handles[:] = [listed()[()], listed(X[:1])[()]]
    pushed = one("TensorListPushBackBatch", handles, X[:2], **FLOAT)
    assert [length(pushed[i : i + 1].reshape(())) for i in range(2)] == [5, 2]
    joined = one("TensorListConcatLists", handles, pushed, **FLOAT)
    np.testing.assert_array_equal(stacked(joined[1:].reshape(())), [X[0], X[0], X[1]])


def test_a_list_may_be_full() -> None:
    handle = one("EmptyTensorList", ANY, np.int32(1), **SHAPED)
    full = one("TensorListPushBack", handle, X, **FLOAT)
    with pytest.raises(InvalidArgumentError, match="at most 1 elements"):
        one("TensorListPushBack", full, X, **FLOAT)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "message"),
    [
        ("TensorListGetItem", [listed(), np.int32(-1), ANY], FLOAT, "index must be 0 to 3, got -1"),
        (
            "TensorListGetItem",
            [listed(), np.int32(0), ANY],
            {"element_dtype": "i32"},
            "must be int32, got float",
        ),
        ("TensorListGetItem", [reserved(2), np.int32(0), ANY], FLOAT, "shape that is known"),
        (
            "TensorListGetItem",
            [reserved(2), np.int32(0), np.int32(3)],
            FLOAT,
            "scalar element_shape must be -1",
        ),
        (
            "TensorListSetItem",
            [listed(), np.int32(0), X],
            FLOAT,
            r"elements must be like \[3\], got \[4, 3\]",
        ),
        ("TensorListPopBack", [listed(X[:0]), ANY], FLOAT, "must have an element"),
        ("TensorListStack", [listed(), ints(4)], FLOAT, r"shapes must agree, got \[3\] and \[4\]"),
        (
            "TensorListStack",
            [listed(), ANY],
            {**FLOAT, "num_elements": "i32$3"},
            "must have 3 elements, got 4",
        ),
        ("TensorListGather", [listed(), ints(0, 4), ANY], FLOAT, "indices must be 0 to 3, got 4"),
        ("TensorListFromTensor", [np.float32(1), ANY], SHAPED, "first axis"),
        ("TensorListReserve", [ANY, np.int32(-1)], SHAPED, "num_elements must be 0 to"),
        ("TensorListReserve", [ANY, np.int32(2**31 - 1)], SHAPED, "num_elements must be 0 to"),
        ("TensorListResize", [listed(), np.int32(-1)], {}, "size must be 0 to"),
        ("TensorListScatter", [X, ints(0, 1), ints(3)], SHAPED, "an index a row"),
        ("TensorListScatter", [X[:1], ints(-1), ints(3)], SHAPED, "must not be negative"),
        ("TensorListScatterV2", [X[:1], ints(3), ints(3), np.int32(2)], SHAPED, "indices must be under 2"),
        ("TensorListSplit", [X, ints(-1, 3), np.array([3], np.int64)], SHAPED, "4 together"),
        ("TensorListSplit", [X, ints(-1, 3), np.array([5, -1], np.int64)], SHAPED, "must not be negative"),
        ("TensorListConcat", [listed(X[:, 0])], FLOAT, "must have a first axis"),
        ("TensorListLength", [np.array(None, object)], {}, "must hold a TensorList"),
    ],
)
def test_wrong_inputs(op: str, inputs: list[object], attributes: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        run(op, inputs, **attributes)


def test_a_list_of_great_elements_that_were_never_set_is_refused() -> None:
    handle = reserved(1 << 20, ints(1 << 20, 1 << 10))
    with pytest.raises(RuntimeError, match="does not fit in memory"):
        stacked(handle)
