"""Models compiled ahead of time for a delegate: equal results, what is kept, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite.cli.main import cli, run_command
from numlite.delegates import SerializedPartition, SimpleDelegateOptions
from numlite.delegates import loading as loading_module
from numlite.delegates.compile import compile_model
from numlite.interpreter import Interpreter, InterpreterWithCustomOps
from numlite.lite.control_edges import METADATA_NAME as CONTROL_EDGES
from numlite.lite.control_edges import parse_control_dependencies, serialize_control_dependencies
from numlite.lite.errors import PrepareError, StateError, UnsupportedError
from numlite.lite.model import Model
from numlite.lite.partition_program import METADATA_NAME, parse_compilations, unpack_program
from numlite.lite.registration import Registration
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from .compiling import CODE, DynamicDelegate, compiled, entry_points, operator_names
from .graphs import Op, add, sine, sine_model, unary, while_model, while_result
from .numpy_delegate import NumpyDelegate, NumpyKernel
from .test_application import X, ran, run
from .test_buffer_handles import Device


@pytest.mark.parametrize(
    ("operators", "names"),
    [
        (("SIN",), [CODE, "ADD", "MUL", CODE, "ADD"]),
        (("ADD", "MUL"), ["SIN", CODE, "SIN", CODE]),
        ((), [CODE]),
    ],
    ids=str,
)
def test_plain_delegated_and_compiled_are_equal(operators: tuple[str, ...], names: list[str]) -> None:
    result = compiled(sine_model(), NumpyDelegate(*operators))
    assert operator_names(result.content) == names
    plain = run(Interpreter(model_content=sine_model()), X)
    delegated = Interpreter(model_content=sine_model(), experimental_delegates=[NumpyDelegate(*operators)])
    interpreter = Interpreter(model_content=result.content, experimental_delegates=[NumpyDelegate("NONE")])
    outcome = run(interpreter, X)
    np.testing.assert_array_equal(outcome, run(delegated, X))
    np.testing.assert_allclose(outcome, plain, rtol=0, atol=1e-6)  # NumPy's sine differs in the last place
    assert [name for name, _ in ran(interpreter)] == names


def test_bodies_of_loops_are_compiled() -> None:
    result = compiled(while_model(), NumpyDelegate("SIN", "ADD"))
    assert [report.subgraph for report in result.partitions] == [2]
    assert operator_names(result.content, 2) == [CODE]
    interpreter = Interpreter(model_content=result.content, experimental_delegates=[NumpyDelegate("NONE")])
    x = np.linspace(0, 1, 3, dtype=np.float32)
    delegated = Interpreter(model_content=while_model(), experimental_delegates=[NumpyDelegate("SIN", "ADD")])
    np.testing.assert_array_equal(run(interpreter, x), run(delegated, x))
    np.testing.assert_allclose(run(interpreter, x), while_result(x), rtol=1e-6)


def rich_model() -> bytes:
    """Two NEG of a quantized input, with a second subgraph, signatures, metadata and control edges."""
    graph = ModelBuilder()
    x = graph.tensor((2, 2), np.int8, name="x", scale=0.5, zero_point=3, shape_signature=(-1, 2))
    f = graph.tensor((2, 2), name="f")
    graph.op(Op.DEQUANTIZE, [x], [f])
    y = unary(graph, Op.NEG, unary(graph, Op.NEG, f, (2, 2)), (2, 2))
    other = graph.add_subgraph("other")
    v, w = other.tensor((3,)), other.constant(np.array([1, 2, 3], np.float32))
    other.finish([v], [add(other, v, w, (3,))])
    model = graph.model
    edges = serialize_control_dependencies([[(0, 1), (1, 2)], []])
    for name, data in ((CONTROL_EDGES, edges), ("notes", b"kept")):
        model.buffers.append(tflite.BufferT(data=data))
        model.metadata = [*(model.metadata or []), tflite.MetadataT(name=name, buffer=len(model.buffers) - 1)]
    model.description = "rich"
    return graph.build([x], [y], {"serve": ({"a": x}, {"b": y})})


def test_the_rest_of_the_model_is_kept() -> None:
    source = rich_model()
    result = compiled(source, NumpyDelegate("NEG"))
    before, after = Model(source), Model(result.content)
    assert operator_names(result.content) == ["DEQUANTIZE", CODE]
    assert operator_names(result.content, 1) == ["ADD"]
    assert after.signatures() == before.signatures() and after.description == "rich"
    assert after.metadata()["notes"] == b"kept"
    assert parse_control_dependencies(after.metadata()[CONTROL_EDGES]) == [[(0, 1)], []]
    for table, other in zip(before.root.subgraphs, after.root.subgraphs, strict=True):
        assert repr(list(table.tensors)) == repr(list(other.tensors))
        assert (table.name, table.inputs.tolist()) == (other.name, other.inputs.tolist())
    (entry,) = parse_compilations(after.metadata()[METADATA_NAME])
    assert (entry.delegate, entry.version) == ("numpy", "1")
    assert entry.source_digest == result.compilation.source_digest
    assert unpack_program(after.custom_options(after.root.subgraphs[0].operators[1])).compilation == entry


class Packing(NumpyDelegate):
    """Its programs hold the partition's constants."""

    def serialize_partition(self, context: Any, params: Any, user_data: Any) -> Any:
        program, inputs = super().serialize_partition(context, params, user_data)
        kept = tuple(t for t in inputs if not context.tensor(t).is_constant)
        assert len(kept) < len(inputs)
        return program, kept


