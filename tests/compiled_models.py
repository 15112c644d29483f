"""Models for tests of CompiledModel, and memory that it may work in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numlite.compiled_model import CompiledModel
from numlite.schema import tflite

from .model_builder import ModelBuilder

Op = tflite.BuiltinOperator


def crossed() -> bytes:
    """Inputs and outputs whose names are in another order than their tensors: p = -n3, q = |n2|."""
    model = ModelBuilder()
    b, a = model.tensor([2], name="b"), model.tensor([3], name="a")
    p, q = model.tensor([2], name="p"), model.tensor([3], name="q")
    model.op(Op.NEG, [b], [p])
    model.op(Op.ABS, [a], [q])
    return model.build([b, a], [p, q], {"serve": ({"n2": a, "n3": b}, {"q": q, "p": p})})


def vector(code: int = Op.NEG) -> bytes:
    """A vector of any length, negated; no signature."""
    model = ModelBuilder()
    x = model.tensor([4], name="x", shape_signature=[-1])
    y = model.tensor([4], name="y", shape_signature=[-1])
    model.op(code, [x], [y])
    return model.build([x], [y])


def aligned(count: int, dtype: type = np.float32) -> np.ndarray:
    """Zeros that kernels may work on in place: where a page begins, since its end may not be read past."""
    memory = np.zeros(count * np.dtype(dtype).itemsize + 2 * 4096, np.uint8)
    start = -memory.ctypes.data % 4096
    return memory[start : start + count * np.dtype(dtype).itemsize].view(dtype)


def core_of(model: CompiledModel) -> Any:
    assert model._interpreter is not None
    return model._interpreter.core
