"""The program of docs/rewriting.md, as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

from numlite.converter.graph_builder import GraphBuilder

PAGE = Path(__file__).resolve().parents[3] / "docs/rewriting.md"


def test_the_documented_rule_runs() -> None:
    [program] = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, object] = {}
    exec(program, names)
    g = GraphBuilder()
    g.node("Tanh", "y", g.node("Neg", "b", g.node("Neg", "a", g.placeholder("x", [2]))))
    module, lines = names["simplify"](g.graph_def)  # type: ignore[operator]
    assert lines == ["skip_double_negation 1: b"]
    [y] = [node for node in module.graph.body if node.name == "y"]
    assert y.operands[0].owner.name == "x"
