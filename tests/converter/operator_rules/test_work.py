"""Passes over long graphs: four times the operators are some four times the work."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.schema import graph_def
from numlite.schema.graph_def import GraphDef

from ...lines_run import lines_run

# The nodes of one link of a chain: op and inputs; ^ is the link before, a number the node of that place.
LINKS = {
    "scaled": [("AddV2", "^", "one"), ("Mul", "0", "two")],
    "transposed": [("Transpose", "^", "order"), ("Exp", "0"), ("Transpose", "1", "order"), ("Sin", "2")],
    "moved": [
        ("MatMul", "^", "square"),
        ("Reshape", "0", "cube"),
        ("AddV2", "1", "pair"),
        ("Reshape", "2", "map"),
    ],
    "joined": [
        *(("Sin", "^"), ("Cos", "^"), ("Reshape", "0", "flat"), ("Reshape", "1", "flat")),
        *(("AddV2", "2", "3"), ("Reshape", "4", "map")),
    ],
}
CONSTANTS = {
    "one": np.float32(1.5),
    "two": np.float32(2.5),
    "order": np.int32([1, 0]),
    "square": np.eye(4, dtype=np.float32) + 1,
    "cube": np.int32([2, 2, 2]),
    "pair": np.float32([1, 2]),
    "flat": np.int32([8]),
    "map": np.int32([2, 4]),
}
INDEX_TYPES = {"Transpose": "Tperm", "Reshape": "Tshape"}


def chain(links: str, count: int) -> GraphDef:
    graph = GraphDef()
    x = graph.node.add(name="x", op="Placeholder")
    x.attr["dtype"].type = graph_def.DT_FLOAT
    for size in (2, 4):
        x.attr["shape"].shape.dim.add().size = size
    for name, value in CONSTANTS.items():
        node = graph.node.add(name=name, op="Const")
        tensor = node.attr["value"].tensor
        node.attr["dtype"].type = tensor.dtype = (
            graph_def.DT_FLOAT if value.dtype == np.float32 else graph_def.DT_INT32
        )
        for size in value.shape:
            tensor.tensor_shape.dim.add().size = size
        tensor.tensor_content = value.tobytes()
    last = "x"
    for i in range(count):
        for k, (op, *inputs) in enumerate(LINKS[links]):
            names = [last if each == "^" else f"n{i}_{each}" if each.isdigit() else each for each in inputs]
            node = graph.node.add(name=f"n{i}_{k}", op=op, input=names)
            node.attr["T"].type = graph_def.DT_FLOAT
            if op in INDEX_TYPES:
                node.attr[INDEX_TYPES[op]].type = graph_def.DT_INT32
        last = f"n{i}_{len(LINKS[links]) - 1}"
    graph.node.add(name="y", op="Identity", input=[last]).attr["T"].type = graph_def.DT_FLOAT
    return graph


@pytest.mark.parametrize("links", LINKS)
def test_the_work_of_a_conversion_grows_with_the_graph(links: str) -> None:
    convert_graph(chain(links, 2))
    small, large = (lines_run(partial(convert_graph, chain(links, count))) for count in (40, 160))
    assert large < 4.5 * small
