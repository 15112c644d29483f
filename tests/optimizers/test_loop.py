"""loop: loops without rounds, branches that constants choose, and what is the same in each round."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.schema.graph_def import (
    DT_BOOL,
    DT_FLOAT,
    DT_INT32,
    AttrValue,
    FunctionDef,
    GraphDef,
    NameAttrList,
    NodeDef,
    OpDef,
)

from .optimized import Net, check, ops, optimized, values

_FLOAT, _FRAME = AttrValue(type=DT_FLOAT), AttrValue(s=b"frame")


def loop(start: float, limit: float, invariant: str = "Exp", waits: bool = True) -> Net:
    """i, y = start, x; while i < limit: i, y = i + 1, y + invariant(x)."""
    net = Net()
    x, first = net.x(2), net.c(start)
    for name, source, is_constant in (("ei", first, False), ("ey", x, False), ("ex", x, True)):
        held = AttrValue(b=is_constant)
        net.node("Enter", name, source, T=_FLOAT, frame_name=_FRAME, is_constant=held, parallel_iterations=10)
    for name in "iy":
        net.node("Merge", f"m{name}", f"e{name}", f"n{name}", T=_FLOAT, N=2)
    net.constant("limit", np.array(limit, np.float32))
    net.constant("one", np.array(1, np.float32))
    net.node("Less", "less", "mi", "limit", T=_FLOAT)
    net.node("LoopCond", "c", "less")
    for name in "iy":
        net.node("Switch", f"s{name}", f"m{name}", "c", T=_FLOAT)
        net.node("Identity", f"b{name}", f"s{name}:1", T=_FLOAT)
    net.node(invariant, "same", "ex", *(("^bi",) if waits else ()), T=_FLOAT)
    net.node("AddV2", "ai", "bi", "one", T=_FLOAT)
    net.node("AddV2", "ay", "by", "same", T=_FLOAT)
    for name in "iy":
        net.node("NextIteration", f"n{name}", f"a{name}", T=_FLOAT)
        net.node("Exit", f"x{name}", f"s{name}", T=_FLOAT)
    for node in net.graph_def.node:
        if node.name in ("limit", "one"):
            node.input.append("^mi" if node.name == "limit" else "^bi")
    return net.out("xi", "xy")


def test_a_loop_that_is_never_entered_goes() -> None:
    check(loop(5, 3), "Const", "loop")


def test_a_loop_with_rounds_stays() -> None:
    net = loop(0, 3)
    assert ops(check(net, dict(ops(net.graph_def)), "loop"))["Exit"] == 2


def test_a_loop_with_a_fetched_node_in_it_stays() -> None:
    net = loop(5, 3)
    after = optimized(net.graph_def, ["x0"], [*net.fetches, "ay"], "loop")
    assert ops(after)["LoopCond"] == 1


def prints(net: Net, value: str, reader: str) -> None:
    held = AttrValue(list=AttrValue.ListValue(type=[DT_FLOAT]))
    net.node("Print", "print", value, value, T=_FLOAT, U=held)
    next(node for node in net.graph_def.node if node.name == reader).input.append("^print")


def test_a_loop_whose_condition_has_an_effect_stays() -> None:
    net = loop(5, 3)
    prints(net, "mi", "less")
    assert ops(optimized(net.graph_def, ["x0"], net.fetches, "loop"))["Print"] == 1


def test_effects_in_rounds_do_not_keep_a_loop_that_has_none() -> None:
    net = loop(5, 3)
    prints(net, "bi", "ai")
    check(net, "Const", "loop")


@pytest.mark.parametrize("waits", [False, True])
def test_what_is_the_same_in_each_round_is_computed_before(waits: bool) -> None:
    net = loop(0, 3, "Exp", waits)
    after = aggressive(net)
    [moved] = [node for node in after.node if node.op == "Exp"]
    nodes = {node.name: node for node in after.node}
    assert list(moved.input) == ["x0"] and nodes["ay"].input[1] == "same"
    assert nodes["same"].op == ("Identity" if waits else "Enter") and ("^bi" in nodes["same"].input) is waits
    assert ops(optimized(net.graph_def, ["x0"], net.fetches, "loop")) == ops(net.graph_def)


def aggressive(net: Net) -> GraphDef:
    after = optimized(net.graph_def, list(net.feeds), net.fetches, "loop", loop_optimization="aggressive")
    for a, b in zip(values(net.graph_def, net), values(after, net), strict=True):
        np.testing.assert_allclose(a, b)
    return after


@pytest.mark.parametrize("waits", [False, True])
def test_what_may_fail_does_not_run_before_its_round(waits: bool) -> None:
    net = loop(0, 3, "Exp", waits)
    for node in net.graph_def.node:
        if node.name == "same":
            node.op = "Add"
            node.input.insert(1, "ex")
    nodes = {node.name: node for node in aggressive(net).node}
    assert (nodes["same"].op == "Add") is waits


def fed(limit: float) -> tuple[Net, dict[str, NodeDef]]:
    """A loop of which nobody knows how many rounds it has, and its nodes by name."""
    net = loop(0, limit)
    nodes = {node.name: node for node in net.graph_def.node}
    nodes["ei"].input[0] = net.x()
    return net, nodes


def wait_for_round(net: Net, constant: str) -> None:
    """As constants in a loop do."""
    next(node for node in net.graph_def.node if node.name == constant).input.append("^bi")


@pytest.mark.parametrize("limit", [0, 3])
def test_a_constant_keeps_what_may_fail_in_its_round(limit: int) -> None:
    net, nodes = fed(limit)
    net.constant("sizes", np.array([3 if limit == 0 else 2], np.int32))
    wait_for_round(net, "sizes")
    nodes["same"].CopyFrom(NodeDef(name="same", op="Reshape", input=["ex", "sizes"]))
    nodes["same"].attr["T"].type, nodes["same"].attr["Tshape"].type = DT_FLOAT, DT_INT32
    assert {node.name: node.op for node in aggressive(net).node}["same"] == "Reshape"


def test_what_cannot_fail_with_a_number_is_computed_before() -> None:
    net, nodes = fed(3)
    net.constant("number", np.array(3, np.float32))
    wait_for_round(net, "number")
    nodes["same"].CopyFrom(NodeDef(name="same", op="Mul", input=["ex", "number"]))
    nodes["same"].attr["T"].type = DT_FLOAT
    after = {node.name: node for node in aggressive(net).node}
    assert after["same"].op == "Identity" and after["same/LoopInvariant"].input[0] == "x0"


def test_what_reads_a_moved_node_still_waits_for_the_round() -> None:
    net, nodes = fed(0)
    held = {"T": _FLOAT, "frame_name": _FRAME, "is_constant": AttrValue(b=True), "parallel_iterations": 10}
    net.node("Enter", "other", net.x(3), **held)
    net.node("AddV2", "fails", "same", "other", T=_FLOAT)
    net.node("AddV2", "sum", "by", "fails", T=_FLOAT)
    nodes["ay"].input[1] = "sum"
    aggressive(net)


def with_functions(**called: str) -> Net:
    """Functions of (a float, floats), each of which gives what one op of the float and 3 gives."""
    net = Net()
    for name, ran in called.items():
        function = FunctionDef(signature=OpDef(name=name))
        for argument in "iy":
            function.signature.input_arg.add(name=argument, type=DT_FLOAT)
        function.node_def.add(name="three", op="Const").attr["dtype"].type = DT_FLOAT
        function.node_def[0].attr["value"].tensor.dtype = DT_FLOAT
        function.node_def[0].attr["value"].tensor.float_val.append(3)
        function.node_def.add(name="ran", op=ran, input=["i", "three:output:0"]).attr["T"].type = DT_FLOAT
        is_condition = ran in ("Less", "Greater")
        function.signature.output_arg.add(name="r", type=DT_BOOL if is_condition else DT_FLOAT)
        function.ret["r"] = "ran:z:0"
        if not is_condition:
            function.signature.output_arg.add(name="s", type=DT_FLOAT)
            function.ret["s"] = "y"
        net.graph_def.library.function.append(function)
    return net


def types(*numbers: int) -> AttrValue:
    return AttrValue(list=AttrValue.ListValue(type=numbers))


def attribute(name: str) -> AttrValue:
    return AttrValue(func=NameAttrList(name=name))


@pytest.mark.parametrize(("condition", "expected"), [("Less", "IdentityN Const"), ("Greater", "While Const")])
def test_a_while_without_a_round_gives_what_it_is_given(condition: str, expected: str) -> None:
    net = with_functions(test=condition, body="Sub")
    held = types(DT_FLOAT, DT_FLOAT)
    net.node("While", "w", net.c(5), net.x(2), T=held, cond=attribute("test"), body=attribute("body"))
    net.out("w", "w:1")
    check(net, expected, "loop")


def test_a_while_whose_condition_is_fed_or_has_an_effect_stays() -> None:
    for has_effect in (False, True):
        net = with_functions(test="Less", body="Add")
        start = net.c(5) if has_effect else net.x()
        if has_effect:
            printed = net.graph_def.library.function[0].node_def.add(name="p", op="Print", input=["i", "i"])
            printed.attr["T"].type = DT_FLOAT
            printed.attr["U"].list.type.append(DT_FLOAT)
            net.graph_def.library.function[0].signature.is_stateful = True
        held = types(DT_FLOAT, DT_FLOAT)
        net.node("While", "w", start, net.x(2), T=held, cond=attribute("test"), body=attribute("body"))
        net.out("w")
        assert ops(check(net, dict(ops(net.graph_def)), "loop"))["While"] == 1


@pytest.mark.parametrize("chosen", [True, False])
def test_an_if_by_a_constant_calls_its_branch(chosen: bool) -> None:
    net = with_functions(yes="Add", no="Sub")
    both = types(DT_FLOAT, DT_FLOAT)
    branches = {"then_branch": attribute("yes"), "else_branch": attribute("no")}
    condition = net.c(chosen, np.bool_)
    net.node(
        "If",
        "w",
        condition,
        net.c(5),
        net.x(2),
        Tcond=AttrValue(type=DT_BOOL),
        Tin=both,
        Tout=both,
        **branches,
    )
    net.out("w", "w:1")
    after = check(net, "StatefulPartitionedCall Const Const", "loop")
    [call] = [node for node in after.node if node.op == "StatefulPartitionedCall"]
    assert call.attr["f"].func.name == ("yes" if chosen else "no")
