"""`numlite benchmark`: what it prints, and the timing behind it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numlite.cli.main import cli, run_command
from numlite.cli.timing import Spread, in_words, median_of_runs, time_in_turns


def test_benchmark(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(cli, ["benchmark", str(model), "--seconds", "0.05"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("numlite: ")
    assert "ADD" in shown and "ABS" in shown and "%" in shown


def test_compare(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ai_edge_litert")
    arguments = ["benchmark", str(model), "--seconds", "0.05", "--compare", "litert", "--no-ops"]
    assert run_command(cli, arguments) == 0
    shown = capsys.readouterr().out
    assert "LiteRT / numlite: " in shown and "outputs: equal" in shown


def test_compare_without_litert(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ai_edge_litert", None)
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", None)
    assert run_command(cli, ["benchmark", str(model), "--compare", "litert"]) == 1
    assert "ai-edge-litert is not installed" in capsys.readouterr().err


def test_time_in_turns() -> None:
    calls: list[str] = []

    def slow() -> None:
        calls.append("slow")
        time.sleep(0.02)

    def quick() -> None:
        calls.append("quick")

    fractions: list[float] = []
    times = time_in_turns([slow, quick], 0.1, fractions.append)
    assert times.shape[1] == 2 and len(times) >= 3
    assert (times[:, 0] > times[:, 1]).all()
    assert fractions == sorted(fractions) and fractions[-1] <= 1


def test_runs_that_were_held_up_do_not_count() -> None:
    """Two of five take a thousand times as long."""
    now, taken = 0, 0

    def call() -> None:
        nonlocal now, taken
        now += 100_000 if taken % 5 in (1, 4) else 100
        taken += 1

    assert median_of_runs(call, 1e-3, lambda: now) == 100
    assert 1_000_000 <= now < 1_300_000  # of ns
    assert median_of_runs(call, 0, lambda: now) == 100 and taken > 3


def test_spread() -> None:
    assert Spread.of(np.arange(101.0)) == Spread(50, 10, 90)


@pytest.mark.parametrize(
    ("ns", "words"), [(812, "812 ns"), (3451, "3.45 us"), (123_456, "123 us"), (2.5e9, "2.5 s")]
)
def test_times_in_words(ns: float, words: str) -> None:
    assert in_words(ns) == words
