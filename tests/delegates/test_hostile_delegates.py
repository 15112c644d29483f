"""Delegates that fail, lie, or are used in unkind orders: clear errors, and the interpreter still runs."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numlite.delegates import (
    Delegate,
    DelegateContext,
    DelegateFlags,
    DelegateParams,
    delegate_registration,
)
from numlite.interpreter import Interpreter, InterpreterWithCustomOps
from numlite.lite.context import Context
from numlite.lite.errors import DelegateError, InvokeError, PrepareError, StateError
from numlite.lite.node import Node
from numlite.lite.tensor import TensorType
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from .graphs import Op, add, sine, sine_model, unary, while_model
from .numpy_delegate import NumpyDelegate
from .test_application import OPS, Hooks, X, _fail, _sine, ran, run
from .test_buffer_handles import Device

LOOP_X = np.linspace(0, 1, 3, dtype=np.float32)


def failing_prepare(context: DelegateContext) -> None:
    """Fails after it has replaced nodes."""
    registration = delegate_registration("Half", _keep, invoke=_sine)
    context.replace_node_subsets_with_delegate_kernels(registration, [0])
    _fail()


def _keep(context: DelegateContext, params: DelegateParams) -> None:
    """Nothing to make."""


def twice(context: DelegateContext) -> None:
    registration = delegate_registration("Twice", _keep, invoke=_sine)
    for _ in range(2):
        context.replace_node_subsets_with_delegate_kernels(registration, [0])


@pytest.mark.parametrize("prepare", [failing_prepare, twice])
@pytest.mark.parametrize("loop", [False, True])
def test_a_plan_half_changed_is_restored(prepare: Callable[[DelegateContext], None], loop: bool) -> None:
    content, x = (while_model(), LOOP_X) if loop else (sine_model(), X)
    interpreter = Interpreter(model_content=content)
    expected = run(interpreter, x)
    delegate = Hooks("SIN")
    delegate.prepare = (  # type: ignore[method-assign]
        lambda context: prepare(context) if context.index == (2 if loop else 0) else None
    )
    with pytest.raises(DelegateError, match="Restored original execution plan"):
        interpreter.modify_graph_with_delegate(delegate)
    assert all(node.delegate is None for subgraph in interpreter.core.subgraphs for node in subgraph.nodes)
    assert np.array_equal(run(interpreter, x), expected)
    interpreter.modify_graph_with_delegate(NumpyDelegate("ADD"))
    assert np.allclose(run(interpreter, x), expected, rtol=1e-6)


def wrong_type(context: Context, node: Node) -> None:
    context.output(node, 0).type = TensorType.INT32


def wrong_shape(context: Context, node: Node) -> None:
    context.resize_tensor(context.output(node, 0), (7, 7))


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        (wrong_type, r"output of Hooks: it must stay float32 2x3, got .* int32 2x3"),
        (wrong_shape, r"output of Hooks: it must stay float32 2x3, got .* float32 7x7"),
    ],
)
def test_lies_about_an_output_that_no_node_reads(lie: Callable[..., None], message: str) -> None:
    graph = ModelBuilder()
    x = graph.tensor(X.shape)
    content = graph.build([x], [unary(graph, Op.SIN, x, X.shape)])
    interpreter = Interpreter(model_content=content)
    with pytest.raises(DelegateError, match=message):
        interpreter.modify_graph_with_delegate(Hooks(prepare=lie))
    assert interpreter.get_output_details()[0]["dtype"] is np.float32
    assert np.allclose(run(interpreter, X), np.sin(X), atol=1e-6)


def lie_of_shape_in_invoke(context: Context, node: Node) -> None:
    context.output(node, 0).array()[...] = np.zeros((9, 9), np.float32)


def resize_in_invoke(context: Context, node: Node) -> None:
    context.resize_tensor(context.output(node, 0), (1, 1))


def stale_without_handle(context: Context, node: Node) -> None:
    context.output(node, 0).data_is_stale = True


def stale_without_copy(context: Context, node: Node) -> None:
    context.output(node, 0).buffer_handle = 4
    context.output(node, 0).data_is_stale = True


def no_such_input(context: Context, node: Node) -> None:
    context.input(node, 8)


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        (lie_of_shape_in_invoke, "broadcast"),
        (resize_in_invoke, "only a dynamic tensor can be resized while running"),
        (stale_without_handle, "a stale tensor must have a buffer handle"),
        (stale_without_copy, "and its delegate copy_from_buffer_handle, got handle 4"),
        (no_such_input, "input 8 is missing"),
    ],
)
def test_lies_in_invoke(lie: Callable[..., None], message: str) -> None:
    lies = iter([lie])
    delegate = Hooks(invoke=lambda context, node: next(lies, honest)(context, node))
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    with pytest.raises(InvokeError, match=rf"node 5 \(Hooks\), output 't2': .*{message}"):
        run(interpreter, X)
    assert np.array_equal(run(interpreter, X), sine(X))


def honest(context: Context, node: Node) -> None:
    output = context.output(node, 0)
    output.data_is_stale = False
    output.buffer_handle = -1
    _sine(context, node)


def test_a_delegate_without_hooks_that_run() -> None:
    delegate = Hooks(invoke=None)
    with pytest.raises(DelegateError, match="prepare returned no calls and there is no invoke"):
        Interpreter(model_content=sine_model(), experimental_delegates=[delegate])


def test_the_interpreter_keeps_its_delegates_alive() -> None:
    device = Device("SIN", "ADD", "MUL")
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[device])
    assert np.array_equal(run(interpreter, X), sine(X))
    alive = weakref.ref(device)
    memory = device.memory
    del device
    gc.collect()
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(6), sine(X))
    del interpreter
    gc.collect()
    assert alive() is None and not memory


class Closing(Device):
    """Can be closed, as a delegate whose device is gone."""

    closed = False

    def copy_from_buffer_handle(self, context: Context, handle: int, tensor: Any) -> None:
        if self.closed:
            raise RuntimeError("the device is closed")
        super().copy_from_buffer_handle(context, handle, tensor)

    def free_buffer_handle(self, context: Context, handle: int) -> None:
        if self.closed:
            raise RuntimeError("the device is closed")
        super().free_buffer_handle(context, handle)


def test_a_delegate_that_is_freed_while_tensors_hold_its_handles() -> None:
    device = Closing("SIN")
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[device])
    assert np.array_equal(run(interpreter, X), sine(X))
    device.closed = True
    with pytest.raises(InvokeError, match="could not copy it from buffer handle 1: the device is closed"):
        interpreter.invoke()
    with pytest.raises(StateError, match=r"delegate Closing could not copy it .* the device is closed"):
        interpreter.get_tensor(2)
    with pytest.warns(RuntimeWarning, match=r"buffer handle \d: it could not be freed .*closed"):
        interpreter.resize_tensor_input(0, (1, 3))
    assert interpreter.core.subgraph().execution_plan == [0, 1, 2, 3, 4]
    device.closed = False
    assert np.array_equal(run(interpreter, X[:1]), sine(X[:1]))


def test_a_free_hook_that_fails_stops_no_other() -> None:
    freed: list[int] = []

    def free(context: Context, node: Node) -> None:
        freed.append(node.index)
        _fail()

    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[Hooks(free=free)])
    with pytest.warns(RuntimeWarning, match=r"it could not be freed .*on fire"):
        interpreter.resize_tensor_input(0, (1, 3))
    assert freed == [5, 6]
    assert np.array_equal(run(interpreter, X[:1]), sine(X[:1]))
    with pytest.warns(RuntimeWarning, match="on fire"):
        del interpreter
    assert freed == [5, 6, 5, 6]


@dataclass
class Equal(NumpyDelegate):
    """Equal to all others of its kind, though another one."""

    operator: str

    def __post_init__(self) -> None:
        NumpyDelegate.__init__(self, self.operator)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equal)


def test_delegates_are_told_apart_by_identity() -> None:
    first, second = Equal("SIN"), Equal("ADD")
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[first, second])
    assert np.array_equal(run(interpreter, X), sine(X))
    assert [name for name, _ in ran(interpreter)].count("Equal") == 3
    assert np.array_equal(run(interpreter, X[:1]), sine(X[:1]))


def test_one_that_failed_after_a_resize_may_be_applied_again() -> None:
    broken = [False]

    def init(context: DelegateContext, params: DelegateParams) -> None:
        if broken[0]:
            _fail()

    delegate = Hooks(init=init)
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    broken[0] = True
    interpreter.resize_tensor_input(0, (1, 3))
    with pytest.raises(DelegateError, match="on fire"):
        interpreter.allocate_tensors()
    interpreter.allocate_tensors()
    assert ran(interpreter) == OPS
    broken[0] = False
    interpreter.modify_graph_with_delegate(delegate)
    assert np.array_equal(run(interpreter, X), sine(X))
    assert [name for name, _ in ran(interpreter)].count("Hooks") == 2


class AddingTensors(NumpyDelegate):
    def prepare(self, context: DelegateContext) -> None:
        context.add_tensors(100)
        super().prepare(context)


def test_resizes_do_not_pile_up_tensors() -> None:
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[AddingTensors("SIN")])
    counts = []
    for rows in (1, 2, 3, 4, 5):
        x = np.ones((rows, 3), np.float32)
        assert np.array_equal(run(interpreter, x), sine(x))
        counts.append(len(interpreter.core.subgraph().tensors))
    assert len(set(counts)) == 1 and counts[0] >= 107


def accumulator() -> bytes:
    """A variable v; v = v + x, and the output is v + v."""
    graph = ModelBuilder()
    x, v = graph.tensor((3,)), graph.tensor((3,), is_variable=True)
    graph.op(Op.ADD, [v, x], [v], tflite.AddOptionsT())
    return graph.build([x], [add(graph, v, v, (3,))])


class Rules(Device):
    """The same without a way to give it values back."""

    copy_to_buffer_handle = Delegate.copy_to_buffer_handle


@pytest.mark.parametrize("make", [Device, Rules])
def test_a_variable_in_a_delegates_memory_is_reset(make: type[Device]) -> None:
    interpreter = Interpreter(model_content=accumulator(), experimental_delegates=[make("ADD")])
    plain = Interpreter(model_content=accumulator())
    for target in (interpreter, plain):
        target.allocate_tensors()
        target.set_tensor(0, np.ones(3, np.float32))
    for step in range(6):
        if step == 3:
            interpreter.reset_all_variables()
            plain.reset_all_variables()
        interpreter.invoke()
        plain.invoke()
        assert np.array_equal(interpreter.get_tensor(2), plain.get_tensor(2)), step


def test_an_input_is_bound_to_a_handle_after_allocation() -> None:
    """Nodes of the CPU read the value that the delegate holds, though they were planned before."""
    device = Device("SIN")
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[device])
    assert np.array_equal(run(interpreter, X), sine(X))
    device.memory[50] = -X
    interpreter.core.set_buffer_handle(0, 50, device)
    interpreter.core.tensor(0).data_is_stale = True
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(6), sine(-X))


def test_one_delegate_in_two_threads() -> None:
    shared = NumpyDelegate("SIN")
    wrong: list[object] = []

    def work(scale: int) -> None:
        try:
            interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[shared])
            for rows in (2, 1, 3, 2) * 10:
                x = np.full((rows, 3), scale, np.float32)
                if not np.array_equal(run(interpreter, x), sine(x)):
                    wrong.append(x)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(scale,)) for scale in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_invoke_that_calls_its_own_interpreter() -> None:
    holder: list[Interpreter] = []

    def invoke(context: Context, node: Node) -> None:
        holder[0].invoke()

    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[Hooks(invoke=invoke)])
    holder.append(interpreter)
    with pytest.raises(InvokeError, match=r"the call comes from an operator or delegate that it runs"):
        run(interpreter, X)
    holder.clear()


def test_a_dynamic_delegates_kernel_that_refuses_a_shape() -> None:
    def prepare(context: Context, node: Node) -> None:
        if context.input(node, 0).shape[0] == 1:
            raise ValueError("one row is too few")
        context.resize_tensor(context.output(node, 0), context.input(node, 0).shape)

    delegate = Hooks(flags=DelegateFlags.ALLOW_DYNAMIC_TENSORS, prepare=prepare)
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    with pytest.raises(PrepareError, match="one row is too few"):
        run(interpreter, X[:1])
    assert np.array_equal(run(interpreter, X), sine(X))


class Doubling:
    def prepare(self, context: Context, node: Node) -> None:
        context.resize_tensor(context.output(node, 0), context.input(node, 0).shape)

    def invoke(self, context: Context, node: Node) -> None:
        context.output(node, 0).array()[...] = 2 * context.input(node, 0).array()


def test_custom_operators_between_partitions() -> None:
    graph = ModelBuilder()
    x = graph.tensor(X.shape)
    first = unary(graph, Op.SIN, x, X.shape)
    doubled = graph.tensor(X.shape)
    graph.op(Op.CUSTOM, [first], [doubled], custom_code="Doubling")
    content = graph.build([x], [unary(graph, Op.SIN, doubled, X.shape)])
    device = Device("SIN")
    interpreter: Any = InterpreterWithCustomOps(
        [("Doubling", Doubling())], model_content=content, experimental_delegates=[device]
    )
    for x_value in (X, X[:1], X):
        assert np.array_equal(run(interpreter, x_value), np.sin(2 * np.sin(x_value)))
