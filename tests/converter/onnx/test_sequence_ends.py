"""Sequences and optional values as inputs and outputs, and loops that do more with one than to append."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema.onnx import ModelProto, NodeProto, ValueInfoProto

from ...onnx_builder import graph, model, node, sequence, value
from ..graphs import checked

X = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
Z = np.arange(12, dtype=np.float32).reshape(4, 3)


def run(converter: Converter, **given: np.ndarray) -> dict[str, np.ndarray]:
    return Interpreter(model_content=checked(converter.convert())).get_signature_runner()(**given)


def optional(info: ValueInfoProto) -> ValueInfoProto:
    """The same, of a value that may be missing."""
    made = ValueInfoProto(name=info.name)
    made.type.optional_type.elem_type.CopyFrom(info.type)
    return made


def shaped(name: str, shape: Sequence[int | None]) -> ValueInfoProto:
    """A sequence whose items have a shape."""
    info = sequence(name)
    info.type.sequence_type.elem_type.CopyFrom(value("item", shape).type)
    return info


def joining(given: ValueInfoProto) -> ModelProto:
    nodes = [
        node("ConcatFromSequence", ["s"], "y", axis=0),
        node("SequenceInsert", ["s", "x"], "longer"),
    ]
    return model(nodes, [given, value("x", [2, 3])], [value("y", None), sequence("longer")])


def test_a_sequence_of_told_shapes_is_an_input_for_each_item() -> None:
    converter = Converter.from_onnx(joining(sequence("s")), {"s": [[4, 3], [None, 3]]})
    assert list(converter.entries[0].inputs) == ["s[0]", "s[1]", "x"]
    for rows in (1, 5):
        other = np.full((rows, 3), rows, np.float32)
        found = run(converter, x=X, **{"s[0]": Z, "s[1]": other})
        np.testing.assert_array_equal(found["y"], np.concatenate([Z, other]))
        assert set(found) == {"y", "longer[0]", "longer[1]", "longer[2]"}
        np.testing.assert_array_equal(found["longer[1]"], other)
        np.testing.assert_array_equal(found["longer[2]"], X)


def test_a_sequence_of_one_declared_shape_is_one_input_and_output() -> None:
    converter = Converter.from_onnx(joining(shaped("s", [2, 3])))
    for count in (1, 3):
        items = np.arange(count * 6, dtype=np.float32).reshape(count, 2, 3)
        found = run(converter, x=X, s=items)
        np.testing.assert_array_equal(found["y"], items.reshape(-1, 3))
        np.testing.assert_array_equal(found["longer"], [*items, X])


def test_a_sequence_without_lengths_says_how_to_tell_them() -> None:
    for given in (sequence("s"), shaped("s", [None, 3])):
        with pytest.raises(UnsupportedError, match=re.escape("input_shapes={'s': [[2, 3], [4, 3]]}")):
            Converter.from_onnx(joining(given))
    with pytest.raises(ModelError, match="s is a sequence: it must be a list of its items' shapes"):
        Converter.from_onnx(joining(sequence("s")), {"s": [2, 3]})
    with pytest.raises(ModelError, match="x: a shape must be a list of sizes, got"):
        Converter.from_onnx(joining(shaped("s", [2, 3])), {"x": [[2, 3]]})


def test_a_sequence_of_constants() -> None:
    found = run(Converter.from_onnx(joining(sequence("s")), input_values={"s": [Z, X]}), x=X)
    np.testing.assert_array_equal(found["y"], np.concatenate([Z, X]))
    with pytest.raises(ModelError, match="input_values: s: a value must be a list of arrays"):
        Converter.from_onnx(joining(sequence("s")), input_values={"s": Z})


@pytest.mark.parametrize("is_there", [True, False])
def test_an_optional_input_is_there_unless_it_is_said_to_be_none(is_there: bool) -> None:
    nodes = [
        node("OptionalHasElement", ["o"], "has"),
        node(
            "If",
            ["has"],
            "y",
            then_branch=graph([node("OptionalGetElement", ["o"], "u")], [], [value("u", None)]),
            else_branch=graph([node("Identity", ["x"], "v")], [], [value("v", None)]),
        ),
    ]
    made = model(nodes, [optional(value("o", [2, 3])), value("x", [4, 3])], [value("y", None)])
    converter = Converter.from_onnx(made, input_values={} if is_there else {"o": None})
    found = run(converter, x=Z, **({"o": X} if is_there else {}))
    np.testing.assert_array_equal(found["y"], X if is_there else Z)
    with pytest.raises(ModelError, match="input_values: x: a value must be an array"):
        Converter.from_onnx(made, input_values={"x": None})


def test_an_output_of_several_lengths_is_refused_unless_the_condition_is_told() -> None:
    branches = {
        name: graph([node("SequenceConstruct", items, "s")], [], [sequence("s")])
        for name, items in (("then_branch", ["x"]), ("else_branch", ["z", "x"]))
    }
    inputs = [value("c", [], np.bool_), value("x", [2, 3]), value("z", [4, 3])]
    made = model([node("If", ["c"], "s", **branches)], inputs, [sequence("s")])
    with pytest.raises(UnsupportedError, match="output s: branches give it several numbers of tensors"):
        Converter.from_onnx(made)
    found = run(Converter.from_onnx(made, input_values={"c": np.array(False)}), x=X, z=Z)
    np.testing.assert_array_equal(found["s[0]"], Z)
    np.testing.assert_array_equal(found["s[1]"], X)


def looped(nodes: Sequence[NodeProto], turns: int | None, ends: str = "go") -> ModelProto:
    """Turns that make a sequence anew, and carry a number; a constant count where it is told."""
    body = graph(
        [node("Add", ["number", "one"], "next"), *nodes, node("Identity", [ends], "goes")],
        [value("i", [], np.int64), value("go", [], np.bool_), sequence("given"), value("number", [])],
        [value("goes", [], np.bool_), sequence("made"), value("next", []), value("listed", [2])],
        {"one": np.float32(1), "front": np.array(0), "two": np.array([2])},
    )
    nodes = [
        node("SequenceConstruct", ["z", "x"], "begin"),
        node("Loop", ["n", "", "begin", "zero"], ["ended", "last", "list"], body=body),
        node("ConcatFromSequence", ["ended"], "y", axis=0),
    ]
    inputs = [value("x", [2, 3]), value("z", [4, 3]), *([value("n", [], np.int64)] * (turns is None))]
    held = {"zero": np.float32(0), **({} if turns is None else {"n": np.array(turns)})}
    return model(nodes, inputs, [value("y", None), value("last", []), value("list", None)], held)


LISTED = node("Expand", ["next", "two"], "listed")
IN_FRONT = [
    node("Mul", ["x", "next"], "item"),
    node("SequenceInsert", ["given", "item", "front"], "longer"),
    node("SequenceErase", ["longer"], "made"),
    LISTED,
]


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_turns_that_do_more_than_append_are_written_out(turns: int) -> None:
    """Each puts x times its number in front and takes the last one away."""
    found = run(Converter.from_onnx(looped(IN_FRONT, turns)), x=X, z=Z)
    items = [Z, X]
    for turn in range(turns):
        items = [X * (turn + 1), *items[:-1]]
    np.testing.assert_array_equal(found["y"], np.concatenate(items))
    assert found["last"] == turns
    np.testing.assert_array_equal(found["list"], np.arange(1, turns + 1)[:, None] * np.ones(2))


def test_turns_that_are_not_counted_or_end_as_the_model_runs_are_not_written_out() -> None:
    with pytest.raises(UnsupportedError, match="whose length is known only when"):
        Converter.from_onnx(looped(IN_FRONT, None))
    ended = [
        *IN_FRONT,
        node("ReduceMax", ["item"], "most", keepdims=0),
        node("Less", ["most", "one"], "less"),
    ]
    with pytest.raises(UnsupportedError, match="the loop's condition must be constant"):
        Converter.from_onnx(looped(ended, 3, "less"))


def test_items_of_other_shapes_in_each_turn() -> None:
    """Turn i puts the first i + 1 rows of z behind the sequence."""
    nodes = [
        node("Unsqueeze", ["i", "front"], "first"),
        node("Add", ["first", "ones"], "end"),
        node("Slice", ["z", "begin", "end"], "item"),
        node("SequenceInsert", ["given", "item"], "made"),
        node("Identity", ["go"], "goes"),
    ]
    body = graph(
        nodes,
        [value("i", [], np.int64), value("go", [], np.bool_), sequence("given")],
        [value("goes", [], np.bool_), sequence("made")],
        {"front": np.array([0]), "ones": np.array([1]), "begin": np.array([0])},
    )
    before = [node("SequenceEmpty", [], "nothing"), node("Loop", ["n", "", "nothing"], "ended", body=body)]
    made = model(before, [value("z", [4, 3])], [sequence("ended")], {"n": np.array(3)})
    found = run(Converter.from_onnx(made), z=Z)
    for place in range(3):
        np.testing.assert_array_equal(found[f"ended[{place}]"], Z[: place + 1])


def test_a_loop_within_a_loop_puts_items_behind_the_outer_ones_sequence() -> None:
    def body(nodes: Sequence[NodeProto], given: str, made: str, number: str) -> object:
        inputs = [value(number, [], np.int64), value(f"go_{number}", [], np.bool_), sequence(given)]
        keeps = node("Identity", [f"go_{number}"], f"goes_{number}")
        return graph([*nodes, keeps], inputs, [value(f"goes_{number}", [], np.bool_), sequence(made)])

    inner = body(
        [
            node("Cast", ["j"], "column", to=1),
            node("Cast", ["i"], "row", to=1),
            node("Mul", ["x", "row"], "by_row"),
            node("Sub", ["by_row", "column"], "item"),
            node("SequenceInsert", ["held", "item"], "more"),
        ],
        *("held", "more", "j"),
    )
    outer = body([node("Loop", ["two", "", "given"], "made", body=inner)], "given", "made", "i")
    nodes = [
        node("SequenceEmpty", [], "nothing"),
        node("Loop", ["n", "", "nothing"], "ended", body=outer),
        node("ConcatFromSequence", ["ended"], "y", axis=0, new_axis=1),
    ]
    inputs = [value("x", [2, 3]), value("n", [], np.int64)]
    made = model(nodes, inputs, [value("y", None)], {"two": np.array(2)})
    found = run(Converter.from_onnx(made), x=X, n=np.array(3))["y"]
    np.testing.assert_array_equal(found, [X * i - j for i in range(3) for j in range(2)])
