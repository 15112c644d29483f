"""fewest_floats: no operator is float, or of 16 bits, that need not be, and the goal holds."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from numlite.cli.main import run_command
from numlite.cli.quantize import command
from numlite.converter.quantization import Quantizer, Recipe, recipes
from numlite.converter.quantization.calibration import Calibration
from numlite.converter.quantization.fewest_floats import Chosen, Maker, fewest_floats
from numlite.converter.quantization.float_graph import FloatGraph, Site
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.converter.quantization.recipe import Rule
from numlite.lite.errors import ModelError
from numlite.lite.model import Model
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import samples, weights
from .normalized_models import filtered
from .uneven_models import depthwise, shortcut, two, uneven

Op = tflite.BuiltinOperator
# Channels of very different sizes, which one scale suits badly.
CONTENT = uneven(two(shortcut, depthwise))


def _macs(content: bytes) -> dict[str, int]:
    """Multiply-adds of convolutions by their results' names: pixels times what a filter has for each."""
    graph = FloatGraph(ModelEditor(Model(content)))
    found = {}
    for step in graph.steps:
        site = Site(step.graph, step.outputs[0])
        rule = None if step.constraint is None else step.constraint.weights
        shape = graph.tensor(site).shape
        assert shape is not None
        filters = 0 if rule is None else graph.constant(Site(step.graph, step.inputs[rule.place])).size
        found[graph.name(site)] = int(np.prod(shape[:-1])) * filters
    return found


def closeness(quantizer: Quantizer, data: list[list[np.ndarray]]) -> float:
    made = quantizer.quantize(quantizer.calibrate(data), improve="none")
    return made.validate(data).outputs[0].sqnr_db


def test_the_goal_is_reached_with_few_floats() -> None:
    data = samples(CONTENT, 12)
    quantizer = Quantizer(CONTENT, recipes.static_int8())
    before = closeness(quantizer, data)
    found = quantizer.reach(f"sqnr>={before + 2}", quantizer.calibrate(data), improve="none")
    lifted = [*found.floats, *found.wide]
    assert 0 < len(lifted) < 5
    assert closeness(quantizer, data) >= before + 2
    for scope in lifted:  # each of them is needed
        rules = [rule for rule in found.recipe.rules if rule.regex == ".*" or not rule.is_for("*", scope)]
        assert closeness(Quantizer(CONTENT, Recipe(rules)), data) < before + 2
    counts = [step.floats + step.wide for step in found.steps]
    assert counts == sorted(counts)
    taken = found.steps[found.taken]
    assert (taken.floats, taken.wide, taken.reaches) == (len(found.floats), len(found.wide), True)


def test_operators_that_take_the_place_of_others_are_left_float() -> None:
    """A normalization is simplified: what stays float is named by operators that the given model has not."""
    content = filtered("minus")
    data = samples(content, 8)
    quantizer = Quantizer(content, recipes.static_int8())
    ranges = quantizer.calibrate(data)
    before = quantizer.quantize(ranges, improve="none").validate(data).worst_db
    found = quantizer.reach(f"sqnr>={before + 2}", ranges, improve="none")
    made = quantizer.quantize(ranges, improve="none")
    assert found.floats or found.wide
    assert {o.scope for o in made.outcomes if o.scheme is None} >= set(found.floats)
    bits = {o.scope: o.scheme.activation_bits for o in made.outcomes if o.scheme is not None}
    assert all(bits[scope] == 16 for scope in found.wide)
    assert made.validate(data).worst_db >= before + 2


def int8_filters(content: bytes) -> dict[str, np.ndarray]:
    """The filters of convolutions by their results' names."""
    graph = FloatGraph(ModelEditor(Model(content)))
    return {
        graph.name(Site(step.graph, step.outputs[0])): graph.constant(Site(step.graph, step.inputs[1]))
        for step in graph.steps
        if step.name in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")
    }


def test_operators_are_ranked_by_what_improves_the_whole_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """One operator alone has the filter that it has among all; results have no shift of all."""
    data, makers = samples(CONTENT, 12), list[Maker]()

    def kept(source: Model, recipe: Recipe, make: Maker, samples: object, goal: str) -> Chosen:
        makers.append(make)
        return fewest_floats(source, recipe, make, data, goal)

    monkeypatch.setattr("numlite.converter.quantization.fewest_floats.fewest_floats", kept)
    quantizer = Quantizer(CONTENT, recipes.static_int8())
    ranges = quantizer.calibrate(data)
    whole, plain = (quantizer.quantize(ranges, improve=improve) for improve in (None, "none"))
    assert whole.preparation is not None and whole.preparation.mending.shifts
    quantizer.reach("sqnr>=5", ranges)
    scopes = [o.scope for o in whole.outcomes if o.operation == "CONV_2D"]
    one = scopes[1]
    others = [Rule(f"^{re.escape(scope)}$", scheme=None) for scope in scopes if scope != one]
    alone, outcomes = makers[0](Recipe([*recipes.static_int8().rules, *others]), False)
    assert {o.scope for o in outcomes if o.operation == "CONV_2D" and o.scheme is not None} == {one}
    found, wanted, without = (
        next(value for name, value in int8_filters(content).items() if name.startswith(one))
        for content in (bytes(alone.content), whole.quantized_model, plain.quantized_model)
    )
    np.testing.assert_array_equal(found, wanted)
    assert np.any(found != without)


def test_what_is_reached_already_stays() -> None:
    data = samples(CONTENT, 6)
    quantizer = Quantizer(CONTENT, recipes.static_int8())
    found = quantizer.reach("sqnr>=5", quantizer.calibrate(data))
    assert found.floats == []
    assert found.work == 0
    assert len(found.recipe.rules) == 1


