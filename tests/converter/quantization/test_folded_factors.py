"""Constants that scale or shift what a filter reads go into it, where that rounds nothing more coarsely."""

import numpy as np
import pytest
from numlite.converter.quantization import Quantizer, recipes
from numlite.converter.quantization.folded_factors import fold_factors
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.lite.model import Model
from numlite.model_comparison import sqnr_db
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import operators, outputs, samples, weights

Op = tflite.BuiltinOperator
SHAPE, MEANS = (1, 6, 6, 3), np.array([100, 120, 90], np.float32)


def convolved(
    *before: tuple[str, np.ndarray], padding: tflite.Padding = tflite.Padding.VALID, twice: bool = False
) -> bytes:
    """A convolution of what operators with a constant each have made of x; twice, another has its bias."""
    model = ModelBuilder()
    x = value = model.tensor(SHAPE, name="x")
    for name, constant in before:
        operand, value = value, model.tensor(SHAPE)
        model.op(Op[name], [operand, model.constant(constant)], [value])
    size = 4 if padding == tflite.Padding.VALID else 6
    b, results = model.constant(weights((5,), 7)), []
    for source, seed in ((value, 6), *([(x, 8)] if twice else [])):
        results.append(model.tensor((1, size, size, 5), name=f"y{seed}"))
        w = model.constant(weights((5, 3, 3, 3), seed))
        options = tflite.Conv2DOptionsT(padding=padding, stride_w=1, stride_h=1)
        model.op(Op.CONV_2D, [source, w, b], results[-1:], options)
    return model.build([x], results)


def folded(content: bytes) -> bytes:
    editor = ModelEditor(Model(content))
    fold_factors(editor)
    return editor.finish().content()


def scalar(value: float) -> np.ndarray:
    return np.array(value, np.float32)


@pytest.mark.parametrize(
    ("before", "padding", "left"),
    [
        ([("SUB", MEANS)], "VALID", []),
        ([("SUB", MEANS)], "SAME", ["SUB"]),  # zeros around the image are not shifted
        ([("DIV", scalar(127.5))], "SAME", []),
        ([("MUL", scalar(1 / 127.5)), ("ADD", scalar(-1))], "VALID", []),
        ([("MUL", scalar(1 / 127.5)), ("ADD", scalar(-1))], "SAME", ["MUL", "ADD"]),
        ([("MUL", 1 / MEANS)], "VALID", ["MUL"]),  # would make the filter of some channels coarse
        ([("DIV", MEANS * [0, 1, 1])], "VALID", ["DIV"]),
    ],
)
def test_what_goes_into_a_filter(before: list[tuple[str, np.ndarray]], padding: str, left: list[str]) -> None:
    content = convolved(
        *((name, c.astype(np.float32)) for name, c in before), padding=tflite.Padding[padding]
    )
    made = folded(content)
    assert operators(made) == [*left, "CONV_2D"]
    for sample in samples(content, 4, 1.0, 200.0):
        [expected], [found] = outputs(content, sample), outputs(made, sample)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * 200)


@pytest.mark.parametrize(
    ("name", "constant"),
    [
        ("DIV", 1e-40),  # its inverse is no float32
        ("DIV", 2e-39),  # nor is that times the weights
        ("MUL", 1e-40),  # the filter would be of subnormal numbers
        ("MUL", 1e-9),  # or smaller than the least scale of filters
        ("ADD", 2e38),  # the bias would be infinite
    ],
)
def test_what_a_filter_does_not_hold_stays_outside(name: str, constant: float) -> None:
    assert operators(folded(convolved((name, scalar(constant))))) == [name, "CONV_2D"]


def test_a_constant_less_the_operand_stays() -> None:
    model = ModelBuilder()
    x, d, y = model.tensor((2, 4), name="x"), model.tensor((2, 4)), model.tensor((2, 3), name="y")
    model.op(Op.SUB, [model.constant(weights((4,), 1)), x], [d])
    w = model.constant(weights((3, 4), 2))
    model.op(Op.FULLY_CONNECTED, [d, w, -1], [y], tflite.FullyConnectedOptionsT())
    assert operators(folded(model.build([x], [y]))) == ["SUB", "FULLY_CONNECTED"]


def test_others_keep_the_bias() -> None:
    content = convolved(("SUB", MEANS), twice=True)
    made = folded(content)
    assert operators(made) == ["CONV_2D", "CONV_2D"]
    for sample in samples(content, 2, 0.0, 255.0):
        for expected, found in zip(outputs(content, sample), outputs(made, sample), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-2)


def test_integers_err_less() -> None:
    content = convolved(("SUB", MEANS), ("MUL", scalar(1 / 64)))
    data = samples(content, 20, 0.0, 255.0)
    quantizer = Quantizer(content, recipes.static_int8())
    made = quantizer.quantize(quantizer.calibrate(data), improve="none").quantized_model
    assert operators(made) == ["QUANTIZE", "CONV_2D", "DEQUANTIZE"]
    real, integer = (np.array([outputs(c, sample)[0] for sample in data]) for c in (content, made))
    assert sqnr_db(real, integer) > 38
