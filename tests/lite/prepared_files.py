"""Models that are worth preparing ahead, and what they give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numlite import Interpreter
from numlite.cli.main import cli, run_command

from ..model_builder import ModelBuilder
from ..small_models import Op

LAYERS = 9


WIDTH = 48


def layers(scale: float = 1.0) -> bytes:
    """FULLY_CONNECTED layers of float32, whose weights are packed."""
    model, x, y = layers_of(scale)
    return model.build([x], [y])


def layers_of(scale: float) -> tuple[ModelBuilder, int, int]:
    model = ModelBuilder()
    random = np.random.default_rng(5)
    x = model.tensor([2, WIDTH], name="x", shape_signature=[-1, WIDTH])
    y = x
    for n in range(LAYERS):
        weights = (scale * random.standard_normal((WIDTH, WIDTH)) / WIDTH**0.5).astype(np.float32)
        given = [y, model.constant(weights), model.constant(random.standard_normal(WIDTH).astype(np.float32))]
        y = model.tensor([2, WIDTH], name=f"y{n}", shape_signature=[-1, WIDTH])
        model.op(Op.FULLY_CONNECTED, given, [y])
    return model, x, y


def result(model: Any, rows: int | None = None, **arguments: Any) -> bytes:
    interpreter = Interpreter(model, **arguments)
    if rows is not None:
        interpreter.resize_tensor_input(0, [rows, WIDTH])
    interpreter.allocate_tensors()
    return run(interpreter)


def loaded_twice(model: str) -> bytes:
    """The result of a model that is kept now."""
    result(model)
    return result(model)


def run(interpreter: Interpreter) -> bytes:
    for given in interpreter.get_input_details():
        values = np.random.default_rng(1).standard_normal(given["shape"])
        interpreter.set_tensor(given["index"], (50 * values).astype(given["dtype"]))
    interpreter.invoke()
    return b"".join(interpreter.get_tensor(y["index"]).tobytes() for y in interpreter.get_output_details())


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("prepared-*.bin"))


def prepare(*arguments: object) -> int:
    return run_command(cli, ["prepare", *map(str, arguments)])
