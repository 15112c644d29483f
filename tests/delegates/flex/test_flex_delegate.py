"""TensorFlow ops in models: they run without any setting, also in called subgraphs and beside delegates."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numlite import Interpreter
from numlite.delegates.flex import FlexDelegate
from numlite.interpreter import InterpreterWithCustomOps
from numlite.kernels.fallback.attributes import FunctionName
from numlite.kernels.fallback.kernel import KernelContext, OpKernel
from numlite.kernels.fallback.node_runner import NodeRunner
from numlite.kernels.fallback.op_metadata import OpMetadata
from numlite.kernels.fallback.registry import KernelRegistry
from numlite.lite.delegate import DelegateFlags
from numlite.lite.errors import (
    CancelledError,
    InvokeError,
    ModelError,
    StateError,
    TimedOutError,
    UnsupportedError,
)
from numlite.lite.registration import Registration
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from ...running import run
from ..graphs import add, unary
from ..numpy_delegate import NumpyDelegate
from .flex_models import add_flex, flex_options

Op = tflite.BuiltinOperator


def names(interpreter: Interpreter) -> list[str]:
    """Operators that run, in order."""
    subgraph = interpreter.core.subgraph()
    return [subgraph.nodes[n].registration.name for n in subgraph.execution_plan]


def mixed_model() -> bytes:
    """y = identity(x + x + x) - x, where the sum and the identity are TensorFlow's; z = that identity."""
    graph = ModelBuilder()
    x, s, z, y = graph.tensor((2,)), *(graph.tensor((2,)) for _ in range(3))
    add_flex(graph, "AddN", [x, x, x], [s], N="i32$3", T="f32")
    add_flex(graph, "Identity", [s], [z], T="f32")
    graph.op(Op.SUB, [z, x], [y], tflite.SubOptionsT())
    return graph.build([x], [y, z])


def test_tensorflow_ops_run_without_any_setting() -> None:
    interpreter = Interpreter(model_content=mixed_model())
    assert names(interpreter) == ["FlexDelegate", "SUB"]
    for x in (np.float32([1, 2]), np.float32([1, 2, 3])):
        y, z = run(interpreter, x)
        np.testing.assert_array_equal(z, 3 * x)
        np.testing.assert_array_equal(y, 2 * x)


@pytest.mark.parametrize(
    "setting",
    [
        "experimental_preserve_all_tensors",
        "experimental_disable_delegate_clustering",
        "experimental_disable_delegate_node_fusion",
    ],
)
@pytest.mark.filterwarnings("ignore:.*preserve_all_tensors")
def test_settings_for_delegates_change_no_result(setting: str) -> None:
    interpreter = Interpreter(model_content=mixed_model(), **{setting: True})
    for x in (np.float32([1, 2]), np.float32([3, 4])):
        y, z = run(interpreter, x)
        np.testing.assert_array_equal(z, 3 * x)
        np.testing.assert_array_equal(y, 2 * x)


def test_an_output_of_a_partition_may_be_its_input() -> None:
    graph = ModelBuilder()
    x, y, z = (graph.tensor((2,)) for _ in range(3))
    add_flex(graph, "Identity", [x], [y], T="f32")
    add_flex(graph, "AddN", [y, y], [z], N="i32$2", T="f32")
    given = np.float32([1, 2])
    y_value, z_value = run(Interpreter(model_content=graph.build([x], [y, z])), given)
    np.testing.assert_array_equal(y_value, given)
    np.testing.assert_array_equal(z_value, 2 * given)


def test_the_op_is_named_by_the_options() -> None:
    graph = ModelBuilder()
    x, y = graph.tensor((2,)), graph.tensor((2,))
    options = flex_options("NoSuchOp", name="Identity", T="f32")
    graph.op(Op.CUSTOM, [x], [y], custom_code="FlexOther", custom_options=options)
    given = np.float32([1, 2])
    np.testing.assert_array_equal(run(Interpreter(model_content=graph.build([x], [y])), given)[0], given)


def test_defaults_of_attributes_are_tensorflows() -> None:
    graph = ModelBuilder()
    x, y = graph.tensor((2, 3)), graph.tensor((2, 3))
    add_flex(graph, "MatMul", [x, x], [y], T="f32", transpose_b="bool$true")
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    (found,) = run(Interpreter(model_content=graph.build([x], [y])), given)
    np.testing.assert_array_equal(found, given @ given.T)


