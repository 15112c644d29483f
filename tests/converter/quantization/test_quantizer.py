"""Quantizer: integer activations by recipes, with ranges from data; LiteRT runs it, and numlite alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numlite
import numpy as np
import pytest
from numlite.converter.quantization import Quantizer, Recipe, Rule, Scheme, recipes
from numlite.converter.quantization.calibration import Calibration
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.model_comparison import sqnr_db
from numlite.schema import tflite

from .weighted_models import conv, fully_connected, run, sample, shared_weight


def samples(model: bytes, count: int = 4) -> list[list[np.ndarray]]:
    return [[sample(numlite, model, seed)] for seed in range(count)]


def types(model: bytes) -> set[int]:
    return {tensor.type for subgraph in tflite.read(model).subgraphs for tensor in subgraph.tensors}


@pytest.mark.parametrize(("recipe", "least"), [(recipes.static_int8(), 35), (recipes.int16x8(), 40)])
@pytest.mark.parametrize("model", [conv(), fully_connected()], ids=["conv", "fully_connected"])
def test_integer_activations(recipe: Recipe, least: float, model: bytes, litert: Any) -> None:
    quantizer = Quantizer(model, recipe)
    assert quantizer.need_calibration
    made = quantizer.quantize(quantizer.calibrate(samples(model)))
    assert made.outcomes[0].scheme is not None
    x = sample(numlite, model)
    ours, theirs = (run(module, made.quantized_model, x) for module in (numlite, litert))
    np.testing.assert_array_equal(ours, theirs)
    assert sqnr_db(run(numlite, model, x), ours) > least


@pytest.mark.parametrize(("name", "type"), [("int8", 9), ("uint8", 3)])
def test_integer_inputs_and_outputs(name: str, type: int) -> None:
    quantizer = Quantizer(conv(), recipes.static_int8())
    ranges = quantizer.calibrate(samples(conv()))
    made = quantizer.quantize(ranges, input_type=name, output_type=name).quantized_model
    [subgraph] = tflite.read(made).subgraphs
    ends = [*subgraph.inputs, *subgraph.outputs]
    assert [subgraph.tensors[t].type for t in ends] == [type, type]
    assert tflite.TensorType.FLOAT32 not in types(made)


def test_rules_of_both_kinds() -> None:
    """The first product has integers, the second one quantizes its input itself, by a later rule."""
    quantizer = Quantizer(shared_weight(), recipes.static_int8())
    quantizer.update_quantization_recipe("y1", weights="int4")
    made = quantizer.quantize(quantizer.calibrate(samples(shared_weight())))
    found = {outcome.scope: outcome.scheme for outcome in made.outcomes if outcome.scheme}
    assert found == {"y0": Scheme(activation_bits=8), "y1": Scheme(weight_bits=4)}
    x = sample(numlite, shared_weight())
    assert sqnr_db(run(numlite, shared_weight(), x), run(numlite, made.quantized_model, x)) > 12


def test_float16_weights_are_widened_first() -> None:
    half = Quantizer(conv(), recipes.float16()).quantize().quantized_model
    direct, again = (Quantizer(model, recipes.static_int8()) for model in (conv(), half))
    expected, found = (q.quantize(q.calibrate(samples(conv()))).quantized_model for q in (direct, again))
    assert types(found) == types(expected)
    assert len(found) == len(expected)


def test_results_are_saved_merged_and_told_apart(tmp_path: Path) -> None:
    quantizer = Quantizer(conv(), recipes.static_int8())
    data = samples(conv(), 6)
    whole = quantizer.calibrate(data)
    quantizer.calibrate(data[:3]).save(tmp_path / "half.json")
    merged = quantizer.calibrate(data[3:], Calibration.load(tmp_path / "half.json"))
    plain, other = (quantizer.quantize(found, improve="none") for found in (merged, whole))
    assert plain.quantized_model == other.quantized_model
    loaded = Calibration.load(tmp_path / "half.json")
    assert (
        quantizer.quantize(loaded).quantized_model
        == quantizer.quantize(loaded, improve="none").quantized_model
    )
    with pytest.raises(ModelError, match="improve: bias is measured on samples"):
        quantizer.quantize(loaded, improve="bias")
    names = "none, bias, equalize, softmax, whole, all"
    with pytest.raises(UnsupportedError, match=f"improve: must be of {names}, got 'most'"):
        quantizer.quantize(whole, improve="most")
    with pytest.raises(ModelError, match="must be of this model"):
        Quantizer(shared_weight(), recipes.static_int8()).quantize(whole)


def test_samples_by_signature() -> None:
    quantizer = Quantizer(conv(), recipes.static_int8())
    with pytest.raises(ModelError, match="its signature must be of"):
        quantizer.calibrate({"serve": [{"x": samples(conv())[0][0]}]})
    with pytest.raises(ModelError, match="must be arrays by name, got list"):
        quantizer.calibrate({"serve": samples(conv())})


@pytest.mark.parametrize(
    ("rules", "error", "message"),
    [
        ([Rule(scheme=Scheme(activation_bits=8))], ModelError, "must be given what calibrate"),
        (
            [Rule(scheme=Scheme(weight_bits=2, activation_bits=8))],
            UnsupportedError,
            "must have 8 or 4 bits, got 2",
        ),
    ],
)
def test_what_is_not_built(rules: list[Rule], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Quantizer(conv(), Recipe(rules)).quantize()


def test_types_of_inputs_that_do_not_fit() -> None:
    with pytest.raises(UnsupportedError, match="must be float32 as the activations"):
        Quantizer(conv(), recipes.dynamic_int8()).quantize(input_type="int8")
    quantizer = Quantizer(conv(), recipes.int16x8())
    with pytest.raises(
        UnsupportedError, match="must be of float32, int16 with int16 activations, got 'int8'"
    ):
        quantizer.quantize(quantizer.calibrate(samples(conv())), input_type="int8")