def test_constants_in_the_program_leave_the_file() -> None:
    graph = ModelBuilder()
    x, big = graph.tensor((4096,)), graph.constant(np.arange(4096, dtype=np.float32))
    content = graph.build([x], [add(graph, x, big, (4096,))])
    assert len(compiled(content, NumpyDelegate()).content) > 4 * 4096
    small = compiled(content, Packing())
    assert len(small.content) < 4096
    assert Model(small.content).root.subgraphs[0].operators[0].inputs.tolist() == [x]


class TimesKernel(NumpyKernel):
    """MUL of one input by constants, which its program holds."""

    def init(self, context: Any, params: Any) -> None:
        (n,) = params.nodes_to_replace
        x, factors = context.node_and_registration(n)[0].inputs
        self.factors = context.tensor(factors).array().copy()
        self.varying = (x,)

    def invoke(self, context: Any, node: Any) -> None:
        np.multiply(context.input(node, 0).array(), self.factors, out=context.tensor(node.outputs[0]).array())

    def serialize(self, context: Any, params: Any) -> SerializedPartition:
        return SerializedPartition(self.factors.astype(np.float16).tobytes(), self.varying)

    def load(self, context: Any, node: Any, program: bytes) -> None:
        self.factors = np.frombuffer(program, np.float16).astype(np.float32)


class TimesDelegate(NumpyDelegate):
    def create_kernel(self) -> TimesKernel:
        return TimesKernel()


def test_a_simple_delegates_program_may_hold_the_constants() -> None:
    graph = ModelBuilder()
    factors = np.arange(4096, dtype=np.float32) % 64
    x, y = graph.tensor((4096,)), graph.tensor((4096,))
    graph.op(tflite.BuiltinOperator.MUL, [x, graph.constant(factors)], [y], tflite.MulOptionsT())
    small = compiled(graph.build([x], [y]), TimesDelegate())
    assert 2 * 4096 < len(small.content) < 3 * 4096
    interpreter = Interpreter(model_content=small.content, experimental_delegates=[TimesDelegate("NONE")])
    assert np.array_equal(run(interpreter, np.full(4096, 2, np.float32)), 2 * factors)


def test_programs_must_read_what_varies() -> None:
    class Forgetful(NumpyDelegate):
        def serialize_partition(self, context: Any, params: Any, user_data: Any) -> Any:
            return b"", ()

    with pytest.raises(StateError, match="must read all inputs of its partition but constants"):
        compiled(sine_model(), Forgetful())


def test_other_shapes_are_refused() -> None:
    result = compiled(sine_model(), NumpyDelegate("SIN"))
    interpreter = Interpreter(model_content=result.content, experimental_delegates=[NumpyDelegate("NONE")])
    with pytest.raises(PrepareError, match=r"shapes must be those it was compiled for, \(\(2, 3\),\), got"):
        run(interpreter, X[:1])
    assert np.array_equal(run(interpreter, X), sine(X))


def test_a_dynamic_delegate_runs_other_shapes() -> None:
    result = compiled(sine_model(), DynamicDelegate("SIN"))
    interpreter = Interpreter(model_content=result.content, experimental_delegates=[DynamicDelegate("NONE")])
    for x in (X, X[:1], X):
        assert np.array_equal(run(interpreter, x), sine(x))


def test_what_cannot_be_compiled() -> None:
    with pytest.raises(UnsupportedError, match="cannot compile ahead of time"):
        compiled(sine_model(), Device("SIN"))
    with pytest.raises(StateError, match="must be applied"):
        compile_model(Interpreter(model_content=sine_model()).core, NumpyDelegate())


