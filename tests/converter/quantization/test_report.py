"""The report: a row for each operator, with what was measured; a page that shows it, and JSON."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numlite.converter.quantization import Quantizer, Recipe, recipes
from numlite.converter.quantization.layer_statistics import layer_statistics
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.converter.quantization.quantized_model import QuantizedModel
from numlite.converter.quantization.report import LayerReport, Report, trials
from numlite.converter.quantization.weight_rewrite import NO_WEIGHTS
from numlite.lite.model import Model
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import samples
from .test_float_rewrites import negated
from .uneven_models import depthwise, gated, one, uneven
from .weighted_models import conv

Op, INT4, ROW = tflite.BuiltinOperator, tflite.TensorType.INT4, (2, 6)


def quantized(content: bytes, **options: str) -> QuantizedModel:
    quantizer = Quantizer(content, recipes.static_int8())
    return quantizer.quantize(quantizer.calibrate(samples(content, 16)), **options)


@pytest.mark.parametrize("improve", ["none", "equalize", "all"])
def test_every_operator_has_its_row(improve: str) -> None:
    content = uneven(depthwise)
    made = quantized(content, improve=improve)
    layers = made.report.layers
    assert [layer.operation for layer in layers] == ["CONV_2D", "DEPTHWISE_CONV_2D", "CONV_2D"]
    assert made.report.sizes == (len(content), len(made.quantized_model))
    assert made.report.conversions == 2
    for layer in layers:
        assert layer.scheme == "int8"
        # Also beside channels that were scaled: each is compared with its own float values.
        assert layer.sqnr_db is not None and 15 < layer.sqnr_db < 80
        assert layer.rmse_per_scale is not None and 0.1 < layer.rmse_per_scale < 40
        assert layer.weights_db is not None and layer.weights_db > 30
        assert layer.low is not None and layer.high is not None and layer.low < layer.high
        assert layer.saturated is not None and 0 <= layer.saturated < 0.9
    assert list(made.report.outputs) == [layers[-1].scope]


def test_saturation_and_ranges_are_those_of_the_values() -> None:
    """A float model's result, all of it at the end of its range."""
    content = uneven(one("RELU6"))
    made = quantized(content, improve="none")
    [relu] = [layer for layer in made.report.layers if layer.operation == "RELU6"]
    assert (relu.low, relu.high) == (0.0, 6.0)
    assert relu.saturated is not None and 0.01 < relu.saturated < 0.1
    assert relu.zero_point == -128


def test_values_are_counted_and_those_outside_too() -> None:
    content = uneven(one("RELU"))
    quantizer = Quantizer(content, recipes.static_int8())
    data = samples(content, 16)
    for observer in ("minmax", "percentile:90"):
        ranges = quantizer.calibrate(data, observer=observer)
        layers = quantizer.quantize(ranges, improve="none").report.layers
        [relu] = [layer for layer in layers if layer.operation == "RELU"]
        assert relu.bars is not None and relu.clip is not None and relu.high is not None
        assert sum(relu.bars) == len(data) * _elements(content, relu.scope)
        # A clip of one in ten cuts those that are largest.
        assert relu.clip[1] >= relu.high if observer == "minmax" else relu.clip[1] < relu.high
        assert relu.outside == 0 if observer == "minmax" else 0 < relu.outside < 0.12
        assert relu.bars[0] == max(relu.bars)  # what RELU made 0


def _elements(content: bytes, name: str) -> int:
    tensors = Model(content).root.subgraphs[0].tensors
    return int(np.prod(next(tensor.shape for tensor in tensors if tensor.name == name)))


def test_values_without_end_are_not_drawn() -> None:
    model = ModelBuilder()
    x, y = (model.tensor(ROW, name=name) for name in "xy")
    mask = np.array([[0, -np.inf, 0, 0, 0, 0]], np.float32)
    model.op(Op.ADD, [x, model.constant(mask)], [y], tflite.AddOptionsT())
    built = Model(model.build([x], [y]))
    with np.errstate(invalid="ignore"):
        found = layer_statistics(built, built, [[np.ones(ROW, np.float32)]])[0, "y"]
    assert found.low == -np.inf
    assert sum(found.bars(8)) == 10


