"""Products with zeros and empty results are constants."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter.graph_builder import GraphBuilder

from .rewritten import check, integers, uniform


@pytest.mark.parametrize("constant_first", [False, True])
def test_the_state_of_a_recurrent_cell_starts_with_zeros(constant_first: bool) -> None:
    g = GraphBuilder()
    gate = g.node("Sigmoid", "gate", g.placeholder("x", (2, 3)))
    zeros = g.constant("zeros", np.zeros((2, 3), np.float32))
    product = g.node("Mul", "product", *((zeros, gate) if constant_first else (gate, zeros)))
    g.node("AddV2", "y", product, g.node("Tanh", "t", "x"))
    check(g, ["TANH"], x=uniform(2, 3))


@pytest.mark.parametrize("shape", [(), (1, 3)], ids=str)
def test_zeros_that_are_stretched_stay(shape: tuple[int, ...]) -> None:
    g = GraphBuilder()
    zeros = g.constant("zeros", np.zeros(shape, np.float32))
    g.node("Mul", "y", g.placeholder("x", (2, 3)), zeros)
    check(g, ["MUL"], x=uniform(2, 3))


def test_zeros_may_stretch_the_other_operand() -> None:
    g = GraphBuilder()
    zeros = g.constant("zeros", np.zeros((4, 2, 3), np.float32))
    g.node("Mul", "y", g.placeholder("x", (2, 3)), zeros)
    check(g, [], x=uniform(2, 3))


def test_what_is_not_all_zeros_stays() -> None:
    g = GraphBuilder()
    g.node("Mul", "y", g.placeholder("x", (2, 2)), g.constant("m", np.array([[0, 0], [0, 1]], np.float32)))
    check(g, ["MUL"], x=uniform(2, 2))


def test_a_result_without_elements_is_a_constant() -> None:
    g = GraphBuilder()
    x = g.node("Exp", "e", g.placeholder("x", (4, 3)))
    g.node("Slice", "y", x, integers(g, "begin", 0, 0), integers(g, "size", 2, 0))
    check(g, [], x=uniform(4, 3))


def test_a_sum_of_nothing_has_elements() -> None:
    g = GraphBuilder()
    nothing = g.node("Slice", "s", g.placeholder("x", (4, 3)), integers(g, "b", 0, 0), integers(g, "n", 2, 0))
    g.node("Sum", "y", nothing, integers(g, "axes", 1))
    check(g, [], x=uniform(4, 3))
