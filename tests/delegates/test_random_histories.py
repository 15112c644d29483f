"""Random histories of one interpreter: delegates, failures, resizes and runs in any order."""

from __future__ import annotations

import gc
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numlite.delegates import Delegate, DelegateContext, DelegateFlags, SimpleDelegateOptions
from numlite.interpreter import Interpreter
from numlite.lite.context import Context
from numlite.lite.errors import DelegateError
from numlite.lite.node import Node
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from .graphs import Op, add, unary, while_model, while_result
from .numpy_delegate import NumpyDelegate, NumpyKernel
from .test_buffer_handles import Device, DeviceKernel
from .test_random_claims import ClaimingDevice, Step, build, graphs


class DynamicKernel(NumpyKernel):
    def prepare(self, context: Context, node: Node) -> None:
        for t in node.outputs:
            context.resize_tensor(context.tensor(t), context.tensor(node.inputs[-1]).shape)


class Dynamic(NumpyDelegate):
    flags = DelegateFlags.ALLOW_DYNAMIC_TENSORS

    def create_kernel(self) -> DynamicKernel:
        return DynamicKernel()


class FailingKernel(NumpyKernel):
    def prepare(self, context: Context, node: Node) -> None:
        raise RuntimeError("out of memory")


class FailsInKernel(NumpyDelegate):
    def create_kernel(self) -> NumpyKernel:
        return FailingKernel()


class FailsInPrepare(NumpyDelegate):
    def prepare(self, context: DelegateContext) -> None:
        super().prepare(context)
        raise RuntimeError("out of memory")


class FailsInInit(ClaimingDevice):
    def create_kernel(self) -> DeviceKernel:
        raise RuntimeError("out of memory")


KINDS: list[Any] = [NumpyDelegate, Dynamic, ClaimingDevice]
FAILING: list[Any] = [FailsInKernel, FailsInPrepare, FailsInInit]


def make(kind: Any, nodes: tuple[int, ...] | None) -> Delegate:
    options = SimpleDelegateOptions(allow_nodes=nodes)
    delegate: Delegate = kind(options) if issubclass(kind, ClaimingDevice) else kind(options=options)
    return delegate


def actions(count: int) -> st.SearchStrategy[tuple[Any, ...]]:
    nodes = st.lists(st.integers(0, count - 1), min_size=1, unique=True).map(tuple)
    return st.one_of(
        st.tuples(st.just("apply"), st.sampled_from(KINDS), nodes),
        st.tuples(st.just("fail"), st.sampled_from(FAILING), nodes),
        st.tuples(st.just("resize"), st.integers(1, 4)),
        st.tuples(st.just("run"), st.integers(-2, 2)),
        st.tuples(st.just("release")),
    )


class History:
    """An interpreter with delegates beside a plain one, which must always agree."""

    def __init__(self, content: bytes, outputs: list[int]) -> None:
        self.content, self.outputs, self.rows = content, outputs, 2
        self.interpreter = Interpreter(model_content=content)
        self.applied: list[Delegate] = []
        self.taken: set[int] = set()

    def apply(self, kind: Any, nodes: tuple[int, ...]) -> None:
        delegate = make(kind, nodes)
        self.interpreter.modify_graph_with_delegate(delegate)
        self.applied.append(delegate)
        self.taken.update(nodes)

    def fail(self, kind: Any, nodes: tuple[int, ...]) -> None:
        if self.taken.issuperset(nodes):
            return  # nothing is left to fail with
        with pytest.raises(DelegateError, match="out of memory"):
            self.interpreter.modify_graph_with_delegate(make(kind, nodes))
            self.interpreter.allocate_tensors()
        self.applied.clear()
        self.taken.clear()
        assert all(node.delegate is None for node in self.interpreter.core.subgraph().nodes)

    def resize(self, rows: int) -> None:
        self.rows = rows
        self.interpreter.resize_tensor_input(0, (rows, 3))

    def release(self) -> None:
        self.interpreter.release_nonpersistent_memory()

    def run(self, scale: int) -> None:
        x = scale * np.linspace(-1, 1, 3 * self.rows, dtype=np.float32).reshape(self.rows, 3)
        plain = Interpreter(model_content=self.content)
        plain.resize_tensor_input(0, x.shape)
        for interpreter in (plain, self.interpreter):
            interpreter.allocate_tensors()
            interpreter.set_tensor(0, x)
            interpreter.invoke()
        for t in self.outputs:
            np.testing.assert_array_equal(self.interpreter.get_tensor(t), plain.get_tensor(t))
        nodes = self.interpreter.core.subgraph().nodes
        owners = {id(node.delegate) for node in nodes if node.delegate is not None}
        assert owners <= set(map(id, self.applied))


def test_a_kernel_that_fails_holds_nothing() -> None:
    """What its error stood for goes with the interpreter, not when garbage is collected."""
    gc.disable()
    try:
        history = History(build([("NEG", 0, 0)] * 2, [1], []), [1])
        history.fail(FailsInKernel, (0,))
        history.apply(ClaimingDevice, (0,))
        history.run(1)
        [device] = history.applied
        assert isinstance(device, ClaimingDevice) and device.memory
        history.applied.clear()
        del history
        assert not device.memory
    finally:
        gc.enable()