def test_the_share_of_work_is_that_of_the_floats() -> None:
    data = samples(CONTENT, 12)
    quantizer = Quantizer(CONTENT, recipes.static_int8())
    ranges = quantizer.calibrate(data)
    everything = quantizer.reach("sqnr>=150", ranges, improve="none")
    assert everything.work == pytest.approx(1.0)
    quantizer.load_quantization_recipe(recipes.static_int8())
    before = quantizer.quantize(ranges, improve="none").validate(data).worst_db
    found = quantizer.reach(f"sqnr>={before + 3}", ranges, improve="none")
    macs = _macs(CONTENT)
    lifted = [*found.floats, *found.wide]
    assert found.work == pytest.approx(sum(macs[scope] for scope in lifted) / sum(macs.values()))
    assert 0 < found.work < 0.7


def far() -> bytes:
    """A difference of large numbers between filters: of 8 bits nothing is left of it."""
    model = ModelBuilder()
    names = ("x", "large", "difference", "size", "y", "z")
    x, large, difference, size, y, z = (model.tensor((1, 8), name=name) for name in names)
    offset = model.constant(np.linspace(-2000, 2000, 8, dtype=np.float32))
    model.op(Op.ADD, [x, offset], [large], tflite.AddOptionsT())
    model.op(Op.SUB, [large, offset], [difference], tflite.SubOptionsT())
    filter = [model.constant(weights((8, 8), seed)) for seed in range(2)]
    model.op(Op.ABS, [difference], [size])  # or the filter would take the offset
    model.op(Op.FULLY_CONNECTED, [size, filter[0], -1], [y], tflite.FullyConnectedOptionsT())
    model.op(Op.FULLY_CONNECTED, [y, filter[1], -1], [z], tflite.FullyConnectedOptionsT())
    return model.build([x], [z])


def test_16_bits_do_where_floats_would_take_more() -> None:
    """Where both are as few, operators stay integers."""
    content = far()
    data = samples(content, 24)
    quantizer = Quantizer(content, recipes.static_int8())
    ranges = quantizer.calibrate(data)
    found = quantizer.reach("sqnr>=24", ranges, improve="none")
    assert found.floats == []
    assert set(found.wide) == {"large", "difference"}
    assert found.work == 0
    made = quantizer.quantize(ranges, improve="none", input_type="int8", output_type="int8")
    assert made.validate(data).reaches("sqnr>=22")
    assert {o.scope: o.scheme.activation_bits for o in made.outcomes if o.scheme is not None} == {
        **{"large": 16, "difference": 16, "size": 8, "y": 8, "z": 8}
    }
    [graph] = tflite.unpack(tflite.read(made.quantized_model)).subgraphs
    assert tflite.TensorType.FLOAT32 not in {tensor.type for tensor in graph.tensors}


def test_without_a_kernel_of_16_bits_operators_are_float() -> None:
    content = uneven(two(shortcut, depthwise))
    quantizer = Quantizer(content, recipes.int16x8())
    data = samples(content, 8)
    ranges = quantizer.calibrate(data)
    before = quantizer.quantize(ranges, improve="none").validate(data).worst_db
    found = quantizer.reach(f"sqnr>={before + 2}", ranges, improve="none")
    assert found.floats and not found.wide


@pytest.mark.parametrize("goal", ["agree>=0.9", "cosine>=0.99"])
def test_other_goals(goal: str) -> None:
    data = samples(CONTENT, 6)
    quantizer = Quantizer(CONTENT, recipes.static_int8())
    ranges = quantizer.calibrate(data)
    quantizer.reach(goal, ranges)
    assert quantizer.quantize(ranges).validate(data).reaches(goal)


def test_what_cannot_be_reached_is_said() -> None:
    quantizer = Quantizer(CONTENT, recipes.static_int8())
    with pytest.raises(ModelError, match="goal: must be like"):
        quantizer.reach("quality>=2", quantizer.calibrate(samples(CONTENT)))
    ranges = quantizer.calibrate(samples(CONTENT))
    with pytest.raises(ModelError, match="auto: the ranges must have samples"):
        quantizer.reach("sqnr>=30", Calibration.from_json(ranges.to_json()))
    quantizer.load_quantization_recipe(recipes.dynamic_int8())
    with pytest.raises(ModelError, match="auto: the recipe must have integer activations"):
        quantizer.reach("sqnr>=30", ranges)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, data = tmp_path / "float.tflite", tmp_path / "data.npy"
    model.write_bytes(CONTENT)
    np.save(data, np.concatenate([sample[0] for sample in samples(CONTENT, 12)]))
    arguments = [str(model), "-o", str(tmp_path / "q.tflite"), "--calibrate", str(data)]
    report = tmp_path / "q.json"
    arguments += ["--improve", "none", "--report", str(report)]
    assert run_command(command, [*arguments, "--auto", "sqnr>=60"]) == 0
    assert "sqnr>=60 holds with" in capsys.readouterr().out
    tried = json.loads(report.read_text())["tried"]
    assert tried[0]["floats"] == tried[0]["wide"] == 0 and tried[0]["sqnr_db"] < 60
    assert None in {trial["sqnr_db"] for trial in tried}  # all are float, and nothing differs
    assert all(trial["nbytes"] > 0 for trial in tried)
    quantized = Model.from_path(tmp_path / "q.tflite")
    assert quantized.nbytes
    assert run_command(command, [str(model), "-o", str(tmp_path / "r.tflite"), "--auto", "sqnr>=60"]) == 2
    assert "--auto: --calibrate must name the data" in capsys.readouterr().err
