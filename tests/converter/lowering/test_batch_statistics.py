"""Batch normalization by the batch's own mean and variance, as Keras 2 normalizes layers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import AttrValue

from ..graphs import checked, operators, run_litert, run_numlite

RUNTIMES = pytest.mark.parametrize("run", [run_litert, run_numlite])
RANDOM = np.random.default_rng(2)


def normed(
    layout: str, shape: list[int], channels: int, computed: bool = False, also: str = ""
) -> GraphBuilder:
    g = GraphBuilder()
    x = g.placeholder("x", shape)
    values = {"scale": RANDOM.uniform(0.5, 2, channels), "offset": RANDOM.standard_normal(channels)}
    if computed:
        parts = [g.placeholder(name, [-1]) for name in values]
    else:
        parts = [g.constant(name, value.astype(np.float32)) for name, value in values.items()]
    none = g.constant("none", np.zeros(0, np.float32))
    held = {"is_training": True, "epsilon": 1e-3, "data_format": AttrValue(s=layout.encode())}
    g.node("FusedBatchNormV3", "norm", x, *parts, none, none, **held)
    g.node("Identity", "y", "norm")
    if also:
        g.node("Identity", "also", also)
    return g


def expected(x: np.ndarray, scale: np.ndarray, offset: np.ndarray, layout: str) -> np.ndarray:
    axes, shape = ((0, 1, 2), (-1,)) if layout == "NHWC" else ((0, 2, 3), (-1, 1, 1))
    x = x.astype(np.float64)
    z = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-3)
    return z * scale.reshape(shape) + offset.reshape(shape)


@RUNTIMES
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_parameters_that_are_computed(layout: str, run: Callable[..., list[np.ndarray]]) -> None:
    """One row a channel, of any number, which LayerNormalization makes of a batch."""
    shape = [1, -1, 5, 1] if layout == "NCHW" else [2, 3, 4, -1]
    model = checked(convert_graph(normed(layout, shape, 1, computed=True).graph_def))
    for channels in (6, 1, 3):
        x = RANDOM.standard_normal([channels if size == -1 else size for size in shape]).astype(np.float32)
        scale, offset = RANDOM.standard_normal((2, channels)).astype(np.float32)
        np.testing.assert_allclose(
            run(model, x, scale, offset)[0], expected(x, scale, offset, layout), rtol=1e-4, atol=1e-5
        )


@RUNTIMES
def test_constant_parameters(run: Callable[..., list[np.ndarray]]) -> None:
    graph = normed("NHWC", [2, 3, 4, 5], 5).graph_def
    held = {node.name: np.frombuffer(node.attr["value"].tensor.tensor_content, "<f4") for node in graph.node}
    model = checked(convert_graph(graph))
    assert operators(model).count("MEAN") == 2
    x = RANDOM.standard_normal((2, 3, 4, 5)).astype(np.float32) * 3 + 1
    want = expected(x, held["scale"], held["offset"], "NHWC")
    np.testing.assert_allclose(run(model, x)[0], want, rtol=1e-4, atol=1e-5)


def test_statistics_that_are_read_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="built where they are not read"):
        convert_graph(normed("NHWC", [2, 3, 4, 5], 5, also="norm:1").graph_def)
