"""Filters that read normalized channels have rows without a mean, so that differences can be exact."""

from typing import Any

import numlite
import numpy as np
import pytest
from numlite.converter.quantization import Quantizer, recipes
from numlite.converter.quantization.centered_readers import center_readers, one_scale_differences
from numlite.converter.quantization.float_graph import FloatGraph, Site, Step
from numlite.converter.quantization.folded_factors import fold_factors
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.converter.quantization.normalizations import simplify_normalizations
from numlite.converter.quantization.propagate import Range
from numlite.lite.model import Model

from .float_models import outputs
from .normalized_models import DEPTH, ROWS, SHAPE, filtered

RANDOM = np.random.default_rng(5)
DATA = [[(0.7 + RANDOM.normal(size=SHAPE)).astype(np.float32)] for _ in range(12)]


def simplified(content: bytes, centers: bool = True) -> ModelEditor:
    editor = ModelEditor(Model(content))
    simplify_normalizations(editor)
    fold_factors(editor)
    assert not centers or center_readers(editor)
    return editor


def steps(editor: ModelEditor, name: str) -> list[Step]:
    return [step for step in FloatGraph(editor).steps if step.name == name]


def known_ranges(editor: ModelEditor, difference: Range) -> tuple[list[Site], dict[Site, Range]]:
    """x, its mean and their difference, and ranges of them."""
    [step] = steps(editor, "SUB")
    sites = [Site(0, t) for t in (*step.inputs, *step.outputs)]
    return sites, dict(zip(sites, [(-2.0, 4.0), (-0.5, 1.0), difference], strict=True))


@pytest.mark.parametrize("form", ["minus", "negative", "centered"])
def test_rows_lose_their_mean_and_nothing_else(form: str) -> None:
    content = filtered(form)
    editor = simplified(content)
    [reader] = steps(editor, "FULLY_CONNECTED")
    weights = FloatGraph(editor).constant(Site(0, reader.inputs[1]))
    np.testing.assert_allclose(weights.mean(axis=-1), 0, atol=1e-7)
    made = editor.finish().content()
    for sample in DATA:
        np.testing.assert_allclose(
            outputs(made, sample)[0], outputs(content, sample)[0], rtol=1e-4, atol=1e-4
        )


def test_what_others_read_is_left() -> None:
    editor = ModelEditor(Model(filtered("minus", is_seen=True)))
    simplify_normalizations(editor)
    fold_factors(editor)
    assert not center_readers(editor)


@pytest.mark.parametrize(("difference", "width"), [((-1.0, 2.0), 6.0), ((-3.5, 3.5), 7.0)])
def test_all_ranges_are_as_wide_as_the_widest(difference: Range, width: float) -> None:
    editor = simplified(filtered("minus"))
    sites, ranges = known_ranges(editor, difference)
    found = one_scale_differences(FloatGraph(editor), ranges, lambda step: True)
    assert sorted(found) == sorted(sites)
    for site in sites:
        low, high = found[site]
        assert high - low == pytest.approx(width)
        assert low <= ranges[site][0]
        assert high >= ranges[site][1]


def test_who_keeps_its_range() -> None:
    editor = simplified(filtered("minus"))
    _, wide = known_ranges(editor, (-4.0, 4.0))
    _, ranges = known_ranges(editor, (-3.0, 3.0))
    assert not one_scale_differences(FloatGraph(editor), wide, lambda step: True)
    assert not one_scale_differences(FloatGraph(editor), ranges, lambda step: False)
    assert not one_scale_differences(FloatGraph(editor), {}, lambda step: True)
    seeing = simplified(filtered("minus"), centers=False)  # its filter sees what shifts all channels
    _, ranges = known_ranges(seeing, (-3.0, 3.0))
    assert not one_scale_differences(FloatGraph(seeing), ranges, lambda step: True)


@pytest.mark.parametrize("improve", ["none", None])
def test_integer_differences_are_exact(improve: str | None, litert: Any) -> None:
    content = filtered("minus")
    quantizer = Quantizer(content, recipes.static_int8())
    made = quantizer.quantize(quantizer.calibrate(DATA), improve=improve).quantized_model
    [step] = steps(ModelEditor(Model(made)), "SUB")
    for module in (numlite, litert):
        interpreter = module.Interpreter(model_content=made, experimental_preserve_all_tensors=True)
        interpreter.allocate_tensors()
        details = {d["index"]: d for d in interpreter.get_tensor_details()}
        x, mean, difference = (details[t] for t in (*step.inputs, *step.outputs))
        scale = x["quantization"][0]
        assert mean["quantization"][0] == pytest.approx(scale, rel=1e-6)
        assert difference["quantization"][0] == pytest.approx(scale, rel=1e-6)
        for [sample] in DATA:
            interpreter.set_tensor(interpreter.get_input_details()[0]["index"], sample)
            interpreter.invoke()
            a, b, c = (
                interpreter.get_tensor(d["index"]).astype(int) - d["quantization"][1]
                for d in (x, mean, difference)
            )
            np.testing.assert_array_equal(c, a - b)
            assert c.shape == (1, ROWS, DEPTH)
