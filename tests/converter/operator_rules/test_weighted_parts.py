"""What is added, multiplied or cut off behind slices and joins of products goes into the products."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter.graph_builder import GraphBuilder

from .rewritten import check, integers, uniform


def conv(g: GraphBuilder, name: str, x: str, channels: int) -> str:
    w = g.constant(f"{name}/w", uniform(1, 1, 3, channels))
    return g.node("Conv2D", name, x, w, strides=(1, 1, 1, 1), padding="SAME")


def cut(g: GraphBuilder, x: str, begin: list[int], sizes: list[int]) -> str:
    return g.node("Slice", "cut", x, integers(g, "begin", *begin), integers(g, "sizes", *sizes))


@pytest.mark.parametrize("shape", [(), (4,), (1, 1, 1, 4)], ids=str)
@pytest.mark.parametrize("op", ["AddV2", "Sub", "Mul"])
def test_behind_a_slice(op: str, shape: tuple[int, ...]) -> None:
    g = GraphBuilder()
    y = conv(g, "c", g.placeholder("x", [1, 5, 6, 3]), 4)
    g.node(op, "s", cut(g, y, [0, 1, 2, 0], [1, 3, 3, 4]), g.constant("k", uniform(*shape)))
    g.node("Relu", "y", "s")
    check(g, ["CONV_2D", "SLICE"], x=uniform(1, 5, 6, 3))


def test_behind_a_slice_with_steps() -> None:
    g = GraphBuilder()
    y = conv(g, "c", g.placeholder("x", [1, 5, 6, 3]), 4)
    bounds = [
        integers(g, name, *of)
        for name, of in (("b", (0, 4, 0, 0)), ("e", (1, 0, 6, 4)), ("s", (1, -2, 3, 1)))
    ]
    z = g.node("StridedSlice", "cut", y, *bounds)
    g.node("AddV2", "y", z, g.constant("k", uniform(4)))
    check(g, ["CONV_2D", "STRIDED_SLICE"], x=uniform(1, 5, 6, 3))


@pytest.mark.parametrize("shape", [(3, 1, 1), (3, 3, 4)], ids=str)
def test_what_differs_from_place_to_place_stays(shape: tuple[int, ...]) -> None:
    g = GraphBuilder()
    y = conv(g, "c", g.placeholder("x", [1, 5, 6, 3]), 4)
    g.node("AddV2", "y", cut(g, y, [0, 1, 2, 0], [1, 3, 3, 4]), g.constant("k", uniform(*shape)))
    check(g, ["CONV_2D", "SLICE", "ADD"], x=uniform(1, 5, 6, 3))


def test_behind_a_slice_of_channels_that_others_read_it_stays() -> None:
    g = GraphBuilder()
    y = conv(g, "c", g.placeholder("x", [1, 5, 6, 3]), 4)
    g.node("AddV2", "y", cut(g, y, [0, 1, 2, 0], [1, 3, 3, 4]), g.constant("k", uniform(4)))
    check(g, ["CONV_2D", "SLICE", "ADD"], ["y", "c"], x=uniform(1, 5, 6, 3))


@pytest.mark.parametrize("shape", [(), (7,), (1, 1, 7)], ids=str)
@pytest.mark.parametrize("op", ["AddV2", "Sub", "Mul"])
def test_behind_a_join(op: str, shape: tuple[int, ...]) -> None:
    g = GraphBuilder()
    x = g.placeholder("x", [1, 5, 6, 3])
    parts = conv(g, "a", x, 4), conv(g, "b", x, 3)
    joined = g.node("ConcatV2", "j", *parts, g.constant("axis", np.array(3, np.int32)))
    g.node("Relu", "y", g.node(op, "s", joined, g.constant("k", uniform(*shape))))
    check(g, ["CONV_2D", "CONV_2D", "CONCATENATION"], x=uniform(1, 5, 6, 3))


def test_behind_a_join_with_something_else_it_stays() -> None:
    g = GraphBuilder()
    x = g.placeholder("x", [1, 5, 6, 3])
    joined = g.node("ConcatV2", "j", conv(g, "a", x, 4), x, g.constant("axis", np.array(3, np.int32)))
    g.node("AddV2", "y", joined, g.constant("k", uniform(7)))
    check(g, ["CONV_2D", "CONCATENATION", "ADD"], x=uniform(1, 5, 6, 3))


def test_behind_a_join_of_one_part_twice() -> None:
    g = GraphBuilder()
    part = conv(g, "a", g.placeholder("x", [1, 5, 6, 3]), 4)
    joined = g.node("ConcatV2", "j", part, part, g.constant("axis", np.array(3, np.int32)))
    g.node("AddV2", "y", joined, g.constant("k", uniform(8)))
    check(g, ["CONV_2D", "CONCATENATION", "ADD"], x=uniform(1, 5, 6, 3))
