"""Powers and negations become simpler operators."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter.graph_builder import GraphBuilder
from numlite.schema import graph_def

from .rewritten import check, scalar, uniform

POSITIVE = np.array([[0.25, 4, 9], [1e-3, 1, 2.5]], np.float32)


def power(exponent: float) -> GraphBuilder:
    g = GraphBuilder()
    x = g.node("Exp", "e", g.placeholder("x", [2, 3]))
    g.node("Pow", "y", x, scalar(g, "p", exponent))
    return g


@pytest.mark.parametrize(
    ("exponent", "code"),
    [(2, ["MUL"]), (1, []), (0.5, ["SQRT"]), (-0.5, ["RSQRT"]), (3, ["POW"]), (0, ["POW"]), (-1, ["POW"])],
)
def test_powers(exponent: float, code: list[str]) -> None:
    check(power(exponent), ["EXP", *code], x=POSITIVE, rtol=1e-4)


def test_squares_of_negative_numbers() -> None:
    g = GraphBuilder()
    g.node("Pow", "y", g.placeholder("x", [4]), scalar(g, "p", 2))
    check(g, ["MUL"], x=np.array([-1.5, -0.0, np.inf, np.nan], np.float32))


def test_exponents_that_stretch_stay() -> None:
    g = GraphBuilder()
    g.node("Pow", "y", g.placeholder("x", [3]), g.constant("p", np.full((2, 3), 2, np.float32)))
    check(g, ["POW"], x=uniform(3))


def test_exponents_of_many_kinds_stay() -> None:
    g = GraphBuilder()
    g.node("Pow", "y", g.placeholder("x", [3]), g.constant("p", np.array([1, 2, 2], np.float32)))
    check(g, ["POW"], x=uniform(3))


@pytest.mark.parametrize("data_type", [graph_def.DT_FLOAT, graph_def.DT_INT32])
@pytest.mark.parametrize(
    ("op", "negated", "code"),
    [("AddV2", 0, "SUB"), ("AddV2", 1, "SUB"), ("Sub", 1, "ADD")],
)
def test_negations(op: str, negated: int, code: str, data_type: int) -> None:
    g = GraphBuilder()
    operands = [g.placeholder("x", [2, 3], data_type), g.placeholder("z", [3], data_type)]
    operands[negated] = g.node("Neg", "n", operands[negated])
    g.node(op, "y", *operands)
    x, z = 9 * uniform(2, 3), 9 * uniform(3)
    if data_type == graph_def.DT_INT32:
        x, z = x.astype(np.int32), z.astype(np.int32)
    check(g, [code], x=x, z=z)


def test_a_negation_on_the_left_of_a_subtraction_stays() -> None:
    g = GraphBuilder()
    g.node("Sub", "y", g.node("Neg", "n", g.placeholder("x", [3])), g.placeholder("z", [3]))
    check(g, ["NEG", "SUB"], x=uniform(3), z=uniform(3))


def test_activations_stay() -> None:
    g = GraphBuilder()
    total = g.node("AddV2", "t", g.node("Neg", "n", g.placeholder("x", [3])), g.placeholder("z", [3]))
    g.node("Relu", "y", total)
    check(g, ["SUB"], x=uniform(3), z=uniform(3))
