"""Damaged and malicious graphs: a clear error, in bounded time and memory."""

from __future__ import annotations

import tracemalloc
from functools import partial
from random import Random

import pytest
from numlite.converter.ir import (
    ImportOptions,
    export_graph_def,
    import_graph_def,
    parse_module,
    print_module,
    verify,
)
from numlite.converter.ir.graph_def_file import graph_def_of_bytes, graph_def_of_text
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema import graph_def
from numlite.schema.graph_def import AttrValue, FullTypeDef, GraphDef, TensorProto

from ..lines_run import lines_run
from .ir_texts import LIBRARY, LOOP, REGIONS

REFUSALS = (ModelError, UnsupportedError)
HUGE = 1 << 40


def graph_with(value: AttrValue) -> GraphDef:
    graph = GraphDef()
    graph.node.add(name="n", op="Unknown").attr["a"].CopyFrom(value)
    return graph


def tensor(dtype: int, *sizes: int, **fields: object) -> AttrValue:
    value = AttrValue(tensor=TensorProto(dtype=dtype, **fields))
    value.tensor.tensor_shape.SetInParent()
    for size in sizes:
        value.tensor.tensor_shape.dim.add(size=size)
    return value


HUGE_TENSORS = {
    "none": tensor(graph_def.DT_FLOAT, HUGE),
    "one": tensor(graph_def.DT_FLOAT, HUGE, float_val=[2.5]),
    "strings": tensor(graph_def.DT_STRING, HUGE, string_val=[b"s"]),
    "complex": tensor(graph_def.DT_COMPLEX64, HUGE, scomplex_val=[1.0, 2.0]),
    "some": tensor(graph_def.DT_INT32, HUGE, int_val=[1, 2, 3]),
    "some strings": tensor(graph_def.DT_STRING, HUGE, string_val=[b"a", b"b"]),
    "quantized": tensor(graph_def.DT_QINT8, HUGE, int_val=[1]),
}


@pytest.mark.parametrize("name", HUGE_TENSORS)
def test_huge_tensors_are_never_expanded(name: str) -> None:
    graph = graph_with(HUGE_TENSORS[name])
    tracemalloc.start()
    module = parse_module(print_module(import_graph_def(graph)))
    exported = export_graph_def(module)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 24
    assert exported.node[0].attr["a"].tensor == graph.node[0].attr["a"].tensor


BAD_TENSORS = {
    "short content": tensor(graph_def.DT_FLOAT, 4, tensor_content=b"123"),
    "content of a huge shape": tensor(graph_def.DT_FLOAT, HUGE, tensor_content=b"1234"),
    "too many values": tensor(graph_def.DT_FLOAT, 2, float_val=[1, 2, 3]),
    "negative size": tensor(graph_def.DT_FLOAT, -2, float_val=[1]),
    "product beyond 64 bits": tensor(graph_def.DT_FLOAT, HUGE, HUGE),
    "half a complex": tensor(graph_def.DT_COMPLEX64, 1, scomplex_val=[1]),
    "no type": tensor(graph_def.DT_INVALID, 1),
    "unknown type": tensor(77, 1),
}


@pytest.mark.parametrize("name", BAD_TENSORS)
def test_bad_tensors_name_the_node(name: str) -> None:
    with pytest.raises(REFUSALS, match="'n'"):
        import_graph_def(graph_with(BAD_TENSORS[name]))


def test_deep_functions_are_read_or_refused() -> None:
    for depth in (10, 90, 400, 20000):
        # Each level is a func in a func: a field of the attribute map of the one outside.
        content = AttrValue(i=1).SerializeToString()
        for _ in range(depth):
            entry = b"\x0a\x01k\x12" + _length(content) + content
            func = b"\x12" + _length(entry) + entry
            content = b"\x52" + _length(func) + func
        entry = b"\x0a\x01a\x12" + _length(content) + content
        node = b"\x0a\x01n\x12\x02Op\x2a" + _length(entry) + entry
        _read(b"\x0a" + _length(node) + node)


