"""The order of nodes that no tensor ties together, when others between them are delegated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numlite.interpreter import Interpreter, InterpreterWithCustomOps
from numlite.lite.context import Context
from numlite.lite.control_edges import METADATA_NAME, serialize_control_dependencies
from numlite.lite.node import Node
from numlite.lite.registration import Registration
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from .graphs import Op, add, unary
from .numpy_delegate import NumpyDelegate
from .test_buffer_handles import Device

SHAPE = (3,)


def noting_model(edges: list[tuple[int, int]] | None) -> bytes:
    """ABS x; NEG x; Note of the NEG; Note of x. Delegating NEG, the last one is ready first."""
    graph = ModelBuilder()
    x = graph.tensor(SHAPE)
    outputs = [unary(graph, Op.ABS, x, SHAPE)]
    for operand in (unary(graph, Op.NEG, x, SHAPE), x):
        outputs.append(graph.tensor(SHAPE))
        graph.op(Op.CUSTOM, [operand], [outputs[-1]], custom_code="Note")
    if edges is not None:
        graph.model.buffers.append(tflite.BufferT(data=serialize_control_dependencies([edges])))
        graph.model.metadata = [tflite.MetadataT(name=METADATA_NAME, buffer=len(graph.model.buffers) - 1)]
    return graph.build([x], outputs)


@pytest.mark.parametrize(
    ("side_effects", "edges", "order"),
    [
        (True, None, [2, 3]),
        (False, None, [3, 2]),
        (False, [(2, 3)], [2, 3]),
        (True, [], [3, 2]),
        (True, [(3, 2)], [3, 2]),
    ],
    ids=["side effects", "none", "control edge", "the model says that none matter", "backward edge"],
)
def test_side_effects(side_effects: bool, edges: list[tuple[int, int]] | None, order: list[int]) -> None:
    noted: list[int] = []

    def note(context: Context, node: Node) -> None:
        noted.append(node.index)
        context.output(node, 0).array()[...] = context.input(node, 0).array()

    registration = Registration("Note", lambda context, node: None, note, side_effects=side_effects)
    interpreter: Any = InterpreterWithCustomOps(
        [("Note", registration)],
        model_content=noting_model(edges),
        experimental_delegates=[NumpyDelegate("NEG")],
    )
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.float32([1, -2, 3]))
    interpreter.invoke()
    assert noted == order
    values = [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]
    assert np.array_equal(values, [[1, 2, 3], [-1, 2, -3], [1, -2, 3]])


def test_nodes_that_change_one_variable_in_place() -> None:
    """ABS x; NEG x; Grow(v, NEG x); Grow(v, x): both add to v, and the second doubles it before."""
    graph = ModelBuilder()
    x, v = graph.tensor(SHAPE), graph.tensor(SHAPE, is_variable=True)
    outputs = [unary(graph, Op.ABS, x, SHAPE)]
    for operand in (unary(graph, Op.NEG, x, SHAPE), x):
        outputs.append(graph.tensor(SHAPE))
        graph.op(Op.CUSTOM, [operand, v], [outputs[-1]], custom_code="Grow")

    def grow(context: Context, node: Node) -> None:
        value = context.input(node, 1).array()
        value[...] = 2 * value + context.input(node, 0).array()
        context.output(node, 0).array()[...] = value

    registration = Registration("Grow", lambda context, node: None, grow)
    interpreter: Any = InterpreterWithCustomOps(
        [("Grow", registration)],
        model_content=graph.build([x], outputs),
        experimental_delegates=[NumpyDelegate("NEG")],
    )
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.ones(SHAPE, np.float32))
    interpreter.invoke()
    values = [interpreter.get_tensor(t)[0] for t in outputs]
    assert values == [1, -1, -1]


def variable_model(writes_first: bool) -> bytes:
    """ABS x; v + x and v = x * x, in one order or the other, with a NEG of x for v's next value."""
    graph = ModelBuilder()
    x, v = graph.tensor(SHAPE), graph.tensor(SHAPE, is_variable=True)
    first = unary(graph, Op.ABS, x, SHAPE)
    n = unary(graph, Op.NEG, x, SHAPE)
    if writes_first:
        graph.op(Op.MUL, [n, x], [v], tflite.MulOptionsT())
    read = add(graph, v, x, SHAPE)
    if not writes_first:
        graph.op(Op.MUL, [n, x], [v], tflite.MulOptionsT())
    return graph.build([x], [first, read])


@pytest.mark.parametrize("operators", [("NEG",), ("ADD",), ("MUL",), ("NEG", "MUL"), ("NEG", "ADD", "MUL")])
@pytest.mark.parametrize("make", [NumpyDelegate, Device])
@pytest.mark.parametrize("writes_first", [False, True])
def test_variables_are_written_and_read_in_order(
    make: type[Any], operators: tuple[str, ...], writes_first: bool
) -> None:
    interpreter = Interpreter(
        model_content=variable_model(writes_first), experimental_delegates=[make(*operators)]
    )
    interpreter.allocate_tensors()
    v = np.zeros(SHAPE, np.float32)
    for value in (1, 2, 5):
        x = np.full(SHAPE, value, np.float32)
        interpreter.set_tensor(0, x)
        interpreter.invoke()
        expected = -x * x + x if writes_first else v + x
        assert np.array_equal(interpreter.get_tensor(interpreter.get_output_details()[1]["index"]), expected)
        v = -x * x
