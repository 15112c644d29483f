"""Attention masks: softmax is as exact with them as without, and what is masked stays 0."""

import numpy as np
import pytest
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import operators, outputs, quantized

Op = tflite.BuiltinOperator
SHAPE = (2, 6)
ALLOWED = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0]], np.float32)


def attention(kind: str, lowest: float) -> bytes:
    """softmax(2 x + mask), the mask a constant or lowest * (1 - allowed)."""
    model = ModelBuilder()
    x, scores, masked, y = (model.tensor(SHAPE, name=name) for name in ("x", "scores", "masked", "y"))
    inputs = [x]
    model.op(Op.MUL, [x, model.constant(np.array(2, np.float32))], [scores])
    if kind == "constant":
        mask = model.constant((1 - ALLOWED) * np.float32(lowest))
    else:
        allowed, rest, mask = (model.tensor(SHAPE, name=name) for name in ("allowed", "rest", "mask"))
        inputs.append(allowed)
        model.op(Op.SUB, [model.constant(np.array(1, np.float32)), allowed], [rest])
        model.op(Op.MUL, [rest, model.constant(np.array(lowest, np.float32))], [mask])
    model.op(Op.ADD, [scores, mask], [masked])
    shaped = model.tensor((1, *SHAPE), name="shaped")
    model.op(Op.RESHAPE, [masked, model.constant([1, *SHAPE])], [shaped])
    model.op(Op.SOFTMAX, [shaped], [y], tflite.SoftmaxOptionsT(beta=1))
    return model.build(inputs, [y])


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("lowest", [-1e4, -1e9, -3e38])
@pytest.mark.parametrize("kind", ["constant", "computed"])
def test_masks_leave_the_range_to_what_counts(kind: str, lowest: float, bits: int) -> None:
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    content = attention(kind, lowest)
    random = np.random.default_rng(0)
    data = [
        [random.uniform(-2, 3, SHAPE).astype(np.float32), *([ALLOWED] if kind != "constant" else [])]
        for _ in range(10)
    ]
    made = quantized(content, data, bits)
    assert "SOFTMAX" in operators(made)
    for sample in data:
        real, integer = outputs(content, sample)[0], outputs(made, sample)[0]
        np.testing.assert_array_equal(integer, outputs(made, sample, litert.Interpreter)[0])
        np.testing.assert_allclose(integer, real, atol=0.04 if bits == 8 else 0.003)
        # LiteRT's int16 softmax takes all below -10 for -10.
        most = 0 if bits == 8 else 2 * np.exp(-10)
        assert integer.reshape(SHAPE)[ALLOWED == 0].max() <= most


def test_constants_that_are_no_masks_stay() -> None:
    content = attention("constant", -3.0)
    data = [[np.random.default_rng(1).uniform(-2, 3, SHAPE).astype(np.float32)] for _ in range(5)]
    made = quantized(content, data)
    for sample in data:
        np.testing.assert_allclose(outputs(made, sample)[0], outputs(content, sample)[0], atol=0.03)
