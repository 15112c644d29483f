"""Sequences that loops make: what scripts write as a list that is appended to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter
from numlite.lite.errors import UnsupportedError
from numlite.schema.onnx import ModelProto, NodeProto

from ...onnx_builder import graph, model, node, sequence, value
from ..graphs import checked

X = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
EMPTY = [node("SequenceEmpty", [], "begin")]
PUT = [node("SequenceInsert", ["given", "item"], "grown")]


def looped(
    after: Sequence[NodeProto],
    put: Sequence[NodeProto] = PUT,
    before: Sequence[NodeProto] = EMPTY,
    out: type = np.float32,
    listed: bool = False,
) -> ModelProto:
    """n turns that put x, x + 1, ... behind a sequence, then nodes that make y of it."""
    turn = [node("Cast", ["i"], "number", to=1), node("Add", ["x", "number"], "item"), *put]
    turn += [node("Mul", ["state", "two"], "next"), node("Neg", ["item"], "seen")]
    body = graph(
        turn,
        [value("i", [], np.int64), value("go", [], np.bool_), sequence("given"), value("state", [])],
        [
            value("go", [], np.bool_),
            sequence("grown"),
            value("next", []),
            *([value("seen", [2, 3])] * listed),
        ],
    )
    results = ["ended", "last", *(["list"] * listed)]
    nodes = [*before, node("Loop", ["n", "", "begin", "one"], results, body=body), *after]
    outputs = [value("y", None, out), value("last", []), *([value("list", None)] * listed)]
    held = {"one": np.float32(1), "two": np.float32(2), "back": np.array(-1), "front": np.array(0)}
    return model(
        nodes, [value("x", [2, 3]), value("n", [], np.int64), value("p", [], np.int64)], outputs, held
    )


def run(made: ModelProto, n: int = 3, p: int = 0) -> dict[str, np.ndarray]:
    content = checked(Converter.from_onnx(made).convert())
    runner = Interpreter(model_content=content).get_signature_runner()
    given = {"x": X, "n": np.array(n), "p": np.array(p)}
    return runner(**{name: each for name, each in given.items() if name in runner.get_input_details()})


def items(n: int) -> list[np.ndarray]:
    return [X + turn for turn in range(n)]


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_a_sequence_is_stacked(axis: int) -> None:
    for n in (3, 1):
        found = run(looped([node("ConcatFromSequence", ["ended"], "y", axis=axis, new_axis=1)]), n)
        np.testing.assert_array_equal(found["y"], np.stack(items(n), axis))
        assert found["last"] == 2**n


@pytest.mark.parametrize("axis", [0, 1, -2])
def test_a_sequence_is_joined(axis: int) -> None:
    found = run(looped([node("ConcatFromSequence", ["ended"], "y", axis=axis)], listed=True))
    np.testing.assert_array_equal(found["y"], np.concatenate(items(3), axis))
    np.testing.assert_array_equal(found["list"], -np.stack(items(3)))


@pytest.mark.parametrize("place", [0, 2, -1, -3])
def test_an_item_at_a_place_that_is_computed(place: int) -> None:
    found = run(looped([node("SequenceAt", ["ended", "p"], "y")]), p=place)
    np.testing.assert_array_equal(found["y"], items(3)[place])
    assert found["last"] == 8


def test_the_last_item_and_the_length() -> None:
    found = run(looped([node("SequenceAt", ["ended", "back"], "y")]), 4)
    np.testing.assert_array_equal(found["y"], items(4)[-1])
    for n in (4, 0):
        assert run(looped([node("SequenceLength", ["ended"], "y")], out=np.int64), n)["y"] == n


def test_what_is_there_before_and_more_than_one_item_in_a_turn() -> None:
    put = [node("SequenceInsert", ["given", "item"], "first"), node("Exp", ["item"], "power")]
    put.append(node("SequenceInsert", ["first", "power"], "grown"))
    before = [node("Neg", ["x"], "minus"), node("SequenceConstruct", ["minus", "x"], "begin")]
    after = [node("ConcatFromSequence", ["ended"], "y", axis=0, new_axis=1)]
    pairs = [each for item in items(3) for each in (item, np.exp(item))]
    found = run(looped(after, put, before))
    np.testing.assert_allclose(found["y"], np.stack([-X, X, *pairs]), rtol=1e-6)


def test_a_turn_reads_a_sequence_from_outside() -> None:
    """At its number; and one that another loop has made."""
    other = [
        node("Abs", ["x"], "a"),
        node("Neg", ["x"], "b"),
        node("SequenceConstruct", ["a", "b", "x"], "held"),
    ]
    put = [node("SequenceAt", ["held", "i"], "read"), node("SequenceInsert", ["given", "read"], "grown")]
    after = [node("ConcatFromSequence", ["ended"], "y", axis=0, new_axis=1)]
    np.testing.assert_array_equal(run(looped(after, put, [*EMPTY, *other]))["y"], np.stack([X, -X, X]))


def test_a_loop_after_a_loop_goes_on() -> None:
    body = looped([]).graph.node[-1].attribute[0].g
    again = node("Loop", ["n", "", "ended", "last"], ["more", "end"], body=body)
    after = [again, node("ConcatFromSequence", ["more"], "y", axis=0, new_axis=1)]
    np.testing.assert_array_equal(run(looped(after), 2)["y"], np.stack([*items(2), *items(2)]))


REFUSED = {
    "in front": [node("SequenceInsert", ["given", "item", "front"], "grown")],
    "nothing": [node("Identity", ["given"], "grown")],
    "another": [node("SequenceConstruct", ["item"], "grown")],
    "read": [node("SequenceLength", ["given"], "n"), *PUT],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_turn_may_not_do_names_the_node(name: str) -> None:
    after = [node("ConcatFromSequence", ["ended"], "y", axis=0, new_axis=1)]
    with pytest.raises(UnsupportedError, match=r"(Loop_ended|Sequence\w+_\w+)\): .*a sequence that"):
        Converter.from_onnx(looped(after, REFUSED[name]))
