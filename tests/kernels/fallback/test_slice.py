"""Parts of tensors against Python's own slices."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run, strings

X = np.arange(60, dtype=np.int32).reshape(3, 4, 5)


def strided(x: np.ndarray, begin: list[int], end: list[int], strides: list[int], **masks: int) -> np.ndarray:
    places = [np.array(values, np.int32) for values in (begin, end, strides)]
    type = "string" if x.dtype.kind == "O" else "i32"
    return run(
        "StridedSlice", [x, *places], T=type, Index="i32", **{k: f"i64${v}" for k, v in masks.items()}
    )[0]


@pytest.mark.parametrize("seed", range(40))
def test_strided_slices_are_pythons(seed: int) -> None:
    draw = random.Random(seed)
    entries = [[draw.randint(-7, 7), draw.randint(-7, 7), draw.choice((1, 2, -1, -3))] for _ in range(3)]
    begin_mask, end_mask = draw.randrange(8), draw.randrange(8)
    index = tuple(
        slice(None if begin_mask >> i & 1 else b, None if end_mask >> i & 1 else e, s)
        for i, (b, e, s) in enumerate(entries)
    )
    found = strided(X, *map(list, zip(*entries, strict=True)), begin_mask=begin_mask, end_mask=end_mask)
    np.testing.assert_array_equal(found, X[index])


def test_masks_of_axes() -> None:
    np.testing.assert_array_equal(strided(X, [0, 0], [0, 1], [1, 1], ellipsis_mask=1), X[..., 0:1])
    np.testing.assert_array_equal(strided(X, [0, 1], [0, 2], [1, 1], new_axis_mask=1), X[None, 1:2])
    np.testing.assert_array_equal(strided(X, [-1, 1], [0, 2], [1, 1], shrink_axis_mask=3), X[-1, 1])


def test_one_element_is_taken_whatever_the_other_masks_say() -> None:
    np.testing.assert_array_equal(
        strided(X, [2], [0], [1], shrink_axis_mask=1, begin_mask=1, end_mask=1), X[2]
    )


def test_any_value_fits_a_slice_of_nothing() -> None:
    x, places = np.ones((4, 1, 6), np.float32), [np.array([1, 1], np.int32)] * 2
    value = np.zeros((5, 2, 1), np.float32)
    (y,) = run(
        "TensorStridedSliceUpdate", [x, *places, np.array([1, 1], np.int32), value], T="f32", Index="i32"
    )
    np.testing.assert_array_equal(y, x)


def test_one_string() -> None:
    assert strided(strings([b"a", b"b"]), [1], [2], [1], shrink_axis_mask=1)[()] == b"b"


@pytest.mark.parametrize(
    ("entry", "masks", "message"),
    [
        (([0], [1], [0]), {}, r"strides\[0\] must be non-zero"),
        (([3], [4], [1]), {"shrink_axis_mask": 1}, "slice index 3 of dimension 0 out of bounds"),
        (([0], [1], [-1]), {"shrink_axis_mask": 1}, "only stride 1 allowed"),
        (([0, 0], [1], [1]), {}, "must have one length, got 2, 1, 1"),
        (([0] * 4, [1] * 4, [1] * 4), {}, "must index at most 3 axes, got 4"),
        (([0] * 2, [1] * 2, [1] * 2), {"ellipsis_mask": 3}, "multiple ellipses"),
    ],
)
def test_entries_that_cannot_be(entry: tuple[list[int], ...], masks: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        strided(X, *entry, **masks)


def test_the_gradient_is_of_the_slices_shape() -> None:
    shape, begin, end, strides = (np.array(v, np.int32) for v in ([6], [4], [0], [-2]))
    made = run("StridedSliceGrad", [shape, begin, end, strides, np.float32([1, 2])], T="f32", Index="i32")[0]
    assert made.tolist() == [0, 0, 2, 0, 1, 0]
    with pytest.raises(InvalidArgumentError, match=r"dy must be \[2\], got \[\]"):
        run("StridedSliceGrad", [shape, begin, end, strides, np.float32(1)], T="f32", Index="i32")


@pytest.mark.parametrize(
    ("begin", "size"), [([0], [4]), ([-1], [1]), ([4], [0]), ([0], [-2]), ([0, 0], [1, 1])]
)
def test_slices_outside_are_refused(begin: list[int], size: list[int]) -> None:
    with pytest.raises(InvalidArgumentError):
        run("Slice", [np.zeros(3, np.float32), np.int32(begin), np.int32(size)], T="f32", Index="i32")


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_sizes_of_pieces_have_three_types(dtype: type) -> None:
    """The sum of them is no int8."""
    x, sizes = np.arange(300, dtype=np.float32), np.array([100, 127, -1], dtype)
    pieces = run("SplitV", [x, sizes, np.int32(0)], T="f32", Tlen=f"i{8 * sizes.itemsize}", num_split="i64$3")
    assert [len(piece) for piece in pieces] == [100, 127, 73]
    assert np.array_equal(np.concatenate(pieces), x)
