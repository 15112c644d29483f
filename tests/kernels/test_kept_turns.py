"""Loops whose values change their shapes run their turns natively once they were seen twice."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from numlite.interpreter import Interpreter, OpResolverType
from numlite.kernels import control_flow
from numlite.kernels.kept_turns import KeptTurns
from numlite.lite.errors import CancelledError, InvokeError
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator as Op

from ..cases.control_flow import while_model
from ..model_builder import SubgraphBuilder


def grows(body: SubgraphBuilder, inputs: list[int]) -> list[int]:
    """a -> a and its double, joined; b -> b."""
    double, longer = body.tensor((2,), shape_signature=[-1]), body.tensor((4,), shape_signature=[-1])
    body.op(Op.ADD, [inputs[1], inputs[1]], [double], tflite.AddOptionsT())
    body.op(Op.CONCATENATION, [inputs[1], double], [longer], tflite.ConcatenationOptionsT())
    return [longer, inputs[2]]


def grown(start: int, a: np.ndarray) -> np.ndarray:
    for _ in range(start, 5):
        a = np.concatenate([a, a + a])
    return a


MODEL = while_model([(2,), (3,)], grows, signature=[-1])


def ready(model: bytes = MODEL, **settings: Any) -> Interpreter:
    interpreter = Interpreter(model_content=model, **settings)
    interpreter.allocate_tensors()
    return interpreter


def run(interpreter: Interpreter, start: int, a: np.ndarray, *others: np.ndarray) -> list[np.ndarray]:
    values = [np.array([start], np.int32), a, *others]
    for detail, value in zip(interpreter.get_input_details(), values, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


@pytest.fixture
def in_python(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that gets the number of each subgraph that Python runs."""
    seen = list[int]()
    plain = control_flow.run

    def counted(subgraph: Any, values: Any) -> None:
        seen.append(subgraph.index)
        plain(subgraph, values)

    monkeypatch.setattr(control_flow, "run", counted)
    return seen


B = np.arange(3, dtype=np.float32)


def check(interpreter: Interpreter, start: int, a: np.ndarray) -> None:
    count, result, b = run(interpreter, start, a, B)
    assert count == max(5, start)
    np.testing.assert_array_equal(result, grown(start, a))
    np.testing.assert_array_equal(b, B)


@pytest.mark.parametrize("resolver", [OpResolverType.AUTO, OpResolverType.BUILTIN_REF])
def test_the_third_run_takes_no_python(in_python: list[int], resolver: OpResolverType) -> None:
    interpreter = ready(experimental_op_resolver_type=resolver)
    for n in range(2):
        check(interpreter, 1, np.array([n, 2], np.float32))
        assert in_python
        in_python.clear()
    for n in range(3):
        check(interpreter, 1, np.array([5, n], np.float32))
    assert not in_python


def test_turns_that_were_not_seen_are_taken_one_by_one_and_then_known(in_python: list[int]) -> None:
    interpreter = ready()
    a = np.array([1, -3], np.float32)
    for start in (4, 4, 4, 3, 5, 1, 7):
        check(interpreter, start, a)
    in_python.clear()
    for start in (1, 2, 4, 5, 9, 1):
        check(interpreter, start, a)
    assert not in_python
    check(interpreter, 0, a)
    assert in_python == [1, 2, 1]  # the last turn, and the condition behind it
    in_python.clear()
    check(interpreter, 0, a + 1)
    assert not in_python


def test_other_shapes_are_other_loops(in_python: list[int]) -> None:
    interpreter = ready()
    index = interpreter.get_input_details()[1]["index"]
    for _ in range(4):
        for size in (2, 3, 1, 0):
            interpreter.resize_tensor_input(index, [size])
            interpreter.allocate_tensors()
            for n in range(3):
                check(interpreter, n, np.arange(size, dtype=np.float32))


def test_memory_that_is_given_back_is_not_used(in_python: list[int]) -> None:
    interpreter = ready()
    for _ in range(3):
        check(interpreter, 1, np.array([1, 2], np.float32))
    [loop] = kept(interpreter)._loops.values()
    plan = weakref.ref(loop._turns[-1].condition.plan)
    assert plan() is not None and plan()._arena is not None  # type: ignore[union-attr]
    interpreter.release_nonpersistent_memory()
    assert plan()._arena is None  # type: ignore[union-attr]
    del loop
    interpreter.allocate_tensors()
    in_python.clear()
    check(interpreter, 1, np.array([1, 2], np.float32))
    assert in_python
    check(interpreter, 1, np.array([3, 2], np.float32))
    check(interpreter, 1, np.array([4, 2], np.float32))


