"""RESIZE_BILINEAR weighs by who runs it in LiteRT: XNNPACK takes sizes of the file alone."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder

_SHAPE = (1, 5, 7, 3)


def _model(dtype: type, size: str) -> bytes:
    """An image of 5 x 7 made 10 x 14; its size is given, computed or constant."""
    b = ModelBuilder()
    scale = {} if dtype is np.float32 else {"scale": 0.5, "zero_point": 3}
    x, y = b.tensor(_SHAPE, dtype, **scale), b.tensor((1, 10, 14, 3), dtype, **scale)
    half = b.constant(np.array([5, 7], np.int32))
    sizes = b.constant(np.array([10, 14], np.int32)) if size == "constant" else b.tensor((2,), np.int32)
    if size == "computed":
        b.op(BuiltinOperator.ADD, [half, half], [sizes], tflite.AddOptionsT())
    options = tflite.ResizeBilinearOptionsT(half_pixel_centers=True)
    b.op(BuiltinOperator.RESIZE_BILINEAR, [x, sizes], [y], options, version=3)
    return b.build([x, sizes] if size == "given" else [x], [y])


def _resized(dtype: type, size: str, x: np.ndarray) -> np.ndarray:
    interpreter = Interpreter(model_content=_model(dtype, size))
    interpreter.allocate_tensors()
    if size == "computed":
        assert interpreter.core.subgraph().native_plan is not None
    inputs = [x, np.array([10, 14], np.int32)]
    for details, value in zip(interpreter.get_input_details(), inputs, strict=False):
        interpreter.set_tensor(details["index"], value)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int8])
def test_a_computed_size_is_weighed_as_a_given_one(dtype: type) -> None:
    x = np.random.default_rng(3).uniform(0, 127, _SHAPE).astype(dtype)
    given, computed = _resized(dtype, "given", x), _resized(dtype, "computed", x)
    np.testing.assert_array_equal(computed, given)
    if dtype is np.float32:
        assert not np.array_equal(_resized(dtype, "constant", x), given)
