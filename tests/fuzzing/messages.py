"""Damage to protobuf messages: fields of any message changed, and what only graphs have."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, EncodeError, Message
from numlite.schema.graph_def import AttrValue, FunctionDef, GraphDef, NodeDef

NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    7,
    64,
    255,
    4096,
    1 << 20,
    1 << 31,
    (1 << 31) - 1,
    1 << 40,
    -(1 << 62),
    (1 << 63) - 1,
)
REALS = (0.0, -1.0, 1e-45, 3e38, float("inf"), float("-inf"), float("nan"))
TEXTS = (
    "",
    "x",
    ":",
    "^",
    "^x",
    "a:b:9",
    "x:99999999999",
    "\x1b[31m",
    "ﬀ",
    "a/../b",
    "%",
    "_",
    "loop/x",
    "🙂",
)
OPS = (
    *("Add", "AddV2", "Reshape", "Fill", "Tile", "Range", "Pad", "Const", "Identity", "IdentityN", "While"),
    *("StatelessWhile", "If", "Case", "PartitionedCall", "StatefulPartitionedCall", "SymbolicGradient"),
    *("Placeholder", "PlaceholderWithDefault", "Switch", "Merge", "Enter", "Exit", "NextIteration", "NoOp"),
    *("LoopCond", "TensorListReserve", "TensorListStack", "TensorArrayV3", "VarHandleOp", "ReadVariableOp"),
    *(
        "HashTableV2",
        "LookupTableImportV2",
        "ConcatV2",
        "Split",
        "SplitV",
        "StridedSlice",
        "BroadcastTo",
        "Where",
    ),
    *(
        "MatMul",
        "Conv2D",
        "Einsum",
        "OneHot",
        "LinSpace",
        "ParseTensor",
        "DecodeRaw",
        "StringJoin",
        "AsString",
    ),
    *(
        "Unknown",
        "For",
        "MapDefun",
        "RemoteCall",
        "TensorListFromTensor",
        "Bitcast",
        "Unpack",
        "Pack",
        "Cast",
    ),
)
_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: 32,
    FieldDescriptor.CPPTYPE_UINT32: 32,
    FieldDescriptor.CPPTYPE_ENUM: 31,
}
_WORD = re.compile(r"%?[\w.]+|\"[^\"\n]*\"")
_MOST_LETTERS = 1 << 17
_SIGNED = (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64)


def damaged(content: bytes, kind: type[Message], draw: random.Random) -> bytes:
    """The message with a field or a few changed, or its bytes."""
    if draw.random() < 0.1:
        return damaged_bytes(content, draw)
    message = kind.FromString(content)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 6))):
        change_field(message, draw)
    return packed(message, content)


def packed(message: Message, otherwise: bytes) -> bytes:
    try:
        return message.SerializeToString(deterministic=True)
    except (EncodeError, ValueError):
        return otherwise


def damaged_bytes(content: bytes, draw: random.Random) -> bytes:
    """Bits flipped, a piece left out, doubled or zeroed, or the end cut off."""
    data = bytearray(content)
    if not data:
        return b"\xff"
    begin = draw.randrange(len(data))
    end = min(len(data), begin + draw.choice((1, 2, 8, 64, 1024)))
    how = draw.randrange(6)
    if how < 3:
        for _ in range(draw.choice((1, 1, 2, 4, 16))):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    elif how == 3:
        del data[begin:]
    else:
        data[begin:end] = draw.choice((b"", data[begin:end] * 2, bytes(end - begin), data[begin:end] * 100))
    return bytes(data)


def change_field(message: Message, draw: random.Random) -> None:
    """Change one field of the message or of what it holds."""
    owner: Any = message
    while True:
        held = owner.ListFields()
        fields = owner.DESCRIPTOR.fields
        if not fields:
            return
        if not held or draw.random() < 0.03:
            field = draw.choice(fields)
            _change(owner, field, draw)
            return
        field, value = draw.choice(held)
        inner = _messages(field, value)
        if not inner or draw.random() < 0.15:
            _change(owner, field, draw)
            return
        owner = draw.choice(inner)


def _messages(field: FieldDescriptor, value: Any) -> list[Message]:
    if field.message_type is None:
        return []
    if field.message_type.GetOptions().map_entry:
        return [entry for entry in value.values() if isinstance(entry, Message)]
    return list(value) if field.is_repeated else [value]


def _change(owner: Any, field: FieldDescriptor, draw: random.Random) -> None:
    name = field.name
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        _change_map(getattr(owner, name), draw)
    elif field.is_repeated:
        _change_list(getattr(owner, name), field, draw)
    elif field.message_type is not None:
        if draw.random() < 0.5:
            owner.ClearField(name)
        else:
            getattr(owner, name).SetInParent()
    elif draw.random() < 0.1:
        owner.ClearField(name)
    else:
        setattr(owner, name, odd(field, getattr(owner, name), draw))


def _change_map(entries: Any, draw: random.Random) -> None:
    if not entries:
        return
    a, b = draw.choice(sorted(entries)), draw.choice(sorted(entries))
    how = draw.randrange(3)
    if how == 0 or not isinstance(a, str):
        del entries[a]
    elif how == 1 and isinstance(entries[a], Message):
        entries[a].CopyFrom(type(entries[a]).FromString(entries[b].SerializeToString()))
    elif isinstance(entries[a], Message):
        entries[draw.choice(TEXTS)].CopyFrom(entries[a])
    else:
        entries[a] = entries[b]


def _change_list(items: Any, field: FieldDescriptor, draw: random.Random) -> None:
    count = len(items)
    how = draw.choice(("drop", "double", "swap", "empty", "many", "element", "element", "element"))
    if not count:
        if field.message_type is not None:
            items.add()
        else:
            items.append(odd(field, None, draw))
        return
    at = draw.randrange(count)
    if how == "empty":
        del items[:]
    elif how == "drop":
        del items[at]
    elif field.message_type is not None:
        other = items[draw.randrange(count)]
        if how == "swap":
            items[at].CopyFrom(type(other).FromString(other.SerializeToString()))
        else:
            for _ in range(50 if how == "many" else 1):
                items.add().CopyFrom(items[at])
    elif how == "swap":
        other = draw.randrange(count)
        items[at], items[other] = items[other], items[at]
    elif how == "element":
        items[at] = odd(field, items[at], draw)
    else:
        items.extend([items[at]] * (200 if how == "many" else 1))


def odd(field: FieldDescriptor, value: Any, draw: random.Random) -> Any:
    """A value that the field can hold, and that it seldom has."""
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return not value
    if kind in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
        return draw.choice(REALS)
    if kind == FieldDescriptor.CPPTYPE_STRING:
        return _odd_text(value or (b"" if field.type == FieldDescriptor.TYPE_BYTES else ""), draw)
    if kind == FieldDescriptor.CPPTYPE_ENUM and draw.random() < 0.8:
        return draw.randrange(0, 32)
    bits = _INTEGERS.get(kind, 64)
    number = draw.choice((*NUMBERS, int(value or 0) + 1, int(value or 0) - 1, 2 * int(value or 0)))
    number &= (1 << bits) - 1
    return number - (1 << bits) if kind in _SIGNED and number >> (bits - 1) else number


def _odd_text(value: Any, draw: random.Random) -> Any:
    if isinstance(value, bytes):
        return damaged_bytes(value, draw)[: 1 << 16] if value else draw.choice(TEXTS).encode()
    if value and draw.random() < 0.5:
        at = draw.randrange(len(value))
        return draw.choice(
            (value[:at], value[at:], value + value, value[:at] + draw.choice("^:/%0 \n") + value[at:])
        )
    return draw.choice(TEXTS)


# --- what only graphs have


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
    *(
        _rewire,
        _rewire,
        _rewire,
        _drop_edge,
        _change_op,
        _change_op,
        _retype,
        _retype,
        _change_type,
        _change_type,
    ),
    *(
        _change_tensor,
        _change_tensor,
        _change_number,
        _change_number,
        _rename,
        _call,
        _call,
        _nest,
        _join,
        _double,
    ),
    _swap_bodies,
)


def lines_of(text: str) -> Iterator[str]:
    yield from text.splitlines(keepends=True)


def damaged_text(text: str, draw: random.Random, letters: str = '%#<>{}[]()"@!,:=x0-9fte? \n\\^') -> str:
    """Letters, numbers, lines and nested pieces of a text changed."""
    for _ in range(draw.choice((1, 1, 2, 3, 8))):
        if not text:
            return draw.choice(letters)
        if len(text) > _MOST_LETTERS:
            break
        text = draw.choice(_TEXT_CHANGES)(text, draw, letters)
    return text


def _letter(text: str, draw: random.Random, letters: str) -> str:
    at = draw.randrange(len(text))
    return text[:at] + draw.choice(letters) * draw.choice((0, 1, 1, 3)) + text[at + draw.choice((0, 1)) :]


def _piece(text: str, draw: random.Random, letters: str) -> str:
    at, other = draw.randrange(len(text)), draw.randrange(len(text))
    piece = text[at : at + draw.choice((1, 4, 16, 80, 400))]
    if draw.random() < 0.5:
        return text[:other] + piece + text[other:]
    return text.replace(piece, "", 1)


def _word(text: str, draw: random.Random, letters: str) -> str:
    """A name, number or type becomes another one of the text, so that it may still be well formed."""
    words = list(_WORD.finditer(text))
    if not words:
        return text
    kind = draw.choice(words)
    alike = [word for word in words if word[0][0] == kind[0][0]] if draw.random() < 0.7 else words
    return text[: kind.start()] + draw.choice(alike)[0] + text[kind.end() :]


def _line(text: str, draw: random.Random, letters: str) -> str:
    lines = list(lines_of(text))
    a, b = draw.randrange(len(lines)), draw.randrange(len(lines))
    how = draw.randrange(4)
    if how == 0:
        del lines[a]
    elif how == 1:
        lines.insert(b, lines[a])
    elif how == 2:
        lines[a], lines[b] = lines[b], lines[a]
    else:
        lines[a:a] = lines[min(a, b) : max(a, b)][:20]
    return "".join(lines)


def _number(text: str, draw: random.Random, letters: str) -> str:
    digits = [at for at, letter in enumerate(text) if letter.isdigit()]
    if not digits:
        return text
    at = end = draw.choice(digits)
    while end < len(text) and text[end].isdigit():
        end += 1
    return text[:at] + str(draw.choice((*NUMBERS, 10**30, draw.randrange(10)))) + text[end:]


def _cut(text: str, draw: random.Random, letters: str) -> str:
    return text[: draw.randrange(len(text))]


def _deep(text: str, draw: random.Random, letters: str) -> str:
    """A piece between brackets, many times around itself."""
    opening = [at for at, letter in enumerate(text) if letter in "{[<("]
    if not opening:
        return text
    at = draw.choice(opening)
    line = text[text.rfind("\n", 0, at) + 1 : at + 1] if draw.random() < 0.5 else text[at]
    return text[:at] + line * draw.choice((3, 90, 3000)) + text[at:]


TextChange = Callable[[str, random.Random, str], str]
_TEXT_CHANGES: tuple[TextChange, ...] = (
    *(_word, _word, _word, _word, _word, _word),
    _letter,
    _letter,
    _letter,
    _piece,
    _piece,
    _line,
    _line,
    _number,
    _number,
    _cut,
    _deep,
)

__all__ = [
    "DecodeError",
    "change_field",
    "change_graph",
    "damaged",
    "damaged_bytes",
    "damaged_graph",
    "damaged_text",
]
