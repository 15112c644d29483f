"""SQRT and RSQRT of quantized values below zero fail, in both numerics, as LiteRT's do."""

from __future__ import annotations

from typing import Any

import numlite.interpreter
import numpy as np
import pytest
from numlite.lite.errors import InvokeError
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder

SIZE = 1000


def root_model(name: str, dtype: type, zero_point: int) -> bytes:
    model = ModelBuilder()
    x = model.tensor((SIZE,), dtype, scale=[0.05], zero_point=[zero_point])
    y = model.tensor((SIZE,), dtype, scale=[0.06], zero_point=[zero_point])
    model.op(BuiltinOperator[name], [x], [y], version=2)
    return model.build([x], [y])


def result(api: Any, model: bytes, numerics: str, value: np.ndarray, threads: int = 1) -> np.ndarray:
    kind = api.OpResolverType[numerics]
    interpreter = api.Interpreter(
        model_content=model, experimental_op_resolver_type=kind, num_threads=threads
    )
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, value)
    interpreter.invoke()
    found: np.ndarray = interpreter.get_tensor(1)
    return found


@pytest.mark.parametrize("numerics", ["AUTO", "BUILTIN_REF"])
@pytest.mark.parametrize("name", ["SQRT", "RSQRT"])
@pytest.mark.parametrize(
    ("dtype", "zero_point"), [(np.int8, 0), (np.int8, 5), (np.int8, -128), (np.int16, 0)], ids=str
)
@pytest.mark.parametrize("below", [0, 1, 100])
def test_below_zero(litert: Any, name: str, dtype: type, zero_point: int, numerics: str, below: int) -> None:
    model = root_model(name, dtype, zero_point)
    value = np.full(SIZE, 100, dtype)
    value[-7] = max(zero_point - below, np.iinfo(dtype).min)
    if value[-7] >= zero_point:
        ours = result(numlite.interpreter, model, numerics, value)
        assert np.array_equal(ours, result(litert, model, numerics, value))
        return
    with pytest.raises(RuntimeError, match="is only defined for"):
        result(litert, model, numerics, value)
    for threads in (1, 2):
        with pytest.raises(
            InvokeError, match=rf"{name}: values must not be negative, .* zero point {zero_point}"
        ):
            result(numlite.interpreter, model, numerics, value, threads)
