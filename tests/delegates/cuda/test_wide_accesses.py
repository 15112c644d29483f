"""Elementwise operators and movements access 16 bytes at once where shapes allow it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numlite.schema import tflite

from .graphs import NetworkBuilder, Op
from .machine_code import kernels_of, machine_code
from .simulation import needs_triton

pytestmark = needs_triton
SHAPE = (8, 14, 14, 64)
Shape = tuple[int, ...]


def _model(
    type: str, code: int, shapes: Sequence[Shape], out: Shape, options: Any, *constants: object
) -> bytes:
    graph = NetworkBuilder(type)
    inputs = [graph.value(shape) for shape in shapes]
    y = graph.value(out, 0.15)
    values = [graph.constant(np.array(value, np.int32)) for value in constants]
    graph.op(code, [*inputs, *values], [y], options)  # type: ignore[arg-type]
    return graph.build(inputs, [y])


CASES: dict[str, tuple[Any, ...]] = {
    "ADD": (Op.ADD, [SHAPE, SHAPE], SHAPE, tflite.AddOptionsT()),
    "MUL of channels": (Op.MUL, [SHAPE, (64,)], SHAPE, tflite.MulOptionsT()),
    "MUL of images": (Op.MUL, [SHAPE, (8, 1, 1, 64)], SHAPE, tflite.MulOptionsT()),
    "LOGISTIC": (Op.LOGISTIC, [SHAPE], SHAPE, None),
    "RELU": (Op.RELU, [SHAPE], SHAPE, None),
    "heads": (Op.TRANSPOSE, [(1, 128, 8, 128)], (1, 8, 128, 128), None, [0, 2, 1, 3]),
    "channels first": (Op.TRANSPOSE, [(8, 16, 16, 64)], (8, 64, 16, 16), None, [0, 3, 1, 2]),
}


@pytest.mark.long
@pytest.mark.parametrize("type", ("float32", "int8"))
@pytest.mark.parametrize("name", CASES)
def test_accesses_are_wide(name: str, type: str) -> None:
    code, shapes, out, options, *constants = CASES[name]
    (kernel,) = kernels_of(_model(type, code, shapes, out, options, *constants), {})
    forms = {instruction.form for instruction in machine_code(kernel).listing}
    assert {"LDG.128", "STG.128"} <= forms, f"{kernel}: {sorted(forms)}"


@pytest.mark.long
@pytest.mark.parametrize("type", ("float32", "int8"))
def test_means_of_images_read_channels_together(type: str) -> None:
    model = _model(type, Op.MEAN, [SHAPE], (8, 64), tflite.ReducerOptionsT(), [1, 2])
    (kernel,) = kernels_of(model, {})
    forms = {instruction.form for instruction in machine_code(kernel).listing}
    assert forms & {"LDG.64", "LDG.128"} and not forms & {"LDG.8", "LDG.32"}, f"{kernel}: {sorted(forms)}"
