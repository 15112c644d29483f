"""SOFTMAX is found in what it is made of, and only there."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter.graph_builder import GraphBuilder

from .rewritten import check, integers, uniform


def composed(shape: tuple[int, ...], axis: int, with_maximum: bool = True, keep: bool = True) -> GraphBuilder:
    g = GraphBuilder()
    x, axes = g.placeholder("x", shape), integers(g, "axes", axis)
    if with_maximum:
        x = g.node("Sub", "less", x, g.node("Max", "max", x, axes, keep_dims=True))
    e = g.node("Exp", "e", x)
    g.node("RealDiv", "y", e, g.node("Sum", "sum", e, axes, keep_dims=keep))
    return g


@pytest.mark.parametrize("axis", [-1, 1])
def test_softmax(axis: int) -> None:
    x = np.array([[-100, 90, 88, 0], [1, 2, 3, 4], [-np.inf, 0, 0, 1]], np.float32)
    check(composed((3, 4), axis), ["SOFTMAX"], x=x)


def test_of_an_unknown_batch() -> None:
    check(composed((-1, 2, 5), 2), ["SOFTMAX"], x=uniform(3, 2, 5))


def test_along_another_axis_it_stays() -> None:
    g = composed((3, 4), 0)
    check(g, ["REDUCE_MAX", "SUB", "EXP", "SUM", "DIV"], x=uniform(3, 4))


def test_without_the_maximum_large_values_still_overflow() -> None:
    x = np.array([[1, 2, 100]], np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        check(composed((1, 3), 1, with_maximum=False), ["EXP", "SUM", "DIV"], x=x)


def test_sums_that_are_stretched_along_another_axis_stay() -> None:
    g = composed((3, 3), 1, keep=False)
    check(g, ["REDUCE_MAX", "SUB", "EXP", "SUM", "DIV"], x=uniform(3, 3))


def test_the_exponentials_may_have_other_users() -> None:
    g = composed((3, 4), 1)
    model = check(g, ["REDUCE_MAX", "SUB", "EXP", "SOFTMAX"], ["y", "e"], x=uniform(3, 4))
    assert model