@settings(max_examples=80)
@given(st.data(), graphs())
def test_histories(data: Any, graph: tuple[list[Step], list[int], list[tuple[int, int]]]) -> None:
    steps, outputs, edges = graph
    history = History(build(steps, outputs, edges), outputs)
    with np.errstate(over="ignore", invalid="ignore"):
        for action, *arguments in data.draw(st.lists(actions(len(steps)), max_size=10)):
            getattr(history, action)(*arguments)
        history.run(1)
    devices = [delegate for delegate in history.applied if isinstance(delegate, ClaimingDevice)]
    history.applied.clear()
    del history
    assert all(not device.memory for device in devices)


@settings(max_examples=40)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from([NumpyDelegate, ClaimingDevice]), st.sampled_from(["SIN", "ADD"])),
            st.tuples(st.just("rows"), st.integers(1, 5)),
        ),
        max_size=8,
    )
)
def test_histories_of_a_loop(actions: list[tuple[Any, Any]]) -> None:
    interpreter = Interpreter(model_content=while_model())
    count = 3
    for what, argument in [*actions, ("rows", 4)]:
        if what != "rows":
            delegate = make(what, (argument,))
            delegate.operators = ("SIN", "ADD")  # type: ignore[attr-defined]
            interpreter.modify_graph_with_delegate(delegate)
            continue
        count = argument
        x = np.linspace(0, 1, count, dtype=np.float32)
        interpreter.resize_tensor_input(0, x.shape)
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, x)
        interpreter.invoke()
        np.testing.assert_allclose(interpreter.get_tensor(1), while_result(x), rtol=1e-6)


def nested_model() -> bytes:
    """main: NEG, then outer twice; outer: SIN, then inner; inner: x + SIN x, NEG."""
    graph = ModelBuilder()
    shape = (3,)
    x = graph.tensor(shape)
    outer, inner = graph.add_subgraph("outer"), graph.add_subgraph("inner")
    t = unary(graph, Op.NEG, x, shape)
    for _ in range(2):
        y = graph.tensor(shape)
        graph.op(Op.CALL, [t], [y], tflite.CallOptionsT(subgraph=outer.index))
        t = y
    v, w = outer.tensor(shape), outer.tensor(shape)
    outer.op(Op.CALL, [unary(outer, Op.SIN, v, shape)], [w], tflite.CallOptionsT(subgraph=inner.index))
    outer.finish([v], [w])
    v = inner.tensor(shape)
    total = add(inner, v, unary(inner, Op.SIN, v, shape), shape)
    inner.finish([v], [unary(inner, Op.NEG, total, shape)])
    return graph.build([x], [t])


def nested_result(x: np.ndarray) -> np.ndarray:
    x = -x
    for _ in range(2):
        x = np.sin(x)
        x = -(x + np.sin(x))
    return x


class Meddling(NumpyDelegate):
    """Takes nodes of a subgraph from its prepare for the main one, and has another one skipped."""

    def __init__(self, operators: tuple[str, ...], acquired: int, skipped: int, fails: bool) -> None:
        super().__init__(*operators)
        self.acquired, self.skipped, self.fails = acquired, skipped, fails

    def prepare(self, context: DelegateContext) -> None:
        if context.index == 0:
            other = context.acquire_subgraph_context(self.acquired)
            plan = [(n, *other.node_and_registration(n)) for n in other.execution_plan]
            free = [n for n, node, kind in plan if node.delegate is None and kind.name in self.operators]
            other.replace_node_subsets_with_delegate_kernels(self._registration(), free)
            if self.skipped:
                context.mark_subgraph_as_delegation_skippable(self.skipped)
            if self.fails:
                raise RuntimeError("out of memory")
        super().prepare(context)


OPERATORS = st.lists(st.sampled_from(["SIN", "NEG", "ADD"]), min_size=1, unique=True).map(tuple)
INDEX = st.integers(0, 2)


@settings(max_examples=80)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("rows"), st.integers(1, 5)),
            st.tuples(st.just("device"), OPERATORS),
            st.tuples(st.just("plain"), OPERATORS),
            st.builds(Meddling, OPERATORS, INDEX, INDEX, st.booleans()).map(lambda d: ("meddle", d)),
        ),
        max_size=8,
    )
)
def test_histories_of_nested_subgraphs(actions: list[tuple[str, Any]]) -> None:
    interpreter = Interpreter(model_content=nested_model())
    for what, argument in [*actions, ("rows", 2), ("rows", 3)]:
        if what == "rows":
            x = np.linspace(0, 1, argument, dtype=np.float32)
            interpreter.resize_tensor_input(0, x.shape)
            interpreter.allocate_tensors()
            interpreter.set_tensor(0, x)
            interpreter.invoke()
            output = interpreter.get_output_details()[0]["index"]
            np.testing.assert_allclose(interpreter.get_tensor(output), nested_result(x), atol=1e-6)
            continue
        if what != "meddle":
            kind: Any = Device if what == "device" else NumpyDelegate
            interpreter.modify_graph_with_delegate(kind(*argument))
            continue
        with pytest.raises(DelegateError, match="out of memory") if argument.fails else nullcontext():
            interpreter.modify_graph_with_delegate(argument)
            interpreter.allocate_tensors()
