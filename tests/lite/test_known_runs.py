"""Runs through several stages that were seen before: native from the first to the last, and never stale."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite import known_runs
from numlite.lite.subgraph import Subgraph
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .test_preparation import rows


def python_runs(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Count the runs that Python takes from stage to stage."""
    runs = []
    whole = Subgraph.run_stages
    monkeypatch.setattr(
        Subgraph, "run_stages", lambda graph, *rest: (runs.append(graph), whole(graph, *rest))[1]
    )

    def count() -> int:
        counted = len(runs)
        runs.clear()
        return counted

    return count


def between_model() -> bytes:
    """The rows of x [6, 3] with a positive first element, and a sum of places for each positive element."""
    b = ModelBuilder()
    x, first, positive = b.tensor((6, 3)), b.tensor((6, 1)), b.tensor((6, 1), bool)
    b.op(BuiltinOperator.SLICE, [x, b.constant([0, 0]), b.constant([-1, 1])], [first])
    b.op(BuiltinOperator.GREATER, [first, b.constant(np.zeros(1, np.float32))], [positive])
    places, rows, found = b.tensor((1, 2), np.int64), b.tensor((1,), np.int64), b.tensor((1, 3))
    b.op(BuiltinOperator.WHERE, [positive], [places])
    one = b.constant([1, 1])
    options = tflite.StridedSliceOptionsT(begin_mask=1, end_mask=1, shrink_axis_mask=2)
    b.op(BuiltinOperator.STRIDED_SLICE, [places, b.constant([0, 0]), one, one], [rows], options)
    b.op(BuiltinOperator.GATHER, [x, rows], [found], tflite.GatherOptionsT())
    large, where, sums = b.tensor((1, 3), bool), b.tensor((1, 2), np.int64), b.tensor((1,), np.int64)
    b.op(BuiltinOperator.GREATER, [found, b.constant(np.zeros(1, np.float32))], [large])
    b.op(BuiltinOperator.WHERE, [large], [where])
    b.op(BuiltinOperator.SUM, [where, b.constant([1])], [sums], tflite.ReducerOptionsT())
    return b.build([x], [found, sums])


def check_between(interpreter: Interpreter, x: np.ndarray) -> None:
    interpreter.set_tensor(0, x)
    interpreter.invoke()
    found = x[x[:, 0] > 0]
    expected = found, np.argwhere(found > 0).sum(1)
    for detail, value in zip(interpreter.get_output_details(), expected, strict=True):
        assert np.array_equal(interpreter.get_tensor(detail["index"]), value)


@pytest.mark.parametrize("threads", [1, 2])
def test_runs_that_were_seen_need_no_python_between_stages(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    interpreter = Interpreter(model_content=between_model(), num_threads=threads)
    interpreter.allocate_tensors()
    inputs = [rows(seed, 1 + seed % 6) for seed in range(14)]
    for x in inputs:
        check_between(interpreter, x)
    count = python_runs(monkeypatch)
    for x in [*inputs[::-1], *inputs, inputs[3], inputs[3]]:
        check_between(interpreter, x)
    assert count() == 0
    check_between(interpreter, rows(99, 6))
    check_between(interpreter, inputs[0])
    assert count() <= 1


def test_runs_in_python_between_known_ones_leave_them_right() -> None:
    """As profiles and node-by-node runs make them, with other sizes, so that results move."""
    interpreter = Interpreter(model_content=between_model())
    interpreter.allocate_tensors()
    graph = interpreter.core.subgraph()
    for seed in range(60):
        x = rows(seed, (seed * 5) % 7)
        if seed % 3 == 1:
            interpreter.set_tensor(0, rows(seed + 1, (seed * 3) % 7))
            graph.run_stages(graph._run_stage)
        check_between(interpreter, x)


def test_what_is_known_of_runs_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_runs, "_MOST_STAGES", 4)
    interpreter = Interpreter(model_content=between_model())
    interpreter.allocate_tensors()
    for seed in range(40):
        check_between(interpreter, rows(seed, seed % 7))
        assert len(interpreter.core.subgraph().earlier.runs._known) <= 4 + 3
    held = interpreter.memory_report().kept_bytes
    assert held > 0
    interpreter.resize_tensor_input(0, (6, 3))
    interpreter.core.subgraph().release_nonpersistent_memory()
    assert interpreter.core.subgraph().earlier.runs is None
    interpreter.allocate_tensors()
    check_between(interpreter, rows(3, 3))


def looked_up_model() -> bytes:
    """The entries of a table of 10 that the positive elements of x [6] count."""
    b = ModelBuilder()
    x, positive, places = b.tensor((6,), np.int32), b.tensor((6,), bool), b.tensor((1, 1), np.int64)
    b.op(BuiltinOperator.GREATER, [x, b.constant(np.zeros(1, np.int32))], [positive])
    b.op(BuiltinOperator.WHERE, [positive], [places])
    numbers, found = b.tensor((1, 1), np.int32), b.tensor((1, 1))
    b.op(BuiltinOperator.GATHER, [x, places], [numbers], tflite.GatherOptionsT())
    table = b.constant(np.arange(10, dtype=np.float32) * 3)
    b.op(BuiltinOperator.GATHER, [table, numbers], [found], tflite.GatherOptionsT())
    return b.build([x], [found])


def test_a_known_run_that_fails_says_where_and_leaves_the_others() -> None:
    interpreter = Interpreter(model_content=looked_up_model())
    interpreter.allocate_tensors()
    [y] = [detail["index"] for detail in interpreter.get_output_details()]

    def check(values: list[int]) -> None:
        interpreter.set_tensor(0, np.array([*values, *[0] * (6 - len(values))], np.int32))
        interpreter.invoke()
        assert interpreter.get_tensor(y).ravel().tolist() == [3.0 * value for value in values]

    for values in ([1, 2], [3, 4, 5], [6, 7]):
        check(values)
    for wrong in ([8, 99], [8, 99, 7], [99]):
        with pytest.raises(RuntimeError, match=r"node 3.*GATHER"):
            check(wrong)
        for values in ([3, 4], [9, 8, 7], [5]):
            check(values)
