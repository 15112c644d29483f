"""validate: numbers of models whose results are known; goals; errors for what does not fit."""

import numpy as np
import pytest
from numlite.converter.quantization import Quantizer, recipes, validate
from numlite.converter.quantization.class_maps import class_maps
from numlite.converter.quantization.detections import Detections, detection_outputs
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


def mapped(*values: float, last: tflite.BuiltinOperator | None = None) -> Model:
    """x + values, of [1, 2, 2, channels], and perhaps its ARG_MAX."""
    model = ModelBuilder()
    shape = (1, 2, 2, len(values))
    x, y = model.tensor(shape, name="x"), model.tensor(shape, name="y")
    constant = model.constant(np.array(values, np.float32))
    model.op(tflite.BuiltinOperator.ADD, [x, constant], [y], tflite.AddOptionsT())
    if last is not None:
        y, scores = model.tensor(shape[:3], np.int64, name="map"), y
        axis = model.constant(np.array(3, np.int32))
        model.op(last, [scores, axis], [y], tflite.ArgMaxOptionsT(output_type=tflite.TensorType.INT64))
    return Model(model.build([x], [y]))


SCORES = np.array([[[[0, 3], [2, 1]], [[0, 1], [5, 0]]]], np.float32)  # classes 1 0 1 0


@pytest.mark.parametrize("last", [None, tflite.BuiltinOperator.ARG_MAX], ids=["scores", "classes"])
def test_maps_of_classes(last: tflite.BuiltinOperator | None) -> None:
    real, other = mapped(0.0, 0.0, last=last), mapped(1.5, 0.0, last=last)  # the third point becomes 0
    found = validate(real, other, [[SCORES]] * 2, np.array([[1, 0, 1, 255]] * 2))
    [y] = found.outputs
    # Class 0 has 2 of 3 points in common, class 1 1 of 2.
    assert y.iou == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert y.labelled_iou == pytest.approx((1.0, (1 / 2 + 1 / 2) / 2))
    assert found.accuracy == (0.75, 0.5)
    assert found.reaches("iou>=0.58") and not found.reaches("iou>=0.59")


@pytest.mark.parametrize(("scores", "shift"), [([0.9, 0.4, 0.6, 0.1], -0.2), ([3.0, -2.0, 0.1, -1.0], -0.5)])
def test_masks_of_one_score(scores: list[float], shift: float) -> None:
    x = np.array(scores, np.float32).reshape(1, 2, 2, 1)
    [y] = validate(mapped(0.0), mapped(shift), [[x]]).outputs
    assert y.iou == pytest.approx((2 / 3 + 1 / 2) / 2)


def test_what_is_no_map_has_no_overlap() -> None:
    found = validate(Model(fully_connected()), Model(fully_connected()), samples(fully_connected(), 2))
    assert found.outputs[0].iou is None and found.detections is None
    with pytest.raises(ModelError, match="iou needs an output that is a map of classes, got none"):
        found.reaches("iou>=0.5")
    with pytest.raises(ModelError, match="boxes needs outputs of TFLite_Detection_PostProcess"):
        found.reaches("boxes>=0.5")


def test_huge_integers_are_no_classes() -> None:
    a = np.full((1, 2, 2), 2**40, np.int64)
    assert class_maps(a, a) is None
    assert class_maps(-a, -a) is None


def objects(*rows: tuple[float, float, float]) -> list[np.ndarray]:
    """Outputs with an object a row: left, class, score, of 10 x 10; and two that do not count."""
    boxes = np.array([[[0, left, 10, left + 10] for left, *_ in [*rows, (0, 0, 0), (0, 0, 0)]]], np.float32)
    numbers = np.array([[each[1:] for each in [*rows, (0, 0, 1), (0, 0, 1)]]], np.float32)
    return [boxes, numbers[..., 0], numbers[..., 1], np.array([len(rows)], np.float32)]


@pytest.mark.parametrize(
    ("real", "other", "expected"),
    [
        ([(0, 1, 0.9)], [(0, 1, 0.8)], (1, 1, 1, 1)),
        ([(0, 1, 0.9)], [(2, 1, 0.8)], (1, 1, 8 / 12, 1)),
        ([(0, 1, 0.9)], [(0, 2, 0.8)], (0, 0, 1, 1)),  # another class
        ([(0, 1, 0.9)], [(6, 1, 0.8)], (0, 0, 1, 1)),  # too far
        ([(0, 1, 0.6)], [(0, 1, 0.4)], (1, 1, 1, 1)),  # a score below counts for the match
        ([(0, 1, 0.9), (30, 1, 0.8)], [(30, 1, 0.7)], (0.5, 1, 1, 2)),
        ([(0, 1, 0.9)], [(0, 1, 0.9), (0, 1, 0.8)], (1, 0.5, 1, 1)),  # each is one's match only
        ([], [], (1, 1, 1, 0)),
        ([(0, 1, 0.9)], [], (0, 1, 1, 1)),
    ],
)
def test_objects_are_matched(real: list, other: list, expected: tuple[float, ...]) -> None:
    found = Detections((0, 1, 2, 3))
    found.add(objects(*real), objects(*other))
    assert found.closeness() == pytest.approx(expected)


def test_a_detection_model() -> None:
    model = Model(detector())
    assert detection_outputs(model) == (1, 2, 3, 0)
    random = np.random.default_rng(0)
    data = [[random.normal(size=(1, 8, 4)), random.normal(size=(1, 8, 3))] for _ in range(3)]
    floats = [[array.astype(np.float32) for array in sample] for sample in data]
    found = validate(model, model, floats)
    assert found.detections is not None and found.detections.objects > 0
    assert found.reaches("boxes>=1")
    other = validate(model, Model(detector(moved=3.0)), floats)
    assert other.detections is not None and other.detections.found < 0.5
    assert not other.reaches("boxes>=0.9")


def detector(moved: float = 0.0) -> bytes:
    """TFLite_Detection_PostProcess of boxes + moved and scores; the number of objects is the first output."""
    from flatbuffers import flexbuffers

    model = ModelBuilder()
    boxes, shifted = model.tensor((1, 8, 4), name="boxes"), model.tensor((1, 8, 4), name="shifted")
    scores = model.tensor((1, 8, 3), name="scores")
    constant = model.constant(np.full(1, moved, np.float32))
    model.op(tflite.BuiltinOperator.ADD, [boxes, constant], [shifted], tflite.AddOptionsT())
    anchors = model.constant(np.array([[0.1 * i, 0.5, 0.2, 0.3] for i in range(8)], np.float32))
    results = [model.tensor(shape, name=f"r{i}") for i, shape in enumerate([(1, 8, 4), (1, 8), (1, 8), (1,)])]
    numbers = {
        "max_detections": 8,
        "max_classes_per_detection": 1,
        "num_classes": 2,
        "use_regular_nms": False,
    }
    scales = {"x_scale": 1.0, "y_scale": 1.0, "h_scale": 1.0, "w_scale": 1.0}
    limits = {"nms_score_threshold": 0.0, "nms_iou_threshold": 0.6}
    options = bytes(flexbuffers.Dumps({**numbers, **scales, **limits}))
    custom = {"custom_code": "TFLite_Detection_PostProcess", "custom_options": options}
    model.op(tflite.BuiltinOperator.CUSTOM, [shifted, scores, anchors], results, **custom)
    return model.build([boxes, scores], [results[3], *results[:3]])
