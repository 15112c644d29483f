"""BITWISE_XOR and RIGHT_SHIFT of every integer type, over its whole range."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.schema.tflite import BuiltinOperator as Op

from ..cases.single_op import Kind, single_op

TYPES = [np.dtype(f"{kind}{nbytes}") for kind in "iu" for nbytes in (1, 2, 4, 8)]


def of_whole_range(dtype: np.dtype, shape: tuple[int, ...], seed: int) -> np.ndarray:
    limits = np.iinfo(dtype)
    values = np.random.default_rng(seed).integers(limits.min, limits.max, shape, dtype, endpoint=True)
    values.flat[:2] = limits.min, limits.max
    return values


def result(operator: int, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    kinds = [Kind(each.shape, each.dtype.type) for each in (x, y)]
    interpreter = Interpreter(model_content=single_op(operator, kinds, Kind(x.shape, x.dtype.type)))
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), (x, y), strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", [(5, 70), (70,), (5, 1)], ids=str)
def test_bits_differ_in_one_of_both(dtype: np.dtype, shape: tuple[int, ...]) -> None:
    x, y = of_whole_range(dtype, (5, 70), 1), of_whole_range(dtype, shape, 2)
    np.testing.assert_array_equal(result(Op.BITWISE_XOR, x, y), x ^ y)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_counts_of_bits_are_kept_within_the_type(dtype: np.dtype) -> None:
    x, counts = of_whole_range(dtype, (5, 70), 3), of_whole_range(dtype, (5, 70), 4)
    small = dtype.itemsize * 8 + 3
    counts[1:] %= small
    expected = [
        [int(a) >> min(max(int(b), 0), dtype.itemsize * 8 - 1) for a, b in zip(*rows, strict=True)]
        for rows in zip(x, counts, strict=True)
    ]
    np.testing.assert_array_equal(result(Op.RIGHT_SHIFT, x, counts), np.array(expected, dtype))
