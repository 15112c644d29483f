"""What was accepted and did something else: results, resolvers, settings, names."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from typing import Any

import numlite
import numpy as np
import pytest
from numlite.converter import Converter, OpsSet, TargetSpec, run_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.delegates import compile_model
from numlite.interpreter import Interpreter, InterpreterWithCustomOps, OpResolver, OpResolverType
from numlite.lite.foreign_file import what_it_is
from numlite.schema import tflite
from numlite.schema.graph_def import DT_STRING
from numlite.schema.shown import shown_name

from ..delegates.graphs import sine, sine_model
from ..delegates.numpy_delegate import NumpyDelegate
from ..model_builder import ModelBuilder
from ..small_models import Op, chain, custom


class Twice:
    def invoke(self, context: Any, node: Any) -> None:
        context.output(node, 0).array()[...] = 2 * context.input(node, 0).array()


def test_custom_operators_are_not_added_to_the_caller_s_resolver() -> None:
    resolver = OpResolver()
    registerers: list[Any] = [("Twice", Twice()), lambda resolver: resolver.add_custom("Thrice", Twice())]
    made = InterpreterWithCustomOps(
        registerers, model_content=custom(), experimental_op_resolver_type=resolver
    )
    made.allocate_tensors()
    assert resolver.find_custom("Twice") is None and resolver.find_custom("Thrice") is None
    with pytest.raises(RuntimeError, match="unresolved custom op: Twice"):
        Interpreter(model_content=custom(), experimental_op_resolver_type=resolver).allocate_tensors()


def test_a_resolver_takes_operators_as_objects() -> None:
    resolver = OpResolver()
    resolver.add_custom("Twice", Twice())
    interpreter = Interpreter(model_content=custom(), experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.arange(4, dtype=np.float32))
    interpreter.invoke()
    assert interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).tolist() == [0, 2, 4, 6]


def scalar_model(dtype: Any = np.float32, data: bytes | None = None) -> bytes:
    """The absolute value of a scalar, or a constant."""
    model = ModelBuilder()
    x = model.tensor((), dtype, data, name="x")
    if data is not None:
        return model.build([], [x])
    y = model.tensor((), dtype, name="y")
    model.op(Op.ABS, [x], [y])
    return model.build([x], [y], {"serve": ({"x": x}, {"y": y})})


def test_results_of_rank_0_are_scalars() -> None:
    interpreter = Interpreter(model_content=scalar_model())
    interpreter.allocate_tensors()
    for value in (-2, -3):  # the second time by the view that is remembered
        interpreter.set_tensor(0, np.float32(value))
        interpreter.invoke()
        found = interpreter.get_tensor(1)
        assert type(found) is np.float32 and found == -value
    assert type(interpreter.get_signature_runner()(x=np.float32(-4))["y"]) is np.float32
    packed = Interpreter(model_content=scalar_model(tflite.TensorType.INT4, b"\x0d"))
    packed.allocate_tensors()
    assert type(packed.get_tensor(0)) is np.int8 and packed.get_tensor(0) == -3


@pytest.mark.parametrize(
    ("dtype", "data"), [(np.float32, b"\0\0\x80\x3f"), (tflite.TensorType.INT4, b"\x03"), (np.bool_, b"\1")]
)
def test_scalars_are_of_the_type_that_litert_gives(dtype: Any, data: bytes) -> None:
    litert = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is the oracle")
    found = []
    for api in (numlite, litert):
        interpreter = api.Interpreter(model_content=scalar_model(dtype, data))
        interpreter.allocate_tensors()
        found.append(interpreter.get_tensor(0))
    assert type(found[0]) is type(found[1]) and found[0] == found[1]


def test_graphs_give_scalars_as_sessions_do() -> None:
    graph = GraphBuilder()
    x = graph.placeholder("x", [])
    graph.node("Abs", "y", x)
    (number,) = run_graph(graph.graph_def, {"x": np.float32(-2)}, ["y"])
    assert type(number) is np.float32 and number == 2


FORMS = {"bytes": bytes, "bytes_": np.bytes_, "S": np.array, "object": lambda text: np.array(text, object)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", [b"a\0\0", b"\0", b"\0a"])
def test_strings_of_rank_0_keep_their_nuls(form: str, text: bytes) -> None:
    graph = GraphBuilder()
    x = graph.placeholder("x", [], DT_STRING)
    graph.node("Identity", "y", x)
    graph.constant("constant", np.array(text, object))
    found = run_graph(graph.graph_def, {"x": FORMS[form](text)}, ["y", "constant", "x"])
    model = ModelBuilder()
    tensor = model.tensor((), tflite.TensorType.STRING, name="x")
    content = model.build([tensor], [tensor], {"serve": ({"x": tensor}, {"y": tensor})})
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, FORMS[form](text))
    interpreter.invoke()
    found.append(interpreter.get_tensor(0))
    if form != "bytes":  # a signature takes what has a shape
        found.append(interpreter.get_signature_runner()(x=FORMS[form](text))["y"])
    assert [np.asarray(value).item() for value in found] == [text] * len(found)


@pytest.mark.parametrize(
    ("zero_points", "kept"), [([5, 5, 5], [5]), ([0, 0, 0], [0]), ([1, 2, 3], [1, 2, 3]), ([7], [7])]
)
def test_equal_zero_points_are_kept_once(zero_points: list[int], kept: list[int]) -> None:
    model = ModelBuilder()
    scales = [1.0, 2.0, 3.0][: len(zero_points)]
    x = model.tensor((3, 2), np.int8, name="x", scale=scales, zero_point=zero_points)
    content = model.build([x], [x], {"serve": ({"x": x}, {"y": x})})
    found = []
    for compress in (False, True):
        interpreter = Interpreter(
            model_content=content, experimental_compress_quantization_zero_points=compress
        )
        assert interpreter.experimental_compress_quantization_zero_points is compress
        details = interpreter.get_tensor_details()[0]["quantization_parameters"]
        runner = interpreter.get_signature_runner().get_input_details()["x"]["quantization_parameters"]
        assert runner["zero_points"].tolist() == details["zero_points"].tolist()
        assert details["scales"].tolist() == scales
        found.append(details["zero_points"].tolist())
    assert found == [zero_points, kept]


def per_channel() -> bytes:
    """An int8 CONV_2D with a scale for each output channel, and a zero point for each, which is 0."""
    model = ModelBuilder()
    quantized = {"scale": 0.5, "zero_point": 1}
    x = model.tensor((1, 2, 2, 2), np.int8, name="x", **quantized)
    filters = np.arange(6, dtype=np.int8).reshape(3, 1, 1, 2)
    w = model.constant(filters, scale=[0.5, 0.25, 1.0], zero_point=[0, 0, 0])
    y = model.tensor((1, 2, 2, 3), np.int8, name="y", **quantized)
    model.op(Op.CONV_2D, [x, w], [y], tflite.Conv2DOptionsT(padding=1, stride_w=1, stride_h=1), version=3)
    return model.build([x], [y])


@pytest.mark.parametrize("kind", [OpResolverType.AUTO, OpResolverType.BUILTIN_REF])
def test_compressed_zero_points_change_no_result(kind: OpResolverType) -> None:
    results = []
    for compress in (False, True):
        interpreter = Interpreter(
            model_content=per_channel(),
            experimental_op_resolver_type=kind,
            experimental_compress_quantization_zero_points=compress,
        )
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, np.arange(8, dtype=np.int8).reshape(1, 2, 2, 2))
        interpreter.invoke()
        results.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    np.testing.assert_array_equal(*results)


def test_a_compiled_model_declares_what_it_was_compiled_for() -> None:
    delegate = NumpyDelegate("SIN")
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    interpreter.resize_tensor_input(0, [5, 7])
    content = compile_model(interpreter, delegate, "numpy").content
    compiled = Interpreter(model_content=content, experimental_delegates=[NumpyDelegate("NONE")])
    assert compiled.get_input_details()[0]["shape"].tolist() == [5, 7]
    compiled.allocate_tensors()
    x = np.linspace(-1, 1, 35, dtype=np.float32).reshape(5, 7)
    compiled.set_tensor(0, x)
    compiled.invoke()
    np.testing.assert_array_equal(compiled.get_tensor(compiled.get_output_details()[0]["index"]), sine(x))


def test_a_window_of_the_input_s_size_pools_all_of_it() -> None:
    model = ModelBuilder()
    x, y = model.tensor((1, 2, 2, 1)), model.tensor((1, 1, 1, 1))
    options = tflite.Pool2DOptionsT(padding=1, stride_w=2, stride_h=2, filter_width=2, filter_height=2)
    model.op(Op.MAX_POOL_2D, [x], [y], options)
    interpreter = Interpreter(model_content=model.build([x], [y]))
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.float32([1, 4, 2, 3]).reshape(1, 2, 2, 1))
    interpreter.invoke()
    assert interpreter.get_tensor(1).ravel().tolist() == [4]


def test_settings_that_are_built_can_be_set() -> None:
    graph = GraphBuilder()
    graph.node("Abs", "y", graph.placeholder("x", [1]))
    converter = Converter.from_graph_def(graph.graph_def)
    converter.allow_custom_ops = True
    converter.target_spec.supported_ops = [OpsSet.TFLITE_BUILTINS]
    converter.target_spec = TargetSpec([OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS])
    assert converter.convert()[4:8] == b"TFL3"
    assert OpsSet.get_options() == [
        *("TFLITE_BUILTINS", "SELECT_TF_OPS", "TFLITE_BUILTINS_INT8"),
        "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8",
    ]


def test_subclasses_have_settings_of_their_own() -> None:
    class Own(Converter):
        colour: str

    own = Own([])
    own.colour = "red"
    assert own.colour == "red"


@pytest.mark.parametrize("package", ["", ".converter", ".delegates"])
def test_public_names_are_listed(package: str) -> None:
    module = importlib.import_module(f"numlite{package}")
    assert set(module.__all__) <= set(dir(module))
    assert all(getattr(module, name) is not None for name in module.__all__)


@pytest.mark.parametrize(
    ("arguments", "environment", "status", "shown"),
    [
        (["-m", "numlite", "--version"], {}, 0, "numlite, version"),
        (
            ["-c", "import numlite; numlite.Interpreter"],
            {"NUMLITE_DEBUG": "foo"},
            1,
            "NUMLITE_DEBUG: must be 0",
        ),
    ],
)
def test_a_process(arguments: list[str], environment: dict[str, str], status: int, shown: str) -> None:
    ended = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == status and shown in ended.stdout + ended.stderr


def test_long_names_are_shown_by_their_ends() -> None:
    name = "a" * 100 + "b" * 100
    assert shown_name(name) == repr("a" * 48 + "..." + "b" * 28)
    assert shown_name("line\nbreak\u202e") == r"'line\nbreak\u202e'"


@pytest.mark.parametrize(
    "content", [chain()[:4], b"\x0a\x05hello", b"\xff" * 20, b"\x08", b"\x3a\xff\xff\xff\xff\x0f"]
)
def test_what_is_not_known_is_not_guessed(content: bytes) -> None:
    assert what_it_is(content) is None
