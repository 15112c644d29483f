"""What is undone, or turned round at once."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter.graph_builder import GraphBuilder
from numlite.schema import graph_def

from .rewritten import check, scalar, uniform


def test_a_negation_of_a_negation() -> None:
    g = GraphBuilder()
    twice = g.node("Neg", "b", g.node("Neg", "a", g.placeholder("x", [2, 3])))
    g.node("Tanh", "y", twice)
    check(g, ["TANH"], x=uniform(2, 3))


@pytest.mark.parametrize(
    ("op", "type", "expected"),
    [
        ("Less", graph_def.DT_INT32, ["GREATER_EQUAL"]),
        ("LessEqual", graph_def.DT_INT32, ["GREATER"]),
        ("Greater", graph_def.DT_INT32, ["LESS_EQUAL"]),
        ("GreaterEqual", graph_def.DT_INT32, ["LESS"]),
        ("Equal", graph_def.DT_FLOAT, ["NOT_EQUAL"]),
        ("NotEqual", graph_def.DT_FLOAT, ["EQUAL"]),
        ("Less", graph_def.DT_FLOAT, ["LESS", "LOGICAL_NOT"]),
    ],
)
def test_comparisons_that_are_turned_round(op: str, type: int, expected: list[str]) -> None:
    g = GraphBuilder()
    a, b = g.placeholder("a", [4], type), g.placeholder("b", [4], type)
    g.node("LogicalNot", "y", g.node(op, "c", a, b))
    dtype = np.float32 if type == graph_def.DT_FLOAT else np.int32
    check(g, expected, a=np.array([1, 2, 3, -1], dtype), b=np.array([3, 2, 1, -1], dtype))


def test_a_comparison_that_is_used_both_ways_stays() -> None:
    g = GraphBuilder()
    c = g.node("Equal", "c", g.placeholder("a", [3]), g.placeholder("b", [3]))
    g.node("LogicalNot", "y", c)
    check(g, ["EQUAL", "LOGICAL_NOT"], ["c", "y"], a=uniform(3), b=uniform(3))


def test_the_inverse_of_a_root() -> None:
    g = GraphBuilder()
    g.node("RealDiv", "y", scalar(g, "one", 1), g.node("Sqrt", "root", g.placeholder("x", [2, 3])))
    check(g, ["RSQRT"], x=np.abs(uniform(2, 3)) + np.float32(0.1))


def test_another_number_over_a_root_stays() -> None:
    g = GraphBuilder()
    g.node("RealDiv", "y", scalar(g, "two", 2), g.node("Sqrt", "root", g.placeholder("x", [2, 3])))
    check(g, ["SQRT", "DIV"], x=np.abs(uniform(2, 3)) + np.float32(0.1))
