"""Quantized DIV: what divides by nothing is an error; quotients are LiteRT's at all scales."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numlite.interpreter as numlite_interpreter
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
    ("scales", "text"),
    [((0.1, 0.0, 0.1), "scales must be positive"), ((1e30, 1e-30, 1e-3), "must be finite")],
)
def test_scales_that_cannot_be(scales: tuple[float, float, float], text: str) -> None:
    with pytest.raises(PrepareError, match=rf"node 0 \(DIV\).*{text}"):
        ready(*(Kind((3,), np.int8, scale) for scale in scales))


def divided(api: Any, scale: float, a: np.ndarray, b: np.ndarray, reference: bool) -> np.ndarray:
    kinds = [Kind(a.shape, a.dtype.type, s, 3 * (a.dtype == np.uint8)) for s in (scale, 1.0, 1.0)]
    interpreter = api.Interpreter(
        model_content=single_op(BuiltinOperator.DIV, kinds[:2], kinds[2], tflite.DivOptionsT(), 2),
        experimental_op_resolver_type=api.OpResolverType["BUILTIN_REF" if reference else "AUTO"],
    )
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), (a, b), strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize("power", [13, 14, 15, 16, 20, 25, 30])
def test_large_scales_of_int16(power: int, reference: bool) -> None:
    """Quotients that fit are right; all are LiteRT's, also those that are far too large for its shifts."""
    scale = 1.3 * 2.0**power
    random = np.random.default_rng(power)
    b = random.integers(1, 32768, 4000).astype(np.int16)
    fitting = np.minimum(32000 * b.astype(float) / scale, 30000).astype(np.int16)
    got = divided(numlite_interpreter, scale, fitting, b, reference)
    assert np.abs(got - np.rint(scale * fitting / b)).max() <= 1
    if find_spec("ai_edge_litert") is None:
        pytest.skip("ai-edge-litert is not installed")
    litert = import_module("ai_edge_litert.interpreter")
    for a in (fitting, random.integers(-32768, 32768, 4000).astype(np.int16)):
        for sign in (1, -1):
            operands = scale, a, (sign * b).astype(np.int16), reference
            assert np.array_equal(divided(numlite_interpreter, *operands), divided(litert, *operands))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
@pytest.mark.parametrize("power", [-45, -31, -29, 0, 21, 22, 26, 31, 33, 48, 57, 64, 70])
def test_quotients_of_all_scales_are_litert_s(power: int, dtype: type[np.integer]) -> None:
    """Also those that LiteRT shifts out of its numbers, whatever is left there."""
    litert = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is the oracle")
    random = np.random.default_rng(power + 50)
    limits = np.iinfo(dtype)
    a, b = random.integers(limits.min, limits.max, (2, 300), dtype, endpoint=True)
    b[b == 3 * (dtype is np.uint8)] = 1
    found, wanted = (divided(api, 1.3 * 2.0**power, a, b, False) for api in (numlite_interpreter, litert))
    np.testing.assert_array_equal(found, wanted)
