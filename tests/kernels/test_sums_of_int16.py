"""Sums of int16 where roundings differ: by default operands are rounded once in vectors of 16, else twice."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op

SCALES = 0.6, 0.11, 0.02

# a, b, the sum where operands are rounded once, and where they are rounded twice.
ROWS = np.int16(
    [
        [1130, -9241, -16925, -16926],
        [828, -6801, -12565, -12566],
        [273, -2101, -3365, -3366],
        [826, -4511, -30, -31],
        [1041, -6355, -3722, -3723],
        [1579, -13585, -27347, -27348],
        [1273, -10343, -18696, -18697],
        [-1116, 6445, 1967, 1968],
        [-861, 8379, 20254, 20255],
        [-1168, 8259, 10384, 10385],
        [-852, 5999, 7434, 7435],
        [1569, -13229, -25689, -25690],
        [1083, -6029, -669, -670],
        [-769, 7783, 19736, 19737],
        [396, -3083, -5076, -5077],
        [458, -4601, -11565, -11566],
        [-1298, 10849, 20729, 20730],
        [-1521, 10849, 14039, 14040],
        [1495, -13975, -32012, -32013],
        [1169, -7157, -4293, -4294],
    ]
)


def run(api: Any, a: np.ndarray, b: np.ndarray, reference: bool, num_threads: int = 1) -> np.ndarray:
    shape = np.broadcast_shapes(a.shape, b.shape)
    kinds = [Kind(s, np.int16, scale) for s, scale in zip((a.shape, b.shape, shape), SCALES, strict=True)]
    options = tflite.AddOptionsT(pot_scale_int16=False)
    resolver = api.OpResolverType.BUILTIN_REF if reference else api.OpResolverType.AUTO
    interpreter = api.Interpreter(
        model_content=single_op(BuiltinOperator.ADD, kinds[:2], kinds[2], options, 2),
        experimental_op_resolver_type=resolver,
        num_threads=num_threads,
    )
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), (a, b), strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def expected(count: int, whole: int) -> np.ndarray:
    rows = np.resize(ROWS, (count, 4))
    return np.where(np.arange(count) < whole, rows[:, 2], rows[:, 3])


@pytest.fixture(params=["numlite", "ai_edge_litert"])
def api(request: pytest.FixtureRequest) -> Any:
    if find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return import_module(f"{request.param}.interpreter")


@pytest.mark.parametrize("count", [1, 15, 16, 17, 31, 32, 53])
def test_whole_vectors_are_rounded_once(api: Any, count: int) -> None:
    a, b, _, twice = np.resize(ROWS, (count, 4)).T
    assert np.array_equal(run(api, a, b, False), expected(count, count // 16 * 16))
    assert np.array_equal(run(api, a, b, True), twice)


def test_leading_ones_are_no_broadcast(api: Any) -> None:
    a, b, _, _ = np.resize(ROWS, (35, 4)).T
    assert np.array_equal(run(api, a.reshape(1, 5, 7), b.reshape(5, 7), False).ravel(), expected(35, 32))


def test_broadcasts_are_rounded_twice(api: Any) -> None:
    a, b, _, twice = ROWS.T
    total = run(api, np.stack([a] * 16, 1), b[:, None], False)
    assert np.array_equal(total, np.stack([twice] * 16, 1))


def test_threads_change_nothing(api: Any) -> None:
    count = 1_000_003
    a, b, _, _ = np.resize(ROWS, (count, 4)).T
    assert np.array_equal(run(api, a, b, False, num_threads=2), expected(count, count // 16 * 16))
