"""The delegate of docs/delegates.md, as it stands there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numlite.delegates import Delegate
from numlite.delegates.compile import compile_model
from numlite.delegates.report import delegation_report
from numlite.interpreter import Interpreter

from ..model_builder import ModelBuilder
from .graphs import Op, sine, sine_model, unary
from .test_application import X, ran, run

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "delegates.md"


def tutorial_names() -> dict[str, Any]:
    """What the page's two pieces of code define, the delegate and the one that compiles."""
    pieces = [part.split("```")[0] for part in TUTORIAL.read_text().split("```python\n")[1:]]
    assert len(pieces) == 2 and len(pieces[0].strip().splitlines()) <= 40
    names: dict[str, Any] = {}
    for code in pieces:
        exec(code, names)
    return names


def tutorial_delegate() -> Delegate:
    delegate: Delegate = tutorial_names()["create_delegate"]()
    return delegate


def test_subsets_of_the_sine_example() -> None:
    delegate = tutorial_delegate()
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    assert np.array_equal(run(interpreter, X), sine(X))
    # The subsets [SIN], [ADD, MUL], [SIN], [ADD] run in this order, each node has one row.
    assert ran(interpreter) == [("SineDelegate", 5), ("ADD", 1), ("MUL", 2), ("SineDelegate", 6), ("ADD", 4)]
    report = delegation_report(interpreter.core.subgraph(), delegate)
    assert [partition.nodes for partition in report.partitions] == [(0,), (3,)]


def test_chain_is_one_partition() -> None:
    graph = ModelBuilder()
    first = graph.tensor(X.shape)
    t = first
    for _ in range(5):
        t = unary(graph, Op.SIN, t, X.shape)
    content = graph.build([first], [t])
    interpreter = Interpreter(model_content=content, experimental_delegates=[tutorial_delegate()])
    expected = X
    for _ in range(5):
        expected = np.sin(expected)
    assert np.array_equal(run(interpreter, X), expected)
    assert ran(interpreter) == [("SineDelegate", 5)]


def test_compiled_sine() -> None:
    """[SIN, SIN], [ABS], [SIN, SIN], with a value inside each partition."""
    graph = ModelBuilder()
    x = graph.tensor(X.shape)
    t = x
    for code in (Op.SIN, Op.SIN, Op.ABS, Op.SIN, Op.SIN):
        t = unary(graph, code, t, X.shape)
    content = graph.build([x], [t])
    make = tutorial_names()["CompilingSineDelegate"]
    delegate = make()
    source = Interpreter(model_content=content, experimental_delegates=[delegate])
    result = compile_model(source.core, delegate, "sine")
    assert [report.replaced for report in result.partitions] == [("SIN", "SIN")] * 2
    interpreter = Interpreter(model_content=result.content, experimental_delegates=[make()])
    expected = np.sin(np.sin(np.abs(np.sin(np.sin(X)))))
    assert np.array_equal(run(interpreter, X), run(source, X)) and np.array_equal(
        run(interpreter, X), expected
    )
    assert [name for name, _ in ran(interpreter)] == ["numlite-delegate:sine", "ABS", "numlite-delegate:sine"]
