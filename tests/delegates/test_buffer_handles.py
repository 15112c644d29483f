"""Tensors in a delegate's memory: copied only for others, once, and freed."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.delegates import DelegateContext, DelegateParams, SimpleDelegate, SimpleDelegateKernel
from numlite.interpreter import Interpreter
from numlite.lite.context import Context
from numlite.lite.errors import StateError
from numlite.lite.node import Node
from numlite.lite.registration import Registration
from numlite.lite.tensor import Tensor

from ..model_builder import ModelBuilder
from .graphs import Op, add, sine, sine_model, unary, while_model, while_result
from .numpy_delegate import FUNCTIONS
from .test_application import X, run


class DeviceKernel(SimpleDelegateKernel):
    def __init__(self, device: Device) -> None:
        self.device = device

    def init(self, context: DelegateContext, params: DelegateParams) -> None:
        self.nodes = [context.node_and_registration(n)[0] for n in params.nodes_to_replace]

    def invoke(self, context: Context, node: Node) -> None:
        values = {t: self.device.value(context.tensor(t)) for t in node.inputs}
        for replaced in self.nodes:
            function = FUNCTIONS[replaced.registration.name]
            values[replaced.outputs[0]] = function(*(values[t] for t in replaced.inputs))
        for t in node.outputs:
            self.device.keep(context.tensor(t), values[t])


class Device(SimpleDelegate):
    """Keeps its results under handles, and counts what it copies and frees."""

    def __init__(self, *operators: str) -> None:
        super().__init__()
        self.operators = operators
        self.memory: dict[int, np.ndarray] = {}
        self.copied: list[int] = []
        self.uploaded = 0
        self.freed: list[int] = []
        self.handles = 0

    def is_node_supported(self, context: DelegateContext, node: Node, registration: Registration) -> bool:
        return registration.name in self.operators

    def create_kernel(self) -> DeviceKernel:
        return DeviceKernel(self)

    def value(self, tensor: Tensor) -> np.ndarray:
        if tensor.delegate is self and tensor.buffer_handle != -1:
            return self.memory[tensor.buffer_handle]
        return tensor.array()

    def keep(self, tensor: Tensor, value: np.ndarray) -> None:
        if tensor.buffer_handle == -1:
            self.handles += 1
            tensor.buffer_handle = self.handles
        self.memory[tensor.buffer_handle] = value
        tensor.data_is_stale = True

    def copy_from_buffer_handle(self, context: Context, handle: int, tensor: Tensor) -> None:
        self.copied.append(tensor.index)
        tensor.array()[...] = self.memory[handle]

    def copy_to_buffer_handle(self, context: Context, handle: int, tensor: Tensor) -> None:
        self.uploaded += 1
        self.memory[handle] = tensor.array().copy()

    def free_buffer_handle(self, context: Context, handle: int) -> None:
        self.freed.append(handle)
        del self.memory[handle]


def test_only_what_others_read_is_copied() -> None:
    device = Device("SIN", "ADD")
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[device])
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, X)
    interpreter.invoke()
    # [SIN, ADD], [MUL], [SIN, ADD]: the first pair's sum goes straight to the last one.
    assert device.copied == []
    for _ in range(2):
        assert np.array_equal(interpreter.get_tensor(6), sine(X))
    assert np.array_equal(interpreter.tensor(6)(), sine(X))
    assert device.copied == [6]
    interpreter.invoke()
    assert np.array_equal(interpreter.tensor(6)(), sine(X))
    assert device.copied == [6, 6]


def test_a_node_of_the_cpu_reads_a_copy() -> None:
    device = Device("SIN")
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[device])
    for x in (X, -X):
        assert np.array_equal(run(interpreter, x), sine(x))
    assert device.copied == [2, 5, 2, 5]
    assert "COPY_FROM_BUFFER_HANDLE" in {row.op for row in interpreter.profile(1)}


def test_another_delegate_reads_a_copy() -> None:
    first, second = Device("SIN"), Device("ADD")
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[first, second])
    assert np.array_equal(run(interpreter, X), sine(X))
    assert first.copied == [2, 5] and second.copied == [6]


def test_intermediate_tensor_is_read_beside_the_arena() -> None:
    shape = (2, 3)
    graph = ModelBuilder()
    x = graph.tensor(shape)
    y = unary(graph, Op.SIN, x, shape)
    z = unary(graph, Op.NEG, unary(graph, Op.ABS, x, shape), shape)
    out = add(graph, add(graph, y, y, shape), z, shape)
    device = Device("SIN", "ADD")
    content = graph.build([x], [out])
    interpreter = Interpreter(model_content=content, experimental_delegates=[device])
    device.memory.clear()
    expected = 2 * np.sin(X) - np.abs(X)
    assert np.allclose(run(interpreter, X), expected)


def test_handles_are_freed_with_the_interpreter_and_by_a_resize() -> None:
    device = Device("SIN")
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[device])
    run(interpreter, X)
    interpreter.resize_tensor_input(0, (1, 3))
    assert device.freed == [1, 2]
    run(interpreter, X[:1])
    del interpreter
    assert device.freed == [1, 2, 3, 4] and not device.memory


def test_memory_that_is_gone_is_an_error_in_words() -> None:
    device = Device("SIN", "ADD", "MUL")
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[device])
    run(interpreter, X)
    interpreter.invoke()
    memory = dict(device.memory)
    device.memory.clear()
    with pytest.raises(StateError, match="delegate Device could not copy it from buffer handle 1"):
        interpreter.get_tensor(6)
    device.memory.update(memory)
    assert np.array_equal(run(interpreter, X), sine(X))


def test_stale_without_a_handle_is_an_error() -> None:
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[Device("SIN")])
    run(interpreter, X)
    interpreter.core.tensor(6).data_is_stale = True
    with pytest.raises(StateError, match="no buffer handle"):
        interpreter.get_tensor(6)


def test_input_bound_to_a_handle() -> None:
    device = Device("SIN", "ADD", "MUL")
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[device])
    interpreter.allocate_tensors()
    device.memory[100] = X
    interpreter.core.set_buffer_handle(0, 100, device)
    assert interpreter.core.get_buffer_handle(0) == (100, device)
    assert np.array_equal(interpreter.get_tensor(0), np.zeros_like(X))
    interpreter.set_tensor(0, X)
    interpreter.set_tensor(0, -X)
    assert device.uploaded == 2
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(6), sine(-X))
    with pytest.raises(StateError, match="another delegate holds it"):
        interpreter.core.set_buffer_handle(0, 1, Device())
    interpreter.core.set_buffer_handle(0, -1, device)
    assert device.freed == [100]


def test_bodies_hand_over_readable_tensors() -> None:
    device = Device("SIN", "ADD")
    interpreter = Interpreter(model_content=while_model(), experimental_delegates=[device])
    x = np.linspace(0, 1, 3, dtype=np.float32)
    assert np.allclose(run(interpreter, x), while_result(x), rtol=1e-6)
    assert device.copied
