"""Subgraphs that run other subgraphs: native where they can be, errors that name the inner node."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.errors import InvokeError, ModelError, PrepareError
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.control_flow import composite_model, if_model, unary_subgraph, while_model
from ..model_builder import ModelBuilder, SubgraphBuilder


def ready(model: bytes, **settings: object) -> Interpreter:
    interpreter = Interpreter(model_content=model, **settings)
    interpreter.allocate_tensors()
    return interpreter


def sums(body: SubgraphBuilder, inputs: list[int]) -> list[int]:
    total = body.tensor((2,))
    body.op(BuiltinOperator.ADD, [inputs[1], inputs[1]], [total], tflite.AddOptionsT())
    return [total]


def run(interpreter: Interpreter, *values: np.ndarray) -> list[np.ndarray]:
    for detail, value in zip(interpreter.get_input_details(), values, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


COUNT, PAIR = np.array([2], np.int32), np.array([1, 2], np.float32)


@pytest.mark.parametrize(
    "model",
    [
        while_model([(2,)], sums),
        if_model(BuiltinOperator.NEG, BuiltinOperator.ABS),
        if_model(BuiltinOperator.NEG, BuiltinOperator.ABS, same=True),
        composite_model(),
    ],
)
def test_subgraphs_of_known_shapes_run_natively(model: bytes) -> None:
    assert ready(model).core.subgraph().native_plan is not None


def test_inner_memory_follows_the_outer() -> None:
    interpreter = ready(while_model([(2,)], sums), experimental_preserve_all_tensors=True)
    run(interpreter, COUNT, PAIR)
    interpreter.release_nonpersistent_memory()
    with pytest.raises(RuntimeError, match="allocate_tensors"):
        interpreter.invoke()
    interpreter.allocate_tensors()
    np.testing.assert_array_equal(run(interpreter, COUNT, PAIR)[1], PAIR * 8)
    interpreter.resize_tensor_input(1, [4])
    interpreter.allocate_tensors()
    np.testing.assert_array_equal(run(interpreter, COUNT, np.ones(4, np.float32))[1], np.full(4, 8))


def test_resizing_an_inner_input_asks_for_another_allocation() -> None:
    interpreter = ready(while_model([(2,)], sums))
    body = 2
    interpreter._interpreter.ResizeInputTensor(1, np.array([3], np.int32), False, body)
    with pytest.raises(RuntimeError, match="not ready"):
        interpreter.invoke()
    interpreter.allocate_tensors()
    np.testing.assert_array_equal(run(interpreter, COUNT, PAIR)[1], PAIR * 8)


def gathers(body: SubgraphBuilder, inputs: list[int]) -> list[int]:
    """Elements at the counter: out of range in the third turn."""
    found, pair = body.tensor((1,)), body.tensor((2,))
    body.op(BuiltinOperator.GATHER, [inputs[1], inputs[0]], [found], tflite.GatherOptionsT())
    body.op(BuiltinOperator.CONCATENATION, [found, found], [pair], tflite.ConcatenationOptionsT())
    return [pair]


def test_a_native_error_names_the_inner_node() -> None:
    interpreter = ready(while_model([(2,)], gathers))
    text = r"^node 0 \(WHILE\), output .*: subgraph 2, node 1 \(GATHER\), output .*: positions must be in"
    with pytest.raises(InvokeError, match=text):
        run(interpreter, np.array([0], np.int32), PAIR)


def test_an_error_of_prepare_names_the_inner_node() -> None:
    interpreter = Interpreter(model_content=while_model([(2,)], sums))
    interpreter.resize_tensor_input(0, [3])
    with pytest.raises(PrepareError, match=r"^node 0 \(WHILE\).*condition must be one bool, got .* 3"):
        interpreter.allocate_tensors()


def puts(body: SubgraphBuilder, inputs: list[int]) -> list[int]:
    """A row into a list at the counter's place."""
    row = body.constant(np.ones((1, 2), np.float32))
    place, put = body.constant(np.zeros(2, np.int32)), body.tensor((3, 2))
    body.op(BuiltinOperator.DYNAMIC_UPDATE_SLICE, [inputs[1], row, place], [put])
    return [put]


def test_a_body_that_does_not_fit_nothing_is_refused_when_it_is_to_run() -> None:
    interpreter = Interpreter(model_content=while_model([(3, 2)], puts))
    interpreter.resize_tensor_input(1, [0, 2])
    interpreter.allocate_tensors()
    empty = np.zeros((0, 2), np.float32)
    assert run(interpreter, np.array([5], np.int32), empty)[1].shape == (0, 2)
    with pytest.raises(InvokeError, match=r"subgraph 2, node 1 \(DYNAMIC_UPDATE_SLICE\).* must fit"):
        run(interpreter, COUNT, empty)
    interpreter.resize_tensor_input(1, [3, 2])
    interpreter.allocate_tensors()
    assert run(interpreter, COUNT, np.zeros((3, 2), np.float32))[1][0].tolist() == [1, 1]


