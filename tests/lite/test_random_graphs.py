"""Random graphs of native, in-place, Python and dynamic nodes give what NumPy gives."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numlite.interpreter import Interpreter, InterpreterWithCustomOps
from numlite.lite.arena_checker import find_faults
from numlite.lite.context import Context
from numlite.lite.node import Node
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from ..small_models import Op

SHAPE = (2, 3)


class Plus:
    """y = x + 1, in Python."""

    def prepare(self, context: Context, node: Node) -> None:
        context.resize_tensor(context.output(node, 0), context.input(node, 0).shape)

    def invoke(self, context: Context, node: Node) -> None:
        context.output(node, 0).array()[...] = context.input(node, 0).array() + 1


class Grown(Plus):
    """Like Plus, but says its shape only when it runs."""

    def prepare(self, context: Context, node: Node) -> None:
        context.set_dynamic(context.output(node, 0))

    def invoke(self, context: Context, node: Node) -> None:
        super().prepare(context, node)
        super().invoke(context, node)


KINDS = ("neg", "add", "reshape", "plus", "grown")
Step = tuple[str, int, int]


@st.composite
def graphs(draw: Any) -> tuple[list[Step], list[int]]:
    """Nodes (kind, operand, other operand) over tensor 0, and which tensors are outputs."""
    steps: list[Step] = []
    for n in range(draw(st.integers(1, 12))):
        operand = st.integers(0, n)
        steps.append((draw(st.sampled_from(KINDS)), draw(operand), draw(operand)))
    return steps, draw(st.lists(st.integers(1, len(steps)), min_size=1, max_size=3, unique=True))


def build(steps: list[Step], outputs: list[int]) -> bytes:
    model = ModelBuilder()
    for n in range(len(steps) + 1):
        model.tensor(SHAPE, name=f"t{n}")
    shape = model.constant(np.array(SHAPE, np.int32))
    for n, (kind, a, b) in enumerate(steps, 1):
        if kind == "neg":
            model.op(Op.NEG, [a], [n])
        elif kind == "add":
            model.op(Op.ADD, [a, b], [n], tflite.AddOptionsT())
        elif kind == "reshape":
            model.op(Op.RESHAPE, [a, shape], [n], tflite.ReshapeOptionsT(new_shape=SHAPE))
        else:
            model.op(Op.CUSTOM, [a], [n], custom_code=kind)
    return model.build([0], outputs)


def expected(steps: list[Step], x: np.ndarray) -> list[np.ndarray]:
    values = [x]
    for kind, a, b in steps:
        value = values[a]
        values.append(
            {"neg": -value, "add": value + values[b], "reshape": value}.get(kind, value + np.float32(1))
        )
    return values


def value_or_refusal(interpreter: Interpreter, t: int, value: np.ndarray) -> bool:
    """Whether all ways to a tensor give its value, or all refuse it."""
    try:
        copy = interpreter.get_tensor(t)
    except ValueError:
        with pytest.raises(ValueError, match="Tensor data is null"):
            interpreter.tensor(t)()
        return True
    return np.array_equal(copy, value) and np.array_equal(interpreter.tensor(t)(), value)


@settings(max_examples=60)
@given(graphs(), st.booleans())
def test_equals_numpy(graph: tuple[list[Step], list[int]], preserve: bool) -> None:
    steps, outputs = graph
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        interpreter = InterpreterWithCustomOps(
            [("plus", Plus()), ("grown", Grown())],
            model_content=build(steps, outputs),
            experimental_preserve_all_tensors=preserve,
        )
    interpreter.allocate_tensors()
    for seed in range(2):
        x = np.random.default_rng(seed).integers(-9, 9, SHAPE).astype(np.float32)
        interpreter.set_tensor(0, x)
        for _ in range(2):
            interpreter.invoke()
            values = expected(steps, x)
            kept = range(len(values)) if preserve else [0, *outputs]
            for t, value in enumerate(values):
                assert t not in kept or np.array_equal(interpreter.get_tensor(t), value), t
                assert value_or_refusal(interpreter, t, value)
    for stage in interpreter.core.subgraph().stages:
        memory = stage.memory
        assert not find_faults(memory.lifetimes, memory.offsets, memory.arena_bytes)
