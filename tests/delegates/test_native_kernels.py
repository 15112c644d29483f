"""Delegates that hand in compiled kernels: the plan stays one native call."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite.delegates import (
    Delegate,
    DelegateContext,
    DelegateParams,
    SimpleDelegate,
    SimpleDelegateKernel,
    delegate_registration,
    prepare_replaced,
)
from numlite.interpreter import Interpreter
from numlite.lite.context import Context
from numlite.lite.errors import InvokeError
from numlite.lite.kernel_call import KernelCall
from numlite.lite.node import Node
from numlite.lite.registration import Registration
from numlite.lite.tensor import Tensor

from ..conftest import SHARED_MODELS
from .graphs import sine, sine_model, while_model, while_result
from .test_application import X, run

SINE = np.dtype([("x", np.int64), ("y", np.int64), ("n", np.int64)], align=True)


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
def sine_kernel(args: int, chunk: int, chunks: int) -> int:
    """Stands for a compiled kernel: nothing but its address is known to the runtime."""
    x, y, n = (ctypes.c_int64 * 3).from_address(args)
    if n == 0:
        return 7
    source = np.frombuffer((ctypes.c_float * n).from_address(x), np.float32)
    np.frombuffer((ctypes.c_float * n).from_address(y), np.float32)[:] = np.sin(source)
    return 0


class NativeKernel(SimpleDelegateKernel):
    def prepare(self, context: Context, node: Node) -> Sequence[KernelCall]:
        x, y = context.input(node, 0), context.output(node, 0)
        args = np.zeros(1, SINE)
        args["n"] = x.size
        address = ctypes.cast(sine_kernel, ctypes.c_void_p).value or 0
        messages = {7: "there is nothing to do"}
        return [KernelCall("sine", "sine_kernel", args, {"x": x, "y": y}, messages=messages, address=address)]


class NativeSine(SimpleDelegate):
    def is_node_supported(self, context: DelegateContext, node: Node, registration: Registration) -> bool:
        return registration.name == "SIN"

    def create_kernel(self) -> NativeKernel:
        return NativeKernel()


def test_plan_stays_one_native_call() -> None:
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[NativeSine()])
    assert np.array_equal(run(interpreter, X), sine(X))
    assert interpreter.core.subgraph().native_plan is not None
    assert [row.calls for row in interpreter.profile(1)] == [1] * 5


def test_body_of_a_loop_stays_native() -> None:
    interpreter = Interpreter(model_content=while_model(), experimental_delegates=[NativeSine()])
    x = np.linspace(0, 1, 3, dtype=np.float32)
    assert np.allclose(run(interpreter, x), while_result(x), rtol=1e-6)
    assert interpreter.core.subgraph().native_plan is not None
    assert np.allclose(run(interpreter, x[:2]), while_result(x[:2]), rtol=1e-6)


def test_status_of_a_native_kernel_has_words() -> None:
    interpreter = Interpreter(model_content=sine_model((0, 3)), experimental_delegates=[NativeSine()])
    with pytest.raises(InvokeError, match=r"node 5 \(NativeSine\).*nothing to do"):
        run(interpreter, np.zeros((0, 3), np.float32))


class NativeDevice(NativeSine):
    """Its compiled kernel leaves the result in memory of its own, under a handle."""

    def __init__(self) -> None:
        super().__init__()
        self.memory: dict[int, np.ndarray] = {}
        self.copied = 0

    def create_kernel(self) -> NativeDeviceKernel:
        return NativeDeviceKernel(self)

    def copy_from_buffer_handle(self, context: Context, handle: int, tensor: Tensor) -> None:
        self.copied += 1
        tensor.array()[...] = self.memory[handle]


class NativeDeviceKernel(NativeKernel):
    def __init__(self, device: NativeDevice) -> None:
        self.device = device

    def prepare(self, context: Context, node: Node) -> Sequence[KernelCall]:
        (call,) = super().prepare(context, node)
        y = context.output(node, 0)
        y.buffer_handle = y.index
        self.device.memory[y.index] = np.zeros(y.shape, np.float32)
        call.args["y"] = self.device.memory[y.index].ctypes.data
        call.tensors = {"x": context.input(node, 0)}
        return [call]


def test_results_of_native_kernels_in_device_memory() -> None:
    device = NativeDevice()
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[device])
    for x in (X, -X):
        assert np.array_equal(run(interpreter, x), sine(x))
    assert device.copied == 4


class Passing(Delegate):
    """Has every second node run by the kernels of the operator that it replaces."""

    def prepare(self, context: DelegateContext) -> None:
        registration = delegate_registration("Passing", _init, _prepare, _invoke)
        for n in context.execution_plan[::2]:
            context.replace_node_subsets_with_delegate_kernels(registration, [n])


def _init(context: DelegateContext, params: DelegateParams) -> Node:
    return context.node_and_registration(params.nodes_to_replace[0])[0]


def _prepare(context: Context, node: Node) -> Any:
    assert isinstance(node.user_data, Node)
    return prepare_replaced(context, node, node.user_data)


def _invoke(context: Context, node: Node) -> None:
    replaced: Any = node.user_data
    replaced.registration.invoke(context, replaced)


def test_kernels_of_the_library_and_several_replacements() -> None:
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[Passing()])
    plain = run(Interpreter(model_content=sine_model()), X)
    assert np.array_equal(run(interpreter, X), plain)
    assert interpreter.core.subgraph().native_plan is not None
    assert sorted(row.op for row in interpreter.profile(1)) == ["ADD", *["Passing"] * 3, "SIN"]


class Whole(Delegate):
    """Has partitions of as many nodes as possible run by their own compiled kernels."""

    def prepare(self, context: DelegateContext) -> None:
        registration = delegate_registration("Whole", _init_all, _prepare_all)
        context.replace_node_subsets_with_delegate_kernels(registration, context.execution_plan)


def _init_all(context: DelegateContext, params: DelegateParams) -> list[Node]:
    return [context.node_and_registration(n)[0] for n in params.nodes_to_replace]


def _prepare_all(context: Context, node: Node) -> list[KernelCall]:
    replaced: Any = node.user_data
    return [call for one in replaced for call in prepare_replaced(context, node, one) or ()]


def outputs_of(path: Path, delegates: list[Delegate]) -> tuple[list[np.ndarray], bool]:
    interpreter = Interpreter(path, experimental_delegates=delegates)
    interpreter.allocate_tensors()
    random = np.random.default_rng(0)
    for detail in interpreter.get_input_details():
        value = random.random(detail["shape"]) * 100
        interpreter.set_tensor(detail["index"], value.astype(detail["dtype"]))
    interpreter.invoke()
    values = [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]
    return values, interpreter.core.subgraph().native_plan is not None


@pytest.mark.parametrize("name", ["resnet8_float", "kws_int8", "streaming_wakeword_int8", "toycar_dynamic"])
def test_real_models_through_their_own_kernels(name: str) -> None:
    path = SHARED_MODELS / f"{name}.tflite"
    if not path.exists():
        pytest.skip("no ../shared/models beside the repository")
    plain, native = outputs_of(path, [])
    for delegate in (Passing(), Whole()):
        delegated, still_native = outputs_of(path, [delegate])
        for expected, got in zip(plain, delegated, strict=True):
            np.testing.assert_array_equal(got, expected)
        assert still_native == native
