"""Einsum whose sizes are not known: they are computed when the model runs."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.schema.graph_def import AttrValue

from ..graphs import checked, operators, run_litert, run_numlite

FLOAT = AttrValue(type=1)
RANDOM = np.random.default_rng(7)


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize(
    ("equation", "first", "second"),
    [
        ("abcd,aecd->abe", (2, -1, 3, -1), (2, 4, 3, -1)),
        ("abcd,aecd->abe", (-1, -1, -1, -1), (-1, -1, -1, -1)),
        ("bqhd,bkhd->bhqk", (-1, -1, 2, 3), (-1, -1, 2, 3)),
        ("bhqk,bkhd->bqhd", (-1, 2, -1, -1), (-1, -1, 2, 3)),
        ("abc,b->ac", (-1, -1, -1), (-1,)),
        ("ab,ab->a", (-1, -1), (-1, -1)),
    ],
)
def test_einsum_of_open_sizes(run, equation: str, first: tuple, second: tuple) -> None:
    g = GraphBuilder()
    x, y = g.placeholder("x", list(first)), g.placeholder("y", list(second))
    g.node("Einsum", "z", x, y, equation=equation, N=2, T=FLOAT)
    model = checked(convert_graph(g.graph_def, ["x", "y"], ["z"]))
    assert "BATCH_MATMUL" in operators(model)
    terms, sizes = equation.split("->")[0].split(","), {}
    for term, shape in zip(terms, (first, second), strict=True):
        sizes |= {label: size for label, size in zip(term, shape, strict=True) if size != -1}
    for extra in (2, 5):
        shapes = [[sizes.get(label, extra + "abcdeqkh".find(label) % 3) for label in term] for term in terms]
        a, b = (RANDOM.normal(size=shape).astype(np.float32) for shape in shapes)
        [z] = run(model, a, b)
        np.testing.assert_allclose(z, np.einsum(equation, a, b), rtol=1e-4, atol=1e-5)
