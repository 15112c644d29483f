"""Delegates on an interpreter: taking nodes, undoing for a resize, failing, and being refused."""

from __future__ import annotations

from collections.abc import Callable
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
from numlite.lite.custom_op import custom_registration
from numlite.lite.errors import DelegateError, InvokeError, PrepareError, StateError
from numlite.lite.node import Node
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from .graphs import sine, sine_model, while_model, while_result
from .numpy_delegate import NumpyDelegate

X = np.linspace(-3, 3, 6, dtype=np.float32).reshape(2, 3)
OPS = [("SIN", 0), ("ADD", 1), ("MUL", 2), ("SIN", 3), ("ADD", 4)]


def run(interpreter: Any, x: np.ndarray) -> np.ndarray:
    detail = interpreter.get_input_details()[0]
    if tuple(detail["shape"]) != x.shape:
        interpreter.resize_tensor_input(detail["index"], x.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def ran(interpreter: Any) -> list[tuple[str, int]]:
    return [(row.op, row.node) for row in interpreter.profile(1)]


class Hooks(Delegate):
    """Takes the named operator's nodes with hooks that a test gives."""

    def __init__(
        self, operator: str = "SIN", flags: DelegateFlags = DelegateFlags.NONE, **hooks: Any
    ) -> None:
        self.operator, self.flags, self.hooks = operator, flags, hooks
        self.shapes: list[tuple[int, ...]] = []
        self.freed = 0
        self.context: DelegateContext | None = None

    def prepare(self, context: DelegateContext) -> None:
        self.context = context
        plan = [(n, *context.node_and_registration(n)) for n in context.execution_plan]
        nodes = [n for n, _, registration in plan if registration.name == self.operator]
        self.shapes.append(context.tensor(context.outputs[0]).shape)
        hooks = {"init": _keep, "invoke": _sine, "free": self._free, **self.hooks}
        context.replace_node_subsets_with_delegate_kernels(delegate_registration("Hooks", **hooks), nodes)

    def _free(self, context: Context, node: Node) -> None:
        self.freed += 1


def _keep(context: DelegateContext, params: DelegateParams) -> DelegateParams:
    return params


def _sine(context: Context, node: Node) -> None:
    context.output(node, 0).array()[...] = np.sin(context.input(node, 0).array())


def _fail(*arguments: object) -> None:
    raise RuntimeError("the device is on fire")


def test_nodes_are_replaced_in_order() -> None:
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[NumpyDelegate("SIN")])
    assert np.array_equal(run(interpreter, X), sine(X))
    names = [("NumpyDelegate", 5), ("ADD", 1), ("MUL", 2), ("NumpyDelegate", 6), ("ADD", 4)]
    assert ran(interpreter) == names


def test_params_of_each_node() -> None:
    seen: list[DelegateParams] = []
    delegate = Hooks(init=lambda context, params: seen.append(params))
    Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    assert [params[1:] for params in seen] == [((0,), (0,), (2,)), ((3,), (4,), (5,))]


def test_delegated_graph_of_one_node_is_whole() -> None:
    delegate = NumpyDelegate()
    delegate.flags = DelegateFlags.HINT_FULLY_DELEGATED_TO_SINGLE_DELEGATE
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    assert np.array_equal(run(interpreter, X), sine(X))
    assert ran(interpreter) == [("NumpyDelegate", 5)]


def test_hint_fully_delegated_is_checked() -> None:
    delegate = Hooks(flags=DelegateFlags.HINT_FULLY_DELEGATED_TO_SINGLE_DELEGATE)
    with pytest.raises(DelegateError, match=r"not fully delegated .*node 1 \(ADD\)"):
        Interpreter(model_content=sine_model(), experimental_delegates=[delegate])


@pytest.mark.parametrize(
    "settings",
    [{"experimental_disable_delegate_node_fusion": True}, {"experimental_preserve_all_tensors": True}],
    ids=["no fusion", "all tensors kept"],
)
@pytest.mark.filterwarnings("ignore:Warning. Enabling")
def test_without_fusion_a_delegate_gets_single_nodes(settings: dict[str, bool]) -> None:
    interpreter = Interpreter(
        model_content=sine_model(), experimental_delegates=[NumpyDelegate()], **settings
    )
    assert np.array_equal(run(interpreter, X), sine(X))
    assert [name for name, _ in ran(interpreter)] == ["NumpyDelegate"] * 5


def test_without_clustering_the_order_stays() -> None:
    interpreter = Interpreter(
        model_content=sine_model(),
        experimental_delegates=[NumpyDelegate("SIN", "ADD")],
        experimental_disable_delegate_clustering=True,
    )
    assert np.array_equal(run(interpreter, X), sine(X))
    assert [name for name, _ in ran(interpreter)] == ["NumpyDelegate", "MUL", "NumpyDelegate"]


def test_several_delegates_in_order() -> None:
    interpreter = Interpreter(
        model_content=sine_model(), experimental_delegates=[NumpyDelegate("SIN"), NumpyDelegate("ADD", "SIN")]
    )
    assert np.array_equal(run(interpreter, X), sine(X))
    nodes = interpreter.core.subgraph().nodes
    params = [nodes[n].options for n in interpreter.core.subgraph().execution_plan if nodes[n].delegate]
    assert [p.nodes_to_replace for p in params] == [(0,), (3,), (1, 4)]


