"""Quantized DIV: what divides by nothing is an error."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.errors import InvokeError, PrepareError
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op


def ready(a: Kind, b: Kind, out: Kind) -> Interpreter:
    interpreter = Interpreter(
        model_content=single_op(BuiltinOperator.DIV, [a, b], out, tflite.DivOptionsT(), 2)
    )
    interpreter.allocate_tensors()
    return interpreter


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
def test_an_element_that_stands_for_zero(dtype: type) -> None:
    kinds = [Kind((3,), dtype, 0.1, zero) for zero in (0, 3, 0)]
    interpreter = ready(*kinds)
    interpreter.set_tensor(0, np.array([1, 2, 3], dtype))
    interpreter.set_tensor(1, np.array([1, 3, 5], dtype))
    with pytest.raises(InvokeError, match=r"node 0 \(DIV\).*the divisor must have no zero element"):
        interpreter.invoke()


@pytest.mark.parametrize(
    ("scales", "text"), [((0.1, 0.0, 0.1), "scales must be positive"), ((1e6, 1e-3, 1e-3), r"under 2\*\*22")]
)
def test_scales_that_cannot_be(scales: tuple[float, float, float], text: str) -> None:
    with pytest.raises(PrepareError, match=rf"node 0 \(DIV\).*{text}"):
        ready(*(Kind((3,), np.int8, scale) for scale in scales))
