"""Damage to GraphDefs: nodes rewired, attributes retyped, functions that call each other, and the like."""

from __future__ import annotations

import random
from collections.abc import Callable

from numlite.schema.graph_def import AttrValue, FunctionDef, GraphDef, NodeDef

from tests.fuzzing.messages import NUMBERS, TEXTS, damaged, packed

OPS = (
    *("Add", "AddV2", "Reshape", "Fill", "Tile", "Range", "Pad", "Const", "Identity", "IdentityN"),
    *("While", "StatelessWhile", "If", "Case", "PartitionedCall", "StatefulPartitionedCall"),
    *("SymbolicGradient", "Placeholder", "PlaceholderWithDefault", "Switch", "Merge", "Enter", "Exit"),
    *("NextIteration", "NoOp", "LoopCond", "TensorListReserve", "TensorListStack", "TensorArrayV3"),
    *("VarHandleOp", "ReadVariableOp", "HashTableV2", "LookupTableImportV2", "ConcatV2", "Split"),
    *("SplitV", "StridedSlice", "BroadcastTo", "Where", "MatMul", "Conv2D", "Einsum", "OneHot"),
    *("LinSpace", "ParseTensor", "DecodeRaw", "StringJoin", "AsString", "Unknown", "For", "MapDefun"),
    *("RemoteCall", "TensorListFromTensor", "Bitcast", "Unpack", "Pack", "Cast"),
)


def damaged_graph(content: bytes, draw: random.Random) -> bytes:
    """A GraphDef with nodes rewired, attributes retyped, functions that call each other, and the like."""
    if draw.random() < 0.35:
        return damaged(content, GraphDef, draw)
    graph = GraphDef.FromString(content)
    change_graph(graph, draw)
    return packed(graph, content)


def change_graph(graph: GraphDef, draw: random.Random) -> None:
    for _ in range(draw.choice((1, 1, 2, 3, 5))):
        bodies = [graph.node, *(function.node_def for function in graph.library.function)]
        nodes = draw.choice([body for body in bodies if len(body)] or [[]])
        if len(nodes):
            draw.choice(_GRAPH_CHANGES)(graph, list(nodes), draw)


def _rewire(graph: GraphDef, nodes: list[NodeDef], draw: random.Random) -> None:
    node, other = draw.choice(nodes), draw.choice(nodes)
    port = draw.choice(("", "", ":0", ":1", ":7", ":y:0", ":output:0", ":99999999999", ":-1"))
    text = draw.choice((other.name + port, other.name + port, "^" + other.name, node.name, "nobody"))
    if len(node.input) and draw.random() < 0.8:
        node.input[draw.randrange(len(node.input))] = text
    else:
        node.input.append(text)


def _drop_edge(graph: GraphDef, nodes: list[NodeDef], draw: random.Random) -> None:
    node = draw.choice(nodes)
    if len(node.input):
        del node.input[draw.randrange(len(node.input))]


def _change_op(graph: GraphDef, nodes: list[NodeDef], draw: random.Random) -> None:
    functions = [function.signature.name for function in graph.library.function]
    draw.choice(nodes).op = draw.choice(
        (draw.choice(OPS), draw.choice(nodes).op, *([draw.choice(functions)] if functions else []))
    )


def _retype(graph: GraphDef, nodes: list[NodeDef], draw: random.Random) -> None:
    """An attribute takes the value of another one, of this node or of some other."""
    node, other = draw.choice(nodes), draw.choice(nodes)
    if node.attr and other.attr:
        target, source = draw.choice(sorted(node.attr)), draw.choice(sorted(other.attr))
        node.attr[target].CopyFrom(AttrValue.FromString(other.attr[source].SerializeToString()))


def _change_type(graph: GraphDef, nodes: list[NodeDef], draw: random.Random) -> None:
    node = draw.choice(nodes)
    typed = [name for name in sorted(node.attr) if node.attr[name].WhichOneof("value") == "type"]
    if typed:
        node.attr[draw.choice(typed)].type = draw.choice((0, 1, 2, 3, 7, 9, 10, 14, 20, 21, 101, 107, 99))


def _change_tensor(graph: GraphDef, nodes: list[NodeDef], draw: random.Random) -> None:
    """A constant says another shape, huge, negative or just wrong; sometimes it needs no values for it."""
    constants = [node for node in nodes if "value" in node.attr and node.attr["value"].HasField("tensor")]
    if not constants:
        return
    tensor = draw.choice(constants).attr["value"].tensor
    if draw.random() < 0.4:
        for field in ("tensor_content", "float_val", "int_val", "int64_val", "string_val"):
            tensor.ClearField(field)
        if draw.random() < 0.7 and tensor.dtype in (1, 3, 9):
            {1: tensor.float_val, 3: tensor.int_val, 9: tensor.int64_val}[tensor.dtype].append(
                draw.choice((0, 1, -1, 3))
            )
    dims = tensor.tensor_shape.dim
    if not len(dims) or draw.random() < 0.3:
        dims.add(size=draw.choice(NUMBERS))
    else:
        dims[draw.randrange(len(dims))].size = draw.choice((*NUMBERS, 2, 4, 1024, 65536))