def test_a_body_called_with_several_shapes_needs_a_dynamic_delegate() -> None:
    graph = ModelBuilder()
    x, y = graph.tensor((2,)), graph.tensor((5,))
    a, b = graph.tensor((2,)), graph.tensor((5,))
    callee = graph.add_subgraph("callee")
    for operand, result in ((x, a), (y, b)):
        graph.op(Op.CALL, [operand], [result], tflite.CallOptionsT(subgraph=callee.index))
    v = callee.tensor((2,))
    callee.finish([v], [unary(callee, Op.SIN, v, (2,))])
    with pytest.raises(UnsupportedError, match="called with several shapes"):
        compiled(graph.build([x, y], [a, b]), NumpyDelegate())


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    model, output = tmp_path / "model.tflite", tmp_path / "compiled.tflite"
    model.write_bytes(sine_model())

    def make(operators: str = "") -> NumpyDelegate:
        return NumpyDelegate(*operators.split())

    monkeypatch.setattr(loading_module, "entry_points", entry_points("numpy", make))
    arguments = ["compile", str(model), "--delegate", "numpy", "-o", str(output)]
    assert run_command(cli, [*arguments, "--option", "operators=SIN"]) == 0
    shown = capsys.readouterr().out
    assert "subgraph 0, operator 3: SIN" in shown and "2 partitions" in shown
    assert sorted(path.name for path in tmp_path.iterdir()) == ["compiled.tflite", "model.tflite"]
    assert np.array_equal(run(Interpreter(output, trust_compiled_code=True), X), sine(X))
    assert run_command(cli, ["inspect", str(output)]) == 0
    shown = capsys.readouterr().out
    assert "compiled for delegate 'numpy', version 1 (" in shown and "memory: not planned" in shown
    for name in ("run", "inspect", "benchmark"):
        given = ["--seconds", "0.01"] if name == "benchmark" else []
        assert run_command(cli, [name, str(output), *given]) == (0 if name == "inspect" else 1)
        assert "--trust-compiled-code" in "".join(capsys.readouterr())
        assert run_command(cli, [name, str(output), "--trust-compiled-code", *given]) == 0
        assert "trust" not in "".join(capsys.readouterr())
    assert run_command(cli, [*arguments[:-1], str(model)]) != 0
    assert run_command(cli, [*arguments, "--option", "operators=COS"]) == 1
    assert "takes none of its operators" in capsys.readouterr().err


def test_options_limit_what_is_compiled() -> None:
    delegate = NumpyDelegate(options=SimpleDelegateOptions(deny_nodes=(1,), max_delegated_partitions=1))
    result = compiled(sine_model(), delegate)
    assert [report.replaced for report in result.partitions] == [("SIN", "MUL", "SIN")]


def test_data_behind_the_tables_are_brought_in() -> None:
    """Files beyond 2 GB keep data at offsets from their start, which a new file does not have."""
    graph = ModelBuilder()
    values = np.float32([1, 2, 3, 4])
    x, constant, y = graph.tensor((4,)), graph.constant(values), graph.tensor((4,))
    graph.op(Op.CUSTOM, [unary(graph, Op.SIN, x, (4,))], [y], custom_code="Optioned")
    graph.model.buffers[1] = tflite.BufferT(offset=4096, size=values.nbytes)
    operator = graph.subgraph.operators[1]
    operator.large_custom_options_offset, operator.large_custom_options_size = 4096 + 16, 7
    content = graph.build([x], [y, add(graph, constant, x, (4,))])
    content = content.ljust(4096, b"\0") + values.tobytes() + b"options" + bytes(128)
    nothing: Any = lambda context, node: None  # noqa: E731
    delegate = NumpyDelegate("SIN")
    source: Any = InterpreterWithCustomOps(
        [("Optioned", Registration("Optioned", nothing, nothing))],
        model_content=content,
        experimental_delegates=[delegate],
    )
    model = Model(compile_model(source.core, delegate).content)
    operators = list(model.root.subgraphs[0].operators)
    assert b"options" in [model.custom_options(each) for each in operators]
    assert all(not each.large_custom_options_offset for each in operators)
    buffer = model.root.subgraphs[0].tensors[constant].buffer
    assert model.root.buffers[buffer].offset == 0
    data = model.buffer(buffer)
    assert data is not None and np.array_equal(data.view(np.float32), values)
