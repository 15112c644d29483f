"""Damaged models: a valid file with bytes, fields or indices changed, the same for the same seed."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numlite.schema import tflite

ODD_INTEGERS = (0, 1, 2, 3, 7, 127, 255, 256, 32767, 65535, 2**24, 2**31 - 1, 2**32 - 1, 2**63 - 1)
ODD_FLOATS = (0.0, -0.0, -1.0, 1e-45, 3.4e38, float("inf"), float("-inf"), float("nan"))
RANGES = {"b": 8, "h": 16, "i": 32, "q": 64}


class Mutant(NamedTuple):
    """A damaged file. must_fail says that no interpreter may accept it."""

    content: bytes
    kind: str
    must_fail: bool = False


def mutate(content: bytes, seed: int) -> Mutant:
    """One damaged version of a model."""
    draw = random.Random(seed)
    names = list(_MUTATIONS)
    kind = draw.choices(names, [_MUTATIONS[name][1] for name in names])[0]
    return _MUTATIONS[kind][0](content, draw, kind)


def _flip_bits(content: bytes, draw: random.Random, kind: str) -> Mutant:
    data = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 4, 16))):
        data[_place(data, draw)] ^= 1 << draw.randrange(8)
    return Mutant(bytes(data), kind)


def _overwrite_words(content: bytes, draw: random.Random, kind: str) -> Mutant:
    """Whole words become odd numbers, as a wrong size, offset or index would be."""
    data = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 4))):
        at = _place(data, draw) & ~3
        value = draw.choice((*ODD_INTEGERS[:-1], draw.randrange(2**32), draw.randrange(len(data))))
        data[at : at + 4] = struct.pack("<I", draw.choice((value, -value & 0xFFFFFFFF)))
    return Mutant(bytes(data[: len(content)]), kind)


def _swap_words(content: bytes, draw: random.Random, kind: str) -> Mutant:
    data = bytearray(content)
    for _ in range(draw.choice((1, 2, 4))):
        a, b = _place(data, draw) & ~3, _place(data, draw) & ~3
        data[a : a + 4], data[b : b + 4] = data[b : b + 4], data[a : a + 4]
    return Mutant(bytes(data), kind)


def _truncate(content: bytes, draw: random.Random, kind: str) -> Mutant:
    return Mutant(content[: draw.randrange(len(content))], kind)


def _splice(content: bytes, draw: random.Random, kind: str) -> Mutant:
    """A piece is left out, doubled, or zeroed, so that all that follows may lie elsewhere."""
    begin = draw.randrange(len(content))
    end = min(len(content), begin + draw.choice((1, 4, 16, 64, 1024)))
    piece = draw.choice((b"", content[begin:end] * 2, bytes(end - begin)))
    return Mutant(content[:begin] + piece + content[end:], kind)


def _place(data: bytearray, draw: random.Random) -> int:
    """Where to damage: often near the file's begin or end, where the tables are."""
    near = min(len(data), 4096)
    return draw.choice(
        (draw.randrange(len(data)), draw.randrange(near), len(data) - 1 - draw.randrange(near))
    )


def _change_fields(content: bytes, draw: random.Random, kind: str) -> Mutant:
    """Well-formed flatbuffer, wrong contents: fields of tables get odd values."""
    model = tflite.unpack(tflite.read(content))
    places = list(_fields(model))
    for _ in range(draw.choice((1, 1, 2, 3))):
        table, field = draw.choice(places)
        value = getattr(table, field.name)
        setattr(table, field.name, _odd_value(field, value, draw))
    return _packed(model, content, kind)


def _change_options(content: bytes, draw: random.Random, kind: str) -> Mutant:
    """Only operators: their options, inputs and outputs."""
    model = tflite.unpack(tflite.read(content))
    operators = [op for subgraph in model.subgraphs or () for op in subgraph.operators or ()]
    if operators:
        places = list(_fields(draw.choice(operators)))
        for _ in range(draw.choice((1, 2))):
            table, field = draw.choice(places)
            setattr(table, field.name, _odd_value(field, getattr(table, field.name), draw))
    return _packed(model, content, kind)


def _change_tensors(content: bytes, draw: random.Random, kind: str) -> Mutant:
    """Only tensors: shape, type, buffer, quantization."""
    model = tflite.unpack(tflite.read(content))
    tensor = draw.choice(draw.choice(model.subgraphs).tensors)
    what = draw.choice(("shape", "shape", "type", "buffer", "quantization", "variable"))
    if what == "shape":
        shape = [int(extent) for extent in (tensor.shape if tensor.shape is not None else ())]
        tensor.shape = np.array(_odd_shape(shape, draw), np.int32)
    elif what == "type":
        tensor.type = draw.randrange(-1, 24)
    elif what == "buffer":
        tensor.buffer = draw.randrange(len(model.buffers))
    elif what == "variable":
        tensor.is_variable = not tensor.is_variable
    elif tensor.quantization is None:
        tensor.quantization = tflite.QuantizationParametersT(scale=[draw.choice(ODD_FLOATS)], zero_point=[0])
    else:
        table, field = draw.choice(list(_fields(tensor.quantization)))
        setattr(table, field.name, _odd_value(field, getattr(table, field.name), draw))
    return _packed(model, content, kind)


