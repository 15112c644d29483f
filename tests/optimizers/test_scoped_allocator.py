"""scoped_allocator: communications of one device are one, on one tensor that holds all of theirs."""

import numpy as np
import pytest
from numlite.converter.execution.graph_runner import GraphRunner
from numlite.kernels.fallback.scoped_allocator import field_elements
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import AttrValue, GraphDef

from .optimized import Net, ops, optimized, values


def reduced(net: Net, value: str, key: int, group: int = 1, merge: bytes = b"Add") -> str:
    return net.op(
        "CollectiveReduce",
        value,
        group_size=1,
        group_key=group,
        instance_key=key,
        merge_op=AttrValue(s=merge),
        final_op=AttrValue(s=b"Id"),
        subdiv_offsets=AttrValue(list=AttrValue.ListValue(i=[0])),
    )


def joined(net: Net, **options: object) -> GraphDef:
    after = optimized(
        net.graph_def, list(net.feeds), net.fetches, "scoped_allocator", assume_valid_feeds=True, **options
    )
    for a, b in zip(values(net.graph_def, net), values(after, net), strict=True):
        np.testing.assert_array_equal(a, b)
    return after


def three() -> Net:
    net = Net()
    for i, shape in enumerate([(4, 3), (5,), (2,)]):
        net.op("Neg", reduced(net, net.op("Exp", net.x(*shape)), i + 1))
        net.out(net.graph_def.node[-1].name)
    return net


def test_three_communications_become_one() -> None:
    after = joined(three())
    found = ops(after)
    assert found["CollectiveReduce"] == found["_ScopedAllocator"] == found["_ScopedAllocatorConcat"] == 1
    assert found["_ScopedAllocatorSplit"] == 1
    nodes = {node.op: node for node in after.node}
    # Read off TensorFlow 2.21: each part begins at a multiple of 64 bytes.
    assert nodes["_ScopedAllocator"].attr["shape"].shape.dim[0].size == 48
    assert nodes["_ScopedAllocator"].attr["expected_call_count"].i == 3
    made = [list(n.attr["_scoped_allocator"].list.i) for n in after.node if n.op == "Exp"]
    assert made == [[0, 2], [0, 3], [0, 4]]
    assert all(any(i.startswith("^scoped_alloc") for i in n.input) for n in after.node if n.op == "Exp")


@pytest.mark.parametrize("other", [{"group": 2}, {"merge": b"Max"}], ids=["group", "merge"])
def test_others_are_not_joined(other: dict[str, object]) -> None:
    net = Net()
    net.out(reduced(net, net.op("Exp", net.x(2)), 1), reduced(net, net.op("Exp", net.x(2)), 2, **other))  # type: ignore[arg-type]
    assert ops(joined(net))["CollectiveReduce"] == 2


def test_one_that_waits_for_another_is_not_joined_with_it() -> None:
    net = Net()
    first = reduced(net, net.op("Exp", net.x(2)), 1)
    net.out(reduced(net, net.op("Neg", first), 2))
    assert ops(joined(net))["CollectiveReduce"] == 2


def test_operands_that_are_used_elsewhere_are_passed_on() -> None:
    net = Net()
    shared = net.op("Exp", net.x(3))
    net.out(reduced(net, shared, 1), reduced(net, shared, 2), net.op("Neg", shared))
    net.out(reduced(net, net.x(2), 3))
    after = joined(net)
    assert ops(after)["CollectiveReduce"] == 1
    assert sum("scoped_allocator_identity" in node.name for node in after.node) == 3


def test_a_fetched_one_and_other_devices_stay() -> None:
    net = three()
    net.fetches.append(next(n.name for n in net.graph_def.node if n.op == "CollectiveReduce"))
    assert ops(joined(net))["CollectiveReduce"] == 2
    net = three()
    for i, node in enumerate([n for n in net.graph_def.node if n.op == "CollectiveReduce"]):
        node.device = f"/device:CPU:{i}"
    assert ops(joined(net))["CollectiveReduce"] == 3


def test_other_ops_are_joined_if_asked_for() -> None:
    net = Net()
    net.out(net.op("Abs", net.op("Exp", net.x(2, 2))), net.op("Abs", net.op("Neg", net.x(3))))
    assert ops(joined(net))["Abs"] == 2
    assert ops(joined(net, scoped_allocator_opts=["Abs"]))["Abs"] == 1
    with pytest.raises(UnsupportedError, match=r"enable_op must be CollectiveReduce or .*, got MatMul"):
        joined(net, scoped_allocator_opts=["MatMul"])


def test_fields_are_aligned() -> None:
    assert [field_elements(shape, 4) for shape in ((), (16,), (17,), (0, 3))] == [16, 16, 32, 0]
    assert field_elements((3,), 8) == 8


def test_a_group_of_several_devices_is_refused() -> None:
    net = three()
    for node in net.graph_def.node:
        if node.op == "CollectiveReduce":
            node.attr["group_size"].i = 2
    with pytest.raises(UnsupportedError, match="group_size must be 1, got 2"):
        GraphRunner(net.graph_def).run(net.feeds, net.fetches)
