"""Variants that hold ragged tensors, optionals, compressed elements; sums and zeros of lists."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError, UnimplementedError

from .nodes import run

VALUES = np.arange(10, dtype=np.float32).reshape(5, 2)
OUTER, INNER = np.array([0, 2, 2, 3]), np.array([0, 1, 4, 5])


def encoded(splits: list[np.ndarray], batched: bool, values: np.ndarray = VALUES) -> np.ndarray:
    attributes = {"RAGGED_RANK": f"i32${len(splits)}", "Tvalues": "f32", "Tsplits": "i64"}
    batch = f"bool${str(batched).lower()}"
    return run("RaggedTensorToVariant", [*splits, values], **attributes, batched_input=batch)[0]


def decoded(variants: np.ndarray, input_rank: int, output_rank: int) -> list[list]:
    ranks = {"input_ragged_rank": f"i32${input_rank}", "output_ragged_rank": f"i32${output_rank}"}
    found = run("RaggedTensorFromVariant", [variants], **ranks, Tvalues="f32", Tsplits="i64")
    return [value.tolist() for value in found]


@pytest.mark.parametrize("rank", [-1, 1])
def test_rows_of_a_ragged_tensor(rank: int) -> None:
    rows = encoded([OUTER, INNER], batched=True)
    assert rows.shape == (3,)
    assert decoded(rows, rank, 2) == [OUTER.tolist(), INNER.tolist(), VALUES.tolist()]
    assert decoded(rows[2:].reshape(()), 1, 1) == [[0, 1], VALUES[4:].tolist()]


def test_a_ragged_tensor_as_one() -> None:
    whole = encoded([OUTER, INNER], batched=False)
    assert decoded(whole, 2, 2) == [OUTER.tolist(), INNER.tolist(), VALUES.tolist()]


def test_a_batch_of_several_axes() -> None:
    rows = encoded([np.array([0, 1, 2, 2, 3]), INNER], batched=True).reshape(2, 2)
    expected = [[0, 2, 4], [0, 1, 2, 2, 3], INNER.tolist(), VALUES.tolist()]
    assert decoded(rows, -1, 3) == expected


def test_rows_that_are_dense() -> None:
    assert decoded(encoded([INNER], batched=True), 0, 1) == [INNER.tolist(), VALUES.tolist()]
    assert decoded(encoded([], batched=True), -1, 0) == [VALUES.tolist()]


def test_gradients_of_rows() -> None:
    inputs = [encoded([INNER], batched=True), INNER, np.array([5, 2], np.int32)]
    (found,) = run("RaggedTensorToVariantGradient", inputs, Tvalues="f32", Tsplits="i64")
    np.testing.assert_array_equal(found, VALUES)
    with pytest.raises(InvalidArgumentError, match=r"values for \[4, 2\]"):
        inputs[2] = np.array([4, 2], np.int32)
        run("RaggedTensorToVariantGradient", inputs, Tvalues="f32", Tsplits="i64")


@pytest.mark.parametrize("splits", [[0, 4], [1, 5], [0, 3, 2, 5], [], [0, -1, 5], [0, 2**40, 5]], ids=str)
def test_row_splits_must_rise_to_the_number_of_values(splits: list[int]) -> None:
    with pytest.raises(InvalidArgumentError, match="row splits must rise from 0 to 5"):
        encoded([np.array(splits, np.int64)], batched=True)


def test_ranks_must_agree() -> None:
    rows = encoded([OUTER, INNER], batched=True)
    with pytest.raises(InvalidArgumentError, match="output_ragged_rank must be 2, got 3"):
        decoded(rows, 1, 3)
    with pytest.raises(InvalidArgumentError, match="rows must have ragged rank 0, got 1"):
        decoded(rows, 0, 1)


def test_optionals() -> None:
    types = {"output_types": "list(type)$f32,f32", "output_shapes": "list(shape)$?;?"}
    some = run("OptionalFromValue", [VALUES, VALUES[0]], Toutput_types="list(type)$f32,f32")[0]
    none = run("OptionalNone", [])[0]
    assert [bool(run("OptionalHasValue", [x])[0]) for x in (some, none)] == [True, False]
    assert [x.shape for x in run("OptionalGetValue", [some], **types)] == [(5, 2), (2,)]
    with pytest.raises(InvalidArgumentError, match="must have a value"):
        run("OptionalGetValue", [none], **types)
    with pytest.raises(InvalidArgumentError, match="components must be"):
        run("OptionalGetValue", [some], output_types="list(type)$f32", output_shapes="list(shape)$?")


def test_compressed_elements() -> None:
    packed = run("CompressElement", [VALUES], input_types="list(type)$f32")[0]
    types = {"output_types": "list(type)$f32", "output_shapes": "list(shape)$?"}
    np.testing.assert_array_equal(run("UncompressElement", [packed], **types)[0], VALUES)


def listed(*rows: np.ndarray | None) -> np.ndarray:
    """A list of floats, some of which were never set."""
    attributes = {"element_dtype": "f32", "shape_type": "i32"}
    handle = run("TensorListReserve", [np.int32(-1), np.int32(len(rows))], **attributes)[0]
    for i, row in enumerate(rows):
        if row is not None:
            handle = run("TensorListSetItem", [handle, np.int32(i), row], element_dtype="f32")[0]
    return handle


def stacked(handle: np.ndarray) -> list:
    return run("TensorListStack", [handle, np.array([2], np.int32)], element_dtype="f32")[0].tolist()


def test_sums_and_zeros_of_lists() -> None:
    a, b = listed(VALUES[0], VALUES[1], None), listed(VALUES[2], None, None)
    total = run("AddN", [a, b, a], N="i32$3", T="variant")[0]
    assert stacked(total) == [[4, 7], [4, 6], [0, 0]]
    zeros = run("ZerosLike", [a], T="variant")[0]
    assert stacked(zeros) == [[0, 0]] * 3
    with pytest.raises(InvalidArgumentError, match="one type and length, got 3 and 1"):
        run("AddN", [a, listed(None)], N="i32$2", T="variant")
    with pytest.raises(UnimplementedError, match="must hold a list"):
        run("ZerosLike", [run("OptionalNone", [])[0]], T="variant")


def test_ops_one_after_another() -> None:
    attributes = {"T": "f32", "op_names": "list(string)$Square,Neg"}
    np.testing.assert_array_equal(run("_UnaryOpsComposition", [VALUES], **attributes)[0], -(VALUES**2))
    with pytest.raises(InvalidArgumentError, match="must be elementwise ops, got \\['MatMul'\\]"):
        run("_UnaryOpsComposition", [VALUES], T="f32", op_names="list(string)$MatMul")


def test_memory() -> None:
    assert run("Empty", [np.array([2, 0], np.int32)], dtype="f32")[0].shape == (2, 0)
    copy = run("DeepCopy", [VALUES], T="f32")[0]
    assert not np.shares_memory(copy, VALUES)
    np.testing.assert_array_equal(copy, VALUES)
    with pytest.raises(InvalidArgumentError, match="must not be negative"):
        run("Empty", [np.array([-1], np.int32)], dtype="f32")