def kept(interpreter: Interpreter) -> KeptTurns:
    turns = interpreter.core.subgraph().nodes[0].user_data
    assert isinstance(turns, KeptTurns)
    return turns


def test_loops_beyond_their_number_are_forgotten() -> None:
    interpreter = ready()
    index = interpreter.get_input_details()[1]["index"]
    for size in range(1, 40):
        interpreter.resize_tensor_input(index, [size])
        interpreter.allocate_tensors()
        for _ in range(2):
            check(interpreter, 4, np.ones(size, np.float32))
    assert len(kept(interpreter)._loops) <= 8
    gc.collect()
    body = interpreter.core.subgraphs[2]
    assert len(body.earlier._lasting) <= 8


def gathers(body: SubgraphBuilder, inputs: list[int]) -> list[int]:
    """a -> a and its element at the counter, which may be out of range."""
    found, longer = body.tensor((1,)), body.tensor((3,), shape_signature=[-1])
    body.op(Op.GATHER, [inputs[2], inputs[0]], [found], tflite.GatherOptionsT())
    body.op(Op.CONCATENATION, [inputs[1], found], [longer], tflite.ConcatenationOptionsT())
    return [longer, inputs[2]]


def test_an_error_in_a_known_turn_names_the_inner_node() -> None:
    interpreter = ready(while_model([(2,), (5,)], gathers, signature=[-1]))
    table, a = np.arange(5, dtype=np.float32), np.zeros(2, np.float32)
    for _ in range(3):
        np.testing.assert_array_equal(run(interpreter, 2, a, table)[1], [0, 0, 2, 3, 4])
    for _ in range(2):
        with pytest.raises(InvokeError, match=r"WHILE.*subgraph 2, node 1 \(GATHER\).*positions must be in"):
            run(interpreter, -2, a, table)
        np.testing.assert_array_equal(run(interpreter, 2, a, table)[1], [0, 0, 2, 3, 4])


def test_known_turns_are_cancelled() -> None:
    interpreter = ready()
    for _ in range(3):
        check(interpreter, 1, np.array([1, 2], np.float32))
    with pytest.raises(TimeoutError):
        interpreter.invoke(timeout_s=1e-9)
    check(interpreter, 1, np.array([1, 2], np.float32))
    assert issubclass(CancelledError, RuntimeError)


def test_each_value_is_seen_by_who_watches(in_python: list[int]) -> None:
    interpreter = ready()
    for _ in range(3):
        check(interpreter, 1, np.array([1, 2], np.float32))
    seen = list[int]()
    interpreter.core.observe(lambda subgraph, tensors: seen.append(subgraph.index))
    interpreter.allocate_tensors()
    in_python.clear()
    check(interpreter, 1, np.array([1, 2], np.float32))
    assert in_python.count(2) == 4 and 2 in seen


def swaps() -> bytes:
    """a and b change places while b grows by an element of a: each lies where the other was read."""

    def body_of(body: SubgraphBuilder, inputs: list[int]) -> list[int]:
        longer = body.tensor((3,), shape_signature=[-1])
        options = tflite.ConcatenationOptionsT()
        body.op(Op.CONCATENATION, [inputs[2], inputs[1]], [longer], options)
        return [longer, inputs[1]]

    return while_model([(1,), (2,)], body_of, signature=[-1])


def test_values_that_change_places() -> None:
    interpreter = ready(swaps())
    a, b = np.array([1], np.float32), np.array([2, 3], np.float32)
    for n in range(4):
        x, y = a + n, b
        for _ in range(5):
            x, y = np.concatenate([y, x]), x
        _, first, second = run(interpreter, 0, a + n, b)
        np.testing.assert_array_equal(first, x)
        np.testing.assert_array_equal(second, y)


def test_a_body_with_a_result_of_unknown_size_is_not_kept(in_python: list[int]) -> None:
    def body_of(body: SubgraphBuilder, inputs: list[int]) -> list[int]:
        places, indices = body.tensor((2, 1), np.int64), body.tensor((2,), np.int64)
        found = body.tensor((2,), shape_signature=[-1])
        body.op(Op.WHERE, [inputs[1]], [places])
        body.op(Op.RESHAPE, [places, body.constant(np.array([-1], np.int32))], [indices])
        body.op(Op.GATHER, [inputs[1], indices], [found], tflite.GatherOptionsT())
        return [found]

    interpreter = ready(while_model([(4,)], body_of, signature=[-1]))
    for _ in range(3):
        in_python.clear()
        result = run(interpreter, 3, np.array([0, 5, 0, 6], np.float32))[1]
        np.testing.assert_array_equal(result, [5, 6])
        assert in_python == [1, 2, 1, 2, 1]
