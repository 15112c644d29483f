"""Transposes meet each other, products take them in."""

from __future__ import annotations

import pytest
from numlite.converter.graph_builder import GraphBuilder

from .rewritten import check, integers, scalar, uniform

NCHW, NHWC = (0, 3, 1, 2), (0, 2, 3, 1)


def transposed(g: GraphBuilder, name: str, x: str, order: tuple[int, ...]) -> str:
    return g.node("Transpose", name, x, integers(g, f"{name}/order", *order))


@pytest.mark.parametrize("op", ["AddV2", "Sub", "Mul", "RealDiv"])
def test_operands_that_are_transposed_alike(op: str) -> None:
    g = GraphBuilder()
    a, b = g.placeholder("a", [2, 3, 4, 5]), g.placeholder("b", [2, 3, 4, 5])
    total = g.node(op, "t", transposed(g, "ta", a, NCHW), transposed(g, "tb", b, NCHW))
    transposed(g, "y", g.node("Relu", "r", total), NHWC)
    code = {"AddV2": "ADD", "Sub": "SUB", "Mul": "MUL", "RealDiv": "DIV"}[op]
    check(g, [code], a=uniform(2, 3, 4, 5), b=uniform(2, 3, 4, 5), rtol=1e-4)


def test_operands_that_are_stretched() -> None:
    g = GraphBuilder()
    a, b = g.placeholder("a", [2, 3, 4, 5]), g.placeholder("b", [1, 3, 1, 5])
    total = g.node("Mul", "t", transposed(g, "ta", a, NCHW), transposed(g, "tb", b, NCHW))
    transposed(g, "y", total, NHWC)
    check(g, ["MUL"], a=uniform(2, 3, 4, 5), b=uniform(1, 3, 1, 5))


def test_operands_that_are_transposed_otherwise() -> None:
    g = GraphBuilder()
    a, b = g.placeholder("a", [2, 2, 2]), g.placeholder("b", [2, 2, 2])
    total = g.node("Mul", "t", transposed(g, "ta", a, (0, 2, 1)), transposed(g, "tb", b, (2, 1, 0)))
    transposed(g, "y", total, (0, 2, 1))
    check(g, ["TRANSPOSE", "TRANSPOSE", "MUL", "TRANSPOSE"], a=uniform(2, 2, 2), b=uniform(2, 2, 2))


@pytest.mark.parametrize("shape", [(), (3,), (5, 4, 1), (1, 5, 1, 1), (1, 1, 1, 1)], ids=str)
def test_constants_between(shape: tuple[int, ...]) -> None:
    g = GraphBuilder()
    x = transposed(g, "t", g.placeholder("x", [2, 4, 3, 5]), (0, 3, 1, 2))
    total = g.node("AddV2", "a", g.node("Sigmoid", "s", x), g.constant("c", uniform(*shape)))
    transposed(g, "y", total, NHWC)
    check(g, ["LOGISTIC", "ADD"], x=uniform(2, 4, 3, 5))


@pytest.mark.parametrize("adjoint", [(False, False), (True, False), (False, True)], ids=str)
@pytest.mark.parametrize("place", [0, 1])
def test_products_transpose_their_operands(place: int, adjoint: tuple[bool, bool]) -> None:
    g = GraphBuilder()
    names = [g.placeholder(name, [2, 4, 4]) for name in ("a", "b")]
    names[place] = transposed(g, "t", names[place], (0, 2, 1))
    g.node("BatchMatMulV2", "y", *names, adj_x=adjoint[0], adj_y=adjoint[1])
    check(g, ["BATCH_MATMUL"], a=uniform(2, 4, 4), b=uniform(2, 4, 4))


def test_other_orders_stay_before_products() -> None:
    g = GraphBuilder()
    a = transposed(g, "t", g.placeholder("a", [4, 4, 4]), (1, 0, 2))
    g.node("BatchMatMulV2", "y", a, g.placeholder("b", [4, 4, 4]))
    check(g, ["TRANSPOSE", "BATCH_MATMUL"], a=uniform(4, 4, 4), b=uniform(4, 4, 4))


def test_a_transpose_with_other_users_is_still_taken_in() -> None:
    g = GraphBuilder()
    a = transposed(g, "t", g.placeholder("a", [3, 4]), (1, 0))
    g.node("BatchMatMulV2", "y", a, g.placeholder("b", [3, 2]))
    check(g, ["TRANSPOSE", "BATCH_MATMUL"], ["t", "y"], a=uniform(3, 4), b=uniform(3, 2))


def test_cut_offs_with_an_end_in_common() -> None:
    g = GraphBuilder()
    x = g.placeholder("x", [3, 4])
    for name, low in (("y", -1.0), ("z", 0.0)):
        high = g.node("Minimum", f"{name}/min", x, scalar(g, f"{name}/1", 1))
        g.node("Maximum", name, scalar(g, f"{name}/low", low), high)
    check(g, ["RELU_N1_TO_1", "RELU_0_TO_1"], ["y", "z"], x=3 * uniform(3, 4))


@pytest.mark.parametrize("op", ["Mean", "Sum", "Max"])
@pytest.mark.parametrize(
    ("axes", "keep", "taken"),
    [
        *(((2, 3), False, True), ((-1, -2), False, True), ((1,), False, True), ((0, 1, 2, 3), False, True)),
        *(((2,), False, False), ((2, 3), True, False)),
    ],
    ids=str,
)
def test_reductions_of_what_was_transposed(op: str, axes: tuple[int, ...], keep: bool, taken: bool) -> None:
    g = GraphBuilder()
    x = transposed(g, "t", g.placeholder("x", [2, 3, 4, 5]), NCHW)
    g.node(op, "y", x, integers(g, "axes", *axes), keep_dims=keep)
    code = {"Mean": "MEAN", "Sum": "SUM", "Max": "REDUCE_MAX"}[op]
    check(g, [code] if taken else ["TRANSPOSE", code], x=uniform(2, 3, 4, 5))


def test_two_transposes_are_one_behind_their_sum() -> None:
    g = GraphBuilder()
    a, b = g.placeholder("a", [2, 3, 4, 5]), g.placeholder("b", [2, 3, 4, 5])
    g.node("AddV2", "y", transposed(g, "ta", a, NCHW), transposed(g, "tb", b, NCHW))
    check(g, ["ADD", "TRANSPOSE"], a=uniform(2, 3, 4, 5), b=uniform(2, 3, 4, 5))


def test_elementwise_operators_between_a_transpose_and_a_reduction() -> None:
    g = GraphBuilder()
    x = transposed(g, "t", g.placeholder("x", [2, 3, 4, 5]), NCHW)
    scaled = g.node("Mul", "m", g.node("Relu", "r", x), g.constant("c", uniform(1, 5, 1, 1)))
    g.node("Mean", "y", scaled, integers(g, "axes", 2, 3))
    check(g, ["RELU", "MUL", "MEAN"], x=uniform(2, 3, 4, 5))
