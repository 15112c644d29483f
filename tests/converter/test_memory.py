"""Conversions leave nothing behind."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder

from .lowering.test_control_flow import while_graph

# Each round converts two graphs.
WARM, COUNTED = 5, 50
# A conversion of these takes some hundred kilobytes and thousands of objects while it runs.
MOST_BYTES, MOST_OBJECTS = 40_000, 100


def net(seed: int) -> GraphBuilder:
    """A convolution with a batch norm, whose weights are other ones each time."""
    random = np.random.default_rng(seed)
    g = GraphBuilder()
    filters = g.constant("filters", random.uniform(-1, 1, (3, 3, 3, 8)).astype(np.float32))
    x = g.placeholder("x", [1, 8, 8, 3])
    conv = g.node("Conv2D", "conv", x, filters, strides=(1, 1, 1, 1), padding="SAME")
    scaled = g.node("Mul", "scaled", conv, g.constant("m", random.uniform(1, 2, 8).astype(np.float32)))
    g.node("Relu", "y", g.node("BiasAdd", "b", scaled, g.constant("c", np.ones(8, np.float32))))
    return g


def convert_all(seed: int) -> None:
    convert_graph(net(seed).graph_def)
    convert_graph(while_graph([2]).graph_def, ["n", "x"], ["y"])


def test_a_hundred_conversions_keep_no_memory() -> None:
    tracemalloc.start()
    try:
        for seed in range(WARM):
            convert_all(seed)
        gc.collect()
        size, objects = tracemalloc.get_traced_memory()[0], len(gc.get_objects())
        for seed in range(COUNTED):
            convert_all(seed)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - size < MOST_BYTES
        assert len(gc.get_objects()) - objects < MOST_OBJECTS
    finally:
        tracemalloc.stop()