def test_what_stays_float_says_why() -> None:
    made = quantized(uneven(one("SIN")), improve="none")
    [sine] = [layer for layer in made.report.layers if layer.operation == "SIN"]
    assert (sine.scheme, sine.reason) == ("", "it has no integer kernel")
    assert "float: it has no integer kernel" in made.report.to_html()


def test_names_of_fused_operators() -> None:
    """They hold what separates the names of results."""
    editor = ModelEditor(Model(uneven(one("RELU"))))
    for tensor in editor.subgraphs[0].tensors or []:
        tensor.name = f"{tensor.name};{tensor.name}/fused"
    report = quantized(editor.finish().content(), improve="none").report
    assert [layer.sqnr_db is None for layer in report.layers] == [False] * 3
    page = report.to_html()
    for layer in report.layers:
        first, _ = layer.scope.split(";")
        # One of the names tells it from the others; the whole is there when it is pointed at.
        assert f"<td><span class=t title='{layer.scope}'>{first}; ...</span>" in page
    for suspect in report.suspects():
        assert f"--skip &#x27;^{re.escape(suspect.scope.split(';')[0])};&#x27;" in page


def test_names_that_begin_alike_are_told_apart() -> None:
    layers = [LayerReport("CONV_2D", scope, "int8", "", lost_db=1.0) for scope in ("a;b", "a;c", "a", "d;b")]
    page = Report(layers, {}, (2, 1), 0, "").to_html()
    for option in ("^a;b$", "^a;c$", "^a$", "^d;"):
        assert f"--skip &#x27;{option}&#x27;" in page


def test_zeros_of_a_relu_are_not_saturated() -> None:
    [relu] = [
        layer
        for layer in quantized(uneven(one("RELU")), improve="none").report.layers
        if layer.operation == "RELU"
    ]
    assert relu.saturated is not None and relu.saturated < 0.01


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        (recipes.int16x8(), ["int16, int8 weights", "int16", "int16, int8 weights"]),
        (recipes.static_int4(), ["int8, int4 weights", "int8", "int8, int4 weights"]),
        (recipes.dynamic_int8(0), ["int8 weights, float32 activations"] * 2),
    ],
)
def test_weights_are_told_where_there_are_some(recipe: Recipe, expected: list[str]) -> None:
    content = uneven(one("RELU"))
    quantizer = Quantizer(content, recipe)
    found = quantizer.calibrate(samples(content, 4)) if quantizer.need_calibration else None
    layers = quantizer.quantize(found).report.layers
    assert [layer.scheme for layer in layers if layer.scheme] == expected


def test_tensors_of_types_that_have_no_numbers_here() -> None:
    """Those of packed integers have no row, and stop no other."""
    model = ModelBuilder()
    x, y, z = (
        model.tensor(ROW, name="x"),
        model.tensor(ROW, INT4, scale=0.5, name="y"),
        model.tensor(ROW, name="z"),
    )
    model.op(Op.QUANTIZE, [x], [y])
    model.op(Op.DEQUANTIZE, [y], [z])
    a = model.tensor(ROW, name="a")
    model.op(Op.ADD, [z, z], [a], tflite.AddOptionsT())
    layers = quantized(model.build([x], [a]), improve="none").report.layers
    assert [layer.sqnr_db is None for layer in layers if layer.operation == "ADD"] == [False]


@pytest.mark.parametrize("activations", ["int8", "int16"])
@pytest.mark.parametrize("form", ["a + -x * a", "-x * c", "exp(-x)"])
def test_what_takes_another_sign_is_compared_with_its_own(form: str, activations: str) -> None:
    """NEG goes into what uses it, which changes the sign of what lies between."""
    content = negated(form)
    quantizer = Quantizer(content, recipes.static_int8())
    quantizer.update_quantization_recipe(activations=activations)
    made = quantizer.quantize(quantizer.calibrate(samples(content, 16)), improve="none")
    found = [layer.sqnr_db for layer in made.report.layers if layer.sqnr_db is not None]
    assert found
    assert min(found) > 25


