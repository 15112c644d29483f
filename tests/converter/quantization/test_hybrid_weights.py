"""Models whose weights are int8 beside float activations become integer models with the same weights."""

from __future__ import annotations

import ai_edge_litert.interpreter as litert
import numpy as np
import pytest
from numlite.converter.quantization import Quantizer, recipes
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.interpreter import Interpreter
from numlite.lite.model import Model
from numlite.schema import tflite

from .float_models import Case, build, operators, outputs, samples, weights

MODELS = {
    "fully connected": build(
        Case("FULLY_CONNECTED", [(2, 64)], [(2, 32)], {1: weights((32, 64)), 2: weights((32,), 1)})
    ),
    "conv": build(
        Case(
            "CONV_2D",
            [(1, 4, 4, 8)],
            [(1, 4, 4, 16)],
            {1: weights((16, 3, 3, 8)), 2: weights((16,), 1)},
            tflite.Conv2DOptionsT(padding=tflite.Padding.SAME, stride_w=1, stride_h=1),
        )
    ),
}


def filters(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """The integers and scales of the weights."""
    editor = ModelEditor(Model(content))
    found = next(t for t in editor.subgraphs[0].tensors or [] if (t.name or "").startswith("constant1"))
    value = editor.constant(found)
    assert value is not None
    assert found.quantization is not None
    return value, np.asarray(found.quantization.scale)


@pytest.mark.parametrize("per_channel", [True, False])
@pytest.mark.parametrize("kind", MODELS)
def test_weights_are_the_same(kind: str, per_channel: bool) -> None:
    content, data = MODELS[kind], samples(MODELS[kind])
    dynamic = Quantizer(content)
    dynamic.update_quantization_recipe(per_channel=per_channel)
    before = dynamic.quantize().quantized_model
    assert operators(before) == operators(content)
    quantizer = Quantizer(before, recipes.static_int8())
    after = quantizer.quantize(quantizer.calibrate(data), improve="none").quantized_model
    assert operators(after) == ["QUANTIZE", *operators(content), "DEQUANTIZE"]
    for a, b in zip(filters(before), filters(after), strict=True):
        np.testing.assert_array_equal(a, b)
    found, theirs = (outputs(after, data[0], each)[0] for each in (Interpreter, litert.Interpreter))
    np.testing.assert_array_equal(found, theirs)
    real = outputs(content, data[0])[0]
    assert np.abs(found - real).max() < 0.03 * np.abs(real).max()
