"""SimpleDelegate ahead of time, with kernels whose programs hold the weights."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numlite.delegates import SerializedPartition
from numlite.interpreter import Interpreter
from numlite.lite.errors import PrepareError, StateError
from numlite.lite.model import Model
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from .compiling import compiled, operator_names
from .numpy_delegate import FUNCTIONS, NumpyDelegate, NumpyKernel

N = 2048
OWN, SHARED = np.arange(N, dtype=np.float32) % 7, np.arange(N, dtype=np.float32) % 5
X, Y = np.arange(N, dtype=np.float32), np.ones(N, np.float32)


class HoldingKernel(NumpyKernel):
    """Steps on tensors and on weights, which are its own; what varies is read last first."""

    def init(self, context: Any, params: Any) -> None:
        self.steps = []
        self.weights: dict[int, np.ndarray] = {}
        for n in params.nodes_to_replace:
            node, registration = context.node_and_registration(n)
            self.steps.append((registration.name, node.inputs, node.outputs[0]))
            for t in node.inputs:
                if context.tensor(t).is_constant:
                    self.weights[t] = context.tensor(t).array().copy()
        self.varying = tuple(t for t in reversed(params.input_tensors) if t not in self.weights)

    def invoke(self, context: Any, node: Any) -> None:
        values = {**self.weights, **{t: context.tensor(t).array() for t in self.varying}}
        for operator, inputs, output in self.steps:
            values[output] = FUNCTIONS[operator](*(values[t] for t in inputs))
        for t in node.outputs:
            context.tensor(t).array()[...] = values[t]

    def serialize(self, context: Any, params: Any) -> SerializedPartition:
        border = [*self.varying, *params.output_tensors]
        weights = {t: array.astype(int).tolist() for t, array in self.weights.items()}
        return SerializedPartition(json.dumps([border, self.steps, weights]).encode(), self.varying)

    def load(self, context: Any, node: Any, program: bytes) -> None:
        border, steps, weights = json.loads(program)
        new = dict(zip(border, (*node.inputs, *node.outputs), strict=True))
        place = lambda t: new.get(t, -1 - t)  # noqa: E731
        self.steps = [(name, tuple(map(place, inputs)), place(output)) for name, inputs, output in steps]
        self.weights = {place(int(t)): np.float32(values) for t, values in weights.items()}
        self.varying = tuple(node.inputs)


class HoldingDelegate(NumpyDelegate):
    def __init__(self, *operators: str, kernel: type[NumpyKernel] = HoldingKernel) -> None:
        super().__init__(*operators)
        self.kernel = kernel

    def create_kernel(self) -> NumpyKernel:
        return self.kernel()


def model() -> bytes:
    """z = (x * own + y) * shared - shared, whose SUB no delegate takes."""
    graph = ModelBuilder()
    x, y = graph.tensor((N,), name="x"), graph.tensor((N,), name="y")
    own, shared = graph.constant(OWN), graph.constant(SHARED)
    last = x
    for op, other, options in (
        ("MUL", own, tflite.MulOptionsT()),
        ("ADD", y, tflite.AddOptionsT()),
        ("MUL", shared, tflite.MulOptionsT()),
        ("SUB", shared, tflite.SubOptionsT()),
    ):
        result = graph.tensor((N,))
        graph.op(getattr(tflite.BuiltinOperator, op), [last, other], [result], options)
        last = result
    return graph.build([x, y], [last])


def outcome(content: bytes, **settings: Any) -> np.ndarray:
    interpreter = Interpreter(model_content=content, **settings)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], {"x": X, "y": Y}[detail["name"]])
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def test_weights_in_a_program_are_no_inputs() -> None:
    content = model()
    made = compiled(content, HoldingDelegate()).content
    assert operator_names(made) == ["numlite-delegate:numpy", "SUB"]
    found = Model(made)
    table = found.root.subgraphs[0]
    assert table.operators[0].inputs.tolist() == [1, 0]
    data = [found.buffer(index) for index in range(len(found.root.buffers))]
    kept = [bytes(each) for each in data if each is not None]
    assert OWN.tobytes() not in kept and SHARED.tobytes() in kept  # which SUB reads, too
    wanted = ((X * OWN) + Y) * SHARED - SHARED
    np.testing.assert_array_equal(outcome(content), wanted)
    np.testing.assert_array_equal(outcome(made, experimental_delegates=[HoldingDelegate("NONE")]), wanted)


def test_what_varies_must_be_an_input() -> None:
    class Forgetful(HoldingKernel):
        def serialize(self, context: Any, params: Any) -> SerializedPartition:
            return SerializedPartition(b"", self.varying[:1])

    with pytest.raises(StateError, match="must read all inputs of its partition but constants"):
        compiled(model(), HoldingDelegate(kernel=Forgetful))


@pytest.mark.parametrize("wrong", [None, 5, "text", (b"", ())], ids=str)
def test_programs_are_bytes(wrong: object) -> None:
    class Wrong(HoldingKernel):
        def serialize(self, context: Any, params: Any) -> Any:
            return wrong

    kind = type(wrong).__name__
    with pytest.raises(PrepareError, match=f"must be bytes, alone or in a SerializedPartition, got {kind}"):
        compiled(model(), HoldingDelegate(kernel=Wrong))
