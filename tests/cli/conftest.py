"""A small model that the commands are tried on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numlite.schema import tflite

from ..model_builder import ModelBuilder


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """y = |x + bias|, with x and y of 1x4 floats and a signature `abs` (left -> right)."""
    builder = ModelBuilder()
    x = builder.tensor((1, 4), np.float32, name="x[0]:0", shape_signature=(-1, 4))
    bias = builder.tensor((4,), np.float32, np.float32([1, 2, 3, 4]), name="bias")
    total = builder.tensor((1, 4), np.float32, name="sum", shape_signature=(-1, 4))
    y = builder.tensor((1, 4), np.float32, name="y", shape_signature=(-1, 4))
    builder.op(tflite.BuiltinOperator.ADD, [x, bias], [total], tflite.AddOptionsT())
    builder.op(tflite.BuiltinOperator.ABS, [total], [y])
    path = tmp_path / "model.tflite"
    path.write_bytes(builder.build([x], [y], {"abs": ({"left": x}, {"right": y})}))
    return path
