"""Graphs whose functions call the next one, so deep and so often."""

from __future__ import annotations

from typing import Any

from numlite.schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32, FunctionDef, GraphDef

CALLERS = ("legacy", "PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf", "While", "Case")


def nested(caller: str, depth: int, times: int = 1) -> GraphDef:
    """y = f0(x), where each f calls the next one so many times, one behind the other; the last gives x."""
    graph = GraphDef()
    node = graph.node.add(name="x", op="Placeholder")
    node.attr["dtype"].type = DT_FLOAT
    node.attr["shape"].shape.SetInParent()
    for level in range(depth):
        graph.library.function.append(_function(f"f{level}", f"f{level + 1}", caller, times))
    graph.library.function.append(_function(f"f{depth}", "", caller, 0))
    if caller == "While":
        graph.library.function.append(_condition())
    _call(graph.node, "y", "f0", caller, "x")
    return graph


def _function(name: str, callee: str, caller: str, times: int) -> FunctionDef:
    function = FunctionDef()
    function.signature.name = name
    function.signature.input_arg.add(name="x", type=DT_FLOAT)
    function.signature.output_arg.add(name="r", type=DT_FLOAT)
    value = "x"
    for i in range(times):
        _call(function.node_def, f"c{i}", callee, caller, value)
        value = f"c{i}:r:0" if caller == "legacy" else f"c{i}:output:0"
    function.ret["r"] = value
    return function


def _condition() -> FunctionDef:
    """A loop that never turns."""
    function = FunctionDef()
    function.signature.name = "never"
    function.signature.input_arg.add(name="x", type=DT_FLOAT)
    function.signature.output_arg.add(name="r", type=DT_BOOL)
    node = function.node_def.add(name="less", op="Less", input=["x", "x"])
    node.attr["T"].type = DT_FLOAT
    function.ret["r"] = "less:z:0"
    return function


def _call(nodes: Any, name: str, callee: str, caller: str, value: str) -> None:
    """A node that calls the function on a value. The index of a Case is not known before it runs."""
    node = nodes.add(name=name, op=callee if caller == "legacy" else caller, input=[value])
    if caller == "legacy":
        return
    if caller == "While":
        node.attr["T"].list.type.append(DT_FLOAT)
        node.attr["cond"].func.name, node.attr["body"].func.name = "never", callee
        return
    for types in ("Tin", "Tout"):
        node.attr[types].list.type.append(DT_FLOAT)
    if caller in ("If", "StatelessIf"):
        node.input.append(value)
        node.attr["Tcond"].type = DT_FLOAT
        node.attr["then_branch"].func.name = node.attr["else_branch"].func.name = callee
    elif caller == "Case":
        index = nodes.add(name=f"{name}_index", op="Cast", input=[value])
        index.attr["SrcT"].type, index.attr["DstT"].type = DT_FLOAT, DT_INT32
        node.input[:] = [f"{name}_index" if name == "y" else f"{name}_index:y:0", value]
        node.attr["branches"].list.func.add(name=callee)
    else:
        node.attr["f"].func.name = callee
