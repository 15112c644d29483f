"""BIDIRECTIONAL_SEQUENCE_LSTM becomes LSTMs of one direction, which have integer kernels; the same values."""

from __future__ import annotations

from typing import Any

import ai_edge_litert.interpreter as litert
import numpy as np
import pytest
from numlite.converter.quantization import Quantizer, recipes
from numlite.converter.quantization.bidirectional_lstms import BIDIRECTIONAL, split_bidirectional
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.interpreter import Interpreter
from numlite.lite.errors import ModelError
from numlite.lite.model import Model
from numlite.model_comparison import sqnr_db

from .float_models import operators, samples
from .recurrent_models import RELU, bidirectional

LSTM = "UNIDIRECTIONAL_SEQUENCE_LSTM"
PARTS = [LSTM, "REVERSE_V2", LSTM, "REVERSE_V2"]
FORMS: dict[str, bytes] = {
    "merged": bidirectional(),
    "apart": bidirectional(merge=False),
    "time major": bidirectional(time_major=True),
    "projection": bidirectional(projection=3),
    "two inputs": bidirectional(aux="apart", merge=False),
}


def run(content: bytes, data: list[list[np.ndarray]], maker: Any = Interpreter) -> list[np.ndarray]:
    """Each output over samples in a row, with what the model remembers."""
    made = maker(model_content=content)
    made.allocate_tensors()
    found = []
    for sample in data:
        for detail, value in zip(made.get_input_details(), sample, strict=True):
            made.set_tensor(detail["index"], value)
        made.invoke()
        found.append([made.get_tensor(detail["index"]) for detail in made.get_output_details()])
    return [np.array(each) for each in zip(*found, strict=True)]


@pytest.mark.parametrize("form", FORMS)
def test_the_parts_give_the_same_floats(form: str) -> None:
    editor = ModelEditor(Model(FORMS[form]))
    assert split_bidirectional(editor, recipes.static_int8()) == 1
    content = editor.finish().content()
    ends = ["CONCATENATION"] * (form in ("merged", "time major", "projection"))
    assert operators(content) == [*PARTS, *ends]
    data = samples(FORMS[form], 4, -2, 2)
    for ours, theirs in zip(run(content, data), run(FORMS[form], data), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("form", FORMS)
def test_integers_come_near_and_are_those_of_litert(form: str) -> None:
    content = FORMS[form]
    quantizer = Quantizer(content, recipes.static_int8())
    made = quantizer.quantize(quantizer.calibrate(samples(content, 20, -2, 2)), improve="none")
    assert {outcome.reason for outcome in made.outcomes} == {""}
    assert set(operators(made.quantized_model)) <= {*PARTS, "CONCATENATION", "QUANTIZE", "DEQUANTIZE"}
    data = samples(content, 8, -2, 2)
    ours, theirs = (run(made.quantized_model, data, each) for each in (Interpreter, litert.Interpreter))
    for real, a, b in zip(run(content, data), ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)
        assert sqnr_db(real, a) > 22


@pytest.mark.parametrize(
    "content",
    [bidirectional(activation=RELU), bidirectional(aux="crossed")],
    ids=["activation", "auxiliary weights"],
)
def test_what_has_no_kernel_in_parts_either_stays_whole(content: bytes) -> None:
    quantizer = Quantizer(content, recipes.static_int8())
    made = quantizer.quantize(quantizer.calibrate(samples(content)))
    assert operators(made.quantized_model) == [BIDIRECTIONAL]
    assert [outcome.reason for outcome in made.outcomes] == ["it has no integer kernel"]


@pytest.mark.parametrize("recipe", [recipes.int16x8(), recipes.dynamic_int8()], ids=["int16x8", "dynamic"])
def test_other_schemes_leave_it_whole(recipe: Any) -> None:
    quantizer = Quantizer(FORMS["merged"], recipe)
    found = quantizer.calibrate(samples(FORMS["merged"])) if quantizer.need_calibration else None
    assert operators(quantizer.quantize(found).quantized_model) == [BIDIRECTIONAL]


def test_rules_of_the_operation_leave_it_whole() -> None:
    content = FORMS["merged"]
    quantizer = Quantizer(content, recipes.static_int8())
    ranges = quantizer.calibrate(samples(content))
    quantizer.update_quantization_recipe(operation=BIDIRECTIONAL, weights=None)
    with pytest.raises(ModelError, match="calibration: must be of this model"):
        quantizer.quantize(ranges)
    made = quantizer.quantize(quantizer.calibrate(samples(content)))
    assert operators(made.quantized_model) == [BIDIRECTIONAL]


def test_parts_are_named_after_the_result() -> None:
    content = FORMS["merged"]
    quantizer = Quantizer(content, recipes.static_int8())
    quantizer.update_quantization_recipe(regex="^y0/forward$", weights=None)
    made = quantizer.quantize(quantizer.calibrate(samples(content)), improve="none")
    assert [o.reason for o in made.outcomes].count("") == 4
    assert "y0/forward" in [o.scope for o in made.outcomes if o.scheme is None]
