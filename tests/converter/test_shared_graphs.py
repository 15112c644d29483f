"""Graphs with TensorFlow's own outputs (../shared/convert/graphs): those that convert keep converting."""

from __future__ import annotations

from pathlib import Path

import pytest
from numlite.converter.target_spec import Settings

from .corpus import FOLDER, cases, run_model
from .graphs import checked

# The graphs that must convert to builtin operators and compute what TensorFlow computes, a line each:
# the list of `python benchmarks/converter.py --passing passing_graphs.txt`. It must not shrink.
PASSING = Path(__file__).with_name("passing_graphs.txt").read_text().split()
CASES = {case.name: case for case in cases()} if FOLDER.exists() else {}


def test_the_list_is_of_graphs_that_there_are() -> None:
    assert len(PASSING) == len(set(PASSING))
    assert not CASES or set(PASSING) <= set(CASES)


@pytest.mark.long
@pytest.mark.skipif(not CASES, reason="needs ../shared/convert")
@pytest.mark.parametrize("runtime", ["numlite", "litert"])
@pytest.mark.parametrize("name", PASSING)
def test_equals_tensorflow(name: str, runtime: str) -> None:
    if runtime == "litert":
        pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
    case = CASES[name]
    model = checked(case.convert(Settings()).model)
    assert case.difference(run_model(model, case.arrays("inputs"), runtime)) <= 1
