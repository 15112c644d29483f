"""Reductions over segments against loops over their rows."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError, ResourceExhaustedError

from .nodes import run

NAN = float("nan")
DATA = np.float32([[1, -2], [3, 5], [-4, 0.5], [7, 7]])
COMBINE = {
    "Sum": lambda rows: rows.sum(0),
    "Prod": lambda rows: rows.prod(0),
    "Max": lambda rows: rows.max(0),
    "Min": lambda rows: rows.min(0),
    "Mean": lambda rows: rows.mean(0),
}


@pytest.mark.parametrize("how", COMBINE)
def test_rising_segments(how: str) -> None:
    found = run(f"Segment{how}", [DATA, np.int32([0, 0, 2, 2])], T="f32", Tindices="i32")[0]
    np.testing.assert_allclose(found[0], COMBINE[how](DATA[:2]), rtol=1e-6)
    np.testing.assert_allclose(found[2], COMBINE[how](DATA[2:]), rtol=1e-6)
    assert found[1].tolist() == [1 if how == "Prod" else 0] * 2


LIMITS = np.finfo(np.float32)
EMPTY = {"Sum": 0.0, "Prod": 1.0, "Max": float(LIMITS.min), "Min": float(LIMITS.max)}


@pytest.mark.parametrize("how", EMPTY)
def test_segments_in_any_order(how: str) -> None:
    inputs = [DATA, np.int32([2, 0, -1, 2]), np.int32(4)]
    found = run(f"UnsortedSegment{how}", inputs, T="f32", Tindices="i32", Tnumsegments="i32")[0]
    np.testing.assert_allclose(found[2], COMBINE[how](DATA[[0, 3]]), rtol=1e-6)
    assert found[0].tolist() == DATA[1].tolist()
    assert found[1].tolist() == found[3].tolist() == [EMPTY[how]] * 2


@pytest.mark.parametrize(
    ("values", "largest"),
    [([NAN, 1], 1), ([1, NAN], NAN), ([3, NAN, 2, 0], 2), ([3, NAN, -7], -7), ([NAN, NAN], NAN)],
)
def test_a_nan_makes_forget_what_was_before(values: list[float], largest: float) -> None:
    ids = np.zeros(len(values), np.int32)
    found = run("SegmentMax", [np.float32(values), ids], T="f32", Tindices="i32")[0]
    np.testing.assert_array_equal(found, np.float32([largest]))


@pytest.mark.parametrize("ids", [[1, 0, 0, 0], [-1, 0, 0, 0], [0, 0]])
def test_ids_that_do_not_rise_or_fit(ids: list[int]) -> None:
    with pytest.raises(InvalidArgumentError):
        run("SegmentSum", [DATA, np.int32(ids)], T="f32", Tindices="i32")


def test_ids_outside() -> None:
    with pytest.raises(InvalidArgumentError, match="below num_segments 2, got 3"):
        run(
            "UnsortedSegmentSum",
            [DATA, np.int32([0, 3, 0, 0]), np.int32(2)],
            T="f32",
            Tindices="i32",
            Tnumsegments="i32",
        )
    with pytest.raises(ResourceExhaustedError):
        run("SegmentSum", [DATA[:1], np.array([2**50])], T="f32", Tindices="i64")


@pytest.mark.parametrize("ids", [np.int32(1), np.int32([[0, 2], [1, 1]])])
def test_unsorted_segments_of_no_elements(ids: np.ndarray) -> None:
    types = {"T": "f32", "Tindices": "i32", "Tnumsegments": "i32"}
    data = np.zeros((*ids.shape, 0), np.float32)
    assert run("UnsortedSegmentMax", [data, ids, np.int32(3)], **types)[0].shape == (3, 0)


@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
def test_infinities_are_extremes_of_rising_segments_only(kind: str) -> None:
    data, ids = (
        np.array([-np.inf, -np.inf, np.inf, np.inf], kind.replace("f", "float")),
        np.int32([0, 0, 1, 1]),
    )
    for how in ("Max", "Min"):
        assert run(f"Segment{how}", [data, ids], T=kind, Tindices="i32")[0].tolist() == [-np.inf, np.inf]
    most = float(np.finfo(data.dtype).max)
    found = [
        run(f"UnsortedSegment{how}", [data, ids, np.int32(3)], T=kind, Tindices="i32", Tnumsegments="i32")[0]
        for how in ("Max", "Min")
    ]
    assert found[0].tolist() == [-most, np.inf, -most] and found[1].tolist() == [-np.inf, most, most]


@pytest.mark.parametrize(("dtype", "packet"), [(np.float16, 8), (np.float32, 8), (np.float64, 4)])
@pytest.mark.parametrize(("op", "endless"), [("SegmentMax", -np.inf), ("SegmentMin", np.inf)])
def test_whole_packets_pass_over_a_nan(op: str, endless: float, dtype: type, packet: int) -> None:
    """But not where it is in a segment's only row; TensorFlow 2.21's values."""
    column, ids = np.array([1, NAN, NAN, NAN, 2, NAN, NAN], dtype), np.int32([0, 0, 1, 1, 2, 2, 3])
    data = np.repeat(column[:, None], packet + 1, axis=1)
    [y] = run(op, [data, ids], T=f"f{8 * np.dtype(dtype).itemsize}", Tindices="i32")
    np.testing.assert_array_equal(y[:, :packet], np.array([[1], [endless], [2], [NAN]]) * np.ones(packet))
    assert np.isnan(y[:, packet]).all()
