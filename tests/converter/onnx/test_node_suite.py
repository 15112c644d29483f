"""ONNX's own node tests: none is wrong, and no fewer pass than before. See onnx_nodes.py."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ... import onnx_nodes
from ...onnx_builder import model, node, value

PYTHON = os.environ.get("NUMLITE_ONNX", "")


@pytest.mark.long
@pytest.mark.skipif(not PYTHON, reason="NUMLITE_ONNX names no Python with the onnx package")
def test_onnx_own_tests(tmp_path: Path) -> None:
    assert onnx_nodes.write_cases(PYTHON, tmp_path) > 1500
    found = Counter(each.ended for each in onnx_nodes.outcomes(tmp_path))
    assert not found["wrong"] and not found["failed"], found
    assert found["passed"] + found["bound"] >= 1200, found


def write(folder: Path, name: str, op: str, y: np.ndarray) -> None:
    x = np.array([1, -2], np.float32)
    made = model([node(op, ["x"], "y")], [value("x", [2])], [value("y", [2])])
    (folder / f"{name}.onnx").write_bytes(made.SerializeToString())
    np.savez(folder / f"{name}.npz", i0=x, o0=y)


def test_the_command_tells_how_each_test_ended(tmp_path: Path) -> None:
    write(tmp_path, "right", "Neg", np.array([-1, 2], np.float32))
    write(tmp_path, "near", "Neg", np.array([-1.0005, 2], np.float32))
    write(tmp_path, "wrong", "Abs", np.array([1, 3], np.float32))
    write(tmp_path, "unknown", "NoSuchThing", np.array([1, 3], np.float32))
    command = [sys.executable, onnx_nodes.__file__, "--folder", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 1
    last = next(line for line in done.stdout.splitlines() if line.startswith("all"))
    assert last.split()[1:] == ["1", "0", "0", "0", "1", "1", "1", "0"]
    assert "no builtin operators are known for it" in done.stdout
