"""pin_to_host and implementation_selector: what the devices decide."""

import numpy as np
import pytest
from numlite.converter.execution.graph_runner import GraphRunner
from numlite.schema.graph_def import DT_FLOAT, AttrValue, FunctionDef, NameAttrList, OpDef

from .optimized import Net, ops, optimized

GPU = "/job:localhost/replica:0/task:0/device:GPU:0"
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def devices(net: Net, **options: object) -> dict[str, str]:
    """The devices of nodes by their ops, after pin_to_host."""
    after = optimized(net.on(GPU).graph_def, list(net.feeds), net.fetches, "pin_to_host", **options)
    for a, b in zip(
        GraphRunner(net.graph_def).run(net.feeds, net.fetches),
        GraphRunner(after).run(net.feeds, net.fetches),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
    return {node.op: node.device for node in after.node}


def test_shapes_are_computed_on_the_host() -> None:
    net = Net()
    x = net.x(2, 3)
    sizes = net.op("Mul", net.op("Shape", x), net.c([1, 1], np.int32))
    net.out(net.op("Reshape", x, sizes))
    found = devices(net, assume_valid_feeds=True)
    assert found["Mul"] == found["Const"] == CPU and found["Reshape"] == found["Shape"] == GPU
    found = devices(net)
    assert found["Const"] == CPU and found["Mul"] == GPU


def test_floats_and_large_vectors_stay() -> None:
    net = Net()
    net.out(net.op("Mul", net.x(3), net.c([1, 2, 3])))
    net.out(net.op("Neg", net.c(np.arange(65), np.int32)))
    assert set(devices(net).values()) == {GPU}


def test_a_constant_that_a_device_takes_goes_back() -> None:
    net = Net()
    net.out(net.op("Cast", net.c([1, 2], np.int32), DstT=AttrValue(type=DT_FLOAT)))
    assert devices(net)["Const"] == GPU


def function(name: str, op: str, **attributes: bytes) -> FunctionDef:
    """r = op(a), floats."""
    signature = OpDef(name=name)
    signature.input_arg.add(name="a", type=DT_FLOAT)
    signature.output_arg.add(name="r", type=DT_FLOAT)
    made = FunctionDef(signature=signature)
    made.node_def.add(name="n", op=op, input=["a"]).attr["T"].type = DT_FLOAT
    made.ret["r"] = "n:y:0"
    for key, value in attributes.items():
        made.attr[key].s = value
    return made


def named(name: str) -> AttrValue:
    return AttrValue(func=NameAttrList(name=name))


def types(*kinds: int) -> AttrValue:
    return AttrValue(list=AttrValue.ListValue(type=kinds))


@pytest.mark.parametrize(("device", "chosen"), [(GPU, "twin"), (CPU, "own"), ("", "own")])
def test_the_function_of_the_device_is_called(device: str, chosen: str) -> None:
    net = Net()
    kinds = types(DT_FLOAT)
    net.out(net.node("PartitionedCall", "call", net.x(3), Tin=kinds, Tout=kinds, f=named("own")))
    net.graph_def.library.function.extend(
        [
            function("own", "Neg", api_implements=b"negate", api_preferred_device=b"CPU"),
            function("twin", "Neg", api_implements=b"negate", api_preferred_device=b"GPU"),
            function("other", "Exp", api_implements=b"grow", api_preferred_device=b"GPU"),
        ]
    )
    after = optimized(net.on(device).graph_def, ["x0"], net.fetches, "implementation_selector")
    call = next(node for node in after.node if node.op == "PartitionedCall")
    assert call.attr["f"].func.name == chosen


@pytest.mark.parametrize(("device", "op"), [(CPU, "Neg"), (GPU, "Exp"), ("/device:TPU:0", "Sqrt")])
def test_a_case_by_device_becomes_that_of_its_own(device: str, op: str) -> None:
    net = Net()
    x = net.x(3)
    index = net.node("DeviceIndex", "index", device_names=_texts(b"CPU", b"GPU"))
    branches = AttrValue(list=AttrValue.ListValue(func=[NameAttrList(name=n) for n in ("a", "b", "c")]))
    kinds = types(DT_FLOAT)
    net.out(net.node("StatelessCase", "case", index, x, Tin=kinds, Tout=kinds, branches=branches))
    names = zip("abc", ("Neg", "Exp", "Sqrt"), strict=True)
    net.graph_def.library.function.extend([function(name, inner) for name, inner in names])
    for node in net.graph_def.node:
        node.device = device
    after = optimized(net.graph_def, ["x0"], net.fetches, "implementation_selector", "constfold", "function")
    assert ops(after)[op] == 1 and ops(after)["DeviceIndex"] == 0


def _texts(*values: bytes) -> AttrValue:
    return AttrValue(list=AttrValue.ListValue(s=values))


def test_a_case_without_a_device_stays() -> None:
    net = Net()
    index = net.node("DeviceIndex", "index", device_names=_texts(b"CPU"))
    net.out(net.op("Neg", index))
    after = optimized(net.graph_def, [], net.fetches, "implementation_selector")
    assert ops(after) == {"DeviceIndex": 1, "Neg": 1}
