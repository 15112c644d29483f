"""validate: numbers of models whose results are known; goals; errors for what does not fit."""

import numpy as np
import pytest
from numlite.converter.quantization import Quantizer, recipes, validate
from numlite.converter.quantization.validation import OutputCloseness, Validation, parsed_goal
from numlite.lite.errors import ModelError
from numlite.lite.model import Model
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import samples
from .weighted_models import conv, fully_connected


def added(*values: float) -> Model:
    """x + values, named y."""
    model = ModelBuilder()
    x, y = model.tensor((1, len(values)), name="x"), model.tensor((1, len(values)), name="y")
    constant = model.constant(np.array(values, np.float32))
    model.op(tflite.BuiltinOperator.ADD, [x, constant], [y], tflite.AddOptionsT())
    return Model(model.build([x], [y]))


def test_numbers_are_those_of_their_definitions() -> None:
    zeros = [[np.zeros((1, 3), np.float32)]]
    found = validate(added(3.0, 0.0, 4.0), added(3.0, 0.0, 4.5), zeros, [0])
    [y] = found.outputs
    assert (y.name, y.max_error, y.top1, y.top5) == ("y", 0.5, 1.0, 1.0)
    assert y.sqnr_db == pytest.approx(10 * np.log10(25 / 0.25))
    assert y.cosine == pytest.approx((9 + 18) / (5 * np.sqrt(9 + 4.5**2)))
    assert found.accuracy == (0.0, 0.0)
    [other] = validate(added(3.0, 0.0, 4.0), added(4.0, 0.0, 3.0), zeros, [2]).outputs
    assert (other.top1, other.top5) == (0.0, 1.0)


def test_equal_models() -> None:
    model = Model(conv())
    found = validate(model, model, samples(conv(), 3))
    [y] = found.outputs
    assert (y.sqnr_db, y.max_error, y.top1) == (float("inf"), 0.0, 1.0)
    assert y.cosine == pytest.approx(1.0)
    assert found.samples == 3


@pytest.mark.parametrize("ends", ["float32", "int8", "uint8"])
@pytest.mark.parametrize("named", [True, False])
def test_integer_ends_are_compared_by_what_they_stand_for(ends: str, named: bool) -> None:
    content = fully_connected()
    quantizer = Quantizer(content, recipes.static_int8())
    data = samples(content)
    made = quantizer.quantize(quantizer.calibrate(data), input_type=ends, output_type=ends)
    given = [{"x": sample[0]} for sample in data] if named else data
    [y] = made.validate(given).outputs
    assert y.sqnr_db > 30 and y.top1 is not None and y.top1 > 0.9


@pytest.mark.parametrize(
    ("goal", "holds"),
    [("sqnr>=30", True), ("sqnr >= 32.5", False), ("cosine>=0.9", True), ("agree>=0.95", False)],
)
def test_goals(goal: str, holds: bool) -> None:
    outputs = [
        OutputCloseness("a", 31.0, 0.99, 0.1, 0.9, 1.0),
        OutputCloseness("b", 40.0, 0.95, 0.1, None, None),
    ]
    assert Validation(4, outputs).reaches(goal) is holds


def test_a_goal_of_accuracy() -> None:
    assert Validation(4, [], (0.9, 0.8)).reaches("accuracy>=0.8")
    with pytest.raises(ModelError, match="accuracy needs labels"):
        Validation(4, []).reaches("accuracy>=0.8")


@pytest.mark.parametrize("goal", ["snr>=3", "sqnr=30", "sqnr>=", "sqnr>=1.2.3", "", "agree<=1"])
def test_other_goals_are_errors(goal: str) -> None:
    with pytest.raises(ModelError, match="goal: must be like"):
        parsed_goal(goal)


def test_what_does_not_fit() -> None:
    model = Model(conv())
    with pytest.raises(ModelError, match="there must be samples"):
        validate(model, model, [])
    zeros = [[np.zeros((1, 3), np.float32)]] * 2
    for labels in ([1], [1, 2, 0]):
        with pytest.raises(ModelError, match="labels: must be as many as rows"):
            validate(added(1, 2, 3), added(1, 2, 3), zeros, labels)
    with pytest.raises(ModelError, match="sample 0: must have 1 arrays"):
        validate(model, model, [[1, 2]])
