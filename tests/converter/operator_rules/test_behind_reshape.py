"""What stands behind or between reshapes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numlite.converter.graph_builder import GraphBuilder

from .rewritten import check, integers, scalar, uniform


def reshaped(g: GraphBuilder, name: str, x: str, *shape: int) -> str:
    return g.node("Reshape", name, x, integers(g, f"{name}/shape", *shape))


@pytest.mark.parametrize("bias", [(2, 3), (1, 3), (2, 1), (3,), (1, 2, 3)], ids=str)
def test_a_bias_of_several_heads_goes_into_the_product(bias: tuple[int, ...]) -> None:
    g = GraphBuilder()
    product = g.node("MatMul", "product", g.placeholder("x", (4, 5)), g.constant("w", uniform(5, 6)))
    heads = reshaped(g, "heads", product, 4, 2, 3)
    g.node("AddV2", "y", heads, g.constant("b", uniform(*bias)))
    check(g, ["FULLY_CONNECTED", "RESHAPE"], x=uniform(4, 5))


@pytest.mark.parametrize("bias", [(4, 2, 3), (4, 1, 1)], ids=str)
def test_a_bias_of_each_row_stays(bias: tuple[int, ...]) -> None:
    g = GraphBuilder()
    product = g.node("MatMul", "product", g.placeholder("x", (4, 5)), g.constant("w", uniform(5, 6)))
    g.node("AddV2", "y", reshaped(g, "heads", product, 4, 2, 3), g.constant("b", uniform(*bias)))
    check(g, ["FULLY_CONNECTED", "RESHAPE", "ADD"], x=uniform(4, 5))


def test_an_activation_goes_before_any_reshape_of_a_product() -> None:
    g = GraphBuilder()
    product = g.node("MatMul", "product", g.placeholder("x", (4, 5)), g.constant("w", uniform(5, 6)))
    g.node("Relu", "y", reshaped(g, "image", product, 2, 3, 2, 2))
    check(g, ["FULLY_CONNECTED", "RESHAPE"], x=uniform(4, 5))


@pytest.mark.parametrize(("last", "expected"), [((3, 8), ["TANH", "RESHAPE"]), ((2, 3, 4), ["TANH"])])
def test_reshapes_around_a_function_are_one(last: Sequence[int], expected: list[str]) -> None:
    g = GraphBuilder()
    y = g.node("Tanh", "t", reshaped(g, "flat", g.placeholder("x", (2, 3, 4)), 24))
    reshaped(g, "y", y, *last)
    check(g, expected, x=uniform(2, 3, 4))


def test_an_axis_added_around_a_product_with_a_number() -> None:
    g = GraphBuilder()
    x = reshaped(g, "one", g.placeholder("x", (3, 4)), 3, 1, 4)
    reshaped(g, "y", g.node("Mul", "product", scalar(g, "c", 3), x), 3, 4)
    check(g, ["MUL"], x=uniform(3, 4))


def test_reshapes_around_what_is_stretched_stay() -> None:
    g = GraphBuilder()
    x = reshaped(g, "flat", g.placeholder("x", (2, 4)), 8)
    y = g.node("Mul", "product", x, g.constant("c", np.full((1, 1, 1), 3, np.float32)))
    reshaped(g, "y", y, 4, 2)
    check(g, ["RESHAPE", "MUL", "RESHAPE"], x=uniform(2, 4))


def test_a_result_that_is_used_elsewhere_keeps_its_shape() -> None:
    g = GraphBuilder()
    y = g.node("Tanh", "t", reshaped(g, "flat", g.placeholder("x", (2, 3)), 6))
    reshaped(g, "y", y, 3, 2)
    check(g, ["RESHAPE", "TANH", "RESHAPE"], ["y", "t"], x=uniform(2, 3))


def test_an_axis_added_around_a_dense_layer() -> None:
    g = GraphBuilder()
    x = reshaped(g, "one", g.placeholder("x", (3, 4)), 3, 1, 4)
    product = g.node("BatchMatMulV2", "product", x, g.constant("w", uniform(4, 5)))
    reshaped(g, "y", product, 3, 5)
    check(g, ["FULLY_CONNECTED"], x=uniform(3, 4))
