"""The delegate of docs/delegates.md, as it stands there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numlite.delegates import Delegate
from numlite.delegates.report import delegation_report
from numlite.interpreter import Interpreter

from ..model_builder import ModelBuilder
from .graphs import Op, sine, sine_model, unary
from .test_application import X, ran, run

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "delegates.md"


def tutorial_delegate() -> Delegate:
    code = TUTORIAL.read_text().split("```python\n")[1].split("```")[0]
    assert len(code.strip().splitlines()) <= 40
    names: dict[str, Any] = {}
    exec(code, names)
    delegate: Delegate = names["create_delegate"]()
    return delegate


def test_subsets_of_the_sine_example() -> None:
    delegate = tutorial_delegate()
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    assert np.array_equal(run(interpreter, X), sine(X))
    assert [name for name, _ in ran(interpreter)] == ["SineDelegate", "ADD", "MUL", "SineDelegate", "ADD"]
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
