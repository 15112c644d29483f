"""`numlite inspect`: what it shows, also of a model that cannot run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numlite.cli.main import cli, run_command
from numlite.kernels.compiled.language.target import target
from numlite.schema import tflite

from ..delegates.flex.flex_models import add_flex
from ..model_builder import ModelBuilder


def test_model(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(cli, ["inspect", str(model), "--tensors", "--nodes"]) == 0
    shown = capsys.readouterr().out
    for expected in ("signature 'abs': (left) -> (right)", "x[0]:0  float32 ?x4", "ADD", "ABS", "bias"):
        assert expected in shown
    assert "(the least possible)" in shown


def test_model_that_cannot_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = ModelBuilder()
    x, y = builder.tensor((2,), np.float32), builder.tensor((2,), np.float32)
    builder.op(tflite.BuiltinOperator.CUSTOM, [x], [y], custom_code="Mystery")
    path = tmp_path / "model.tflite"
    path.write_bytes(builder.build([x], [y]))
    assert run_command(cli, ["inspect", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "CUSTOM Mystery" in shown and "memory: not planned" in shown


def test_tensorflow_ops_have_their_own_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = ModelBuilder()
    x, y, z = (builder.tensor((2,), np.float32) for _ in range(3))
    add_flex(builder, "Identity", [x], [y], T="f32")
    builder.op(tflite.BuiltinOperator.CUSTOM, [y], [z], custom_code="FlexDamaged")
    path = tmp_path / "model.tflite"
    path.write_bytes(builder.build([x], [z]))
    assert run_command(cli, ["inspect", str(path), "--nodes"]) == 0
    shown = capsys.readouterr().out
    assert "TensorFlow Identity" in shown and "CUSTOM FlexDamaged" in shown


def test_a_damaged_model_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "damaged.tflite"
    path.write_bytes(b"nothing of a model")
    assert run_command(cli, ["inspect", str(path)]) == 1
    shown = capsys.readouterr().err
    assert f"{path}: " in shown and "identifier must be TFL3" in shown and shown.count("\n") == 1


def test_strict_lists_everything(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(cli, ["inspect", "--strict", str(model)]) == 0
    assert capsys.readouterr().out == f"{model}: nothing found\n"
    tables = tflite.unpack(tflite.read(model.read_bytes()))
    tables.signature_defs[0].inputs[0].tensor_index = 99
    tables.signature_defs[0].outputs[0].tensor_index = 98
    tables.subgraphs[0].inputs = [0, 1]
    unusual = tmp_path / "unusual.tflite"
    unusual.write_bytes(tflite.pack(tables))
    assert run_command(cli, ["inspect", "--strict", str(unusual)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "signature 0: tensor_index 99, subgraph 0 has 4",
        "signature 0: tensor_index 98, subgraph 0 has 4",
        "subgraph 0 'main': tensor 1 'bias' float32 4: this graph input is a constant",
    ]
    assert run_command(cli, ["inspect", str(unusual)]) == 0


def test_strict_of_what_is_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "damaged.tflite"
    path.write_bytes(b"nothing of a model")
    assert run_command(cli, ["inspect", "--strict", str(path)]) == 1
    assert "identifier must be TFL3" in capsys.readouterr().out


def test_the_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(cli, ["inspect", "--machine"]) == 0
    facts = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert facts["target"] == target().name and facts["target"] in facts["can run"]
    assert facts["machine"].startswith(target().arch) and ".pack" in facts["pack"]
    assert run_command(cli, ["inspect", "--machine", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["machine"] == facts


def test_a_model_is_needed_for_all_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(cli, ["inspect"]) == 2
    assert "Missing argument 'MODEL'" in capsys.readouterr().err
