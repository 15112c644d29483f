"""Models compiled for a delegate beside other delegates, their memory, and effects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numlite.delegates.compile import compile_model
from numlite.delegates.report import delegation_report
from numlite.interpreter import Interpreter, InterpreterWithCustomOps
from numlite.lite.errors import UnsupportedError
from numlite.lite.model import Model
from numlite.lite.partition_program import METADATA_NAME, parse_compilations
from numlite.lite.registration import Registration

from ..model_builder import ModelBuilder
from .compiling import CODE, DynamicDelegate, compiled, operator_names
from .flex.flex_models import add_flex
from .graphs import Op, sine, sine_model, unary
from .numpy_delegate import NumpyDelegate
from .test_application import X, ran, run
from .test_buffer_handles import Device


class CompilingDevice(Device):
    """Keeps results in its memory between compiled partitions."""

    def serialize_partition(self, context: Any, params: Any, user_data: Any) -> Any:
        (node,) = user_data.nodes
        assert params.input_tensors == node.inputs
        name = context.node_and_registration(params.nodes_to_replace[0])[1].name
        return name.encode(), params.input_tensors

    def load_partition(self, context: Any, node: Any, program: bytes) -> Any:
        kernel = self.create_kernel()

        class Replaced:
            registration = type("Named", (), {"name": program.decode()})
            inputs, outputs = node.inputs, node.outputs

        kernel.nodes = [Replaced()]
        return kernel


def test_tensors_stay_in_the_delegates_memory() -> None:
    graph = ModelBuilder()
    x = graph.tensor(X.shape)
    middle = unary(graph, Op.SIN, x, X.shape)
    content = graph.build([x], [unary(graph, Op.ABS, unary(graph, Op.SIN, middle, X.shape), X.shape)])
    source = CompilingDevice("SIN")
    interpreter = Interpreter(
        model_content=content, experimental_delegates=[source], experimental_disable_delegate_node_fusion=True
    )
    result = compile_model(interpreter.core, source, "device")
    assert [report.replaced for report in result.partitions] == [("SIN",), ("SIN",)]
    device = CompilingDevice()
    interpreter = Interpreter(model_content=result.content, experimental_delegates=[device])
    assert np.array_equal(run(interpreter, X), np.abs(np.sin(np.sin(X))))
    assert device.copied == [2]
    del interpreter
    assert len(device.freed) == 2 and not device.memory


def test_several_delegates_one_after_another() -> None:
    first = compiled(sine_model(), NumpyDelegate("SIN"))
    second = compiled(first.content, NumpyDelegate("ADD"), "other")
    names = operator_names(second.content)
    assert names == [CODE, "MUL", CODE, "numlite-delegate:other"]
    digests = [
        entry.source_digest for entry in parse_compilations(Model(second.content).metadata()[METADATA_NAME])
    ]
    assert digests == [first.compilation.source_digest, second.compilation.source_digest]
    interpreter = Interpreter(model_content=second.content, experimental_delegates=[NumpyDelegate("NONE")])
    assert np.array_equal(run(interpreter, X), sine(X))


def test_what_other_delegates_have_stays_as_it_was() -> None:
    first, second = NumpyDelegate("SIN"), NumpyDelegate("ADD", "MUL")
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[first, second])
    assert {name for name, _ in ran(interpreter)} == {"NumpyDelegate"}
    for delegate, names in ((first, [CODE, "ADD", "MUL", CODE, "ADD"]), (second, ["SIN", CODE, "SIN", CODE])):
        result = compile_model(interpreter.core, delegate, "numpy")
        assert operator_names(result.content) == names
        running = Interpreter(model_content=result.content, experimental_delegates=[NumpyDelegate("NONE")])
        assert np.allclose(run(running, X), sine(X), rtol=0, atol=1e-6)


def test_side_effects_stay_in_order() -> None:
    graph = ModelBuilder()
    x = graph.tensor(X.shape)
    y = graph.tensor(X.shape)
    graph.op(Op.CUSTOM, [x], [y], custom_code="Noted")
    content = graph.build([x], [y])

    def registerer(resolver: Any) -> None:
        nothing: Any = lambda context, node: None  # noqa: E731
        noted = Registration("Noted", nothing, nothing, side_effects=True)
        resolver.add_custom("Noted", noted)

    delegate = Device("Noted")
    delegate.serialize_partition = lambda context, params, user_data: (b"", params.input_tensors)  # type: ignore
    source: Any = InterpreterWithCustomOps(
        [registerer], model_content=content, experimental_delegates=[delegate]
    )
    result = compile_model(source.core, delegate, "device")
    (node,) = Interpreter(model_content=result.content).core.subgraph().nodes
    assert node.registration.side_effects
    plain = compiled(sine_model(), NumpyDelegate()).content
    (node,) = Interpreter(model_content=plain).core.subgraph().nodes
    assert not node.registration.side_effects


def test_a_delegate_that_comes_late() -> None:
    interpreter = Interpreter(model_content=compiled(sine_model(), NumpyDelegate("SIN")).content)
    with pytest.raises(UnsupportedError, match="which is needed to run it"):
        interpreter.allocate_tensors()
    delegate = NumpyDelegate("ADD")
    interpreter.modify_graph_with_delegate(delegate)
    assert np.array_equal(run(interpreter, X), sine(X))
    assert [name for name, _ in ran(interpreter)] == [CODE, "MUL", CODE, "NumpyDelegate"]
    report = delegation_report(interpreter.core.subgraph(), delegate)
    assert (report.total_nodes, report.delegated_nodes, len(report.partitions)) == (5, 2, 1)
    assert [entry.operator for entry in report.left_out] == [CODE, "MUL", CODE]
    x = X[:1]
    with pytest.raises(RuntimeError, match="compile the model for these shapes"):
        run(interpreter, x)


def test_flex_operators_are_left_to_the_flex_delegate() -> None:
    graph = ModelBuilder()
    x, y = graph.tensor(X.shape), graph.tensor(X.shape)
    add_flex(graph, "Sinh", [unary(graph, Op.SIN, x, X.shape)], [y], T="f32")
    content = graph.build([x], [unary(graph, Op.SIN, y, X.shape)])

    result = compiled(content, DynamicDelegate("SIN"))
    interpreter = Interpreter(model_content=result.content, experimental_delegates=[DynamicDelegate("NONE")])
    assert np.allclose(run(interpreter, X), np.sin(np.sinh(np.sin(X))), atol=1e-6)
    assert [name for name, _ in ran(interpreter)] == [CODE, "FlexDelegate", CODE]
