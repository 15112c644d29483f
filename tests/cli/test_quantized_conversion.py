"""convert-model --quantize: what two commands make, in one go."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numlite.cli.convert_model import command
from numlite.cli.main import run_command
from numlite.cli.quantize import command as quantize_command
from numlite.converter.graph_builder import GraphBuilder
from numlite.interpreter import Interpreter

from ..converter.quantization.float_models import operators


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """y = relu(x w), and samples of x beside it."""
    random = np.random.default_rng(4)
    g = GraphBuilder()
    w = g.constant("w", random.normal(size=(64, 32)).astype(np.float32))
    g.node("Relu", "y", g.node("MatMul", "product", g.placeholder("x", [1, 64]), w))
    path = tmp_path / "graph.pb"
    path.write_bytes(g.graph_def.SerializeToString())
    np.save(tmp_path / "data.npy", random.normal(size=(12, 64)).astype(np.float32))
    return path


@pytest.mark.parametrize("scheme", ["int8", "int16x8", "dynamic", "float16", "weight-int8", "weight-int4"])
def test_it_is_what_two_commands_make(graph: Path, scheme: str, capsys: pytest.CaptureFixture[str]) -> None:
    at_once, real, later = (str(graph.with_name(f"{name}.tflite")) for name in ("at_once", "real", "later"))
    data = ["--calibrate", str(graph.with_name("data.npy"))] if scheme.startswith("int") else []
    assert run_command(command, [str(graph), "-o", at_once, "--quantize", scheme, *data]) == 0
    assert "FULLY_CONNECTED" in capsys.readouterr().out
    assert run_command(command, [str(graph), "-o", real]) == 0
    assert run_command(quantize_command, [real, "-o", later, "--scheme", scheme, *data]) == 0
    assert Path(at_once).read_bytes() == Path(later).read_bytes()
    assert Path(at_once).stat().st_size < Path(real).stat().st_size


def test_inputs_and_outputs_may_be_integers(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = graph.with_name("q.tflite")
    arguments = ["--quantize", "int8", "--calibrate", str(graph.with_name("data.npy")), "--io", "uint8"]
    assert run_command(command, [str(graph), "-o", str(output), *arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bytes"] == output.stat().st_size
    [signature] = told["signatures"]
    assert signature["inputs"] == [{"name": "x", "tensor": "x", "type": "uint8", "shape": [1, 64]}]
    assert [(each["name"], each["type"]) for each in signature["outputs"]] == [("y", "uint8")]
    assert told["subgraphs"] == [{"name": "main", "operators": {"QUANTIZE": 2, "FULLY_CONNECTED": 1}}]
    made = Interpreter(str(output))
    assert made.get_input_details()[0]["dtype"] == made.get_output_details()[0]["dtype"] == np.uint8


def test_ranges_of_training_are_taken(tmp_path: Path) -> None:
    """Fake quantization says all that data would."""
    g = GraphBuilder()
    faked = {"min": 0.0, "max": 4.0}
    x = g.node("FakeQuantWithMinMaxArgs", "fake", g.placeholder("x", [1, 8]), **faked)
    g.node("FakeQuantWithMinMaxArgs", "y", g.node("AddV2", "sum", x, x), **faked)
    path, output = tmp_path / "g.pb", tmp_path / "q.tflite"
    path.write_bytes(g.graph_def.SerializeToString())
    assert run_command(command, [str(path), "-o", str(output), "--quantize", "int8"]) == 0
    assert operators(output.read_bytes()) == ["QUANTIZE", "ADD", "DEQUANTIZE"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--io", "int8"], "--calibrate, --random-calibration, --io: only with --quantize"),
        (["--quantize", "int8"], "--quantize int8: its ranges come from data; --calibrate must name samples"),
        (
            ["--quantize", "dynamic", "--calibrate", "{data}"],
            "--calibrate: --quantize dynamic asks for no data",
        ),
        (["--quantize", "dynamic", "--verify", "2"], "--verify: only without --quantize"),
    ],
)
def test_wrong_usage(
    graph: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output, data = graph.with_name("q.tflite"), str(graph.with_name("data.npy"))
    given = [each.format(data=data) for each in arguments]
    assert run_command(command, [str(graph), "-o", str(output), *given]) == 2
    assert message in capsys.readouterr().err
    assert not output.exists()
