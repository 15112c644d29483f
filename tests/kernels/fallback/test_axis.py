"""Axes and vectors of sizes, however long they say to be."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.axis import axes_of, integers, vector
from numlite.kernels.fallback.reverse import roll
from numlite.kernels.fallback.status import InvalidArgumentError, ResourceExhaustedError

from .nodes import run


def repeated(count: int) -> np.ndarray:
    """One number that takes no memory, however often it is there."""
    return np.broadcast_to(np.int32(1), count)


def test_more_axes_than_there_are() -> None:
    with pytest.raises(InvalidArgumentError, match="axis must be at most 3 different ones, got 1,073"):
        axes_of(repeated(1 << 30), 3)
    assert axes_of(np.array([-1, 0]), 3) == (2, 0)


@pytest.mark.parametrize("read", [integers, vector])
def test_vectors_of_billions(read: object) -> None:
    assert callable(read)
    with pytest.raises(ResourceExhaustedError, match="sizes must be at most 16,777,216 numbers"):
        read(repeated(1 << 31), "sizes")
    assert read(repeated(3), "sizes") == (1, 1, 1)


def test_a_roll_along_an_axis_that_is_named_again_and_again() -> None:
    x = np.arange(12).reshape(3, 4)
    shifts, axes = np.array([1, 2, 5, -1]), np.array([0, 1, 1, 0])
    assert np.array_equal(roll(x, shifts, axes), np.roll(x, 7, 1))
    assert np.array_equal(roll(x, repeated(1 << 16), np.broadcast_to(np.int32(0), 1 << 16)), np.roll(x, 1, 0))


WINDOW = {"strides": "list(i64)$1,1,1,1", "padding": "string$VALID"}
FLOATS, PLACES = (np.zeros((2, 3, 0), np.float32), np.zeros((2, 5), np.int32))


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "shape"),
    [
        ("DynamicPartition", [FLOATS, np.zeros((2, 3), np.int32)], {"num_partitions": "i32$1"}, (6, 0)),
        ("MatrixDiagPartV3", [FLOATS, np.int32([-2, 0]), np.float32(9)], {}, (2, 3, 0)),
        ("GatherV2", [FLOATS, PLACES, np.int32(1)], {"batch_dims": "i32$1"}, (2, 5, 0)),
        (
            "Conv",
            [np.zeros((2, 0, 0, 2), np.float32), np.ones((1, 1, 2, 3), np.float32)],
            WINDOW,
            (2, 0, 0, 3),
        ),
        ("UnsortedSegmentJoin", [np.zeros((3, 0), object), np.zeros(3, np.int32), np.int32(2)], {}, (2, 0)),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_axes_are_flattened_beside_empty_ones(
    op: str, inputs: list[np.ndarray], attributes: dict[str, str], shape: tuple[int, ...]
) -> None:
    types = {"T": "f32", "Tparams": "f32", "Taxis": "i32", "Tindices": "i32", "Tnumsegments": "i32"}
    assert run(op, inputs, **types, **attributes)[0].shape == shape


@pytest.mark.parametrize(("op", "axis"), [("Gather", 0), ("GatherV2", 0), ("GatherV2", 1)])
def test_indices_do_not_matter_where_nothing_is_taken(op: str, axis: int) -> None:
    shape = (2, 2)[:axis]
    inputs = [np.zeros((*shape, 2, 0), np.float32), np.full((*shape, 2), 7, np.int32), np.int32(axis)]
    batch_dims = {"batch_dims": f"i32${axis}"} if axis else {}
    inputs = inputs[: 2 if op == "Gather" else 3]
    assert run(op, inputs, Tparams="f32", Tindices="i32", Taxis="i32", **batch_dims)[0].shape == (
        *shape,
        2,
        0,
    )
    inputs[0] = np.zeros((*shape, 2, 1), np.float32)
    with pytest.raises(InvalidArgumentError, match="not in"):
        run(op, inputs, Tparams="f32", Tindices="i32", Taxis="i32", **batch_dims)


def test_rows_of_isotonic_regression_may_be_empty() -> None:
    for shape in ((3, 0), (0, 3), (2, 0, 3)):
        y, pools = run("IsotonicRegression", [np.zeros(shape, np.float32)], T="f32", output_dtype="f32")
        assert y.shape == pools.shape == shape
