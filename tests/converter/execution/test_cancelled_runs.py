"""Runs of graphs that are stopped: by a timeout, from another thread; the runner can be used again."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numlite.converter import GraphRunner, run_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.errors import CancelledError, TimedOutError

from .test_frames import counted, integers
from .test_functions import X, counting, graph_with

LONG = 2**31 - 1  # turns


def frames_runner() -> tuple[GraphRunner, list[str]]:
    """A V1 loop of n turns."""
    graph = GraphBuilder()
    n, x, by = integers(graph, "n", "x", "by")
    exits = counted(graph, "loop", n, x, by)
    return GraphRunner(graph.graph_def), exits


def feeds(turns: int) -> dict[str, int]:
    return {"n": turns, "x": 5, "by": 0}


def test_a_loop_in_frames_times_out() -> None:
    runner, exits = frames_runner()
    for _ in range(2):
        with pytest.raises(
            TimedOutError, match=r"node 'loop/[\w/]+' \(\w+\): the run must end within its timeout"
        ):
            runner.run(feeds(LONG), exits, timeout_s=0.05)
        assert runner.run(feeds(3), exits) == [3, 5]


def test_a_loop_of_functions_times_out() -> None:
    graph = graph_with()
    counting(graph, "While", LONG)
    with pytest.raises(TimedOutError, match=r"^node 'y' \(While\): (node '\w+' \(\w+\): )?the run must end"):
        run_graph(graph.graph_def, {"x": np.zeros_like(X)}, ["y"], timeout_s=0.05)


def test_cancel_stops_all_runs_and_no_later_one() -> None:
    runner, exits = frames_runner()
    runner.cancel()
    assert runner.run(feeds(2), exits) == [2, 5]
    stopped: list[str] = []

    def run() -> None:
        try:
            runner.run(feeds(LONG), exits, timeout_s=100)
        except CancelledError as error:
            stopped.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            runner.cancel()
            thread.join(0.01)
    assert len(stopped) == 2
    assert all("node 'loop/" in text and text.endswith("the run was cancelled") for text in stopped)
    assert runner.run(feeds(2), exits) == [2, 5]
