"""GELU as exporters write it out, in floats of 32 and 16 bits, and what only looks like it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter
from numlite.schema.onnx import ModelProto, NodeProto, TensorProto

from ...onnx_builder import graph, model, node, value
from ..graphs import checked
from .test_layout import counted

X = np.linspace(-3, 3, 13, dtype=np.float32)
NUMBERS = {
    "root": math.sqrt(2),
    "third": 1 / 3,
    "inverse": math.sqrt(0.5),
    "one": 1.0,
    "half": 0.5,
    "two": 2.0,
}
HALVES = {"float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16}
ERF = np.array([math.erf(x / math.sqrt(2)) for x in X])


def written(nodes: list[NodeProto], outputs: tuple[str, ...] = ("y",), halves: str = "") -> ModelProto:
    """A model of x and z, its numbers halves where these are named; x and z are casts of floats then."""
    made = model(nodes, [value("x", [13]), value("z", [13])], [value(name, [13]) for name in outputs])
    for name, number in NUMBERS.items():
        held = made.graph.initializer.add(name=name, data_type=HALVES.get(halves, TensorProto.FLOAT))
        if halves == "bfloat16":
            bits = np.float32(number).view(np.uint32) + np.uint32(0x8000)
            held.raw_data = np.uint16(bits >> 16).tobytes()
        else:
            held.raw_data = np.array(number, halves or np.float32).tobytes()
    return made


def gated(scale: str = "Div root", partner: str = "x", last: str = "Mul half") -> list[NodeProto]:
    """partner * (1 + erf(x * scale)) * last."""
    first, number = scale.split()
    nodes = [node(first, ["x", number], "s"), node("Erf", ["s"], "e"), node("Add", ["e", "one"], "g")]
    nodes.append(node("Mul", [partner, "g"], "p" if last else "y"))
    if last:
        nodes.append(node(last.split()[0], ["p", last.split()[1]], "y"))
    return nodes


def run(made: ModelProto) -> tuple[dict[str, int], dict[str, np.ndarray]]:
    content = checked(Converter.from_onnx(made).convert())
    runner = Interpreter(model_content=content).get_signature_runner()
    given = {name: X + (name == "z") for name in runner.get_input_details()}
    return dict(counted(content)), runner(**given)


BEFORE = node("Mul", ["half", "x"], "h")
FORMS = {
    "quotient": gated(),
    "product": gated("Mul inverse"),
    "half before": [BEFORE, *gated(partner="h", last="")],
    "halved by a quotient": gated(last="Div two"),
}


@pytest.mark.parametrize("halves", ["", "float16", "bfloat16"])
@pytest.mark.parametrize("name", FORMS)
def test_gelu_is_one_operator(name: str, halves: str) -> None:
    """What 16 bits make of its numbers is as far from them as their arithmetic is."""
    counts, found = run(written(FORMS[name], halves=halves))
    assert counts == {"GELU": 1}
    np.testing.assert_allclose(found["y"], X * (1 + ERF) / 2, rtol=1e-5, atol=1e-6)


NEAR = {
    "of another scale": (gated("Mul third"), X * (1 + np.array([math.erf(x / 3) for x in X])) / 2),
    "of another factor": (gated(partner="z"), (X + 1) * (1 + ERF) / 2),
    "without its half": (gated(last=""), X * (1 + ERF)),
    "of another half": (gated(last="Mul third"), X * (1 + ERF) / 3),
    "its half the wrong way round": (
        [*gated(last=""), node("Div", ["two", "y"], "w"), node("Mul", ["w", "y"], "v")],
        X * (1 + ERF),
    ),
    "a quotient of its scale": (
        [node("Div", ["root", "x"], "s"), *gated()[1:]],
        X * (1 + np.array([math.erf(math.sqrt(2) / x) if x else 1 for x in X])) / 2,
    ),
}


@pytest.mark.parametrize("name", NEAR)
def test_what_is_nearly_gelu_is_computed_by_a_polynomial(name: str) -> None:
    nodes, wanted = NEAR[name]
    counts, found = run(written(nodes))
    assert "GELU" not in counts
    np.testing.assert_allclose(found["y"], wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seen", ["e", "g", "p"])
def test_a_gelu_whose_parts_are_outputs_stays_written_out(seen: str) -> None:
    _, found = run(written(gated(), ("y", seen)))
    np.testing.assert_allclose(found["y"], X * (1 + ERF) / 2, rtol=1e-5, atol=1e-6)
    wanted = {"e": ERF, "g": 1 + ERF, "p": X * (1 + ERF)}[seen]
    np.testing.assert_allclose(found[seen], wanted, rtol=1e-5, atol=1e-6)


def test_parts_that_a_branch_gives_stay_too() -> None:
    made = written([])
    branch = graph(gated(), [], [value(name, [13]) for name in ("y", "g")])
    other = graph([node("Neg", ["x"], "a"), node("Abs", ["x"], "b")], [], [value(n, [13]) for n in "ab"])
    made.graph.node.append(node("ReduceMax", ["z"], "largest", keepdims=0))
    made.graph.node.append(node("Greater", ["largest", "two"], "c"))
    made.graph.node.append(node("If", ["c"], ["y", "v"], then_branch=branch, else_branch=other))
    made.graph.output.append(value("v", [13]))
    _, found = run(made)
    np.testing.assert_allclose(found["v"], 1 + ERF, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found["y"], X * (1 + ERF) / 2, rtol=1e-5, atol=1e-6)
