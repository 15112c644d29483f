"""inspect --quantization: scales, constants at their ends, and islands of floats."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numlite.cli.inspect import command
from numlite.cli.main import run_command
from numlite.converter.quantization import Quantizer, recipes
from numlite.converter.quantization.recipe import Recipe
from numlite.schema import tflite

from ..converter.quantization.float_models import Op, samples
from ..converter.quantization.uneven_models import depthwise, one, uneven
from ..model_builder import ModelBuilder


def inspected(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str], recipe: Recipe | None = None
) -> dict[str, object]:
    quantizer = Quantizer(content, recipe or recipes.static_int8())
    made = quantizer.quantize(quantizer.calibrate(samples(content, 8)), improve="none")
    path = tmp_path / "q.tflite"
    made.export_model(path)
    assert run_command(command, [str(path), "--quantization", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert run_command(command, [str(path), "--quantization"]) == 0
    return {**found["quantization"], "text": capsys.readouterr().out}


def test_scales_and_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = inspected(uneven(depthwise), tmp_path, capsys)
    assert found["operators"] == {"QUANTIZE": 1, "integer": 3, "DEQUANTIZE": 1}
    assert found["islands"] == []
    assert "no float islands" in str(found["text"])
    tensors = found["tensors"]
    assert isinstance(tensors, list)
    filters = [each for each in tensors if each["type"] == "int8" and each["scales"] > 1]
    assert len(filters) == 3
    for each in filters:
        # A value of each channel at least is at an end, by which its scale was made.
        assert each["saturated"] > 0
        assert each["scale"][0] <= each["scale"][1]
        assert each["zero_point"] is None
    activations = [each for each in tensors if each["saturated"] is None and each["scales"] == 1]
    assert len(activations) == 4
    assert all(-128 <= each["zero_point"] <= 127 for each in activations)


def test_islands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = inspected(uneven(one("SIN")), tmp_path, capsys)
    islands = found["islands"]
    assert isinstance(islands, list)
    assert [[name.split()[0] for name in island] for island in islands] == [["SIN"]]
    assert "float island: SIN" in str(found["text"])
    operators = found["operators"]
    assert isinstance(operators, dict)
    assert operators["float"] == 1


def test_operators_side_by_side_are_one_island(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = ModelBuilder()
    names = ["ABS", "SIN", "COS", "ABS", "SIN", "ABS"]
    tensors = [model.tensor((2, 3), name=f"t{i}") for i in range(len(names) + 1)]
    for i, name in enumerate(names):
        model.op(Op[name], [tensors[i]], [tensors[i + 1]])
    found = inspected(model.build(tensors[:1], tensors[-1:]), tmp_path, capsys)
    assert found["islands"] == [["SIN 't2'", "COS 't3'"], ["SIN 't5'"]]


def test_floats_at_the_ends_of_a_model_are_no_islands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = uneven(depthwise)
    quantizer = Quantizer(content, recipes.static_int8())
    outcomes = quantizer.quantize(quantizer.calibrate(samples(content)), improve="none").outcomes
    recipe = recipes.static_int8()
    quantizer = Quantizer(content, recipe)
    for outcome in (outcomes[0], outcomes[-1]):
        quantizer.update_quantization_recipe(regex=f"^{outcome.scope}$", weights=None)
    found = inspected(content, tmp_path, capsys, recipe)
    assert found["islands"] == []
    assert found["operators"] == {"float": 2, "QUANTIZE": 1, "integer": 1, "DEQUANTIZE": 1}


def test_a_float_model_has_nothing_to_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "f.tflite"
    path.write_bytes(uneven(depthwise))
    assert run_command(command, [str(path), "--quantization", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["quantization"]
    assert found == {"operators": {"float": 3}, "tensors": [], "islands": []}


def test_a_constant_may_lie_in_a_larger_buffer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, path = ModelBuilder(), tmp_path / "model.tflite"
    x, y = (graph.tensor((3,), np.int8, scale=1, zero_point=0) for _ in range(2))
    w = graph.constant(np.int8([1, 2, 127]), scale=1, zero_point=0)
    graph.model.buffers[-1].data += bytes(5)
    graph.op(Op.ADD, [x, w], [y], tflite.AddOptionsT())
    path.write_bytes(graph.build([x], [y]))
    assert run_command(command, [str(path), "--quantization", "--json"]) == 0
    tensors = json.loads(capsys.readouterr().out)["quantization"]["tensors"]
    assert tensors[w]["saturated"] == pytest.approx(1 / 3)


def test_an_operator_may_name_a_tensor_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, path = ModelBuilder(), tmp_path / "model.tflite"
    x = graph.tensor((3,))
    graph.op(Op.ABS, [x], [7])
    path.write_bytes(graph.build([x], [x]))
    assert run_command(command, [str(path), "--quantization"]) == 1
    assert "subgraph 0: operators must name its 1 tensors, got 7" in capsys.readouterr().err
