"""Constants of one number are stored once."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter.graph_builder import GraphBuilder
from numlite.schema import tflite

from .rewritten import check, uniform

MANY = np.full((20, 30), 0.25, np.float32)


def largest_constant(model: bytes) -> int:
    """The size in bytes of the largest constant."""
    return max(0 if buffer.data is None else len(buffer.data) for buffer in tflite.read(model).buffers)


@pytest.mark.parametrize("op", ["Maximum", "AddV2", "Sub", "Greater"])
@pytest.mark.parametrize("swapped", [False, True])
def test_operands_that_are_stretched(op: str, swapped: bool) -> None:
    g = GraphBuilder()
    operands = [g.placeholder("x", (20, 30)), g.constant("c", MANY)]
    g.node(op, "y", *(operands[::-1] if swapped else operands))
    code = {"AddV2": "ADD"}.get(op, op.upper())
    assert largest_constant(check(g, [code], x=uniform(20, 30))) < 100


def test_both_choices() -> None:
    g = GraphBuilder()
    condition = g.node("Greater", "c", g.placeholder("x", (20, 30)), g.constant("zero", np.float32(0)))
    g.node("SelectV2", "y", condition, g.constant("a", MANY), g.constant("b", MANY + 1))
    assert largest_constant(check(g, ["GREATER", "SELECT_V2"], x=uniform(20, 30))) < 100


@pytest.mark.parametrize("shape", [(30,), (1, 30), (1,)], ids=str)
def test_constants_that_stretch_the_other_operand_stay(shape: tuple[int, ...]) -> None:
    g = GraphBuilder()
    g.node("Maximum", "y", g.placeholder("x", shape), g.constant("c", MANY))
    assert largest_constant(check(g, ["MAXIMUM"], x=uniform(*shape))) == MANY.nbytes


def test_other_constants_stay() -> None:
    g = GraphBuilder()
    other = MANY.copy()
    other[3, 4] = 1
    g.node("Maximum", "y", g.placeholder("x", (20, 30)), g.constant("c", other))
    assert largest_constant(check(g, ["MAXIMUM"], x=uniform(20, 30))) == MANY.nbytes


def test_rows_that_are_chosen_stay() -> None:
    g = GraphBuilder()
    condition = g.node("Greater", "c", g.placeholder("x", (20,)), g.constant("zero", np.float32(0)))
    g.node("Select", "y", condition, g.placeholder("z", (20, 30)), g.constant("b", MANY))
    check(g, ["GREATER", "SELECT"], x=uniform(20), z=uniform(20, 30))
