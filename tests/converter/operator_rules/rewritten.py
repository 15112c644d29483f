"""A graph's operators after the passes, and whether they compute what its nodes do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numlite.converter import convert_graph, run_graph
from numlite.converter.graph_builder import GraphBuilder

from ..graphs import checked, operators, run_litert, run_numlite

RANDOM = np.random.default_rng(11)


def uniform(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def check(
    graph: GraphBuilder,
    expected: Sequence[str],
    outputs: Sequence[str] = ("y",),
    rtol: float = 2e-5,
    atol: float = 2e-6,
    **inputs: np.ndarray,
) -> bytes:
    """Convert; the operators must be those expected, the results those of the graph's own nodes.

    The nodes are run in NumPy, the model by numlite, and by LiteRT where it is installed. Sums are taken
    in another order, hence the tolerance.
    """
    model = checked(convert_graph(graph.graph_def, list(inputs), list(outputs)))
    assert operators(model) == list(expected)
    wanted = run_graph(graph.graph_def, dict(inputs), list(outputs))
    for run in (run_numlite, run_litert):
        for y, w in zip(run(model, *inputs.values()), wanted, strict=True):
            assert y.dtype == w.dtype and y.shape == w.shape
            np.testing.assert_allclose(y, w, rtol=rtol, atol=atol)
    return model


def integers(graph: GraphBuilder, name: str, *values: int) -> str:
    """A constant vector of int32."""
    return graph.constant(name, np.array(values, np.int32))


def scalar(graph: GraphBuilder, name: str, value: float) -> str:
    """A constant float32 scalar."""
    return graph.constant(name, np.array(value, np.float32))