def _odd_shape(shape: list[int], draw: random.Random) -> list[int]:
    shape = list(shape)
    if not shape or draw.random() < 0.3:
        shape.insert(draw.randrange(len(shape) + 1), draw.choice((0, 1, 2, 3)))
    elif draw.random() < 0.3:
        shape.pop(draw.randrange(len(shape)))
    else:
        at = draw.randrange(len(shape))
        shape[at] = draw.choice(
            (0, 1, 2, -1, -2, shape[at] + 1, shape[at] - 1, shape[at] * 2, 65536, 2**31 - 1)
        )
    return [max(-(2**31), min(extent, 2**31 - 1)) for extent in shape]


def _wrong_index(content: bytes, draw: random.Random, kind: str) -> Mutant:
    """One index points outside of what it indexes: no interpreter may accept that.

    It may where a subgraph that nothing runs names tensors that it lacks.
    """
    model = tflite.unpack(tflite.read(content))
    subgraph = draw.choice(model.subgraphs)
    operator = draw.choice(subgraph.operators) if subgraph.operators else None
    beyond = draw.choice((0, 1, 100, 2**30))
    tensors = len(subgraph.tensors or ()) + beyond
    targets: list[Callable[[], None]] = [
        lambda: setattr(draw.choice(subgraph.tensors), "buffer", len(model.buffers) + beyond),
        lambda: _set_element(subgraph, "outputs", tensors, draw),
        lambda: _set_element(subgraph, "inputs", tensors, draw),
    ]
    if operator is not None:
        targets += [
            lambda: setattr(operator, "opcode_index", len(model.operator_codes) + beyond),
            lambda: _set_element(operator, "inputs", draw.choice((tensors, -2 - beyond)), draw),
            lambda: _set_element(operator, "outputs", draw.choice((tensors, -2 - beyond)), draw),
        ]
    draw.choice(targets)()
    runs = subgraph is model.subgraphs[0]
    return _packed(model, content, kind, must_fail=runs or not _names_missing_tensors(subgraph))


def _names_missing_tensors(subgraph: Any) -> bool:
    count = len(subgraph.tensors or ())
    lists = [
        names for user in (subgraph, *(subgraph.operators or ())) for names in (user.inputs, user.outputs)
    ]
    return any(not -1 <= index < count for names in lists if names is not None for index in names)


def _set_element(table: Any, name: str, value: int, draw: random.Random) -> None:
    vector = getattr(table, name)
    vector = np.array([0] if vector is None or not len(vector) else vector, np.int32)
    vector[draw.randrange(len(vector))] = value
    setattr(table, name, vector)


def _packed(model: Any, content: bytes, kind: str, must_fail: bool = False) -> Mutant:
    """The changed model as a file; what cannot be written becomes an empty file."""
    try:
        return Mutant(tflite.pack(model), kind, must_fail)
    except (ValueError, TypeError, OverflowError, struct.error, AttributeError):
        return Mutant(content[:8], kind, must_fail)


def _fields(table: Any) -> Iterator[tuple[Any, Any]]:
    """All fields of a table and of what it holds, but for weights."""
    for field in type(table).fields:
        value = getattr(table, field.name)
        yield table, field
        for inner in value if field.kind == "tables" and value is not None else [value]:
            if hasattr(type(inner), "fields"):
                yield from _fields(inner)


def _odd_value(field: Any, value: Any, draw: random.Random) -> Any:
    if field.kind == "scalar":
        return _odd_scalar(field.type, value, draw)
    if value is None or field.kind in ("table", "union", "string"):
        return None
    items = list(value)
    change = draw.choice(("drop", "double", "swap", "empty", "element", "element", "element"))
    if change == "empty" or not items:
        return []
    at = draw.randrange(len(items))
    if change == "drop":
        items.pop(at)
    elif change == "double":
        items.insert(at, items[at])
    elif change == "swap":
        other = draw.randrange(len(items))
        items[at], items[other] = items[other], items[at]
    elif field.kind == "vector":
        items[at] = _odd_scalar(field.type, items[at], draw)
    return items


def _odd_scalar(kind: str, value: Any, draw: random.Random) -> Any:
    if kind == "?":
        return not value
    if kind in "fd":
        return draw.choice(ODD_FLOATS)
    odd = draw.choice((*ODD_INTEGERS, int(value or 0) + 1, int(value or 0) - 1, int(value or 0) + 2))
    odd = draw.choice((odd, -odd))
    bits = RANGES.get(kind.lower(), 32)
    odd &= (1 << bits) - 1
    return odd - (1 << bits) if kind.islower() and odd >> (bits - 1) else odd


Mutation = Callable[[bytes, random.Random, str], Mutant]

# Name: how, and how often against the others.
_MUTATIONS: dict[str, tuple[Mutation, int]] = {
    "flipped bits": (_flip_bits, 3),
    "overwritten words": (_overwrite_words, 4),
    "swapped words": (_swap_words, 2),
    "truncated": (_truncate, 2),
    "spliced": (_splice, 2),
    "changed fields": (_change_fields, 4),
    "changed operators": (_change_options, 6),
    "changed tensors": (_change_tensors, 6),
    "wrong index": (_wrong_index, 4),
}
