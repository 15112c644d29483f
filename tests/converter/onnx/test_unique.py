"""Unique against NumPy: numbers, texts, truth, and slices along an axis."""

from __future__ import annotations

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter
from numlite.lite.errors import UnsupportedError

from ...onnx_builder import model, node, value

RANDOM = np.random.default_rng(8)
NAMES = ["y", "first", "inverse", "counts"]
SOME = {
    "numbers": RANDOM.integers(-3, 3, 12).astype(np.float32),
    "NaN": np.array([np.nan, 1, np.inf, np.nan, -np.inf, 1], np.float32),
    "int64": RANDOM.integers(-2, 3, (3, 4)) * 2**40,
    "truth": np.array([True, False, True]),
    "one": np.array([7], np.int32),
}


def run(x: np.ndarray, outputs: list[str], shape: list | None = None, **attributes: object) -> dict:
    made = node("Unique", ["x"], outputs, **attributes)
    ends = [value(name, None) for name in outputs]
    for info in ends:
        info.type.Clear()
    built = model([made], [value("x", shape or x.shape, x.dtype.type)], ends)
    return Interpreter(model_content=Converter.from_onnx(built).convert()).get_signature_runner()(x=x)


def wanted(x: np.ndarray, axis: int | None, is_sorted: bool) -> list[np.ndarray]:
    """What NumPy finds, in order of first places where it is not sorted."""
    y, first, inverse, counts = np.unique(x, True, True, True, axis)
    order = np.arange(len(first)) if is_sorted else np.argsort(first)
    back = np.argsort(order)
    return [np.take(y, order, axis or 0), first[order], back[inverse.reshape(-1)], counts[order]]


@pytest.mark.parametrize("is_sorted", [0, 1])
@pytest.mark.parametrize("name", SOME)
def test_elements(name: str, is_sorted: int) -> None:
    found = run(SOME[name], NAMES, sorted=is_sorted)
    for each, right in zip(NAMES, wanted(SOME[name], None, bool(is_sorted)), strict=True):
        np.testing.assert_array_equal(found[each], right)
    assert found["y"].dtype == SOME[name].dtype
    assert found["counts"].dtype == np.int64


@pytest.mark.parametrize("is_sorted", [0, 1])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_slices(axis: int, is_sorted: int) -> None:
    x = RANDOM.integers(0, 2, (4, 6, 2)).astype(np.int32)
    found = run(x, NAMES, ["n", "m", 2], axis=axis, sorted=is_sorted)
    for each, right in zip(NAMES, wanted(x, axis % 3, bool(is_sorted)), strict=True):
        np.testing.assert_array_equal(found[each], right)


def test_texts_have_no_order() -> None:
    x = np.array([b"b", b"a", b"b"], object)
    found = run(x, NAMES, sorted=0)
    assert found["y"].tolist() == [b"b", b"a"]
    assert found["inverse"].tolist() == [0, 1, 0]
    with pytest.raises(
        UnsupportedError, match="strings have no order that an operator knows; sorted=0 is built"
    ):
        run(x, ["y"])


def test_what_the_operator_gives_is_one_operator() -> None:
    made = node("Unique", ["x"], ["y", "", "inverse"], sorted=0)
    built = model([made], [value("x", [9])], [value("y", None), value("inverse", None, np.int64)])
    details = Interpreter(model_content=Converter.from_onnx(built).convert())._get_ops_details()
    assert [each["op_name"] for each in details].count("UNIQUE") == 1
    assert len(details) <= 2