def _length(content: bytes) -> bytes:
    number, parts = len(content), []
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def test_deep_full_types_and_texts() -> None:
    deep = FullTypeDef(type_id=graph_def.TFT_TENSOR)
    for _ in range(40):
        deep = FullTypeDef(type_id=graph_def.TFT_ARRAY, args=[deep])
    graph = GraphDef()
    graph.node.add(name="n", op="Op").experimental_type.CopyFrom(deep)
    assert export_graph_def(parse_module(print_module(import_graph_def(graph)))).node == graph.node
    for nest in ("[" * 5000, "{a = " * 5000, "#tf_type.full_type<" + "array<" * 5000, "tensor<" * 5000):
        with pytest.raises(ModelError):
            parse_module(f"module attributes {{a = {nest}")
    with pytest.raises(ModelError):
        parse_module("module {" * 5000)
    with pytest.raises(ModelError):
        graph_def_of_text(b"node { attr { value { func { attr {" * 3000)


def test_many_results_of_an_unknown_op() -> None:
    graph = GraphDef()
    graph.node.add(name="u", op="Unknown")
    graph.node.add(name="n", op="Unknown", input=["u:2000000000"])
    with pytest.raises(ModelError, match="out of bounds"):
        import_graph_def(graph)
    split = GraphDef()
    node = split.node.add(name="s", op="Split")
    node.attr["num_split"].i = 1 << 50
    node.attr["T"].type = graph_def.DT_FLOAT
    with pytest.raises(ModelError, match="'s'"):
        import_graph_def(split)


def test_duplicates() -> None:
    graph = GraphDef()
    graph.node.add(name="n", op="NoOp")
    graph.node.add(name="n", op="NoOp")
    with pytest.raises(ModelError, match="same name: `n`"):
        import_graph_def(graph)
    twice = GraphDef()
    for _ in range(2):
        twice.library.function.add().signature.name = "F"
    with pytest.raises(ModelError, match="redefinition of symbol named 'F'"):
        verify(import_graph_def(twice))


def test_a_long_chain_and_a_wide_fan() -> None:
    graph = GraphDef()
    graph.node.add(name="n0", op="NoOp")
    for i in range(1, 3000):
        graph.node.add(name=f"n{i}", op="NoOp", input=[f"^n{i - 1}", "^n0"])
    module = import_graph_def(graph)
    assert export_graph_def(parse_module(print_module(module))).node == graph.node


def _read(content: bytes) -> None:
    """Whatever happens, it is a refusal or a module."""
    try:
        graph = graph_def_of_bytes(content)
        for options in (None, ImportOptions(True, True, False, False)):
            module = import_graph_def(graph, options)
            verify(module)
            export_graph_def(parse_module(print_module(module, locations=True)))
    except REFUSALS:
        pass


@pytest.mark.parametrize("text", [LOOP, LIBRARY], ids=["loop", "library"])
def test_truncated_and_mutated_messages(text: str) -> None:
    content = export_graph_def(parse_module(text)).SerializeToString(deterministic=True)
    random = Random(7)
    most = 2 * lines_run(partial(_read, content))
    for size in range(0, len(content), 17):
        assert lines_run(partial(_read, content[:size])) < most
    for _ in range(400):
        changed = bytearray(content)
        for _ in range(random.randrange(1, 5)):
            changed[random.randrange(len(changed))] = random.randrange(256)
        assert lines_run(partial(_read, bytes(changed))) < most


@pytest.mark.parametrize("text", [LOOP, LIBRARY, REGIONS], ids=["loop", "library", "regions"])
def test_truncated_and_mutated_texts(text: str) -> None:
    random = Random(11)
    letters = '%#<>{}[]()"@!,:=x0-9fte? \n'
    for _ in range(500):
        at = random.randrange(len(text))
        kind = random.randrange(3)
        if kind == 0:
            changed = text[:at]
        elif kind == 1:
            changed = text[:at] + random.choice(letters) + text[at + 1 :]
        else:
            end = at + random.randrange(1, 20)
            changed = text[:at] + text[end:]
        try:
            module = parse_module(changed)
            verify(module)
            print_module(module)
            export_graph_def(module)
        except REFUSALS:
            pass
