"""Normalizations are written with fewer operators, and their factors go into the filters behind them."""

from collections import Counter

import numpy as np
import pytest
from numlite.converter.quantization import recipes
from numlite.converter.quantization.folded_factors import fold_factors
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.converter.quantization.normalizations import simplify_normalizations
from numlite.converter.quantization.quantizer import Quantizer
from numlite.converter.quantization.recipe import Recipe
from numlite.lite.model import Model
from numlite.model_comparison import sqnr_db
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import operators, outputs, weights
from .normalized_models import SHAPE, filtered

Op = tflite.BuiltinOperator
# x lies far from zero, as in a stream that many layers have added to.
DATA = [[(10 + np.random.default_rng(k).normal(size=SHAPE)).astype(np.float32)] for k in range(12)]


def simplified(content: bytes, fold: bool = True) -> tuple[bytes, bool]:
    editor = ModelEditor(Model(content))
    changed = simplify_normalizations(editor)
    changed = (fold and fold_factors(editor)) or changed
    return editor.finish().content(), changed


def same(a: bytes, b: bytes, data: list[list[np.ndarray]] = DATA) -> None:
    """Floats that differ by the last bits of sums alone, which x far from zero makes larger."""
    for sample in data:
        for ours, theirs in zip(outputs(a, sample), outputs(b, sample), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("form", ["minus", "negative"])
@pytest.mark.parametrize(("beta", "gamma"), [(True, True), (False, True), (True, False), (False, False)])
def test_the_mean_is_taken_off_first(form: str, beta: bool, gamma: bool) -> None:
    content = filtered(form, beta, gamma)
    made, changed = simplified(content, fold=False)
    assert changed
    expected = ["MEAN", "SUB", "MUL", "MEAN", "ADD", "RSQRT", "MUL", *["MUL"] * gamma, *["ADD"] * beta]
    assert operators(made) == [*expected, "FULLY_CONNECTED"]
    same(made, content)


@pytest.mark.parametrize("form", ["minus", "negative", "centered"])
def test_factors_go_into_the_filter(form: str) -> None:
    content = filtered(form)
    made, _ = simplified(content)
    assert operators(made) == ["MEAN", "SUB", "MUL", "MEAN", "ADD", "RSQRT", "MUL", "FULLY_CONNECTED"]
    same(made, content)


def test_what_others_read_stays() -> None:
    content = filtered("minus", is_seen=True)
    made, changed = simplified(content)
    assert not changed
    assert operators(made) == operators(content)


def convolved(padding: tflite.Padding, shifted: bool) -> bytes:
    """A convolution of what a RSQRT has scaled, then gamma and perhaps beta."""
    model, shape = ModelBuilder(), (1, 6, 6, 4)
    x, y = model.tensor(shape, name="x"), model.tensor((1, 6, 6, 3), name="y")
    if padding == tflite.Padding.VALID:
        y = model.tensor((1, 4, 4, 3), name="y")
    square, inverse, n, scaled = (model.tensor(shape) for _ in range(4))
    model.op(Op.MUL, [x, x], [square])
    model.op(Op.RSQRT, [square], [inverse])
    model.op(Op.MUL, [x, inverse], [n])
    model.op(Op.MUL, [n, model.constant(1 + weights((4,), 1))], [scaled])
    if shifted:
        scaled, before = model.tensor(shape), scaled
        model.op(Op.ADD, [before, model.constant(weights((4,), 2))], [scaled])
    w, b = model.constant(weights((3, 3, 3, 4), 6)), model.constant(weights((3,), 7))
    model.op(Op.CONV_2D, [scaled, w, b], [y], tflite.Conv2DOptionsT(padding=padding, stride_w=1, stride_h=1))
    return model.build([x], [y])


@pytest.mark.parametrize(
    ("padding", "shifted", "left"),
    [
        (tflite.Padding.SAME, True, ["MUL", "ADD"]),  # zeros around the image are not shifted
        (tflite.Padding.SAME, False, []),
        (tflite.Padding.VALID, True, []),
    ],
)
def test_convolutions_take_what_they_can(padding: tflite.Padding, shifted: bool, left: list[str]) -> None:
    content = convolved(padding, shifted)
    made, _ = simplified(content)
    assert operators(made) == ["MUL", "RSQRT", "MUL", *left, "CONV_2D"]
    data = [[1 + np.random.default_rng(k).random((1, 6, 6, 4), np.float32)] for k in range(3)]
    same(made, content, data)


@pytest.mark.parametrize("recipe", [recipes.static_int8(), recipes.int16x8()])
def test_integers_have_the_simple_form_and_err_little(recipe: Recipe) -> None:
    content = filtered("minus")
    quantizer = Quantizer(content, recipe)
    quantized = quantizer.quantize(quantizer.calibrate(DATA), improve="none").quantized_model
    assert Counter(operators(quantized))["MUL"] == 2
    real, integer = (np.array([outputs(m, sample)[0] for sample in DATA]) for m in (content, quantized))
    assert sqnr_db(real, integer) > 25


def test_floats_stay_as_they_are() -> None:
    made = Quantizer(filtered("minus"), recipes.weight_only_int8()).quantize()
    assert "SQUARED_DIFFERENCE" in operators(made.quantized_model)


def test_names_of_normalizations_stay_in_recipes() -> None:
    quantizer = Quantizer(filtered("minus", is_seen=True), recipes.static_int8())
    quantizer.update_quantization_recipe(regex="normal", weights=None)
    made = quantizer.quantize(quantizer.calibrate(DATA), improve="none")
    assert {o.operation for o in made.outcomes if o.scheme is not None} >= {"FULLY_CONNECTED", "RSQRT"}
