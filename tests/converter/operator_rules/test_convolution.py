"""EMBEDDING_LOOKUP is found in products with rows of one 1."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter.graph_builder import GraphBuilder
from numlite.schema import graph_def

from .rewritten import check, scalar, uniform

IDS = np.array([3, 0, 6, 3], np.int32)


def product(
    ids: tuple[int, ...] = (4,),
    on: float = 1,
    off: float = 0,
    axis: int = -1,
    type: int = graph_def.DT_INT32,
    transposed: bool = False,
) -> GraphBuilder:
    g = GraphBuilder()
    values = g.constant("n", np.array(7, np.int32)), scalar(g, "on", on), scalar(g, "off", off)
    rows = g.node("OneHot", "rows", g.placeholder("i", ids, type), *values, axis=axis)
    table = g.constant("w", uniform(5, 7) if transposed else uniform(7, 5))
    g.node("MatMul", "y", rows, table, transpose_b=transposed)
    return g


@pytest.mark.parametrize("transposed", [False, True])
def test_lookup(transposed: bool) -> None:
    check(product(transposed=transposed), ["EMBEDDING_LOOKUP"], i=IDS)


def test_lookup_of_an_unknown_number() -> None:
    check(product((-1,)), ["EMBEDDING_LOOKUP"], i=IDS)


def test_a_bias_goes_into_the_table() -> None:
    g = product()
    g.node("BiasAdd", "z", "y", g.constant("b", uniform(5)))
    check(g, ["EMBEDDING_LOOKUP"], ["z"], i=IDS)


def test_an_activation_follows() -> None:
    g = product()
    g.node("Relu", "z", "y")
    check(g, ["EMBEDDING_LOOKUP", "RELU"], ["z"], i=IDS)


@pytest.mark.parametrize("values", [(2, 0), (1, 0.5)], ids=str)
def test_rows_of_other_values_stay(values: tuple[float, float]) -> None:
    check(product(on=values[0], off=values[1]), ["ONE_HOT", "FULLY_CONNECTED"], i=IDS)


def test_rows_along_another_axis_stay() -> None:
    g = GraphBuilder()
    values = g.constant("n", np.array(7, np.int32)), scalar(g, "on", 1), scalar(g, "off", 0)
    g.node("OneHot", "rows", g.placeholder("i", (4,), graph_def.DT_INT32), *values, axis=0)
    g.node("MatMul", "y", "rows", g.constant("w", uniform(4, 5)))
    check(g, ["ONE_HOT", "FULLY_CONNECTED"], i=IDS)


def test_rows_that_are_used_elsewhere_stay() -> None:
    g = product()
    check(g, ["ONE_HOT", "FULLY_CONNECTED"], ["y", "rows"], i=IDS)


def test_longer_indices_stay() -> None:
    g = product(type=graph_def.DT_INT64)
    check(g, ["ONE_HOT", "FULLY_CONNECTED"], i=IDS.astype(np.int64))
