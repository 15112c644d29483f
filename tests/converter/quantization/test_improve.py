"""Improvements: nearer to the float model where that is measured, else nothing; LiteRT computes the same."""

from typing import Any

import numlite
import numpy as np
import pytest
from numlite.converter.quantization import Quantizer, Recipe, recipes
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.lite.model import Model
from numlite.model_comparison import sqnr_db
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import Case, build, operators, outputs, samples, weights
from .uneven_models import depthwise, filtered, joined, shortcut, two, uneven

Op = tflite.BuiltinOperator


def closeness(content: bytes, made: bytes) -> float:
    """SQNR of samples that nothing has seen."""
    data = samples(content, 40)[20:]
    real, integer = (np.concatenate([outputs(c, sample)[0] for sample in data]) for c in (content, made))
    return sqnr_db(real, integer)


def quantized(content: bytes, improve: str | None, recipe: Recipe | None = None, **ends: Any) -> bytes:
    quantizer = Quantizer(content, recipe or recipes.static_int8())
    return quantizer.quantize(
        quantizer.calibrate(samples(content, 20)), improve=improve, **ends
    ).quantized_model


@pytest.mark.parametrize(
    "between", [depthwise, shortcut, joined, two(depthwise, lambda m, x: (x, (1, 6, 6, 16)))]
)
def test_uneven_channels_gain(between: Any, litert: Any) -> None:
    content = uneven(between)
    plain, better = quantized(content, "none"), quantized(content, None)
    assert closeness(content, better) > closeness(content, plain) + 1
    for sample in samples(content, 3):
        ours, theirs = (outputs(better, sample, module.Interpreter) for module in (numlite, litert))
        np.testing.assert_array_equal(ours[0], theirs[0])
    assert operators(better) == operators(plain)


@pytest.mark.parametrize("improve", ["bias", "equalize", "all", None])
def test_the_same_data_give_the_same_bytes(improve: str | None) -> None:
    content = uneven(depthwise)
    assert quantized(content, improve) == quantized(content, improve)


@pytest.mark.parametrize("improve", ["bias", "equalize", "all"])
@pytest.mark.parametrize("recipe", [recipes.static_int8(), recipes.static_int8(False), recipes.int16x8()])
def test_nothing_is_made_worse(improve: str, recipe: Recipe) -> None:
    for between in (depthwise, shortcut):
        content = uneven(between)
        plain, better = quantized(content, "none", recipe), quantized(content, improve, recipe)
        assert closeness(content, better) > closeness(content, plain) - 0.5


def test_what_has_no_filters_is_as_without() -> None:
    content = build(Case("ADD", [(2, 6), (2, 6)], [(2, 6)]))
    assert quantized(content, "all") == quantized(content, "none")


@pytest.mark.parametrize("name", ["", "same"])
def test_tensors_without_names_of_their_own(name: str) -> None:
    """Results cannot be found again by their names: nothing is improved, and nothing fails."""
    editor = ModelEditor(Model(uneven(depthwise)))
    for tensor in editor.subgraphs[0].tensors or []:
        tensor.name = name
    content = editor.finish().content()
    assert quantized(content, None) == quantized(content, "none")


def test_integers_that_fail_on_samples() -> None:
    """The float model divides by what the integers round to 0."""
    model = ModelBuilder()
    x, one = model.tensor((1, 6, 6, 4), name="x"), model.constant(np.array(1, np.float32))
    a = filtered(model, x, 4, 8, (1, 6, 6), np.geomspace(1e-4, 10, 8))
    b, y = model.tensor((1, 6, 6, 8), name="b"), model.tensor((1, 6, 6, 8), name="y")
    model.op(Op.SIN, [a], [b])
    model.op(Op.FLOOR_DIV, [model.constant(np.ones((1, 6, 6, 8), np.float32)), b], [y], None)
    content = model.build([x], [y])
    assert one and len(quantized(content, "all"))


def test_shifts_need_no_bias() -> None:
    """The last filter has none: it gets one where that helps, and the model stays valid."""
    model = ModelBuilder()
    x = model.tensor((1, 6, 6, 4), name="x")
    a = filtered(model, x, 4, 8, (1, 6, 6))
    y, w = model.tensor((36, 3), name="y"), model.constant(weights((3, 8)))
    flat = model.tensor((36, 8), name="flat")
    model.op(Op.RESHAPE, [a, model.constant(np.array([36, 8], np.int32))], [flat])
    model.op(Op.FULLY_CONNECTED, [flat, w, -1], [y], tflite.FullyConnectedOptionsT())
    content = model.build([x], [y])
    assert (
        closeness(content, quantized(content, "all")) > closeness(content, quantized(content, "none")) - 0.5
    )
