"""Sequences and optional values that an If gives, and those that only some turns of a loop make longer."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter, run_graph
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema.onnx import AttributeProto, ModelProto, NodeProto

from ...onnx_builder import graph, model, node, sequence, value
from ..graphs import checked

litert = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
PYTHON = os.environ.get("NUMLITE_ONNX", "")
X = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
Z = np.arange(12, dtype=np.float32).reshape(4, 3)
Array = np.ndarray


class Case(NamedTuple):
    """Nodes of both branches, which give s, and the nodes that make y of it; what y is for the items of s."""

    yes: Sequence[NodeProto]
    no: Sequence[NodeProto]
    after: Sequence[NodeProto]
    items: Sequence[Sequence[Array]]
    made: Callable[[Sequence[Array]], Array]
    out: type = np.float32


def built(*names: str) -> list[NodeProto]:
    return [node("SequenceConstruct", names, "s")] if names else [node("SequenceEmpty", [], "s")]


def joined(name: str = "s", axis: int = 0, new: int = 0) -> list[NodeProto]:
    return [node("ConcatFromSequence", [name], "y", axis=axis, new_axis=new)]


def split(*sizes: str, **attributes: int) -> list[NodeProto]:
    return [node("SplitToSequence", ["z", *sizes], "s", axis=0, **attributes)]


NEXT = node("Add", ["x", "one"], "a")
INNER = [
    node(
        "If",
        ["d"],
        "s",
        then_branch=graph([node("SequenceConstruct", ["x", "z"], "u")], [], [sequence("u")]),
        else_branch=graph([node("SequenceConstruct", ["z"], "v")], [], [sequence("v")]),
    )
]
MAPPED = [
    node(
        "SequenceMap",
        ["s"],
        "t",
        body=graph([node("Exp", ["item"], "more")], [value("item", None)], [value("more", None)]),
    ),
    *joined("t"),
]
LOOPED = [
    node(
        "Loop",
        ["n", "", "one"],
        ["last", "y"],
        body=graph(
            [
                node("SequenceAt", ["s", "i"], "item"),
                node("Mul", ["item", "total"], "listed"),
                node("Add", ["total", "total"], "next"),
                node("Identity", ["go"], "goes"),
            ],
            [value("i", [], np.int64), value("go", [], np.bool_), value("total", [])],
            [value("goes", [], np.bool_), value("next", []), value("listed", [2, 3])],
        ),
    )
]
FIRST_OR_ELSE = [
    node("SequenceLength", ["s"], "count"),
    node("Greater", ["count", "front"], "some"),
    node(
        "If",
        ["some"],
        "y",
        then_branch=graph([node("SequenceAt", ["s", "front"], "u")], [], [value("u", None)]),
        else_branch=graph([node("Identity", ["m"], "v")], [], [value("v", None)]),
    ),
]
NOTHING = node("Optional", [], "s")
NOTHING.attribute.add(name="type", type=AttributeProto.TYPE_PROTO).tp.tensor_type.elem_type = 1
LESS, MORE = [X], [X, -X, X + 1]
PUT = [NEXT, *built("x", "m", "a")]


CASES = {
    "one length": Case(
        built("x", "z"), [NEXT, *built("a", "z")], joined(), [[X, Z], [X + 1, Z]], np.concatenate
    ),
    "other shapes, one length": Case(
        built("x", "z"), built("z", "x"), joined(), [[X, Z], [Z, X]], np.concatenate
    ),
    "stacked": Case(built("x"), PUT, joined(new=1), [LESS, MORE], np.stack),
    "stacked behind": Case(
        built("x"), PUT, joined(axis=-1, new=1), [LESS, MORE], lambda items: np.stack(items, -1)
    ),
    "joined": Case(built("x"), PUT, joined(), [LESS, MORE], np.concatenate),
    "nothing": Case(built(), PUT, joined(new=1), [[], MORE], lambda items: np.array(items).reshape(-1, 2, 3)),
    "length": Case(
        built(),
        PUT,
        [node("SequenceLength", ["s"], "y")],
        [[], MORE],
        lambda items: np.array(len(items)),
        np.int64,
    ),
    "item from the end": Case(
        built("x"), PUT, [node("SequenceAt", ["s", "back"], "y")], [LESS, MORE], lambda items: items[-1]
    ),
    "item at a place that is computed": Case(
        built("x", "m"), PUT, [node("SequenceAt", ["s", "p"], "y")], [[X, -X], MORE], lambda items: items[1]
    ),
    "one more": Case(
        *(built("x"), PUT, [node("SequenceInsert", ["s", "x"], "t"), *joined("t")], [LESS, MORE]),
        lambda items: np.concatenate([*items, X]),
    ),
    "one more in front": Case(
        *(built("x"), PUT, [node("SequenceInsert", ["s", "m", "front"], "t"), *joined("t")], [LESS, MORE]),
        lambda items: np.concatenate([-X, *items]),
    ),
    "one more before the last": Case(
        *(built("x"), PUT, [node("SequenceInsert", ["s", "m", "back"], "t"), *joined("t")], [LESS, MORE]),
        lambda items: np.concatenate([*items[:-1], -X, items[-1]]),
    ),
    "one less": Case(
        *(built("x", "m"), PUT, [node("SequenceErase", ["s"], "t"), *joined("t")], [[X, -X], MORE]),
        lambda items: np.concatenate(items[:-1]),
    ),
    "one less in front": Case(
        *(built("x", "m"), PUT, [node("SequenceErase", ["s", "front"], "t"), *joined("t")], [[X, -X], MORE]),
        lambda items: np.concatenate(items[1:]),
    ),
    "other lengths and shapes": Case(built("x"), built("z", "x"), joined(), [[X], [Z, X]], np.concatenate),
    "length of other shapes": Case(
        *(built("x"), built("z", "x"), [node("SequenceLength", ["s"], "y")], [[X], [Z, X]]),
        lambda items: np.array(len(items)),
        np.int64,
    ),
    "item of other shapes": Case(
        *(built("x"), built("z", "x"), [node("SequenceAt", ["s", "front"], "y")], [[X], [Z, X]]),
        lambda items: items[0],
    ),
    "one more of other shapes": Case(
        *(
            built("x"),
            built("z", "x"),
            [node("SequenceInsert", ["s", "z"], "t"), *joined("t")],
            [[X], [Z, X]],
        ),
        lambda items: np.concatenate([*items, Z]),
    ),
    "other shapes, then others by a second condition": Case(
        built("x"), INNER, joined(), [[X], [Z]], np.concatenate
    ),
    "parts of other sizes": Case(split("halves"), split("parts"), joined(), [[Z], [Z]], np.concatenate),
    "parts of other sizes, the first": Case(
        *(split("halves"), split("parts"), [node("SequenceAt", ["s", "front"], "y")], [[Z[:2]], [Z[:1]]]),
        lambda items: items[0],
    ),
    "a sequence from outside": Case(
        *([node("Identity", ["held"], "s")], [node("SequenceInsert", ["held", "z"], "s")]),
        *(joined(), [[X, -X], [X, -X, Z]], np.concatenate),
    ),
    "mapped, one shape": Case(
        built("x"), PUT, MAPPED, [LESS, MORE], lambda items: np.exp(np.concatenate(items))
    ),
    "mapped, other shapes": Case(
        built("x"), built("z", "x"), MAPPED, [[X], [Z, X]], lambda items: np.exp(np.concatenate(items))
    ),
    "read in a loop": Case(
        built("x", "m"), PUT, LOOPED, [[X, -X], MORE], lambda items: np.stack([items[0], 2 * items[1]])
    ),
    "the first item, where there is one": Case(
        *(built(), built("z", "x"), FIRST_OR_ELSE, [[], [Z, X]]),
        lambda items: items[0] if items else -X,
    ),
    "a value or none": Case(
        *([node("Optional", ["x"], "s")], [NOTHING]),
        [
            node("OptionalHasElement", ["s"], "has"),
            node(
                "If",
                ["has"],
                "y",
                then_branch=graph([node("OptionalGetElement", ["s"], "u")], [], [value("u", None)]),
                else_branch=graph([node("Identity", ["z"], "v")], [], [value("v", None)]),
            ),
        ],
        [[X], [Z]],
        lambda items: items[0],
    ),
}


def model_of(case: Case, batch: int | str = 2) -> ModelProto:
    branches = {
        name: graph(nodes, [], [sequence("s")])
        for name, nodes in (("then_branch", case.yes), ("else_branch", case.no))
    }
    before = [node("Neg", ["x"], "m"), node("SequenceConstruct", ["x", "m"], "held")]
    constants = {
        "one": np.float32(1),
        "back": np.array(-1),
        "front": np.array(0),
        "halves": np.array([2, 2]),
        "parts": np.array([1, 2, 1]),
        "n": np.array(2),
    }
    if case.yes[-1].op_type == "Optional":
        for branch in branches.values():
            branch.output[0].type.optional_type.elem_type.tensor_type.elem_type = 1
    return model(
        [*before, node("If", ["c"], "s", **branches), *case.after],
        [
            *(value("x", [batch, 3]), value("z", [4, 3]), value("c", [], np.bool_)),
            *(value("d", [], np.bool_), value("p", [], np.int64)),
        ],
        [value("y", None, case.out)],
        constants,
    )


def given(truth: bool) -> dict[str, Array]:
    return {"x": X, "z": Z, "c": np.array(truth), "d": np.array(False), "p": np.array(1)}


def used(made: ModelProto, values: Mapping[str, Array]) -> dict[str, Array]:
    """The inputs that the model has."""
    return {info.name: values[info.name] for info in made.graph.input}


@pytest.mark.parametrize("truth", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_what_either_branch_gives(name: str, truth: bool, tmp_path: Path) -> None:
    case = CASES[name]
    made = model_of(case)
    wanted = case.made(case.items[0 if truth else 1])
    path = tmp_path / "model.onnx"
    path.write_bytes(made.SerializeToString())
    (found,) = run_graph(path, used(made, given(truth)), ["y"])
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    content = checked(Converter.from_onnx(made).convert())
    # LiteRT's interpreter gives no arrays without elements.
    for interpreter in (Interpreter, *([litert.Interpreter] * bool(wanted.size))):
        found = interpreter(model_content=content).get_signature_runner()(**used(made, given(truth)))["y"]
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
        assert found.dtype == case.out and found.shape == wanted.shape


def test_what_neither_branch_has_is_told() -> None:
    case = CASES["item of other shapes"]
    made = model_of(case._replace(yes=built(), no=built()))
    with pytest.raises(ModelError, match=r"SequenceAt.*position must be in \[0, 0\), got 0"):
        Converter.from_onnx(made)


def test_items_of_an_open_size_are_one_tensor() -> None:
    """Both branches' items have the batch's symbol, so the sequence is one tensor whatever the batch."""
    made = model_of(CASES["stacked"], batch="n")
    runner = Interpreter(model_content=checked(Converter.from_onnx(made).convert())).get_signature_runner()
    for batch in (2, 5):
        x = np.arange(batch * 3, dtype=np.float32).reshape(batch, 3)
        for truth, items in ((True, [x]), (False, [x, -x, x + 1])):
            found = runner(**used(made, {**given(truth), "x": x}))["y"]
            np.testing.assert_array_equal(found, np.stack(items))


@pytest.mark.parametrize("turns", [0, 1, 5])
@pytest.mark.parametrize("has_else", [False, True])
def test_only_some_turns_of_a_loop_put_items(turns: int, has_else: bool) -> None:
    """Each turn puts z[i] behind the sequence where it is large, and, with has_else, two others where not."""
    more = [node("Neg", ["row"], "minus"), node("SequenceInsert", ["first", "minus"], "other")]
    more.append(node("SequenceInsert", ["other", "row"], "v"))
    body = graph(
        [
            node("Gather", ["x", "i"], "row"),
            node("ReduceSum", ["row"], "sum", keepdims=0),
            node("Greater", ["sum", "limit"], "large"),
            node("SequenceInsert", ["given", "always"], "first"),
            node(
                "If",
                ["large"],
                "grown",
                then_branch=graph([node("SequenceInsert", ["first", "row"], "u")], [], [sequence("u")]),
                else_branch=graph(
                    more if has_else else [node("Identity", ["first"], "v")], [], [sequence("v")]
                ),
            ),
            node("Identity", ["go"], "goes"),
        ],
        [value("i", [], np.int64), value("go", [], np.bool_), sequence("given")],
        [value("goes", [], np.bool_), sequence("grown")],
        {"always": np.full(3, 7, np.float32)},
    )
    made = model(
        [
            node("SequenceEmpty", [], "begin"),
            node("Loop", ["n", "", "begin"], ["ended"], body=body),
            node("ConcatFromSequence", ["ended"], "y", axis=0, new_axis=1),
        ],
        [value("x", [5, 3]), value("limit", []), value("n", [], np.int64)],
        [value("y", None)],
    )
    content = checked(Converter.from_onnx(made).convert())
    x = np.random.default_rng(3).standard_normal((5, 3)).astype(np.float32)
    for limit in (0, -9, 9):
        wanted = [np.zeros((0, 3), np.float32)]
        for row in x[:turns]:
            put = [row] if row.sum() > limit else [-row, row] if has_else else []
            wanted += [np.full((1, 3), 7, np.float32), *(each[None] for each in put)]
        # LiteRT prepares no update of a list of no turns, and gives no arrays without elements.
        for interpreter in (Interpreter, *([litert.Interpreter] * (turns > 0 and len(wanted) > 1))):
            runner = interpreter(model_content=content).get_signature_runner()
            found = runner(x=x, limit=np.float32(limit), n=np.array(turns))["y"]
            np.testing.assert_array_equal(found, np.concatenate(wanted))


def swapped(*results: str) -> ModelProto:
    """A loop that carries two sequences and gives them in another order."""
    body = graph(
        [
            node("SequenceInsert", ["one", "x"], "more"),
            node("SequenceInsert", ["two", "x"], "most"),
            node("Identity", ["go"], "goes"),
        ],
        [value("i", [], np.int64), value("go", [], np.bool_), sequence("one"), sequence("two")],
        [value("goes", [], np.bool_), *map(sequence, results)],
    )
    return model(
        [
            node("SequenceEmpty", [], "begin"),
            node("SequenceConstruct", ["x"], "other"),
            node("Loop", ["n", "", "begin", "other"], ["first", "second"], body=body),
            node("ConcatFromSequence", ["first"], "y", axis=0),
        ],
        [value("x", [2, 3]), value("n", [], np.int64)],
        [value("y", None)],
    )


def test_sequences_that_a_turn_exchanges_are_refused() -> None:
    Converter.from_onnx(swapped("more", "most")).convert()
    with pytest.raises(UnsupportedError, match=r"Loop_first.*a turn may only put items behind it"):
        Converter.from_onnx(swapped("most", "more"))


@pytest.mark.skipif(not PYTHON, reason="NUMLITE_ONNX names no Python with onnxruntime")
def test_onnxruntime_gives_the_same(tmp_path: Path) -> None:
    """What the cases say, but for what onnxruntime refuses: nothing joined."""
    names = [name for name in CASES if name != "nothing"]
    for place, name in enumerate(names):
        (tmp_path / f"{place}.onnx").write_bytes(model_of(CASES[name]).SerializeToString())
    np.savez(
        tmp_path / "given.npz", **{f"{name}{t:d}": a for t in (True, False) for name, a in given(t).items()}
    )
    code = """
import sys, numpy as np, onnxruntime as ort
folder, count = sys.argv[1], int(sys.argv[2])
held = np.load(f"{folder}/given.npz")
found = {}
for place in range(count):
    session = ort.InferenceSession(f"{folder}/{place}.onnx")
    for truth in "10":
        inputs = {each.name: held[each.name + truth] for each in session.get_inputs()}
        (found[f"{place}-{truth}"],) = session.run(["y"], inputs)
np.savez(f"{folder}/found.npz", **found)
"""
    subprocess.run([PYTHON, "-c", code, str(tmp_path), str(len(names))], check=True, timeout=300)
    found = np.load(tmp_path / "found.npz")
    for place, name in enumerate(names):
        for truth, items in zip("10", CASES[name].items, strict=True):
            np.testing.assert_allclose(found[f"{place}-{truth}"], CASES[name].made(items), rtol=1e-6)
