"""Runs that are stopped from another thread or by a timeout; the interpreter can be used again."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numlite.cli.main import cli, run_command
from numlite.delegates.cuda.cpu_partition import CpuPartition
from numlite.interpreter import Interpreter, InterpreterWithCustomOps
from numlite.lite.errors import CancelledError, StateError, TimedOutError
from numlite.schema.tflite import BuiltinOperator

from .endless_models import GO, MODELS, X, once_model
from .model_builder import ModelBuilder
from .running import LIMIT_S, once_running

CASES = [(name, threads) for name in MODELS for threads in (1, 2)]


def ready(content: bytes, num_threads: int = 1) -> Interpreter:
    interpreter = Interpreter(model_content=content, num_threads=num_threads)
    interpreter.allocate_tensors()
    return interpreter


def set_go(interpreter: Interpreter, go: bool) -> None:
    interpreter.set_tensor(interpreter.get_input_details()[GO]["index"], np.array([go]))


def endless(name: str, num_threads: int = 1) -> Interpreter:
    interpreter = ready(MODELS[name], num_threads)
    set_go(interpreter, True)
    return interpreter


def check_usable(interpreter: Interpreter) -> None:
    """It runs to its end, with the right result."""
    set_go(interpreter, False)
    x = interpreter.get_input_details()[X]
    value = np.arange(x["shape"][0], dtype=np.float32)
    interpreter.set_tensor(x["index"], value)
    interpreter.invoke(timeout_s=LIMIT_S)
    np.testing.assert_array_equal(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]), value)


@pytest.mark.parametrize(("name", "num_threads"), CASES)
def test_cancel_from_another_thread(name: str, num_threads: int) -> None:
    interpreter = endless(name, num_threads)
    for _ in range(3):
        with (
            once_running(interpreter, interpreter.cancel),
            pytest.raises(CancelledError, match=r"node 0 \(W"),
        ):
            interpreter.invoke(timeout_s=LIMIT_S)
    check_usable(interpreter)


@pytest.mark.parametrize(("name", "num_threads"), CASES)
def test_timeout(name: str, num_threads: int) -> None:
    interpreter = endless(name, num_threads)
    for _ in range(2):
        with pytest.raises(TimeoutError, match=r"node 0 \(WHILE\), output .*timeout_s") as caught:
            interpreter.invoke(timeout_s=0.05)
        assert isinstance(caught.value, StateError)
    check_usable(interpreter)


@pytest.mark.parametrize("timeout_s", [0, -1, float("nan")])
def test_a_timeout_is_more_than_nothing(timeout_s: float) -> None:
    with pytest.raises(ValueError, match="timeout_s: it must be more than 0"):
        endless("sum").invoke(timeout_s=timeout_s)


def test_a_timeout_is_over_with_its_run() -> None:
    interpreter = endless("sum")
    check_usable(interpreter)
    set_go(interpreter, True)
    with pytest.raises(TimedOutError):
        interpreter.invoke(timeout_s=0.01)
    with once_running(interpreter, interpreter.cancel), pytest.raises(CancelledError):
        interpreter.invoke()


def test_the_error_names_the_inner_node() -> None:
    interpreter = endless("nested")
    with pytest.raises(TimedOutError, match=r"node 0 \(WHILE\), .*: subgraph 2, node 0 \(WHILE\), output"):
        interpreter.invoke(timeout_s=0.05)


def test_initialization_is_stopped_and_done_later() -> None:
    interpreter = ready(once_model())
    for _ in range(2):
        with pytest.raises(
            TimedOutError, match=r"node 0 \(CALL_ONCE\): CALL_ONCE: subgraph 1, node 0 \(WHILE"
        ):
            interpreter.invoke(timeout_s=0.02)


def test_cancelling_where_nothing_runs_does_nothing() -> None:
    interpreter = endless("sum")
    interpreter.cancel()
    check_usable(interpreter)
    interpreter.cancel()
    interpreter.allocate_tensors()
    check_usable(interpreter)


def test_only_the_cancelled_one_stops() -> None:
    first, second = endless("sum"), endless("sum")
    ended: list[type] = []

    def run_second() -> None:
        try:
            second.invoke(timeout_s=LIMIT_S)
        except CancelledError:
            ended.append(CancelledError)

    thread = threading.Thread(target=run_second)
    with once_running(second, first.cancel):  # which does not run: nothing happens
        thread.start()
        with once_running(first, first.cancel), pytest.raises(CancelledError):
            first.invoke(timeout_s=LIMIT_S)
    assert second.core.is_running and not ended
    second.cancel()
    thread.join()
    assert ended == [CancelledError]
    check_usable(first)
    check_usable(second)


def test_the_thread_pool_outlives_a_cancel() -> None:
    stopped, other = endless("large", 2), ready(MODELS["large"], 2)
    for _ in range(5):
        with once_running(stopped, stopped.cancel), pytest.raises(CancelledError):
            stopped.invoke(timeout_s=LIMIT_S)
        check_usable(other)
    check_usable(stopped)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
def test_a_forked_child_can_stop_runs() -> None:
    interpreter = endless("large", 2)
    with pytest.raises(TimedOutError):
        interpreter.invoke(timeout_s=0.02)
    child = os.fork()
    if child == 0:
        try:
            with once_running(interpreter, interpreter.cancel), pytest.raises(CancelledError):
                interpreter.invoke(timeout_s=LIMIT_S)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            interrupt = partial(os.kill, os.getpid(), signal.SIGINT)
            with once_running(interpreter, interrupt), pytest.raises(KeyboardInterrupt):
                interpreter.invoke(timeout_s=LIMIT_S)
            check_usable(interpreter)
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    check_usable(interpreter)


def test_a_signature_is_one_run() -> None:
    interpreter = endless("sum")
    runner = interpreter.get_signature_runner("run")
    inputs = {"go": np.array([True]), "x": np.zeros(4, np.float32)}
    with once_running(interpreter, interpreter.cancel), pytest.raises(CancelledError):
        runner(**inputs)
    runner.timeout_s = 0.02
    with pytest.raises(TimedOutError):
        runner(**inputs)
    inputs["go"] = np.array([False])
    np.testing.assert_array_equal(runner(**inputs)["end"], inputs["x"])


class Canceller:
    """A custom operator that stops its interpreter in prepare, or in invoke."""

    interpreter: Interpreter
    when = ""

    def prepare(self, context, node):
        context.resize_tensor(context.output(node, 0), context.input(node, 0).shape)
        if self.when == "prepare":
            self.interpreter.cancel()

    def invoke(self, context, node):
        if self.when == "invoke":
            self.interpreter.cancel()


def custom_chain(codes: Sequence[str]) -> bytes:
    """Custom operators one behind the other; "" is an ABS."""
    model = ModelBuilder()
    first = last = model.tensor((2,))
    for code in codes:
        y = model.tensor((2,))
        if code:
            model.op(BuiltinOperator.CUSTOM, [last], [y], custom_code=code)
        else:
            model.op(BuiltinOperator.ABS, [last], [y])
        last = y
    return model.build([first], [last])


@pytest.mark.parametrize(("when", "after"), [("prepare", ""), ("invoke", ""), ("invoke", "Stop")])
def test_python_nodes_look_at_it_too(when: str, after: str) -> None:
    stop = Canceller()
    interpreter = InterpreterWithCustomOps([("Stop", stop)], model_content=custom_chain(["", "Stop", after]))
    stop.interpreter = interpreter
    if when == "invoke":
        interpreter.allocate_tensors()
    stop.when = when
    call = interpreter.allocate_tensors if when == "prepare" else interpreter.invoke
    with pytest.raises(CancelledError, match=r"node 2 \((ABS|Stop)\).*the run was cancelled"):
        call()
    stop.when = ""
    interpreter.allocate_tensors()
    interpreter.invoke()


def test_a_partition_on_the_cpu_is_stopped_with_the_model_around_it() -> None:
    content = custom_chain(["", ""])
    outer = ready(content).core
    partition = CpuPartition(content, outer.subgraph())
    outer.runtime.cancellation.cancel()
    with pytest.raises(CancelledError, match="node 0"):
        partition._inner.allocate_tensors()
    outer.runtime.cancellation.go_on()
    partition._inner.allocate_tensors()


@pytest.mark.parametrize("arguments", [["run"], ["run", "--signature", "run"], ["benchmark"]])
def test_commands_give_up(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "endless.tflite"
    path.write_bytes(MODELS["sum"])
    np.save(tmp_path / "go.npy", np.array([True]))
    source = f"go={tmp_path / 'go.npy'}"
    assert run_command(cli, [*arguments, str(path), "-i", source, "--timeout", "0.05"]) == 1
    assert "timeout_s, which is over" in capsys.readouterr().err
