"""A SOFTMAX that gives float results computes in floats, where all may be done for them."""

from typing import Any

import numlite
import numpy as np
import pytest
from numlite.converter.quantization import Quantizer, recipes
from numlite.kernels.compiled.language.target import target
from numlite.model_comparison import sqnr_db
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import operators, outputs, samples, weights

Op = tflite.BuiltinOperator
CLASSES = 40


def classifier(end: str = "") -> bytes:
    """FULLY_CONNECTED -> SOFTMAX, and behind it what end says: RESHAPE, MUL, or MUL beside it."""
    model = ModelBuilder()
    x, logits = model.tensor((1, 16), name="x"), model.tensor((1, CLASSES), name="logits")
    model.op(Op.FULLY_CONNECTED, [x, model.constant(weights((CLASSES, 16), 1) * 0.1), -1], [logits])
    last = model.tensor((1, CLASSES), name="classes")
    model.op(Op.SOFTMAX, [logits], [last], tflite.SoftmaxOptionsT(beta=1.0))
    results = [last]
    if end:
        behind = model.tensor((CLASSES,) if end == "RESHAPE" else (1, CLASSES), name="behind")
        if end == "RESHAPE":
            model.op(Op.RESHAPE, [last, model.constant(np.array([CLASSES], np.int32))], [behind])
        else:
            model.op(Op.MUL, [last, logits], [behind], tflite.MulOptionsT())
        results = [last, behind] if end == "both" else [behind]
    return model.build([x], results)


def quantized(content: bytes, improve: str | None = None, recipe: Any = None, **ends: str) -> bytes:
    quantizer = Quantizer(content, recipe or recipes.static_int8())
    found = quantizer.calibrate(samples(content, 20))
    return quantizer.quantize(found, improve=improve, **ends).quantized_model


@pytest.mark.parametrize("end", ["", "RESHAPE"])
@pytest.mark.parametrize("improve", [None, "all", "softmax"])
def test_a_last_softmax_is_of_floats(end: str, improve: str | None, litert: Any) -> None:
    content = classifier(end)
    plain, better = quantized(content, "none"), quantized(content, improve)
    behind = ["DEQUANTIZE", "SOFTMAX", *([end] if end else [])]
    assert operators(better)[2:] == behind
    assert len(operators(better)) == len(operators(plain))
    data = samples(content, 30)[20:]
    real, rough, found = (np.concatenate([outputs(c, s)[0] for s in data]) for c in (content, plain, better))
    assert sqnr_db(real, found) > sqnr_db(real, rough) + 3
    for sample in data:
        ours, theirs = (outputs(better, sample, module.Interpreter)[0] for module in (numlite, litert))
        np.testing.assert_allclose(ours, theirs, rtol=0 if target().avx512 else 2e-6)


@pytest.mark.parametrize(
    ("end", "options"),
    [
        ("", {"improve": "none"}),
        ("", {"improve": "whole"}),
        ("", {"improve": "bias"}),
        ("", {"output_type": "int8"}),
        ("", {"output_type": "uint8"}),
        ("", {"recipe": recipes.int16x8()}),
        ("MUL", {}),
        ("both", {}),
    ],
)
def test_another_softmax_stays_of_integers(end: str, options: dict[str, Any]) -> None:
    names = operators(quantized(classifier(end), **options))
    assert "DEQUANTIZE" not in names[: names.index("SOFTMAX")]


def test_the_outcome_says_why() -> None:
    content = classifier()
    quantizer = Quantizer(content, recipes.static_int8())
    made = quantizer.quantize(quantizer.calibrate(samples(content, 20)))
    [outcome] = [each for each in made.outcomes if each.operation == "SOFTMAX"]
    assert outcome.scheme is None
    assert outcome.reason == "it gives a float result, which integers would round to 1 / 256"
