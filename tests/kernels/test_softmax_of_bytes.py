"""SOFTMAX of bytes to int16: by default the output's own scale and zero point count."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter, OpResolverType
from numlite.lite.errors import PrepareError
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op

ROW = Kind((2, 4), np.int8, 0.3)
VALUES = np.int8([[100, 0, 0, 0], [50, 50, 0, 0]])


def softmax(out: Kind, resolver: OpResolverType = OpResolverType.AUTO) -> list[list[int]]:
    options = tflite.SoftmaxOptionsT(beta=1.0)
    interpreter = Interpreter(
        model_content=single_op(BuiltinOperator.SOFTMAX, [ROW], out, options, 2),
        experimental_op_resolver_type=resolver,
    )
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, VALUES)
    interpreter.invoke()
    return interpreter.get_tensor(1).tolist()


# What LiteRT gives, saturation included.
RESULTS = {
    (1 / 32768, 1000): [[32767, 1000, 1000, 1000], [17384, 17384, 1000, 1000]],
    (1 / 65536, -32768): [[32767, -32768, -32768, -32768], [0, 0, -32768, -32768]],
    (1 / 70000, -32768): [[32767, -32768, -32768, -32768], [2232, 2232, -32768, -32768]],
    (1e-3, -32768): [[-31768, -32768, -32768, -32768], [-32268, -32268, -32768, -32768]],
    (0.5, 3): [[5, 3, 3, 3], [4, 4, 3, 3]],
}


@pytest.mark.parametrize(("scale", "zero_point"), RESULTS)
def test_to_int16(scale: float, zero_point: int) -> None:
    out = Kind(ROW.shape, np.int16, scale, zero_point)
    assert softmax(out) == RESULTS[scale, zero_point]
    assert softmax(out, OpResolverType.BUILTIN_REF) == RESULTS[1 / 65536, -32768]


@pytest.mark.parametrize(("dtype", "message"), [(np.int16, "must be positive"), (np.uint8, "one type")])
def test_outputs_that_cannot_be(dtype: type, message: str) -> None:
    with pytest.raises(PrepareError, match=message):
        softmax(Kind(ROW.shape, dtype, 0.0))


@pytest.mark.parametrize("scale", [0.0, 1e-30])
def test_the_reference_of_log_softmax_needs_a_scale(scale: float) -> None:
    model = single_op(
        BuiltinOperator.LOG_SOFTMAX, [Kind((2, 4), np.int8, scale)], Kind((2, 4), np.int8, 16 / 256, 127)
    )
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    with pytest.raises(PrepareError, match="LOG_SOFTMAX: the input's scale must not be 0"):
        interpreter.allocate_tensors()
