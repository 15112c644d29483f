"""What NUMLITE_DEBUG and the dump show."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from numlite.lite import debug, dump
from numlite.lite.tensor import Tensor, TensorType

from ..small_models import Op, chain

SCRIPT = """
import sys, numlite
interpreter = numlite.Interpreter(sys.argv[1])
interpreter.allocate_tensors()
interpreter.invoke()
"""


@pytest.mark.parametrize(
    ("level", "wanted", "unwanted"),
    [
        ("0", [], ["numlite"]),
        ("1", ["2 native calls in 1 segments, arena"], ["NEG"]),
        ("2", ["0 NEG(0 float32 1x4) -> 1 float32 1x4 ["], [" us  "]),
        ("3", ["us  node 1 (ABS), output 'y1'"], ["mean"]),
        ("4", ["'y1' float32 1x4: min 0 mean 0 max 0; 0 0 0 0"], []),
    ],
)
def test_levels(tmp_path: pathlib.Path, level: str, wanted: list[str], unwanted: list[str]) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(chain([Op.NEG, Op.ABS]))
    environment = os.environ | {"NUMLITE_DEBUG": level, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path)],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(text in run.stderr for text in wanted), run.stderr
    assert not any(text in run.stderr for text in unwanted), run.stderr


def test_values_of_types_that_numpy_lacks() -> None:
    assert "no values" in debug.values_line(Tensor(0, "s", TensorType.STRING, (1,)))
    tensor = Tensor(0, "t", TensorType.FLOAT32, (0,))
    tensor.bind(np.zeros(0, np.uint8))
    assert debug.values_line(tensor) == "'t' float32 0: []"


def test_dump(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(chain([Op.NEG, Op.ABS]))
    assert dump.main([str(path)]) == 0
    text = capsys.readouterr().out
    assert "signature 'serve' (subgraph 0): (x=0) -> (y=2)" in text
    assert "tensor 0: float32 1x4 'x' signature -1x4" in text
    assert "node 1: ABS [1] -> [2]" in text


def test_dump_of_no_model(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(b"nothing of the kind")
    assert dump.main([str(path)]) == 1
    assert capsys.readouterr().err.startswith("numlite: ")
    assert dump.main([]) == 2


def test_dump_of_real_models(model_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dump.main([str(model_path)]) == 0
    assert "node 0: " in capsys.readouterr().out