def test_masks_are_compared_with_what_they_became() -> None:
    """They are raised to what SOFTMAX needs, which no error of an operator is."""
    model = ModelBuilder()
    x, masked, y = (model.tensor(ROW, name=name) for name in ("x", "masked", "y"))
    mask = np.array([[0, 0, -1e9, 0, -1e9, 0]], np.float32)
    model.op(Op.ADD, [x, model.constant(mask)], [masked], tflite.AddOptionsT())
    model.op(Op.SOFTMAX, [masked], [y], tflite.SoftmaxOptionsT(beta=1.0))
    [added, _] = quantized(model.build([x], [y]), improve="none").report.layers
    assert added.sqnr_db is not None
    assert added.sqnr_db > 25


def test_suspects_lose_most() -> None:
    suspects = quantized(uneven(gated), improve="none").report.suspects()
    assert suspects
    lost = [layer.lost_db for layer in suspects]
    assert lost == sorted(lost, reverse=True)


def test_files(tmp_path: Path) -> None:
    report = quantized(conv()).report
    report.save(tmp_path / "r.html")
    report.save(tmp_path / "r.json")
    page = (tmp_path / "r.html").read_text()
    assert page.startswith("<!doctype html>") and "CONV_2D" in page and "http" not in page
    found = json.loads((tmp_path / "r.json").read_text())
    assert [layer["operation"] for layer in found["layers"]] == ["CONV_2D"]
    np.testing.assert_allclose(found["layers"][0]["sqnr_db"], report.layers[0].sqnr_db)


def test_without_samples_there_is_what_is_known() -> None:
    made = Quantizer(conv(), recipes.dynamic_int8()).quantize()
    [layer] = made.report.layers
    assert (layer.sqnr_db, layer.scale) == (None, None)
    assert layer.scheme == "int8 weights, float32 activations"
    assert made.report.outputs == {}
    assert NO_WEIGHTS not in made.report.to_html()


def test_what_was_tried_tells_which_models_are_best() -> None:
    found = trials(
        [(3, 0, 900, 40.0), (0, 0, 500, 20.0), (1, 1, 800, 18.0), (0, 1, 700, 30.0), (1, 0, 650, 25.0)]
    )
    assert [(t.floats, t.wide, t.sqnr_db, t.is_best) for t in found] == [
        (0, 0, 20.0, True),
        (0, 1, 30.0, True),
        (1, 0, 25.0, False),
        (1, 1, 18.0, False),
        (3, 0, 40.0, True),
    ]
    assert not any(t.is_taken for t in found)
    assert [t.is_taken for t in trials([(1, 0, 9, 3.0), (0, 0, 9, 1.0)], taken=0)] == [False, True]
    page = Report([], {}, (100, 50), 0, "", found).to_html()
    assert "What was tried" in page and "900" in page


def test_times_of_both_models_stand_beside_each_other() -> None:
    made = quantized(uneven(depthwise), improve="none")
    report = made.report
    assert report.times_ns is not None
    before, after, conversions = report.times_ns
    assert all(layer.before_ns is not None and layer.after_ns is not None for layer in report.layers)
    # All but what changes types is in a row of its own.
    assert sum(layer.before_ns or 0 for layer in report.layers) == pytest.approx(before)
    assert sum(layer.after_ns or 0 for layer in report.layers) == pytest.approx(after - conversions)
    assert conversions > 0
    page = report.to_html()
    assert f"A run takes {after / 1000:,.1f}" in page and "\u00b5s before" in page
    without = replace(made, samples=()).report
    assert without.times_ns is None and "A run takes" not in without.to_html()
    assert {layer.before_ns for layer in without.layers} == {None}