def test_strings_go_through() -> None:
    graph = ModelBuilder()
    x, y = (graph.tensor((2,), tflite.TensorType.STRING) for _ in range(2))
    add_flex(graph, "Identity", [x], [y], T="string")
    given = np.array([b"one", b"\xff\x00"], object)
    (found,) = run(Interpreter(model_content=graph.build([x], [y])), given)
    assert found.tolist() == given.tolist()


class Wrap(OpKernel):
    """handle: an object that holds x."""

    def compute(self, context: KernelContext) -> None:
        handle = np.empty((), object)
        handle[()] = ("wrapped", context.input(0))
        context.set_output(0, handle)


class Unwrap(OpKernel):
    """x: what the handle holds, one more for each time that this kernel has run."""

    stateful = True

    def __init__(self, construction: object) -> None:
        super().__init__(construction)  # type: ignore[arg-type]
        self._runs = 0

    def compute(self, context: KernelContext) -> None:
        word, value = context.input(0)[()]
        assert word == "wrapped"
        context.set_output(0, value + np.float32(self._runs))
        self._runs += 1


def wrapping_registry(kind: str) -> KernelRegistry:
    registry = KernelRegistry()
    registry.register_op(OpMetadata.parse("Wrap", ["x: float"], [f"handle: {kind}"]))
    registry.register_op(OpMetadata.parse("Unwrap", [f"handle: {kind}"], ["x: float"]))
    registry.register_kernel("Wrap", Wrap)
    registry.register_kernel("Unwrap", Unwrap)
    return registry


@pytest.mark.parametrize("kind", ["VARIANT", "RESOURCE"])
def test_objects_go_from_partition_to_partition_and_into_subgraphs(kind: str) -> None:
    """Wrap is in the main graph, Unwrap in both branches of an IF."""
    graph = ModelBuilder()
    x, taken = graph.tensor((2,)), graph.tensor((), bool)
    type_code = tflite.TensorType[kind]
    handle, y = graph.tensor((), type_code), graph.tensor((2,))
    add_flex(graph, "Wrap", [x], [handle])
    branches = [graph.add_subgraph(name) for name in ("then", "else")]
    for branch in branches:
        inner, z = branch.tensor((), type_code), branch.tensor((2,))
        add_flex(branch, "Unwrap", [inner], [z])
        branch.finish([inner], [z])
    then, other = (branch.index for branch in branches)
    options = tflite.IfOptionsT(then_subgraph_index=then, else_subgraph_index=other)
    graph.op(Op.IF, [taken, handle], [y], options)
    model = graph.build([x, taken], [y])
    delegates = [FlexDelegate(wrapping_registry(kind.lower()))]
    interpreter = Interpreter(model_content=model, experimental_delegates=delegates)
    given = np.float32([1, 2])
    found = [run(interpreter, given, np.array(taken))[0].tolist() for taken in (True, True, False, True)]
    # Each branch has a kernel with a state of its own.
    assert found == [[1, 2], [2, 3], [1, 2], [3, 4]]


def test_what_a_kernel_keeps_stays_as_it_was() -> None:
    """x is wrapped, and the memory that it lay in is then another tensor's."""
    graph = ModelBuilder()
    x, handle, y = graph.tensor((2,)), graph.tensor((), tflite.TensorType.VARIANT), graph.tensor((2,))
    doubled = add(graph, x, x, (2,))
    add_flex(graph, "Wrap", [doubled], [handle])
    last = doubled
    for _ in range(4):
        last = add(graph, last, x, (2,))
    taken = graph.tensor((2,), bool)
    graph.op(Op.GREATER, [last, x], [taken])
    add_flex(graph, "Unwrap", [handle], [y])
    delegates = [FlexDelegate(wrapping_registry("variant"))]
    interpreter = Interpreter(model_content=graph.build([x], [y, taken]), experimental_delegates=delegates)
    np.testing.assert_array_equal(run(interpreter, np.float32([1, 2]))[0], [2, 4])


