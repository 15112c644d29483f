"""RESHAPE with a shape that was fixed when the model was made."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.errors import PrepareError
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder


@pytest.mark.parametrize(
    ("as_tensor", "source"), [(True, r"constant tensor 2 'baked_in'"), (False, "option new_shape")]
)
def test_a_fixed_shape_that_stops_a_resize_is_named(as_tensor: bool, source: str) -> None:
    model = ModelBuilder()
    x, y = model.tensor((1, 4), name="images"), model.tensor((2, 2), name="squares")
    inputs = [x]
    if as_tensor:
        inputs.append(model.constant(np.array([2, 2], np.int32), name="baked_in"))
    model.op(BuiltinOperator.RESHAPE, inputs, [y], tflite.ReshapeOptionsT(new_shape=[2, 2]))
    interpreter = Interpreter(model_content=model.build([x], [y]))
    interpreter.allocate_tensors()
    interpreter.resize_tensor_input(x, [3, 4])
    text = rf"^node 0 \(RESHAPE\), output 'squares'.*tensor 0 'images'.*{source} fixes the shape \[2, 2\]"
    with pytest.raises(PrepareError, match=text):
        interpreter.allocate_tensors()
