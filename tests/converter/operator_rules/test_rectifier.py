"""Rectifiers that graphs put together themselves."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter.graph_builder import GraphBuilder

from .rewritten import check, scalar, uniform


def maximum(g: GraphBuilder, a: str, b: str, swapped: bool) -> None:
    g.node("Maximum", "y", *((b, a) if swapped else (a, b)))


@pytest.mark.parametrize("swapped", [False, True])
def test_a_maximum_with_0_is_a_rectifier(swapped: bool) -> None:
    g = GraphBuilder()
    maximum(g, g.placeholder("x", (2, 3)), scalar(g, "zero", 0), swapped)
    check(g, ["RELU"], x=uniform(2, 3))


@pytest.mark.parametrize("data", [np.zeros((4, 1, 3), np.float32), np.array([0, 0, 1], np.float32)])
def test_other_maxima_stay(data: np.ndarray) -> None:
    g = GraphBuilder()
    maximum(g, g.placeholder("x", (2, 3)), g.constant("c", data), False)
    check(g, ["MAXIMUM"], x=uniform(2, 3))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    ("alpha", "expected"), [(0.25, ["LEAKY_RELU"]), (1.5, ["MUL", "MAXIMUM"]), (-0.5, ["MUL", "MAXIMUM"])]
)
def test_a_maximum_with_a_part_of_itself(alpha: float, expected: list[str], swapped: bool) -> None:
    g = GraphBuilder()
    x = g.placeholder("x", (2, 3))
    maximum(g, x, g.node("Mul", "part", scalar(g, "alpha", alpha), x), swapped)
    check(g, expected, x=uniform(2, 3))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("shape", [(4,), (1, 4), (3, 4)], ids=str)
def test_two_halves_are_a_prelu(shape: tuple[int, ...], swapped: bool) -> None:
    g = GraphBuilder()
    x = g.placeholder("x", (2, 3, 4))
    negative = g.node("Relu", "negative", g.node("Neg", "negated", x))
    product = g.node("Mul", "product", g.constant("a", uniform(*shape)), negative)
    halves = (g.node("Relu", "positive", x), product)
    g.node("AddV2", "y", *(halves[::-1] if swapped else halves))
    check(g, ["PRELU"], x=uniform(2, 3, 4))


def test_halves_of_two_tensors_stay() -> None:
    g = GraphBuilder()
    x, z = g.placeholder("x", (2, 3)), g.placeholder("z", (2, 3))
    negative = g.node("Relu", "negative", g.node("Neg", "negated", z))
    product = g.node("Mul", "product", g.constant("a", uniform(3)), negative)
    g.node("AddV2", "y", g.node("Relu", "positive", x), product)
    check(g, ["RELU", "NEG", "RELU", "MUL", "ADD"], x=uniform(2, 3), z=uniform(2, 3))
