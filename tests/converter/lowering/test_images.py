"""Convolutions, pooling and batch norms of images whose channels come first."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder

from ..graphs import checked, operators, run_litert, run_numlite

RANDOM = np.random.default_rng(3)
X = RANDOM.uniform(-1, 1, (1, 7, 6, 4)).astype(np.float32)
CONSTANTS = {
    "Conv2D": [RANDOM.uniform(-1, 1, (3, 2, 4, 5)).astype(np.float32)],
    "DepthwiseConv2dNative": [RANDOM.uniform(-1, 1, (3, 2, 4, 2)).astype(np.float32)],
    "MaxPool": [],
    "FusedBatchNormV3": [RANDOM.uniform(0.5, 2, 4).astype(np.float32) for _ in range(4)],
    "BiasAdd": [RANDOM.uniform(-1, 1, 4).astype(np.float32)],
}


def graph(op: str, first: bool) -> GraphBuilder:
    g = GraphBuilder()
    shape = [1, 4, 7, 6] if first else [1, 7, 6, 4]
    names = [g.constant(f"c{i}", value) for i, value in enumerate(CONSTANTS[op])]
    attributes: dict = {"data_format": "NCHW" if first else "NHWC"}
    if op == "FusedBatchNormV3":
        attributes["is_training"] = False
    elif op != "BiasAdd":
        steps = {"strides": (1, 2, 2, 1), "ksize": (1, 3, 2, 1)}
        for name in ("strides", "ksize") if op == "MaxPool" else ("strides",):
            n, h, w, c = steps[name]
            attributes[name] = (n, c, h, w) if first else (n, h, w, c)
        attributes["padding"] = "VALID" if op == "MaxPool" else "SAME"
    if op == "Conv2D":
        attributes["padding"] = "EXPLICIT"
        pads = [(0, 0), (2, 1), (0, 1), (0, 0)]
        ordered = [pads[0], pads[3], pads[1], pads[2]] if first else pads
        attributes["explicit_paddings"] = tuple(n for pair in ordered for n in pair)
    g.node(op, "y", g.placeholder("x", shape), *names, **attributes)
    return g


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize("op", CONSTANTS)
def test_channels_first(op: str, run) -> None:
    last = checked(convert_graph(graph(op, False).graph_def, ["x"], ["y"]))
    first = checked(convert_graph(graph(op, True).graph_def, ["x"], ["y"]))
    assert set(operators(first)) - set(operators(last)) <= {"TRANSPOSE"}
    [expected] = run_numlite(last, X)
    [y] = run(first, X.transpose(0, 3, 1, 2))
    np.testing.assert_allclose(y, expected.transpose(0, 3, 1, 2), rtol=1e-5, atol=1e-5)
