"""Constants of one number are stored once."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter.graph.rule import Rule
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.lite_graph import LiteGraph, LiteOperator, LiteTensor
from numlite.converter.operator_rules.constants import share_constants
from numlite.converter.operator_rules.equal_operators import share_equal
from numlite.converter.operator_rules.integer_grid import Grid, int8_tensor
from numlite.converter.operator_rules.rewriter import OperatorRewriter
from numlite.lite.tensor import TensorType
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator as Op

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


@pytest.mark.parametrize("rule", [share_constants, share_equal])
@pytest.mark.parametrize("scales", [(1.0, 1.0), (1.0, 0.5)])
def test_integers_are_shared_where_their_scales_are_equal(
    rule: Rule[OperatorRewriter], scales: tuple[float, float]
) -> None:
    graph, grids = LiteGraph("main"), [Grid(np.array([s], np.float32), np.zeros(1, np.int64)) for s in scales]
    held = [int8_tensor(f"q{i}", (2,), grid, np.array([1, 2], np.int8)) for i, grid in enumerate(grids)]
    reals = [LiteTensor(f"r{i}", TensorType.FLOAT32, (2,)) for i in range(2)]
    for q, real in zip(held, reals, strict=True):
        graph.append(LiteOperator(Op.DEQUANTIZE, [q], [real], tflite.DequantizeOptionsT(), ()))
    y = LiteTensor("y", TensorType.FLOAT32, (2,))
    graph.append(LiteOperator(Op.ADD, reals, [y], tflite.AddOptionsT(), ()))
    graph.outputs = [y]
    OperatorRewriter(graph, [[rule]]).run()
    taken = {operator.operands[0] for operator in graph if operator.code == Op.DEQUANTIZE}
    assert len(taken) == len(set(scales))