def _change_number(graph: GraphDef, nodes: list[NodeDef], draw: random.Random) -> None:
    """An element of a small constant: a size, an axis, a limit of a loop."""
    constants = [node for node in nodes if "value" in node.attr and node.attr["value"].HasField("tensor")]
    if constants:
        tensor = draw.choice(constants).attr["value"].tensor
        if tensor.dtype in (3, 9) and 0 < len(tensor.tensor_content) <= 64:
            size = 4 if tensor.dtype == 3 else 8
            data = bytearray(tensor.tensor_content)
            at = draw.randrange(max(1, len(data) // size)) * size
            data[at : at + size] = (draw.choice(NUMBERS) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
            tensor.tensor_content = bytes(data)
        elif len(tensor.int_val):
            tensor.int_val[draw.randrange(len(tensor.int_val))] = draw.choice(
                (-1, 0, 1, 5, 1 << 20, (1 << 31) - 1)
            )
        elif len(tensor.int64_val):
            tensor.int64_val[draw.randrange(len(tensor.int64_val))] = draw.choice(NUMBERS[:-3])


def _rename(graph: GraphDef, nodes: list[NodeDef], draw: random.Random) -> None:
    draw.choice(nodes).name = draw.choice((draw.choice(nodes).name, draw.choice(TEXTS)))


def _call(graph: GraphDef, nodes: list[NodeDef], draw: random.Random) -> None:
    """A function that a node names becomes another one, perhaps the one that the node is in."""
    functions = [function.signature.name for function in graph.library.function]
    if not functions:
        return
    attributes = [
        node.attr[name]
        for node in nodes
        for name in sorted(node.attr)
        if node.attr[name].WhichOneof("value") == "func"
    ]
    if attributes:
        draw.choice(attributes).func.name = draw.choice((*functions, "nobody"))
    else:
        node = draw.choice(nodes)
        node.op = draw.choice(functions)


def _nest(graph: GraphDef, nodes: list[NodeDef], draw: random.Random) -> None:
    """Functions that each call the next one, once or twice, in all ways that there are to call."""
    depth, times = draw.choice((3, 12, 26, 60, 150, 1000)), draw.choice((1, 2, 2, 3))
    op = draw.choice(
        ("call", "PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf", "While", "Case")
    )
    for level in range(depth):
        graph.library.function.append(_calling(f"nest{level}", f"nest{level + 1}", times, op))
    last = "nest0" if draw.random() < 0.1 else "nobody" if draw.random() < 0.1 else ""
    graph.library.function.append(_calling(f"nest{depth}", last, times if last else 0, op))
    node = draw.choice(nodes)
    node.op = "nest0"
    if draw.random() < 0.5:
        node.op = "StatefulPartitionedCall"
        node.attr["f"].func.name = "nest0"
        for name in ("Tin", "Tout"):
            node.attr[name].list.type.append(1)
    node.input[:] = [draw.choice(nodes).name]


def _calling(name: str, callee: str, times: int, op: str) -> FunctionDef:
    """A function of one float that calls another so many times, one call behind the other."""
    function = FunctionDef()
    function.signature.name = name
    function.signature.input_arg.add(name="x", type=1)
    function.signature.output_arg.add(name="y", type=1)
    value = "x"
    for i in range(times):
        value = _call_node(function, f"c{i}", callee, op, value)
    function.ret["y"] = value
    return function


def _call_node(function: FunctionDef, name: str, callee: str, op: str, value: str) -> str:
    if op == "call":
        function.node_def.add(name=name, op=callee, input=[value])
        return f"{name}:y:0"
    node = function.node_def.add(name=name, op=op, input=[value])
    if op in ("If", "StatelessIf"):
        node.input[:] = [value, value]
        node.attr["Tcond"].type = 1
        names = ["then_branch", "else_branch"]
    elif op == "Case":
        node.input[:] = [value, value]
        node.attr["branches"].list.func.add(name=callee)
        names = []
    elif op == "While":
        node.attr["T"].list.type.append(1)
        node.attr["cond"].func.name = node.attr["body"].func.name = callee
        return f"{name}:output:0"
    else:
        names = ["f"]
    for attribute in names:
        node.attr[attribute].func.name = callee
    for types in ("Tin", "Tout"):
        node.attr[types].list.type.append(1)
    return f"{name}:output:0"


def _join(graph: GraphDef, nodes: list[NodeDef], draw: random.Random) -> None:
    """The nodes of another body, or these once more under other names."""
    target = draw.choice([graph.node, *(function.node_def for function in graph.library.function)])
    for node in nodes[:50]:
        target.add().CopyFrom(node)
        if draw.random() < 0.5:
            target[-1].name += "_again"


def _double(graph: GraphDef, nodes: list[NodeDef], draw: random.Random) -> None:
    """A value added to itself, again and again."""
    last = draw.choice(nodes).name
    for i in range(draw.choice((10, 40, 100))):
        node = graph.node.add(
            name=f"double{i}", op=draw.choice(("AddV2", "ConcatV2", "Pack")), input=[last, last]
        )
        node.attr["T"].type = 1
        last = node.name


def _swap_bodies(graph: GraphDef, nodes: list[NodeDef], draw: random.Random) -> None:
    functions = graph.library.function
    if len(functions):
        a, b = draw.choice(list(functions)), draw.choice(list(functions))
        what = draw.choice(("signature", "node_def", "ret", "attr", "arg_attr", "resource_arg_unique_id"))
        a.ClearField(what)
        kept = FunctionDef.FromString(b.SerializeToString())
        for field in [field for field, _ in kept.ListFields() if field.name != what]:
            kept.ClearField(field.name)
        a.MergeFrom(kept)


GraphChange = Callable[[GraphDef, list[NodeDef], random.Random], None]
_GRAPH_CHANGES: tuple[GraphChange, ...] = (
    *(_rewire, _rewire, _rewire, _drop_edge, _change_op, _change_op, _retype, _retype, _change_type),
    *(_change_type, _change_tensor, _change_tensor, _change_number, _change_number, _rename, _call),
    *(_call, _nest, _join, _double, _swap_bodies),
)
