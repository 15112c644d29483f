"""Rows of every width read backwards or at every second place, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op
from .test_reduction_widths import run, whole_range

_WIDTHS = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 80, 129]
_TYPES = [np.int8, np.int16, np.float32, np.int64]


@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("rows", [3, 40])
def test_rows_backwards(rows: int, dtype: type) -> None:
    for width in _WIDTHS:
        x = whole_range(dtype, (rows, width))
        kinds = [Kind(x.shape, dtype), Kind((1,), np.int32)]
        constants = {1: np.array([1], np.int32)}
        model = single_op(BuiltinOperator.REVERSE_V2, kinds, kinds[0], None, 3, constants)
        np.testing.assert_array_equal(run(model, x), x[:, ::-1], err_msg=str(width))


@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("step", [2, 3])
def test_every_few_elements(step: int, dtype: type) -> None:
    for width in _WIDTHS:
        x = whole_range(dtype, (3, width))
        kinds = [Kind(x.shape, dtype), *[Kind((2,), np.int32)] * 3]
        constants = {1: [0, 0], 2: [3, width], 3: [1, step]}
        output = Kind((3, -(-width // step)), dtype)
        model = single_op(
            BuiltinOperator.STRIDED_SLICE,
            kinds,
            output,
            tflite.StridedSliceOptionsT(),
            2,
            {k: np.array(v, np.int32) for k, v in constants.items()},
        )
        np.testing.assert_array_equal(run(model, x), x[:, ::step], err_msg=str(width))
