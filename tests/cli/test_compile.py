"""`numlite compile --arch`: a file for several GPUs, and what makes no sense."""

from __future__ import annotations

from pathlib import Path

import pytest
from numlite.cli.main import cli, run_command
from numlite.interpreter import Interpreter, load_delegate
from numlite.schema import tflite

from ..delegates.cuda.simulation import needs_triton, skip_unless_simulated
from ..model_builder import ModelBuilder


def large(tmp_path: Path) -> Path:
    """SQUARE, ABS and NEG of a million floats: enough for the device."""
    builder = ModelBuilder()
    values = [builder.tensor((1024, 1024)) for _ in range(4)]
    for n, code in enumerate((tflite.BuiltinOperator.SQUARE, tflite.BuiltinOperator.ABS)):
        builder.op(code, [values[n]], [values[n + 1]])
    builder.op(tflite.BuiltinOperator.NEG, [values[2]], [values[3]])
    path = tmp_path / "large.tflite"
    path.write_bytes(builder.build([values[0]], [values[3]]))
    return path


def compile_to(model: Path, output: Path, *arguments: str) -> int:
    return run_command(cli, ["compile", str(model), "--delegate", "cuda", "-o", str(output), *arguments])


@needs_triton
def test_one_file_for_two_gpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    skip_unless_simulated()
    model, output = large(tmp_path), tmp_path / "compiled.tflite"
    assert compile_to(model, output, "--arch", "80", "--arch", "90", "--option", "fallback=true") == 0
    assert "SQUARE, ABS, NEG" in capsys.readouterr().out
    delegate = load_delegate("cuda", {"device": "simulated"})
    interpreter = Interpreter(str(output), experimental_delegates=[delegate])
    interpreter.allocate_tensors()
    assert delegate.delegate.device.cubins._known  # type: ignore[attr-defined]


@needs_triton
@pytest.mark.parametrize(
    ("arguments", "message"),
    (
        (["--arch", "90", "--option", "arch=80"], "say the same"),
        (["--arch", "90", "--arch", "90"], "list each one once"),
        (["--arch", "70"], "arch must be 80"),
        (["--arch", "hopper"], "arch must be numbers"),
        (["--option", "outputs=nowhere", "--arch", "90"], "outputs must be one of"),
    ),
)
def test_what_makes_no_sense(
    model: Path, tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compile_to(model, tmp_path / "compiled.tflite", *arguments) != 0
    assert message in capsys.readouterr().err


@needs_triton
def test_what_is_too_small_says_so(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compile_to(model, tmp_path / "compiled.tflite", "--arch", "90") == 1
    assert "takes none of its operators" in capsys.readouterr().err
    arguments = ["inspect", str(model), "--delegate", "cuda", "--option", "arch=90"]
    assert run_command(cli, arguments) == 0
    assert "would take longer on the device" in " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert compile_to(model, tmp_path / "compiled.tflite", "--arch", "90", "--option", "min_nodes=1") == 0


def test_delegates_without_gpus(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compile", str(model), "--delegate", "tests.delegates.numpy_delegate", "--arch", "90"]
    assert run_command(cli, [*arguments, "-o", str(tmp_path / "compiled.tflite")]) == 2
    assert "is for delegates that compile for GPUs" in capsys.readouterr().err
