"""Damaged models with TensorFlow ops: their node definitions, attributes and tensors."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from numlite.delegates.flex.options import node_def_of, options_of
from numlite.schema import tflite
from numlite.schema.graph_def import AttrValue, NodeDef

from tests.delegates.flex.flex_models import add_flex
from tests.fuzzing import models
from tests.fuzzing.kind import Kind, Mutant, Seed
from tests.fuzzing.retyped import retype
from tests.model_builder import ModelBuilder
from tests.model_mutations import mutate

_ODD = (0, 1, -1, 2, 3, 7, 100, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63))
_ODD_FLOATS = (0.0, -1.0, 1e38, float("inf"), float("nan"))
_ODD_TEXTS = (b"", b"SAME", b"VALID", b"NHWC", b"NCHW", b"\xff", b"(a*)*b", b"%s" * 9, b"x" * 1000)


def seeds(given: Sequence[Path]) -> list[Seed]:
    """Models with flex operators: the given ones, else those of ../shared, and some that are built here."""
    if given:
        return models.seeds(given)
    paths = sorted((models.SHARED / "convert").rglob("*.tflite"))
    files = [Seed(path.name, path.read_bytes()) for path in paths if models.is_small(path)]
    return [seed for seed in (*files, *_built()) if _has_flex(seed.content)]


def _built() -> list[Seed]:
    """A few ops in a chain."""
    graph = ModelBuilder()
    x, y, z, w = graph.tensor((2, 3)), graph.tensor((2, 3)), graph.tensor((2, 3)), graph.tensor((3, 2))
    add_flex(graph, "AddV2", [x, x], [y], T="f32")
    add_flex(graph, "Softmax", [y], [z], T="f32")
    add_flex(graph, "Transpose", [z, graph.constant([1, 0])], [w], T="f32", Tperm="i32")
    return [Seed("chain", graph.build([x], [w]))]


def _has_flex(content: bytes) -> bool:
    return any((code.custom_code or "").startswith("Flex") for code in tflite.read(content).operator_codes)


def damage(seed: Seed, draw: random.Random) -> Mutant:
    """Mostly the definitions of the ops; sometimes the tensors, or the file."""
    chance = draw.random()
    if chance < 0.6:
        content, how = _change_nodes(seed.content, draw)
    elif chance < 0.8:
        content, how = retype(seed.content, draw)
    else:
        content, how = seed.content, "file"
    if how == "file" or draw.random() < 0.3:
        other = mutate(content, draw.getrandbits(32))
        return Mutant(other.content, f"{how}, {other.kind}", other.must_fail, draw.getrandbits(32))
    return Mutant(content, how, draw=draw.getrandbits(32))


def _change_nodes(content: bytes, draw: random.Random) -> tuple[bytes, str]:
    model = tflite.unpack(tflite.read(content))
    codes = [code.custom_code or "" for code in model.operator_codes]
    operators = [op for graph in model.subgraphs for op in graph.operators or ()]
    flex = [op for op in operators if codes[op.opcode_index].startswith("Flex")]
    operator = draw.choice(flex)
    options = bytes(operator.custom_options) if operator.custom_options is not None else b""
    how = "options' bytes"
    if draw.random() < 0.2:
        operator.custom_options = _flipped(options, draw)
    else:
        node = node_def_of(options)
        how = draw.choice(sorted(_NODE_CHANGES))
        _NODE_CHANGES[how](node, draw)
        operator.custom_options = options_of(node)
    return tflite.pack(model), how


def _flipped(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 2, 8))):
        if changed:
            changed[draw.randrange(len(changed))] = draw.choice((0, 0x7F, 0xFF, draw.randrange(256)))
    return bytes(changed[: draw.choice((len(changed), len(changed), len(changed) // 2))])


def _attribute(node: NodeDef, draw: random.Random) -> AttrValue | None:
    names = sorted(node.attr)
    return node.attr[draw.choice(names)] if names else None


def _odd_attribute(node: NodeDef, draw: random.Random) -> None:
    """Another value of the attribute's own kind."""
    value = _attribute(node, draw)
    if value is not None:
        _make_odd(value, draw)


def _make_odd(value: AttrValue, draw: random.Random) -> None:
    kind = value.WhichOneof("value")
    if kind == "i":
        value.i = draw.choice((*_ODD, value.i + 1, value.i - 1) if abs(value.i) < 2**62 else _ODD)
    elif kind == "f":
        value.f = draw.choice(_ODD_FLOATS)
    elif kind == "b":
        value.b = not value.b
    elif kind == "s":
        value.s = draw.choice(_ODD_TEXTS)
    elif kind == "type":
        value.type = draw.randrange(0, 34)
    elif kind == "shape":
        _odd_shape(value.shape, draw)
    elif kind == "tensor":
        value.tensor.dtype = draw.randrange(0, 24)
    elif kind == "list":
        _odd_list(value.list, draw)


def _odd_shape(shape: Any, draw: random.Random) -> None:
    if draw.random() < 0.3 or not shape.dim:
        shape.dim.add(size=draw.choice(_ODD))
    elif draw.random() < 0.3:
        del shape.dim[0]
    else:
        draw.choice(shape.dim).size = draw.choice(_ODD)


def _odd_list(held: Any, draw: random.Random) -> None:
    for field in (held.i, held.f, held.type, held.s):
        if len(field):
            at, change = draw.randrange(len(field)), draw.choice(("drop", "double", "odd"))
            if change == "drop":
                del field[at]
            elif change == "double":
                field.append(field[at])
            elif field is held.i:
                field[at] = draw.choice(_ODD)
            elif field is held.type:
                field[at] = draw.randrange(1, 24)


def _attribute_gone(node: NodeDef, draw: random.Random) -> None:
    names = sorted(node.attr)
    if names:
        del node.attr[draw.choice(names)]


def _attribute_of_another_kind(node: NodeDef, draw: random.Random) -> None:
    value = _attribute(node, draw)
    if value is not None:
        value.Clear()
        kind = draw.choice(("i", "f", "b", "s", "type", "list"))
        if kind == "list":
            value.list.i.extend([1, 2])
        elif kind == "s":
            value.s = b"text"
        elif kind == "f":
            value.f = 1.5
        else:
            setattr(value, kind, 1)


def _another_op(node: NodeDef, draw: random.Random) -> None:
    node.op = draw.choice(("Identity", "Add", "Reshape", "Where", "StringJoin", "Fill", "Range", "No", ""))


def _inputs(node: NodeDef, draw: random.Random) -> None:
    if node.input and draw.random() < 0.5:
        del node.input[0]
    else:
        node.input.append("more")


_NODE_CHANGES: dict[str, Callable[[NodeDef, random.Random], None]] = {
    "another value of an attribute": _odd_attribute,
    "odd attribute": _odd_attribute,
    "an attribute less": _attribute_gone,
    "an attribute of another kind": _attribute_of_another_kind,
    "another op": _another_op,
    "inputs": _inputs,
}

FLEX = Kind("flex", seeds, damage, models.run_model, models.MODELS.endings)
