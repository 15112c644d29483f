"""Operators that change nothing go, and outputs keep their names where that can be."""

from __future__ import annotations

import pytest
from numlite.converter.graph_builder import GraphBuilder

from .rewritten import check, integers, scalar, uniform

_LITE = {"AddV2": "ADD", "Sub": "SUB", "Mul": "MUL", "RealDiv": "DIV"}


def neutral(g: GraphBuilder, name: str, x: str, op: str = "AddV2") -> str:
    return g.node(op, name, x, scalar(g, f"{name}/c", 0 if op in ("AddV2", "Sub") else 1))


@pytest.mark.parametrize("op", ["AddV2", "Sub", "Mul", "RealDiv"])
def test_a_chain_goes(op: str) -> None:
    g = GraphBuilder()
    e = g.node("Exp", "e", g.placeholder("x", [2, 3]))
    neutral(g, "y", neutral(g, "middle", e, op), op)
    check(g, ["EXP"], x=uniform(2, 3))


def test_outputs_along_a_chain() -> None:
    g = GraphBuilder()
    e = g.node("Exp", "e", g.placeholder("x", [2, 3]))
    neutral(g, "y", neutral(g, "middle", e))
    g.node("Tanh", "t", "middle")
    check(g, ["EXP", "TANH"], ["y", "middle", "t"], x=uniform(2, 3))
    check(g, ["EXP", "TANH"], ["e", "t", "y"], x=uniform(2, 3))


def test_outputs_that_are_inputs_or_constants() -> None:
    g = GraphBuilder()
    neutral(g, "y", g.placeholder("x", [2, 3]))
    neutral(g, "z", g.constant("c", uniform(4)))
    check(g, [], ["y", "z"], x=uniform(2, 3))


def test_two_outputs_of_one_value() -> None:
    g = GraphBuilder()
    e = g.node("Exp", "e", g.placeholder("x", [2, 3]))
    neutral(g, "a", e)
    neutral(g, "b", e, "Mul")
    check(g, ["EXP"], ["a", "b"], x=uniform(2, 3))


@pytest.mark.parametrize("op", ["Sub", "RealDiv"])
def test_the_constant_on_the_left_stays(op: str) -> None:
    g = GraphBuilder()
    g.node(op, "y", scalar(g, "c", 0 if op == "Sub" else 1), g.placeholder("x", [2, 3]))
    check(g, [_LITE[op]], x=uniform(2, 3))


@pytest.mark.parametrize(("op", "number"), [("AddV2", 1), ("Mul", 0.5), ("Sub", 1), ("RealDiv", 2)])
def test_other_numbers_stay(op: str, number: float) -> None:
    g = GraphBuilder()
    g.node(op, "y", g.placeholder("x", [2, 3]), scalar(g, "c", number))
    check(g, [_LITE[op]], x=uniform(2, 3))


def test_zeros_that_stretch_stay() -> None:
    g = GraphBuilder()
    g.node("AddV2", "y", g.placeholder("x", [3]), g.constant("c", 0 * uniform(2, 3)))
    check(g, ["ADD"], x=uniform(3))


def test_transposes_that_undo_each_other() -> None:
    g = GraphBuilder()
    first = g.node("Transpose", "a", g.placeholder("x", [2, 3, 4]), integers(g, "p", 2, 0, 1))
    g.node("Transpose", "y", first, integers(g, "q", 1, 2, 0))
    check(g, [], x=uniform(2, 3, 4))


def test_three_transposes() -> None:
    g = GraphBuilder()
    x = g.node("Exp", "e", g.placeholder("x", [2, 3, 4]))
    for i in range(3):
        x = g.node("Transpose", "y" if i == 2 else f"t{i}", x, integers(g, f"p{i}", 1, 2, 0))
    check(g, ["EXP"], x=uniform(2, 3, 4))


def test_transposes_that_others_use_too() -> None:
    g = GraphBuilder()
    first = g.node("Transpose", "a", g.placeholder("x", [2, 3]), integers(g, "p", 1, 0))
    g.node("Transpose", "y", first, integers(g, "q", 1, 0))
    check(g, ["TRANSPOSE"], ["y", "a"], x=uniform(2, 3))