def doubling_loop() -> bytes:
    """x, doubled by TensorFlow until it is 100 at least; 0 never is."""
    graph = ModelBuilder()
    x, y = graph.tensor((1,)), graph.tensor((1,))
    condition, body = graph.add_subgraph("condition"), graph.add_subgraph("body")
    v, limit, less = (
        condition.tensor((1,)),
        condition.constant(np.float32([100])),
        condition.tensor((1,), bool),
    )
    condition.op(Op.LESS, [v, limit], [less], tflite.LessOptionsT())
    condition.finish([v], [less])
    v, w = body.tensor((1,)), body.tensor((1,))
    add_flex(body, "AddN", [v, v], [w], N="i32$2", T="f32")
    body.finish([v], [w])
    options = tflite.WhileOptionsT(cond_subgraph_index=condition.index, body_subgraph_index=body.index)
    graph.op(Op.WHILE, [x], [y], options)
    return graph.build([x], [y])


def test_tensorflow_ops_run_in_the_body_of_a_loop() -> None:
    interpreter = Interpreter(model_content=doubling_loop())
    assert run(interpreter, np.float32([3]))[0] == [192]
    assert run(interpreter, np.float32([101]))[0] == [101]


def test_a_loop_of_tensorflow_ops_is_stopped() -> None:
    interpreter = Interpreter(model_content=doubling_loop())
    run(interpreter, np.float32([3]))
    interpreter.set_tensor(0, np.float32([0]))
    with pytest.raises(TimedOutError, match=r"node 0 \(WHILE\).*: the run must end within its timeout_s"):
        interpreter.invoke(timeout_s=0.05)
    assert run(interpreter, np.float32([3]))[0] == [192]


def test_nodes_of_a_partition_look_at_the_cancellation(monkeypatch: pytest.MonkeyPatch) -> None:
    interpreter = Interpreter(model_content=sine_and_sum())
    interpreter.allocate_tensors()
    found = NodeRunner.__call__

    def cancels(*arguments: Any) -> list[np.ndarray]:
        interpreter.cancel()
        return found(*arguments)

    monkeypatch.setattr(NodeRunner, "__call__", cancels)
    with pytest.raises(CancelledError, match=r"node 2 \(FlexIdentity\): the run was cancelled"):
        interpreter.invoke()


class Dynamic(NumpyDelegate):
    flags = DelegateFlags.ALLOW_DYNAMIC_TENSORS


def sine_and_sum() -> bytes:
    """sin(x) + x, by TensorFlow, + x."""
    graph = ModelBuilder()
    x, s, y = graph.tensor((2,)), graph.tensor((2,)), graph.tensor((2,))
    sine = unary(graph, Op.SIN, x, (2,))
    add_flex(graph, "AddN", [sine, x], [s], N="i32$2", T="f32")
    add_flex(graph, "Identity", [s], [y], T="f32")
    return graph.build([x], [add(graph, y, x, (2,))])


def test_other_delegates_take_their_nodes_first() -> None:
    interpreter = Interpreter(model_content=sine_and_sum(), experimental_delegates=[Dynamic("SIN")])
    assert names(interpreter) == ["Dynamic", "FlexDelegate", "ADD"]
    given = np.float32([1, 2])
    np.testing.assert_allclose(run(interpreter, given)[0], np.sin(given) + 2 * given, rtol=1e-6)


def test_delegates_for_fixed_shapes_are_refused() -> None:
    with pytest.raises(StateError, match="only supports static-sized tensors"):
        Interpreter(model_content=sine_and_sum(), experimental_delegates=[NumpyDelegate("SIN")])


def test_a_users_custom_operator_is_not_taken() -> None:
    def twice(context: object, node: object) -> None:
        context.tensor(node.outputs[0]).array()[...] = 2 * context.tensor(node.inputs[0]).array()  # type: ignore[attr-defined]

    graph = ModelBuilder()
    x, y = graph.tensor((2,)), graph.tensor((2,))
    add_flex(graph, "Identity", [x], [y], T="f32")
    registration = Registration("FlexIdentity", lambda context, node: None, twice)
    interpreter = InterpreterWithCustomOps(
        [("FlexIdentity", registration)], model_content=graph.build([x], [y])
    )
    np.testing.assert_array_equal(run(interpreter, np.float32([1, 2]))[0], [2, 4])


