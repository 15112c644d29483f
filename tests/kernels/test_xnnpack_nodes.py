"""Nodes that LiteRT's default leaves to its own kernels because of their first shapes keep those for good."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numlite import interpreter as numlite_api
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op

_LEAKY = tflite.LeakyReluOptionsT(alpha=1.7)
_OPERATORS: dict[str, tuple[list[float], TableT | None]] = {
    "LEAKY_RELU": ([1.93, 1.93], _LEAKY),
    "MUL": ([0.00105, 0.0529, 0.00137], tflite.MulOptionsT()),
    "ADD": ([0.0105, 0.0529, 0.0137], tflite.AddOptionsT()),
    "LOGISTIC": ([0.02, 1 / 256], None),
    "QUANTIZE": ([0.0131, 0.0071], None),
}
Shape = tuple[int, ...]


def _model(name: str, shape: Shape) -> bytes:
    """Of int8, declared of a shape."""
    scales, options = _OPERATORS[name]
    zero = -128 if name == "LOGISTIC" else 0
    kinds = [Kind(shape, np.int8, scale) for scale in scales[:-1]]
    result = Kind(shape, np.int8, scales[-1], zero)
    return single_op(BuiltinOperator[name], kinds, result, options)


def _outputs(api: Any, content: bytes, shapes: list[Shape]) -> np.ndarray:
    """Of int8 values in the last of the shapes, after an allocation in each of them."""
    interpreter = api.Interpreter(model_content=content, num_threads=1)
    details = interpreter.get_input_details()
    for shape in shapes:
        for detail in details:
            interpreter.resize_tensor_input(detail["index"], shape)
        interpreter.allocate_tensors()
    random = np.random.default_rng(5)
    for detail in details:
        interpreter.set_tensor(detail["index"], random.integers(-128, 128, shapes[-1]).astype(np.int8))
    interpreter.invoke()
    return np.array(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))


@pytest.mark.parametrize("shapes", [[(0,), (4000,)], [(4000,)], [(7,), (0,), (4000,)]], ids=str)
@pytest.mark.parametrize("declared", [(0,), (7,)], ids=str)
@pytest.mark.parametrize("name", _OPERATORS)
def test_first_shapes_choose_the_arithmetic(
    litert: Any, name: str, declared: Shape, shapes: list[Shape]
) -> None:
    content = _model(name, declared)
    expected = _outputs(litert, content, shapes)
    np.testing.assert_array_equal(_outputs(numlite_api, content, shapes), expected)


def test_the_arithmetics_are_two() -> None:
    """Else the test above would show nothing."""
    content = _model("MUL", (0,))
    emptied, at_once = (_outputs(numlite_api, content, shapes) for shapes in ([(0,), (4000,)], [(4000,)]))
    assert np.any(emptied != at_once)


SHAPES = [
    ((5,), (5,)),
    ((5,), ()),
    ((), (5,)),
    ((1, 1), (1, 1)),
    ((3, 1), (3, 4)),
    ((3, 4), (3, 1)),
    ((1, 4), (3, 4)),
    ((3, 1), (1, 4)),
    ((2, 3, 4), (2, 1, 4)),
]
MIXED = [0.0, 1.0, np.nan, -0.0, -1.0]


@pytest.mark.parametrize("numerics", ["AUTO", "BUILTIN_REF"])
@pytest.mark.parametrize("name", ["MAXIMUM", "MINIMUM"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("values", [(-0.0, 0.0), (np.nan, 1), (1, np.nan), (0.0, MIXED), (MIXED, 1)], ids=str)
@pytest.mark.parametrize("constant", [None, 0, 1])
def test_which_of_two_that_do_not_differ_is_the_larger(
    litert: Any, name: str, shapes: Any, values: Any, constant: int | None, numerics: str
) -> None:
    """Zeros of two signs and NaN: bit for bit."""
    arrays = [np.resize(np.float32(value), shape) for value, shape in zip(values, shapes, strict=True)]
    kinds = [Kind(shape) for shape in (*shapes, np.broadcast_shapes(*shapes))]
    constants = {} if constant is None else {constant: arrays[constant]}
    model = single_op(BuiltinOperator[name], kinds[:2], kinds[2], constants=constants)
    found = []
    for api in (litert, numlite_api):
        interpreter = api.Interpreter(
            model_content=model, experimental_op_resolver_type=api.OpResolverType[numerics]
        )
        interpreter.allocate_tensors()
        for detail in interpreter.get_input_details():
            interpreter.set_tensor(detail["index"], arrays[detail["index"]])
        interpreter.invoke()
        found.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).tobytes())
    assert found[0] == found[1]