def test_a_branch_that_does_not_fit_is_refused_when_it_is_to_run() -> None:
    """As in LiteRT: of one element there is no second, but the other branch asks for none."""
    model = ModelBuilder()
    condition, x, y = model.tensor((), np.bool_), model.tensor((2,)), model.tensor((2,))
    graph = model.add_subgraph("second")
    a, one, b = graph.tensor((2,)), graph.constant(np.array([1], np.int32)), graph.tensor((1,))
    graph.op(BuiltinOperator.SLICE, [a, one, one], [b])
    graph.finish([a], [b])
    other = unary_subgraph(model, BuiltinOperator.NEG, (2,))
    options = tflite.IfOptionsT(then_subgraph_index=graph.index, else_subgraph_index=other)
    model.op(BuiltinOperator.IF, [condition, x], [y], options)
    interpreter = Interpreter(model_content=model.build([condition, x], [y]))
    interpreter.resize_tensor_input(1, [1])
    interpreter.allocate_tensors()
    [y] = run(interpreter, np.array(False), np.array([3], np.float32))
    np.testing.assert_array_equal(y, [-3])
    with pytest.raises(InvokeError, match=r"^node 0 \(IF\).* node 0 \(SLICE\), .*must stay inside axis 0"):
        run(interpreter, np.array(True), np.array([3], np.float32))


def calling(index: int, branches: list[int]) -> bytes:
    """A model whose subgraph 1 calls `index`, and whose main graph's IF calls the branches."""
    model = ModelBuilder()
    condition, x, y = model.tensor((1,), np.bool_), model.tensor((1,)), model.tensor((1,))
    graph = model.add_subgraph("caller")
    a, b = graph.tensor((1,)), graph.tensor((1,))
    graph.op(BuiltinOperator.CALL, [a], [b], tflite.CallOptionsT(subgraph=index))
    graph.finish([a], [b])
    unary_subgraph(model, BuiltinOperator.NEG, (1,))
    options = tflite.IfOptionsT(then_subgraph_index=branches[0], else_subgraph_index=branches[1])
    model.op(BuiltinOperator.IF, [condition, x], [y], options)
    return model.build([condition, x], [y])


def test_calls_within_calls() -> None:
    interpreter = ready(calling(2, [1, 1]))
    assert run(interpreter, np.array([True]), np.array([3], np.float32))[0] == -3


@pytest.mark.parametrize("index", [0, 1])
def test_a_subgraph_that_calls_itself_is_refused(index: int) -> None:
    with pytest.raises(ModelError, match=f"subgraph {index} calls itself"):
        Interpreter(model_content=calling(index, [1, 1]))


def test_a_subgraph_that_is_not_there_is_refused() -> None:
    with pytest.raises(ModelError, match="else_subgraph_index 7, the model has 3 subgraphs"):
        ready(calling(2, [1, 7]))


def test_a_chain_of_many_calls_ends_in_an_answer_or_an_error() -> None:
    model = ModelBuilder()
    x, y = model.tensor((1,)), model.tensor((1,))
    model.op(BuiltinOperator.CALL, [x], [y], tflite.CallOptionsT(subgraph=1))
    links = 12
    for link in range(1, links + 1):
        graph = model.add_subgraph(f"link{link}")
        a, b, c = graph.tensor((1,)), graph.tensor((1,)), graph.tensor((1,))
        if link == links:
            graph.op(BuiltinOperator.NEG, [a], [b])
            graph.op(BuiltinOperator.NEG, [b], [c])
        else:
            graph.op(BuiltinOperator.CALL, [a], [b], tflite.CallOptionsT(subgraph=link + 1))
            graph.op(BuiltinOperator.CALL, [b], [c], tflite.CallOptionsT(subgraph=link + 1))
        graph.finish([a], [c])
    interpreter = ready(model.build([x], [y]))
    assert run(interpreter, np.array([5], np.float32))[0] == 5


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_a_constant_of_a_file_is_no_place_for_a_callers_value(tmp_path: Path, dtype: type) -> None:
    """The file is mapped: writing there would end the process."""
    model = ModelBuilder()
    chosen, x, y = model.tensor((), np.bool_), model.tensor((3,), dtype), model.tensor((3,), dtype)
    branches = []
    for name, value in (("then", None), ("else", np.ones(3, dtype))):
        branch = model.add_subgraph(name)
        z = branch.tensor((3,), dtype, value)
        result = branch.tensor((3,), dtype)
        branch.op(tflite.BuiltinOperator.NEG, [z], [result], tflite.NegOptionsT())
        branch.finish([z], [result])
        branches.append(branch.index)
    options = tflite.IfOptionsT(then_subgraph_index=branches[0], else_subgraph_index=branches[1])
    model.op(tflite.BuiltinOperator.IF, [chosen, x], [y], options)
    path = tmp_path / "model.tflite"
    path.write_bytes(model.build([chosen, x], [y]))
    with pytest.raises(PrepareError, match="subgraph 2: input 0 must not be a constant where a node runs it"):
        Interpreter(path).allocate_tensors()