def faulty_model(options: Sequence[bytes]) -> bytes:
    """A chain of flex operators with these options, the last one in a called subgraph."""
    graph = ModelBuilder()
    x = last = graph.tensor((2,))
    for option in options[:-1]:
        y = graph.tensor((2,))
        graph.op(Op.CUSTOM, [last], [y], custom_code="FlexOp", custom_options=option)
        last = y
    branch = graph.add_subgraph("branch")
    v, w = branch.tensor((2,)), branch.tensor((2,))
    branch.op(Op.CUSTOM, [v], [w], custom_code="FlexOp", custom_options=options[-1])
    branch.finish([v], [w])
    taken, y = graph.constant(np.array(True)), graph.tensor((2,))
    graph.op(
        Op.IF,
        [taken, last],
        [y],
        tflite.IfOptionsT(then_subgraph_index=branch.index, else_subgraph_index=branch.index),
    )
    return graph.build([x], [y])


def test_every_op_without_a_kernel_is_named() -> None:
    options = [flex_options("NoSuchOp"), flex_options("Identity", T="f32"), flex_options("NeitherThis")]
    interpreter = Interpreter(model_content=faulty_model(options))
    expected = r"(?s)node 0 \(FlexOp\): NoSuchOp: .*subgraph 1, node 0 \(FlexOp\): NeitherThis: "
    with pytest.raises(UnsupportedError, match=expected):
        interpreter.allocate_tensors()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (b"", "must be a flexbuffer vector"),
        (b"nothing of a flexbuffer", "must be a flexbuffer vector"),
        (flex_options("Identity", T="f32")[:-8], "must be a flexbuffer vector"),
        (flex_options("AddN", T="f32"), "attribute 'N' is missing"),
        (flex_options("AddN", N="i32$3", T="f32"), "must have 3 inputs and 1 outputs"),
        (flex_options("AddN", N="i32$-3", T="f32"), "attribute 'N' must be "),
    ],
    ids=["none", "text", "cut", "attribute", "inputs", "number"],
)
def test_damaged_options_are_named(options: bytes, message: str) -> None:
    interpreter = Interpreter(model_content=faulty_model([flex_options("Identity", T="f32"), options]))
    with pytest.raises(ModelError, match=rf"subgraph 1, node 0 \(FlexOp\): .*{message}"):
        interpreter.allocate_tensors()


def test_a_failing_kernel_is_named() -> None:
    graph = ModelBuilder()
    a, b, y = graph.tensor((2,)), graph.tensor((2,)), graph.tensor((2,))
    add_flex(graph, "AddN", [a, b], [y], N="i32$2", T="f32")
    interpreter = Interpreter(model_content=graph.build([a, b], [y]))
    with pytest.raises(InvokeError, match=r"node 0 \(FlexAddN\): AddN: inputs must have one shape"):
        run(interpreter, np.zeros(2, np.float32), np.zeros(3, np.float32))
    np.testing.assert_array_equal(
        run(interpreter, np.ones(3, np.float32), np.ones(3, np.float32))[0], [2] * 3
    )


def test_outputs_of_another_type_than_the_file_says_are_refused() -> None:
    graph = ModelBuilder()
    x, y = graph.tensor((2,)), graph.tensor((2,), np.int32)
    add_flex(graph, "Identity", [x], [y], T="f32")
    with pytest.raises(InvokeError, match="the op gives float32"):
        run(Interpreter(model_content=graph.build([x], [y])), np.zeros(2, np.float32))


def test_interpreters_run_side_by_side() -> None:
    model = mixed_model()
    results: dict[int, list[float]] = {}

    def work(seed: int) -> None:
        interpreter = Interpreter(model_content=model)
        x = np.float32([seed, seed + 1])
        results[seed] = [float(run(interpreter, x)[0][0]) for _ in range(50)]

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {seed: [2.0 * seed] * 50 for seed in range(4)}


def test_functions_of_a_library_are_not_there() -> None:
    with pytest.raises(UnsupportedError, match="no function library"):
        FlexDelegate().environment.call_function(FunctionName("f", {}), [])