def test_resize_undoes_and_allocation_redoes() -> None:
    delegate = Hooks()
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    assert np.array_equal(run(interpreter, X), sine(X))
    interpreter.resize_tensor_input(0, (4, 3))
    assert interpreter.core.subgraph().execution_plan == [0, 1, 2, 3, 4]
    assert delegate.freed == 2
    x = np.ones((4, 3), np.float32)
    assert np.array_equal(run(interpreter, x), sine(x))
    assert delegate.shapes == [(2, 3), (4, 3)]
    assert interpreter.core.subgraph().execution_plan == [5, 1, 2, 6, 4]
    del interpreter
    assert delegate.freed == 4


def test_delegate_with_dynamic_tensors_stays_through_a_resize() -> None:
    def prepare(context: Context, node: Node) -> None:
        context.resize_tensor(context.output(node, 0), context.input(node, 0).shape)

    delegate = Hooks(flags=DelegateFlags.ALLOW_DYNAMIC_TENSORS, prepare=prepare)
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    x = np.ones((4, 3), np.float32)
    assert np.array_equal(run(interpreter, x), sine(x))
    assert len(delegate.shapes) == 1 and delegate.freed == 0


def test_modify_after_allocation() -> None:
    interpreter = Interpreter(model_content=sine_model())
    interpreter.allocate_tensors()
    interpreter.modify_graph_with_delegate(NumpyDelegate("SIN"))
    interpreter.set_tensor(0, X)
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(6), sine(X))


@pytest.mark.parametrize(
    "delegate",
    [
        lambda: Hooks(init=_fail),
        lambda: Hooks(prepare=_fail),
        lambda: Hooks("MUL", init=lambda context, params: context.node_and_registration(99)),
        lambda: Delegate(),
    ],
    ids=["init", "kernel's prepare", "wrong node", "no prepare"],
)
@pytest.mark.parametrize("allocated", [False, True])
def test_failure_restores_the_plan(delegate: Callable[[], Delegate], allocated: bool) -> None:
    interpreter = Interpreter(model_content=sine_model())
    if allocated:
        interpreter.allocate_tensors()
    with pytest.raises(DelegateError, match="Restored original execution plan"):
        interpreter.modify_graph_with_delegate(delegate())
    assert interpreter.core.subgraph().execution_plan == [0, 1, 2, 3, 4]
    assert np.array_equal(run(interpreter, X), sine(X))
    assert ran(interpreter) == OPS


def test_failure_says_why() -> None:
    with pytest.raises(DelegateError, match=r"Hooks: .*the device is on fire"):
        Interpreter(model_content=sine_model(), experimental_delegates=[Hooks(init=_fail)])


def test_failure_when_running_names_the_node() -> None:
    calls = iter([_fail])
    delegate = Hooks(invoke=lambda context, node: next(calls, _sine)(context, node))
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    with pytest.raises(InvokeError, match=r"node 5 \(Hooks\).*on fire"):
        run(interpreter, X)
    assert np.array_equal(run(interpreter, X), sine(X))


def test_kernel_that_lies_about_its_output() -> None:
    def prepare(context: Context, node: Node) -> None:
        context.resize_tensor(context.output(node, 0), (7, 7))

    interpreter = Interpreter(model_content=sine_model())
    with pytest.raises(DelegateError, match=r"ADD.*7"):
        interpreter.modify_graph_with_delegate(Hooks(prepare=prepare))
    assert np.array_equal(run(interpreter, X), sine(X))


def test_kernel_of_a_static_delegate_must_not_make_tensors_dynamic() -> None:
    def prepare(context: Context, node: Node) -> None:
        context.set_dynamic(context.output(node, 0))

    with pytest.raises(DelegateError, match="Cannot allow dynamic tensors"):
        Interpreter(model_content=sine_model(), experimental_delegates=[Hooks(prepare=prepare)])


def test_delegate_calls_are_refused_outside_prepare() -> None:
    delegate = Hooks()
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    assert interpreter and delegate.context is not None
    with pytest.raises(StateError, match="while the delegate is being prepared"):
        delegate.context.execution_plan  # noqa: B018
    with pytest.raises(StateError, match="replace_node_subsets"):
        delegate.context.replace_node_subsets_with_delegate_kernels(delegate_registration("H", _keep), [])


class Grown:
    """A custom operator whose output's shape is known only when it has run."""

    def prepare(self, context: Context, node: Node) -> None:
        context.set_dynamic(context.output(node, 0))

    def invoke(self, context: Context, node: Node) -> None:
        x = context.input(node, 0)
        context.resize_tensor(context.output(node, 0), x.shape)
        context.output(node, 0).array()[...] = x.array()


def dynamic_model() -> bytes:
    graph = ModelBuilder()
    x, y, z = (graph.tensor((2, 3)) for _ in range(3))
    graph.op(tflite.BuiltinOperator.CUSTOM, [x], [y], custom_code="Grown")
    graph.op(tflite.BuiltinOperator.SIN, [y], [z])
    return graph.build([x], [z])


