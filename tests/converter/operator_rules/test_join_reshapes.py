"""Reshapes of both operands are one of the result; axes of 1 move by reshapes."""

from __future__ import annotations

import pytest
from numlite.converter.graph_builder import GraphBuilder

from .rewritten import check, integers, uniform


def reshaped(g: GraphBuilder, name: str, x: str, *shape: int) -> str:
    return g.node("Reshape", name, x, integers(g, f"{name}/shape", *shape))


@pytest.mark.parametrize("op", ["AddV2", "Mul"])
def test_gated_values(op: str) -> None:
    g = GraphBuilder()
    a = reshaped(g, "ra", g.placeholder("a", [2, 1, 6]), 2, 6)
    b = reshaped(g, "rb", g.placeholder("b", [2, 1, 6]), 2, 6)
    g.node(op, "y", g.node("Tanh", "t", a), g.node("Sigmoid", "s", g.node("Abs", "p", b)))
    code = {"AddV2": "ADD", "Mul": "MUL"}[op]
    check(g, ["TANH", "ABS", "LOGISTIC", code, "RESHAPE"], a=uniform(2, 1, 6), b=uniform(2, 1, 6))


def test_operands_of_other_shapes_stay() -> None:
    g = GraphBuilder()
    a = reshaped(g, "ra", g.placeholder("a", [2, 6]), 3, 4)
    b = reshaped(g, "rb", g.placeholder("b", [12]), 3, 4)
    g.node("Mul", "y", a, b)
    check(g, ["RESHAPE", "RESHAPE", "MUL"], a=uniform(2, 6), b=uniform(12))


def test_operands_that_are_stretched_stay() -> None:
    g = GraphBuilder()
    a = reshaped(g, "ra", g.placeholder("a", [6]), 6, 1)
    b = reshaped(g, "rb", g.placeholder("b", [6]), 1, 6)
    # The second is left out in any case: it only adds an axis before the others.
    g.node("Mul", "y", a, b)
    check(g, ["RESHAPE", "MUL"], a=uniform(6), b=uniform(6))


def test_operands_that_are_used_elsewhere_stay() -> None:
    g = GraphBuilder()
    a = reshaped(g, "ra", g.placeholder("a", [2, 6]), 3, 4)
    b = reshaped(g, "rb", g.placeholder("b", [2, 6]), 3, 4)
    g.node("Mul", "y", a, b)
    check(g, ["RESHAPE", "RESHAPE", "MUL"], ["y", "rb"], a=uniform(2, 6), b=uniform(2, 6))


@pytest.mark.parametrize(
    ("shape", "order", "expected"),
    [
        ((2, 3, 4, 1), (0, 3, 1, 2), ["RESHAPE"]),
        ((1, 3, 1, 4), (1, 0, 2, 3), ["RESHAPE"]),
        ((1, 3, 4, 1), (3, 1, 2, 0), []),
        ((2, 3, 4, 1), (0, 2, 3, 1), ["TRANSPOSE"]),
        ((2, 2), (1, 0), ["TRANSPOSE"]),
    ],
    ids=str,
)
def test_axes_of_one_element(shape: tuple[int, ...], order: tuple[int, ...], expected: list[str]) -> None:
    g = GraphBuilder()
    g.node("Transpose", "y", g.placeholder("x", shape), integers(g, "order", *order))
    check(g, expected, x=uniform(*shape))


def test_an_unknown_size_keeps_the_transpose() -> None:
    g = GraphBuilder()
    g.node("Transpose", "y", g.placeholder("x", [-1, 3, 1]), integers(g, "order", 0, 2, 1))
    check(g, ["TRANSPOSE"], x=uniform(2, 3, 1))
