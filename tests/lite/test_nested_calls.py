"""Subgraphs that call subgraphs: so deep and so often as models do it, and no further."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.errors import ModelError
from numlite.lite.runtime import Runtime
from numlite.schema import tflite
from numlite.schema.calls import MAX_CALLS, MAX_DEPTH, Call, check_calls
from numlite.schema.fault import Fault
from numlite.schema.tflite import BuiltinOperator

from ..hostile_files import HOSTILE, hostile_file
from ..model_builder import ModelBuilder, SubgraphBuilder

TOO_DEEP = rf"calls must be at most {MAX_DEPTH} deep, got {MAX_DEPTH + 1}"
TOO_MANY = rf"a run must make at most {MAX_CALLS:,} calls of subgraphs"
CALLERS = ("IF", "CALL", "WHILE", "STABLEHLO_CASE", "STABLEHLO_COMPOSITE", "STABLEHLO_WHILE")


def add_call(graph: SubgraphBuilder, operator: str, x: int, callee: int, condition: int) -> int:
    """A node that runs the callee on one value: its result. condition holds while a value is below 1."""
    y = graph.tensor([2], np.float32)
    given = [x]
    if operator == "IF":
        given = [graph.constant(np.array(True)), x]
        options = tflite.IfOptionsT(then_subgraph_index=callee, else_subgraph_index=callee)
    elif operator == "STABLEHLO_CASE":
        given = [graph.constant(np.array(0, np.int32)), x]
        options = tflite.StablehloCaseOptionsT(branch_subgraph_indices=[callee, callee])
    elif operator == "CALL":
        options = tflite.CallOptionsT(subgraph=callee)
    elif operator == "STABLEHLO_COMPOSITE":
        options = tflite.StableHLOCompositeOptionsT(name="nest", decomposition_subgraph_index=callee)
    else:
        kind = tflite.WhileOptionsT if operator == "WHILE" else tflite.StablehloWhileOptionsT
        options = kind(cond_subgraph_index=condition, body_subgraph_index=callee)
    graph.op(BuiltinOperator[operator], given, [y], options)
    return y


def nest(operator: str, depth: int, times: int = 1, late: bool = False) -> bytes:
    """The main graph calls a subgraph so many times, which calls the next one, until the last adds 1.

    A late one gives as many zeros as its input says, so that Python has to run all levels.
    """
    model = ModelBuilder()
    graphs: list[SubgraphBuilder] = [model, *(model.add_subgraph(f"level {k + 1}") for k in range(depth))]
    condition = model.add_subgraph("condition")
    x, sum, y = condition.tensor([2]), condition.tensor([]), condition.tensor([], bool)
    condition.op(BuiltinOperator.SUM, [x, condition.constant([0])], [sum], tflite.ReducerOptionsT())
    condition.op(BuiltinOperator.LESS, [sum, condition.constant(np.array(1, np.float32))], [y])
    condition.finish([x], [y])
    for graph, callee in pairwise(graphs):
        x = y = graph.tensor([2])
        for _ in range(times):
            y = add_call(graph, operator, y, callee.index, condition.index)
        graph.finish([x], [y])
    last = graphs[-1]
    x, y = last.tensor([2]), last.tensor([2])
    if late:
        sizes = last.tensor([2], np.int32)
        last.op(BuiltinOperator.CAST, [x], [sizes], tflite.CastOptionsT())
        last.op(BuiltinOperator.FILL, [sizes, last.constant(np.array(0, np.float32))], [y])
    else:
        last.op(BuiltinOperator.ADD, [x, last.constant(np.ones(2, np.float32))], [y], tflite.AddOptionsT())
    last.finish([x], [y])
    return model.build(list(model.subgraph.inputs), list(model.subgraph.outputs))


def ran(content: bytes | str) -> list[float]:
    model = {"model_path": content} if isinstance(content, str) else {"model_content": content}
    interpreter = Interpreter(**model)
    interpreter.allocate_tensors()
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).tolist()


@pytest.mark.parametrize("operator", CALLERS)
def test_the_deepest_nest_runs(operator: str) -> None:
    assert ran(nest(operator, MAX_DEPTH)) == [1, 1]


@pytest.mark.parametrize("operator", ["IF", "CALL", "STABLEHLO_CASE", "STABLEHLO_COMPOSITE"])
def test_the_deepest_nest_runs_in_python(operator: str) -> None:
    assert ran(nest(operator, MAX_DEPTH, late=True)) == []


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 1000])
@pytest.mark.parametrize("operator", CALLERS)
def test_a_deeper_nest_is_refused(operator: str, depth: int) -> None:
    with pytest.raises(ModelError, match=TOO_DEEP):
        Interpreter(model_content=nest(operator, depth))


@pytest.mark.parametrize("operator", CALLERS)
def test_calls_that_double_are_refused(operator: str) -> None:
    with pytest.raises(ModelError, match=TOO_MANY):
        Interpreter(model_content=nest(operator, 24, times=2))


def test_calls_that_double_run_within_the_limit() -> None:
    assert ran(nest("STABLEHLO_COMPOSITE", 10, times=2)) == [1024, 1024]
    assert ran(nest("IF", 16, times=2)) == [1 << 16, 1 << 16]


def test_a_shared_subgraph_is_prepared_as_often_as_it_has_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve levels are 8 190 calls; the subgraphs that they share are not prepared for each."""
    made: list[int] = []
    claim = Runtime.claim

    def counted(runtime: Runtime, index: int) -> object:
        made.append(index)
        return claim(runtime, index)

    monkeypatch.setattr(Runtime, "claim", counted)
    Interpreter(model_content=nest("IF", 12, times=2)).allocate_tensors()
    assert len(made) < 1000


