"""Long rows of bytes that meet one element, which are looked up: what element by element gives."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter, OpResolverType
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op


def product(a: np.ndarray, b: np.ndarray, resolver: OpResolverType) -> np.ndarray:
    zero = 3 if a.dtype == np.int8 else 131
    kinds = [Kind(v.shape, v.dtype.type, 0.07, zero) for v in (a, b)]
    y = Kind(np.broadcast_shapes(a.shape, b.shape), a.dtype.type, 0.5, zero)
    content = single_op(BuiltinOperator.MUL, kinds, y, tflite.MulOptionsT(), 2)
    interpreter = Interpreter(model_content=content, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    for i, value in enumerate((a, b)):
        interpreter.set_tensor(i, value)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


@pytest.mark.parametrize("resolver", [OpResolverType.AUTO, OpResolverType.BUILTIN_REF])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("count", [511, 512, 1003])
def test_products(count: int, dtype: type, resolver: OpResolverType) -> None:
    limits, random = np.iinfo(dtype), np.random.default_rng(count)
    row = random.integers(limits.min, limits.max, count, endpoint=True).astype(dtype)
    for value in (limits.min, 5, limits.max):
        one = np.full(1, value, dtype)
        expected = product(row, np.repeat(one, count), resolver)
        np.testing.assert_array_equal(product(row, one, resolver), expected)
        np.testing.assert_array_equal(product(one, row, resolver), expected)