def test_static_delegate_is_refused_on_a_dynamic_graph() -> None:
    interpreter: Any = InterpreterWithCustomOps([("Grown", Grown())], model_content=dynamic_model())
    with pytest.raises(StateError, match=r"static-sized tensors .*tensor#1 is a dynamic-sized tensor"):
        interpreter.modify_graph_with_delegate(Hooks())
    assert np.array_equal(run(interpreter, X), np.sin(X))
    interpreter.modify_graph_with_delegate(
        Hooks(
            flags=DelegateFlags.ALLOW_DYNAMIC_TENSORS,
            prepare=lambda context, node: context.resize_tensor(
                context.output(node, 0), context.input(node, 0).shape
            ),
        )
    )
    assert np.array_equal(run(interpreter, X), np.sin(X))
    assert [name for name, _ in ran(interpreter)] == ["Grown", "Hooks"]


@pytest.mark.parametrize("operators", [("SIN",), ("SIN", "ADD"), ("ADD",)], ids=" ".join)
def test_bodies_of_loops(operators: tuple[str, ...]) -> None:
    interpreter = Interpreter(model_content=while_model(), experimental_delegates=[NumpyDelegate(*operators)])
    for shape in ((3,), (5,), (3,)):
        x = np.linspace(0, 1, shape[0], dtype=np.float32)
        assert np.allclose(run(interpreter, x), while_result(x), rtol=1e-6)
    body = interpreter.core.subgraph(2)
    assert any(body.nodes[n].delegate for n in body.execution_plan)


def test_unallocatable_graph_waits_for_its_shapes() -> None:
    graph = ModelBuilder()
    x, y, z = graph.tensor((2, 3)), graph.tensor((4, 3)), graph.tensor((4, 3))
    graph.op(tflite.BuiltinOperator.ADD, [x, y], [z], tflite.AddOptionsT())
    interpreter = Interpreter(
        model_content=graph.build([x, y], [z]), experimental_delegates=[NumpyDelegate("ADD")]
    )
    assert interpreter.core.subgraph().execution_plan == [0]
    with pytest.raises(RuntimeError, match="ADD"):
        interpreter.allocate_tensors()
    interpreter.resize_tensor_input(0, (4, 3))
    interpreter.allocate_tensors()
    assert interpreter.core.subgraph().execution_plan == [1]


def test_failure_after_a_resize_restores_the_plan() -> None:
    def init(context: DelegateContext, params: DelegateParams) -> None:
        if context.tensor(0).shape != (2, 3):
            _fail()

    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[Hooks(init=init)])
    assert np.array_equal(run(interpreter, X), sine(X))
    interpreter.resize_tensor_input(0, (1, 3))
    with pytest.raises(DelegateError, match="on fire"):
        interpreter.allocate_tensors()
    assert np.allclose(run(interpreter, X[:1]), sine(X[:1]), atol=1e-6)
    assert ran(interpreter) == OPS


def test_shapes_that_do_not_fit_leave_the_delegates_due() -> None:
    graph = ModelBuilder()
    x, y, z = graph.tensor((4, 3)), graph.tensor((4, 3)), graph.tensor((4, 3))
    graph.op(tflite.BuiltinOperator.ADD, [x, y], [z], tflite.AddOptionsT())
    interpreter = Interpreter(
        model_content=graph.build([x, y], [z]), experimental_delegates=[NumpyDelegate("ADD")]
    )
    interpreter.resize_tensor_input(0, (2, 3))
    with pytest.raises(PrepareError, match="ADD"):
        interpreter.allocate_tensors()
    interpreter.resize_tensor_input(1, (2, 3))
    interpreter.allocate_tensors()
    assert interpreter.core.subgraph().execution_plan == [1]
    assert [row.op for row in interpreter.profile(1)] == ["NumpyDelegate"]


def test_delegate_runs_an_operator_that_nobody_knows() -> None:
    interpreter = Interpreter(model_content=dynamic_model(), experimental_delegates=[Hooks("Grown")])
    assert np.allclose(run(interpreter, X), np.sin(np.sin(X)), atol=1e-6)


def test_refused_by_a_body_leaves_nothing_behind() -> None:
    interpreter = Interpreter(model_content=while_model())
    body = interpreter.core.subgraph(2)
    body.nodes[0].registration = custom_registration("Grown", Grown())
    with pytest.raises(StateError, match="dynamic-sized"):
        interpreter.modify_graph_with_delegate(NumpyDelegate("ADD"))
    assert np.array_equal(run(interpreter, np.array([1, 2, 3], np.float32)), [46, 62, 78])
    assert not interpreter.core.runtime.delegates


def test_no_delegate_twice() -> None:
    delegate = NumpyDelegate()
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    with pytest.raises(StateError, match="applied already"):
        interpreter.modify_graph_with_delegate(delegate)


def test_what_is_no_delegate_is_refused() -> None:
    with pytest.raises(StateError, match="must be a Delegate"):
        Interpreter(model_content=sine_model(), experimental_delegates=[object()])
