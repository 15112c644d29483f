"""Custom operators in Python, and two threads that meet in one interpreter."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from numlite.interpreter import Interpreter, InterpreterWithCustomOps
from numlite.kernels.compiled.driver.library import Library
from numlite.kernels.register import BuiltinOpResolver
from numlite.lite.custom_op import custom_registration
from numlite.lite.errors import StateError, UnsupportedError
from numlite.lite.interpreter import Interpreter as CoreInterpreter
from numlite.lite.model import Model
from numlite.lite.settings import Settings

from .small_models import Op, chain, custom


class Twice:
    """y = 2 x."""

    def prepare(self, context: Any, node: Any) -> None:
        context.resize_tensor(context.output(node, 0), context.input(node, 0).shape)

    def invoke(self, context: Any, node: Any) -> None:
        context.output(node, 0).array()[...] = 2 * context.input(node, 0).array()


@pytest.mark.parametrize(
    "registerer",
    [
        ("Twice", Twice()),
        lambda resolver: resolver.add_custom("Twice", custom_registration("Twice", Twice())),
    ],
    ids=["pair", "function"],
)
def test_custom_operator(registerer: Any) -> None:
    interpreter = InterpreterWithCustomOps(custom_op_registerers=[registerer], model_content=custom())
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.arange(4, dtype=np.float32))
    interpreter.invoke()
    assert interpreter.get_tensor(3).tolist() == [0, 2, 4, 6]
    assert [details["op_name"] for details in interpreter._get_ops_details()] == ["NEG", "Twice", "NEG"]


def test_unresolved_custom_operator_waits_until_prepare() -> None:
    interpreter = Interpreter(model_content=custom("Mystery"))
    assert interpreter.get_input_details()[0]["name"] == "x"
    with pytest.raises(
        RuntimeError, match=r"node 1 \(Mystery\), output 'b': .*unresolved custom op: Mystery"
    ):
        interpreter.allocate_tensors()


def test_flex_operator_that_is_left_says_what_would_run_it() -> None:
    core = CoreInterpreter(Model(custom("FlexErf")), BuiltinOpResolver(), Library(), Settings())
    with pytest.raises(UnsupportedError, match=r"FlexErf.*flex delegate"):
        core.allocate_tensors()


@pytest.mark.parametrize(
    "registerer",
    ["RegisterTwice", 3, ("Twice", object()), ("a", "b", "c")],
    ids=["name", "number", "pair", "triple"],
)
def test_wrong_registerers(registerer: Any) -> None:
    with pytest.raises(ValueError):
        InterpreterWithCustomOps(custom_op_registerers=[registerer], model_content=custom())


def test_failing_custom_operator_is_named() -> None:
    class Fails:
        def invoke(self, context: Any, node: Any) -> None:
            raise KeyError("lost")

    interpreter = InterpreterWithCustomOps([("Twice", Fails())], model_content=custom())
    interpreter.allocate_tensors()
    with pytest.raises(RuntimeError, match=r"node 1 \(Twice\), output 'b': Twice: KeyError: 'lost'"):
        interpreter.invoke()


def test_scratch_memory_is_not_listed() -> None:
    class Scratch(Twice):
        def prepare(self, context: Any, node: Any) -> None:
            context.add_temporary(node, 100)

    interpreter = InterpreterWithCustomOps([("Twice", Scratch())], model_content=custom())
    interpreter.allocate_tensors()
    assert [details["name"] for details in interpreter.get_tensor_details()] == ["x", "a", "b", "y"]


def test_two_interpreters_in_two_threads() -> None:
    faults: list[str] = []

    def work(seed: int) -> None:
        interpreter = Interpreter(model_content=chain([Op.NEG, Op.ABS]), num_threads=2)
        interpreter.allocate_tensors()
        values = np.random.default_rng(seed)
        for _ in range(200):
            x = values.standard_normal((1, 4)).astype(np.float32)
            interpreter.set_tensor(0, x)
            interpreter.invoke()
            if not np.array_equal(interpreter.get_tensor(2), np.abs(x)):
                faults.append("wrong values")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def test_second_thread_is_refused_while_the_first_runs() -> None:
    inside, leave = threading.Event(), threading.Event()

    class Waits:
        def invoke(self, context: Any, node: Any) -> None:
            inside.set()
            leave.wait(10)

    interpreter = InterpreterWithCustomOps([("Twice", Waits())], model_content=custom())
    interpreter.allocate_tensors()
    thread = threading.Thread(target=interpreter.invoke)
    thread.start()
    inside.wait(10)
    try:
        calls = (
            interpreter.invoke,
            interpreter.allocate_tensors,
            interpreter.reset_all_variables,
            lambda: interpreter.resize_tensor_input(0, [5]),
        )
        for call in calls:
            with pytest.raises(StateError, match="another thread"):
                call()
    finally:
        leave.set()
        thread.join()
    interpreter.invoke()
