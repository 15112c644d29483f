"""The digits example: its graph converts, and classifies images it was not trained on."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from numlite.converter import convert_graph, read_graph
from numlite.interpreter import Interpreter

from ..running import run
from .graphs import checked, histogram

EXAMPLES = Path(__file__).parents[2] / "examples"
_MODEL = r"(?P<name>.{22}) (?P<types>\S+ -> \S+) +(?P<bytes>[\d,]+) bytes   accuracy (?P<right>\S+)"


def test_digits() -> None:
    model = checked(convert_graph(read_graph(EXAMPLES / "digits.pb")))
    assert len(model) < 200_000
    assert histogram(model)["CONV_2D"] == 2 and "ADD" not in histogram(model)
    table = np.loadtxt(EXAMPLES / "digits_test.csv", delimiter=",")
    images, labels = table[:, :64].reshape(-1, 8, 8, 1).astype(np.float32), table[:, 64]
    [probabilities] = run(Interpreter(model_content=model), images)
    assert np.mean(probabilities.argmax(axis=1) == labels) >= 0.97


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing TensorFlow, or what its guides use beside it, is an error."""
    for name in ("tensorflow", "keras", "pandas"):
        monkeypatch.setitem(sys.modules, name, None)


def test_the_guides_to_quantization(alone: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Every scheme tells as many digits as floats do, but for one in a hundred, in less space."""
    guide = runpy.run_path(str(EXAMPLES / "quantize_digits.py"))
    guide["main"]()
    found = [re.fullmatch(_MODEL, line) for line in capsys.readouterr().out.splitlines()]
    rows = {row["name"].strip(): row for row in found if row}
    assert list(rows) == list(guide["SCHEMES"])
    right = {name: float(row["right"]) for name, row in rows.items()}
    sizes = {name: int(row["bytes"].replace(",", "")) for name, row in rows.items()}
    assert right["float"] > 0.97
    assert min(right.values()) >= right["float"] - 0.01
    assert all(size < 0.6 * sizes["float"] for name, size in sizes.items() if name != "float")
    types = {name: row["types"] for name, row in rows.items()}
    assert types.pop("int8 throughout") == "uint8 -> uint8"
    assert types.pop("int16 throughout") == "int16 -> int16"
    assert set(types.values()) == {"float32 -> float32"}


def test_the_guide_to_the_debugger(alone: None, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "debug_digits.py"))["main"]()
    out = capsys.readouterr().out
    layers = re.findall(r"op_name (\S+)   range (\S+)   rmse/scale (\S+)   tensor_name (\S+)", out)
    assert [layer[0] for layer in layers][::6] == ["CONV_2D", "SOFTMAX"]
    assert all(float(error) < 0.7 for *_, error, _ in layers)
    correlations = [float(each) for each in re.findall(r"correlation (\S+)", out)]
    assert len(correlations) == len(layers)
    assert min(correlations) > 0.999
    assert "{'argmax_accuracy': 1.0}" in out
    assert [float(each) > 0.97 for each in re.findall(r"accuracy (\S+)\n", out)] == [True] * 4
