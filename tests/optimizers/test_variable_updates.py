"""Updates of variables that change nothing go; what waited for them goes on waiting."""

import numpy as np
import pytest
from numlite.converter.execution.graph_runner import GraphRunner
from numlite.schema.graph_def import DT_FLOAT, AttrValue, GraphDef, TensorShapeProto

from .optimized import Net, ops, optimized

FLOAT = AttrValue(type=DT_FLOAT)


def updated(op: str, value: float) -> Net:
    """A variable of [1, 2] that is set, updated, and read."""
    net = Net()
    shape = AttrValue(shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=2)]))
    handle = net.node("VarHandleOp", "v", dtype=FLOAT, shape=shape, shared_name="v")
    net.node("AssignVariableOp", "set", handle, net.c([1, 2]), dtype=FLOAT)
    delta = net.constant("delta", np.full(2, value, np.float32))
    if op.startswith("ResourceScatter"):
        places = net.constant("places", np.array([1, 0], np.int32))
        net.node(op, "update", handle, places, delta, "^set", dtype=FLOAT, Tindices=AttrValue(type=3))
    else:
        net.node(op, "update", handle, delta, "^set", dtype=FLOAT)
    return net.out(net.node("ReadVariableOp", "read", handle, "^update", dtype=FLOAT))


def folded(net: Net) -> GraphDef:
    return optimized(net.graph_def, [], net.fetches, "constfold")


@pytest.mark.parametrize(
    ("op", "neutral"),
    [
        *(("AssignAddVariableOp", 0), ("AssignSubVariableOp", 0), ("ResourceScatterAdd", 0)),
        *(("ResourceScatterMul", 1), ("ResourceScatterDiv", 1)),
    ],
)
@pytest.mark.parametrize("other", [False, True])
def test_an_update_by_the_neutral_number_does_nothing(op: str, neutral: int, other: bool) -> None:
    net = updated(op, neutral + 2 * other)
    after = folded(net)
    assert (ops(after)["NoOp"], ops(after)[op]) == ((0, 1) if other else (1, 0))
    [read] = [node for node in after.node if node.name == "read"]
    assert "^update" in read.input
    for graph in (net.graph_def, after):
        [found] = GraphRunner(graph).run({}, net.fetches)
        wanted = GraphRunner(net.graph_def).run({}, net.fetches)[0]
        np.testing.assert_array_equal(found, wanted)


def test_one_that_is_named_stays() -> None:
    net = updated("AssignAddVariableOp", 0)
    after = optimized(net.graph_def, [], [*net.fetches, "update"], "constfold")
    assert ops(after)["AssignAddVariableOp"] == 1
