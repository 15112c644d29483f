"""A few damaged models; `python tests/fuzz_models.py` does ten thousand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from numlite.schema import tflite

from .model_builder import ModelBuilder

SCRIPT = Path(__file__).with_name("fuzz_models.py")


def two_operators() -> bytes:
    builder = ModelBuilder()
    x = builder.tensor((1, 8), np.float32)
    total = builder.tensor((1, 8), np.float32)
    y = builder.tensor((8,), np.float32)
    bias = builder.constant(np.ones(8, np.float32))
    shape = builder.constant([8])
    builder.op(tflite.BuiltinOperator.ADD, [x, bias], [total], tflite.AddOptionsT())
    builder.op(tflite.BuiltinOperator.RESHAPE, [total, shape], [y], tflite.ReshapeOptionsT(new_shape=[8]))
    return builder.build([x], [y], {"serve": ({"x": x}, {"y": y})})


def test_damaged_models_end_in_errors(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(two_operators())
    command = [sys.executable, str(SCRIPT), str(path), "--count", "300", "--children", "1"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "300 mutants" in result.stdout and "ModelError" in result.stdout
