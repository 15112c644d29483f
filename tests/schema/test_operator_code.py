"""The options of an operator are those of its own table; another operator's count for nothing."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.errors import PrepareError
from numlite.schema import operator_code, tflite

from ..model_builder import ModelBuilder

Op = tflite.BuiltinOperator


def test_every_table_belongs_to_an_operator() -> None:
    known = {operator_code.options_table(name) for name in tflite.ENUMS["BuiltinOperator"]} - {""}
    tables = {*tflite.UNIONS["BuiltinOptions"], *tflite.UNIONS["BuiltinOptions2"]}
    assert known == tables


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("CONV_2D", "Conv2DOptions"),
        ("MAX_POOL_2D", "Pool2DOptions"),
        ("PADV2", "PadV2Options"),
        ("REDUCE_ALL", "ReducerOptions"),
        ("STABLEHLO_RNG_BIT_GENERATOR", "StablehloRngBitGeneratorOptions"),
        ("TANH", ""),
        ("CUSTOM", ""),
    ],
)
def test_tables_by_name(name: str, table: str) -> None:
    assert operator_code.options_table(name) == table


def reduced(options: object) -> Interpreter:
    model = ModelBuilder()
    x, y = model.tensor((2, 3)), model.tensor((2,))
    model.op(Op.SUM, [x, model.constant([1])], [y], options)
    return Interpreter(model_content=model.build([x], [y]))


def test_options_of_another_operator_count_for_nothing() -> None:
    other = tflite.Conv2DOptionsT(stride_w=1)
    for options in (other, None, tflite.ReducerOptionsT()):
        interpreter = reduced(options)
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, np.ones((2, 3), np.float32))
        interpreter.invoke()
        np.testing.assert_array_equal(interpreter.get_tensor(1), [3, 3])


def test_an_operator_that_needs_its_options_says_so() -> None:
    model = ModelBuilder()
    x, y = model.tensor((1, 4, 4, 1)), model.tensor((1, 4, 4, 1))
    w, b = model.constant(np.ones((1, 1, 1, 1), np.float32)), model.constant(np.ones(1, np.float32))
    model.op(Op.CONV_2D, [x, w, b], [y], tflite.ReducerOptionsT())
    with pytest.raises(PrepareError, match=r"node 0 \(CONV_2D\), output 't1': CONV_2D: .*options"):
        Interpreter(model_content=model.build([x], [y])).allocate_tensors()
