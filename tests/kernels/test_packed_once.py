"""Weights are packed once, and anew where another shape asks for another packing."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_another_number_of_groups_packs_the_weights_anew(dtype: type) -> None:
    """The filter has 2 channels: an image of 6 makes three groups, one of 2 a single one."""
    random = np.random.default_rng(4)
    scale = None if dtype is np.float32 else 0.05
    filters = random.integers(0, 20, (12, 2, 2, 2)).astype(dtype)
    kinds = [Kind((1, 4, 4, 6), dtype, scale), Kind(filters.shape, dtype, scale)]
    options = tflite.Conv2DOptionsT(
        padding=tflite.Padding.SAME, stride_w=1, stride_h=1, dilation_w_factor=2, dilation_h_factor=2
    )
    result = Kind((1, 4, 4, 12), dtype, None if scale is None else 0.9)
    content = single_op(BuiltinOperator.CONV_2D, kinds, result, options, constants={1: filters})
    x = random.integers(0, 20, (1, 4, 4, 2)).astype(dtype)

    def output(*shapes: tuple[int, ...]) -> np.ndarray:
        interpreter = Interpreter(model_content=content)
        for shape in shapes:
            interpreter.resize_tensor_input(0, shape)
            interpreter.allocate_tensors()
        interpreter.set_tensor(0, x)
        interpreter.invoke()
        return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])

    np.testing.assert_array_equal(output((1, 4, 4, 6), x.shape), output(x.shape))
