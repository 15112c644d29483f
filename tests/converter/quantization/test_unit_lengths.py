"""Normalizations become L2_NORMALIZATION where that is nearer."""

from collections.abc import Iterable

import numlite
import numpy as np
import pytest
from numlite.converter.quantization import recipes
from numlite.converter.quantization.float_graph import FloatGraph, Site
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.converter.quantization.normalizations import simplify_normalizations
from numlite.converter.quantization.quantizer import Quantizer
from numlite.converter.quantization.recipe import Recipe
from numlite.converter.quantization.unit_lengths import normalize_lengths, unit_lengths
from numlite.lite.model import Model
from numlite.model_comparison import sqnr_db
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import operators, outputs, weights
from .normalized_models import DEPTH, ROWS, SHAPE, filtered

Op = tflite.BuiltinOperator


def rows(sizes: Iterable[float]) -> np.ndarray:
    """Rows whose values are as large as told."""
    random = np.random.default_rng(sum(map(int, sizes)))
    return (random.normal(size=(1, ROWS, DEPTH)) * np.array(list(sizes))[:, None]).astype(np.float32)


# A row that is 60 times as large as another has 3 600 times its variance.
DATA = [[rows(np.roll([0.5, 30, 8, 2, 1], k))] for k in range(16)]


def rewritten(content: bytes) -> tuple[bytes, set[Site]]:
    editor = ModelEditor(Model(content))
    simplify_normalizations(editor)
    found = unit_lengths(FloatGraph(editor), lambda step: True)
    normalize_lengths(editor, found)
    return editor.finish().content(), found


@pytest.mark.parametrize("form", ["minus", "negative", "centered"])
def test_length_of_what_filters_read(form: str) -> None:
    content = filtered(form)
    made, found = rewritten(content)
    assert len(found) == 1
    assert operators(made)[:3] == ["MEAN", "SUB", "L2_NORMALIZATION"]
    for sample in DATA:  # but for epsilon
        np.testing.assert_allclose(
            outputs(made, sample)[0], outputs(content, sample)[0], rtol=0.02, atol=0.02
        )


def test_what_others_read_is_left() -> None:
    content = filtered("minus", is_seen=True)
    made, found = rewritten(content)
    assert not found
    assert "L2_NORMALIZATION" not in operators(made)


def rooted(axis: int, seen: bool) -> bytes:
    """x over the root of its mean square along an axis, and a filter; perhaps that root is an output, too."""
    model = ModelBuilder()
    x, y = model.tensor(SHAPE, name="x"), model.tensor((1, ROWS, 3), name="y")
    means = (1, ROWS, 1) if axis == 2 else (1, 1, DEPTH)
    squares, n = model.tensor(SHAPE), model.tensor(SHAPE)
    mean, shifted, inverse = (model.tensor(means) for _ in range(3))
    model.op(Op.MUL, [x, x], [squares])
    axes = model.constant(np.array([axis], np.int32))
    model.op(Op.MEAN, [squares, axes], [mean], tflite.ReducerOptionsT(keep_dims=True))
    model.op(Op.ADD, [mean, model.constant(np.array(1e-3, np.float32))], [shifted])
    model.op(Op.RSQRT, [shifted], [inverse])
    model.op(Op.MUL, [x, inverse], [n])
    w = model.constant(weights((3, DEPTH), 5))
    model.op(Op.FULLY_CONNECTED, [n, w, -1], [y], tflite.FullyConnectedOptionsT(keep_num_dims=True))
    return model.build([x], [y, inverse] if seen else [y])


@pytest.mark.parametrize(("axis", "seen", "count"), [(2, False, 1), (1, False, 0), (2, True, 0)])
def test_only_lengths_of_channels(axis: int, seen: bool, count: int) -> None:
    _, found = rewritten(rooted(axis, seen))
    assert len(found) == count


def test_rows_of_all_sizes_are_nearer_and_equal_litert() -> None:
    content = filtered("minus")
    quantizer = Quantizer(content, recipes.static_int8())
    ranges = quantizer.calibrate(DATA)
    plain, made = (quantizer.quantize(ranges, improve=what).quantized_model for what in ("none", "whole"))
    assert "L2_NORMALIZATION" in operators(made)
    assert "L2_NORMALIZATION" not in operators(plain)
    real, before, after = (np.array([outputs(m, s)[0] for s in DATA]) for m in (content, plain, made))
    assert sqnr_db(real, after) > sqnr_db(real, before) + 3
    litert = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
    for sample in DATA:
        results = []
        for module in (numlite, litert):
            interpreter = module.Interpreter(model_content=made)
            interpreter.allocate_tensors()
            interpreter.set_tensor(interpreter.get_input_details()[0]["index"], sample[0])
            interpreter.invoke()
            results.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
        np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("recipe", [recipes.int16x8(), recipes.static_int8()])
def test_other_integers_and_floats_keep_their_operators(recipe: Recipe) -> None:
    quantizer = Quantizer(filtered("minus"), recipe)
    if recipe.rules[0].scheme == recipes.static_int8().rules[0].scheme:
        quantizer.update_quantization_recipe(operation="RSQRT", weights=None)
    made = quantizer.quantize(quantizer.calibrate(DATA), improve="whole").quantized_model
    assert "L2_NORMALIZATION" not in operators(made)
