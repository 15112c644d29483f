"""Without the packages of an extra, what needs them says which extra brings them."""

import subprocess
import sys
import tomllib
from pathlib import Path

import numlite
import pytest
from numlite.lite.errors import UnsupportedError
from numlite.lite.extras import _EXTRAS, needed_for

from .. import onnx_builder as onnx

PYPROJECT = Path(numlite.__file__).with_name("pyproject.toml")


def blocked(code: str, *modules: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    start = f"import sys; sys.modules |= dict.fromkeys({modules!r})\n"
    command = [sys.executable, "-c", start + code]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder)


@pytest.mark.parametrize("module", ["click", "rich"])
@pytest.mark.parametrize("command", ["numlite", "convert_model"])
def test_commands(command: str, module: str) -> None:
    done = blocked(f"sys.argv[1:] = ['--help']; from numlite import cli; cli.{command}()", module)
    if module == "rich":  # which help does without
        assert done.returncode == 0, done.stderr
        return
    name = command.replace("_", "-")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == (
        f"{name}: all that it needs must be installed, got no click: pip install 'numlite[cli]'\n"
    )


def test_the_converter() -> None:
    done = blocked("import numlite.converter; numlite.converter.Converter", "google.protobuf")
    said = "UnsupportedError: converter: all that it needs must be installed, got no google.protobuf"
    assert said in done.stderr.splitlines()[-1] and "'numlite[converter]'" in done.stderr


# What numlite[all] does not bring.
OTHERS = ("PIL", "ai_edge_litert", "h5py", "hypothesis", "ml_dtypes", "pyarrow", "re2", "triton")
JOBS = """
from numlite.cli.convert_model import command as convert_model
from numlite.cli.main import cli, run_command
for command in ("demo -o d.tflite", "inspect d.tflite", "run d.tflite", "quantize d.tflite -o q.tflite"):
    assert run_command(cli, command.split()) == 0, command
assert run_command(convert_model, ["net.onnx", "-o", "net.tflite"]) == 0
assert run_command(cli, ["run", "net.tflite"]) == 0
"""


def test_the_main_jobs_need_no_more_than_all(tmp_path: Path) -> None:
    x, y = onnx.value("x", [2, 3]), onnx.value("y", [2, 3])
    model = onnx.model([onnx.node("Relu", ["x"], ["y"])], [x], [y])
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    done = blocked(JOBS, *OTHERS, folder=tmp_path)
    assert done.returncode == 0, done.stderr


def test_what_no_extra_brings_is_as_ever() -> None:
    with pytest.raises(ModuleNotFoundError), needed_for("test"):
        import no_such_package  # type: ignore[import-not-found]  # noqa: F401


def test_an_extra_brings_numba() -> None:
    with pytest.raises(UnsupportedError, match=r"numlite\[jit\]"), needed_for("test"):
        raise ModuleNotFoundError(name="numba.core")


def test_the_extras_are_the_projects() -> None:
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    extras = project["optional-dependencies"]
    assert set(_EXTRAS.values()) <= set(extras)
    assert extras["all"] == ["numlite[cli,converter,jit]"]
    assert project["dependencies"] == ["flatbuffers", "numpy>=2"]
    assert project["version"] == numlite.__version__