def test_one_subgraph_with_many_callers_runs() -> None:
    model = ModelBuilder()
    shared = model.add_subgraph("shared")
    a, b = shared.tensor([2]), shared.tensor([2])
    shared.op(BuiltinOperator.ABS, [a], [b])
    shared.finish([a], [b])
    x = y = model.tensor([2])
    for _ in range(300):
        y = add_call(model, "STABLEHLO_COMPOSITE", y, shared.index, -1)
    assert ran(model.build([x], [y])) == [0, 0]


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 5000])
def test_once_called_initializers_nest_no_deeper(levels: int) -> None:
    model = ModelBuilder()
    graphs = [model, *(model.add_subgraph(f"level {k}") for k in range(levels))]
    for graph, callee in pairwise(graphs):
        graph.op(BuiltinOperator.CALL_ONCE, [], [], tflite.CallOnceOptionsT(init_subgraph_index=callee.index))
    with pytest.raises(ModelError, match=TOO_DEEP):
        Interpreter(model_content=model.build([], []))


def test_branches_count_once_and_loops_whole() -> None:
    below = Counter({Call((2,), all_run=False): MAX_CALLS // 2 - 1})
    check_calls([Counter({Call((1,), False): 2}), below, Counter()])
    check_calls([Counter({Call((1, 2), False): 2}), below, Counter()])
    with pytest.raises(Fault, match=rf"{TOO_MANY}, got {MAX_CALLS + 2:,}"):
        check_calls([Counter({Call((1, 2), all_run=True): 2}), below, Counter()])


NESTS = sorted(path.name for path in (HOSTILE / "other").glob("nest_*")) or ["none"]


@pytest.mark.parametrize("name", NESTS)
def test_hostile_nests_run_or_are_refused(name: str) -> None:
    path = hostile_file(f"other/{name}")
    kind, _, depth = path.stem.removeprefix("nest_").partition("_")
    if int(depth) > MAX_DEPTH or (kind.endswith("twice") and int(depth) > 16):
        with pytest.raises(ModelError, match=f"{TOO_DEEP}|{TOO_MANY}"):
            Interpreter(str(path))
    else:
        assert len(ran(str(path))) == 2


def test_the_deepest_nest_needs_little_of_the_native_stack() -> None:
    """It runs in a thread of 256 KiB, where glibc's own thread takes 8 MiB."""
    script = """
import sys, threading
from numlite.interpreter import Interpreter
interpreter = Interpreter(model_content=sys.stdin.buffer.read())
interpreter.allocate_tensors()
threading.stack_size(1 << 18)
thread = threading.Thread(target=interpreter.invoke)
thread.start()
thread.join()
print(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
"""
    run = subprocess.run(
        [sys.executable, "-c", script], input=nest("WHILE", MAX_DEPTH), capture_output=True, check=True
    )
    assert run.stdout == b"[1. 1.]\n"
