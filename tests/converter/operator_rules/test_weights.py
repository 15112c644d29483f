"""What is multiplied or added before a product goes into its weights and its bias."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter.graph_builder import GraphBuilder

from .rewritten import check, scalar, uniform


def dense(g: GraphBuilder, x: str, bias: bool = True) -> None:
    y = g.node("MatMul", "y" if not bias else "product", x, g.constant("w", uniform(6, 4)))
    if bias:
        g.node("BiasAdd", "y", y, g.constant("b", uniform(4)))


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("shape", [(), (6,), (1, 6), (1,)], ids=str)
@pytest.mark.parametrize("op", ["AddV2", "Sub", "Mul", "RealDiv"])
def test_a_constant_before_a_dense_layer(op: str, shape: tuple[int, ...], bias: bool) -> None:
    g = GraphBuilder()
    dense(g, g.node(op, "s", g.placeholder("x", [3, 6]), g.constant("c", 1.5 + uniform(*shape))), bias)
    check(g, ["FULLY_CONNECTED"], x=uniform(3, 6), rtol=1e-4, atol=1e-5)


def test_a_batch_norm_before_a_dense_layer() -> None:
    g = GraphBuilder()
    scaled = g.node("Mul", "m", g.placeholder("x", [3, 6]), g.constant("f", uniform(6)))
    dense(g, g.node("AddV2", "s", scaled, g.constant("o", uniform(6))))
    check(g, ["FULLY_CONNECTED"], x=uniform(3, 6), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(3, 1), (3, 6)], ids=str)
def test_a_constant_of_each_row_stays(shape: tuple[int, ...]) -> None:
    g = GraphBuilder()
    dense(g, g.node("AddV2", "s", g.placeholder("x", [3, 6]), g.constant("c", uniform(*shape))))
    check(g, ["ADD", "FULLY_CONNECTED"], x=uniform(3, 6))


def test_what_is_subtracted_from_a_constant_stays() -> None:
    g = GraphBuilder()
    dense(g, g.node("Sub", "s", g.constant("c", uniform(6)), g.placeholder("x", [3, 6])))
    check(g, ["SUB", "FULLY_CONNECTED"], x=uniform(3, 6))


def test_an_activation_between_stays() -> None:
    g = GraphBuilder()
    total = g.node("AddV2", "s", g.placeholder("x", [3, 6]), g.constant("c", uniform(6)))
    dense(g, g.node("Relu", "r", total))
    check(g, ["ADD", "FULLY_CONNECTED"], x=uniform(3, 6))


def test_a_sum_that_is_used_elsewhere_stays() -> None:
    g = GraphBuilder()
    dense(g, g.node("AddV2", "s", g.placeholder("x", [3, 6]), g.constant("c", uniform(6))))
    check(g, ["ADD", "FULLY_CONNECTED"], ["y", "s"], x=uniform(3, 6))


@pytest.mark.parametrize("number", [np.inf, np.nan])
def test_infinite_offsets_stay(number: float) -> None:
    g = GraphBuilder()
    dense(g, g.node("AddV2", "s", g.placeholder("x", [3, 6]), scalar(g, "c", number)))
    check(g, ["ADD", "FULLY_CONNECTED"], x=uniform(3, 6))


def test_an_offset_before_a_padded_convolution_stays() -> None:
    g = GraphBuilder()
    total = g.node("AddV2", "s", g.placeholder("x", [1, 5, 5, 2]), g.constant("c", uniform(2)))
    g.node("Conv2D", "y", total, g.constant("w", uniform(3, 3, 2, 3)), strides=(1, 1, 1, 1), padding="SAME")
    check(g, ["ADD", "CONV_2D"], x=uniform(1, 5, 5, 2))


@pytest.mark.parametrize("op", ["AddV2", "Mul", "Maximum", "Minimum", "SquaredDifference"])
def test_operands_in_the_other_order_make_the_same(op: str) -> None:
    g = GraphBuilder()
    a, b = g.placeholder("a", [3]), g.placeholder("b", [3])
    first, second = g.node(op, "p", a, b), g.node(op, "q", b, a)
    g.node("AddV2", "y", g.node("Exp", "e", first), g.node("Exp", "f", second))
    code = {"AddV2": "ADD", "SquaredDifference": "SQUARED_DIFFERENCE"}.get(op, op.upper())
    check(g, [code, "EXP", "ADD"], a=uniform(3), b=uniform(3))


@pytest.mark.parametrize("op", ["Sub", "RealDiv", "Pow"])
def test_where_the_order_counts_there_are_two(op: str) -> None:
    g = GraphBuilder()
    a, b = g.placeholder("a", [3]), g.placeholder("b", [3])
    g.node("AddV2", "y", g.node(op, "p", a, b), g.node(op, "q", b, a))
    code = {"Sub": "SUB", "RealDiv": "DIV", "Pow": "POW"}[op]
    check(g, [code, code, "ADD"], a=1.5 + uniform(3), b=1.5 + uniform(3), rtol=1e-4)
