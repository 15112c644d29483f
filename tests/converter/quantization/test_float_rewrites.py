"""Operators without integer kernels become others: the float values stay, and no island is left."""

import numpy as np
import pytest
from numlite.converter.quantization.float_rewrites import make_integrable
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.lite.model import Model
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import operators, outputs, quantized, samples, schemes

Op = tflite.BuiltinOperator
SHAPE = (2, 3)


def negated(form: str) -> bytes:
    """-x in an expression of x and a."""
    model = ModelBuilder()
    x, a, n, m, y = (model.tensor(SHAPE, name=name) for name in "xanmy")
    model.op(Op.NEG, [x], [n])
    ends = [y]
    if form in ("a + -x", "-x + a"):
        model.op(
            Op.ADD,
            [a, n][:: 1 if form[0] == "a" else -1],
            [y],
            tflite.AddOptionsT(fused_activation_function=1),
        )
    elif form in ("a - -x", "-x - a"):
        model.op(Op.SUB, [a, n][:: 1 if form[0] == "a" else -1], [y], tflite.SubOptionsT())
    elif form == "-x * c":
        model.op(Op.MUL, [n, model.constant(np.array([1, -2, 3], np.float32))], [y], tflite.MulOptionsT())
    elif form in ("a + -x * a", "-x * a"):
        model.op(Op.MUL, [n, a], [m], tflite.MulOptionsT())
        ends = [m]
        if form[0] == "a":
            model.op(Op.ADD, [a, m], [y], tflite.AddOptionsT())
            ends = [y]
    elif form == "-x twice used":
        model.op(Op.ADD, [a, n], [y], tflite.AddOptionsT())
        ends = [y, n]
    else:
        model.op(Op.EXP, [n], [y])
    return model.build([x, a], ends)


FORMS = {
    "a + -x": ["SUB"],
    "-x + a": ["SUB"],
    "a - -x": ["ADD"],
    "-x - a": ["MUL", "SUB"],
    "-x * c": ["MUL"],
    "a + -x * a": ["MUL", "SUB"],
    "-x * a": ["MUL", "MUL"],
    "-x twice used": ["MUL", "ADD"],
    "exp(-x)": ["MUL", "EXP"],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bits", [8, 16])
def test_a_negative_goes_into_what_uses_it(form: str, bits: int) -> None:
    content = negated(form)
    editor = ModelEditor(Model(content))
    make_integrable(editor, schemes(bits), {})
    changed = editor.finish().content()
    assert operators(changed) == FORMS[form]
    data = samples(content)
    for a, b in zip(outputs(content, data[0]), outputs(changed, data[0]), strict=True):
        np.testing.assert_array_equal(a, b)
    made = quantized(content, data, bits)
    inner = [name for name in operators(made) if name not in ("QUANTIZE", "DEQUANTIZE")]
    assert inner == FORMS[form]
    for a, b in zip(outputs(content, data[0]), outputs(made, data[0]), strict=True):
        assert np.abs(a - b).max() <= 0.02 * max(np.abs(a).max(), 10)


def test_what_lies_beyond_the_calibrated_range_keeps_its_sign() -> None:
    content = negated("exp(-x)")
    made = quantized(content, samples(content, low=-1, high=1), 16)
    beyond = np.full(SHAPE, -5, np.float32)
    assert outputs(made, [beyond, beyond])[0].min() > 2


@pytest.mark.parametrize(("name", "inputs"), [("SQUARE", 1), ("SQUARED_DIFFERENCE", 2)])
@pytest.mark.parametrize("bits", [8, 16])
def test_squares_are_products(name: str, inputs: int, bits: int) -> None:
    model = ModelBuilder()
    operands = [model.tensor(SHAPE, name=f"in{i}") for i in range(inputs)]
    y = model.tensor(SHAPE, name="y")
    model.op(Op[name], operands, [y])
    content = model.build(operands, [y])
    data = samples(content)
    made = quantized(content, data, bits)
    expected = {("SQUARE", 8): ["MUL"], ("SQUARE", 16): ["MUL"], ("SQUARED_DIFFERENCE", 16): ["SUB", "MUL"]}
    found = [each for each in operators(made) if each not in ("QUANTIZE", "DEQUANTIZE")]
    assert found == expected.get((name, bits), ["SQUARED_DIFFERENCE"])
    real, integer = outputs(content, data[0])[0], outputs(made, data[0])[0]
    assert np.abs(real - integer).max() <= 0.03 * real.max()
