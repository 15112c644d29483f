"""Operators whose kernels take wider types than a model's tensors: other tensors stand in for these."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.node import StandIns
from numlite.lite.tensor import Tensor, TensorType
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op


def _sums(axes_are_constant: bool) -> Interpreter:
    kinds = [Kind((3, 4), np.float16), Kind((1,), np.int32)]
    constants = {1: np.array([1], np.int32)} if axes_are_constant else None
    options = tflite.ReducerOptionsT()
    return Interpreter(
        model_content=single_op(
            BuiltinOperator.SUM, kinds, Kind((3,), np.float16), options, constants=constants
        )
    )


def test_a_context_gives_what_stands_for_an_operand() -> None:
    graph = _sums(axes_are_constant=True)._core.subgraph(0)
    node = graph.nodes[0]
    wide = Tensor(node.inputs[0], "wide", TensorType.FLOAT32, (3, 4), None)
    seen = node.seen_with(StandIns({wide.index: wide}, {}))
    assert graph.input(seen, 0) is wide
    assert graph.input(seen, 1) is graph.input(node, 1)
    assert graph.output(seen, 0) is graph.output(node, 0)
    assert graph.input(node, 0) is graph.tensor(wide.index)
    assert seen.temporaries is node.temporaries and seen.packed is node.packed


@pytest.mark.parametrize("axes_are_constant", [True, False])
def test_the_nodes_own_outputs_get_shapes_and_values(axes_are_constant: bool) -> None:
    interpreter = _sums(axes_are_constant)
    inputs, output = interpreter.get_input_details(), interpreter.get_output_details()[0]["index"]
    for shape, axis in (((3, 4), 1), ((5, 2), 1), ((2, 7), 1 if axes_are_constant else 0)):
        x = np.arange(np.prod(shape), dtype=np.float16).reshape(shape)
        interpreter.resize_tensor_input(inputs[0]["index"], shape)
        interpreter.allocate_tensors()
        interpreter.set_tensor(inputs[0]["index"], x)
        if not axes_are_constant:
            interpreter.set_tensor(inputs[1]["index"], np.array([axis], np.int32))
        interpreter.invoke()
        y = interpreter.get_tensor(output)
        np.testing.assert_array_equal(y, x.astype(np.float32).sum(axis).astype(np.float16))
        assert y.dtype == np.float16
