"""`--custom-op`: operators of a module, for run, benchmark and explore."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numlite.cli.main import cli, run_command

from ..small_models import custom

MODULE = """
import numpy as np

class Twice:
    def prepare(self, context, node):
        context.resize_tensor(context.output(node, 0), context.input(node, 0).shape)
    def invoke(self, context, node):
        np.multiply(context.input(node, 0).array(), 2, out=context.output(node, 0).array())

CUSTOM_OPERATORS = [("Twice", Twice())]
def register(resolver):
    resolver.add_custom("Twice", Twice())
wrong = "Twice"
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A model with the custom operator, and the module that has it."""
    model, module = tmp_path / "twice.tflite", tmp_path / "twice_operator.py"
    model.write_bytes(custom(between=False))
    module.write_text(MODULE)
    np.save(tmp_path / "x.npy", np.float32([1, 2, 3, 4]))
    return model, module


@pytest.mark.parametrize("how", ["file", "module", "function"])
def test_run(how: str, files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, module = files
    monkeypatch.syspath_prepend(str(tmp_path))
    asked = {"file": str(module), "module": "twice_operator", "function": f"{module}:register"}[how]
    out = tmp_path / "out.npz"
    arguments = [str(model), "-i", str(tmp_path / "x.npy"), "-o", str(out), "--custom-op", asked]
    assert run_command(cli, ["run", *arguments]) == 0
    [y] = np.load(out).values()
    assert np.array_equal(y, np.float32([2, 4, 6, 8]))


def test_benchmark(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    model, module = files
    arguments = [str(model), "--runs", "2", "--custom-op", str(module)]
    assert run_command(cli, ["benchmark", *arguments]) == 0
    assert "Twice" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("nowhere.py", "it cannot be imported: there is no file nowhere.py"),
        ("no_such_module", "it cannot be imported: No module named 'no_such_module'"),
        ("{module}:none", "the module must have none, and has none"),
        ("{module}:wrong", "wrong must be a list of (custom code, operator), got 'Twice'"),
    ],
)
def test_what_is_refused(
    module: str, message: str, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    model, path = files
    assert run_command(cli, ["run", str(model), "--custom-op", module.format(module=path)]) == 1
    assert message in capsys.readouterr().err


def test_without_it_the_operator_is_named(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(cli, ["run", str(files[0])]) == 1
    assert "Twice" in capsys.readouterr().err
