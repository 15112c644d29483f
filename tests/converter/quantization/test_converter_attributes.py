"""Attributes of TensorFlow's converter that say how to quantize: what models they give.

Numbers that are written out are TensorFlow 2.21's, for the same graphs and settings.
"""

from typing import Any

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter, OpsSet, Optimize
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.errors import UnsupportedError
from numlite.lite.model import Model
from numlite.lite.tensor import TensorType
from numlite.schema import tflite

from .float_models import operators, outputs, weights

DEFAULT = {"optimizations": [Optimize.DEFAULT]}
INT8_ONLY = {"supported_ops": [OpsSet.TFLITE_BUILTINS_INT8]}
INT16 = {"supported_ops": [OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8]}
DENSE = "_experimental_disable_per_channel_quantization_for_dense_layers"
BIAS = "_experimental_full_integer_quantization_bias_type"
CALIBRATE = "_experimental_calibrate_only"


def data() -> list[list[np.ndarray]]:
    random = np.random.default_rng(0)
    return [[random.normal(0, 1, (1, 6, 6, 3)).astype(np.float32)] for _ in range(12)]


WITH_DATA = {**DEFAULT, "representative_dataset": data}


def set_up(made: Converter, settings: dict[str, Any]) -> Converter:
    for name, value in settings.items():
        setattr(made.target_spec if name.startswith("supported") else made, name, value)
    return made


def net(**settings: Any) -> Converter:
    """Of softmax(matmul(relu(depthwise(conv(x) + b)), w)), with much larger weights of one channel."""
    graph = GraphBuilder()
    x = graph.placeholder("x", [1, 6, 6, 3])
    filters = weights((3, 3, 3, 8))
    filters[..., 3] *= 8
    strides = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    y = graph.node("Conv2D", "conv", x, graph.constant("f", filters), **strides)
    y = graph.node("BiasAdd", "biased", y, graph.constant("b", weights((8,), 1)))
    y = graph.node("DepthwiseConv2dNative", "deep", y, graph.constant("d", weights((3, 3, 8, 1))), **strides)
    y = graph.node("BiasAdd", "deep_biased", y, graph.constant("c", weights((8,), 2)))
    y = graph.node("Reshape", "flat", graph.node("Relu", "relu", y), graph.constant("s", np.array([1, 288])))
    y = graph.node("MatMul", "product", y, graph.constant("w", weights((288, 10))))
    graph.node("Softmax", "y", graph.node("BiasAdd", "sum", y, graph.constant("e", weights((10,), 3))))
    return set_up(Converter.from_graph_def(graph.graph_def, ["x"], ["y"]), settings)


def tables(content: bytes) -> dict[str, tflite.OperatorT]:
    """Operators by name."""
    model = Model(content)
    return dict(zip(operators(content), tflite.unpack(model.root).subgraphs[0].operators, strict=True))


def operand(content: bytes, name: str, place: int) -> tflite.TensorT:
    root = tflite.unpack(Model(content).root)
    return root.subgraphs[0].tensors[tables(content)[name].inputs[place]]


def scales(content: bytes, name: str) -> int:
    return len(operand(content, name, 1).quantization.scale)


@pytest.mark.parametrize(
    "settings", [WITH_DATA, {**WITH_DATA, **INT16}, DEFAULT], ids=["i8", "i16", "dynamic"]
)
def test_dense_layers_alone_can_have_one_scale(settings: dict[str, Any]) -> None:
    usual, dense = net(**settings).convert(), net(**settings, **{DENSE: True}).convert()
    assert (scales(usual, "FULLY_CONNECTED"), scales(dense, "FULLY_CONNECTED")) == (10, 1)
    [scale] = operand(dense, "FULLY_CONNECTED", 1).quantization.scale
    assert scale == np.float32(np.abs(weights((288, 10))).max() / 127)
    if settings is not DEFAULT:
        assert (scales(dense, "CONV_2D"), scales(dense, "DEPTHWISE_CONV_2D")) == (8, 8)


def test_float16_has_no_scales_to_share() -> None:
    settings = {**DEFAULT, "supported_types": [np.float16]}
    assert net(**settings, **{DENSE: True}).convert() == net(**settings).convert()


@pytest.mark.parametrize(
    ("type", "stored", "option"), [(np.int32, TensorType.INT32, 2), (np.int64, TensorType.INT64, 4)]
)
def test_int16_models_can_have_biases_of_both_widths(type: Any, stored: TensorType, option: int) -> None:
    content = net(**WITH_DATA, **INT16, **{BIAS: type}).convert()
    for name in ("CONV_2D", "FULLY_CONNECTED"):
        assert operand(content, name, 2).type == stored
        assert tables(content)[name].builtin_options.quantized_bias_type == option
    # No kernel of LiteRT's takes another one; TensorFlow writes one that it cannot run.
    assert operand(content, "DEPTHWISE_CONV_2D", 2).type == TensorType.INT64


def test_int32_biases_beside_int16_give_the_same_numbers_and_litert_s() -> None:
    litert = pytest.importorskip("ai_edge_litert.interpreter").Interpreter
    narrow, wide = (net(**WITH_DATA, **INT16, **{BIAS: type}).convert() for type in (np.int32, np.int64))
    for sample in data()[:4]:
        [found] = outputs(narrow, sample)
        np.testing.assert_array_equal(found, outputs(narrow, sample, litert)[0])
        np.testing.assert_allclose(found, outputs(wide, sample)[0], atol=2 / 32768)


@pytest.mark.parametrize(
    ("settings", "got"),
    [
        ({**WITH_DATA, BIAS: np.int64}, "int64 beside int8"),
        ({**WITH_DATA, **INT16, BIAS: np.int16}, "int16 beside int16x8"),
        ({**DEFAULT, BIAS: np.int32}, "int32 beside dynamic"),
        ({BIAS: np.int32}, "int32 beside float32"),
    ],
)
def test_biases_that_no_kernel_takes_are_refused(settings: dict[str, Any], got: str) -> None:
    with pytest.raises(ValueError, match=f"bias_type: must be int32 beside int8, .* got {got}"):
        net(**settings).convert()


def test_the_debugger_refuses_them_too() -> None:
    made = net(**WITH_DATA, **{BIAS: np.int16})
    with pytest.raises(ValueError, match=r"int32 beside int8, .* got int16 beside int8"):
        made.quantization().integer_recipe()


@pytest.mark.parametrize(("settings", "got"), [({}, "float32"), (DEFAULT, "dynamic")])
def test_floats_have_no_integer_variables(settings: dict[str, Any], got: str) -> None:
    with pytest.raises(ValueError, match=f"_experimental_variable_quantization: must be with .* got {got}"):
        net(**settings, _experimental_variable_quantization=True).convert()


def test_calibrate_only_gives_the_float_model_with_ranges() -> None:
    plain, content = net().convert(), net(**WITH_DATA, **{CALIBRATE: True}).convert()
    assert operators(content) == operators(plain)
    root = tflite.unpack(Model(content).root).subgraphs[0]
    ranges = {t.name: t.quantization for t in root.tensors if t.quantization is not None}
    # Every tensor of floats that is no constant, and none else.
    assert set(ranges) == {t.name for t in root.tensors if t.buffer == 0}
    assert all(each.scale is None and len(each.min) == len(each.max) == 1 for each in ranges.values())
    stacked = np.stack([x for [x] in data()])
    assert (ranges["x"].min[0], ranges["x"].max[0]) == (stacked.min(), stacked.max())
    results = np.stack([outputs(plain, sample)[0] for sample in data()])
    assert (ranges["y"].min[0], ranges["y"].max[0]) == (results.min(), results.max())
    for sample in data()[:2]:
        np.testing.assert_array_equal(outputs(content, sample)[0], outputs(plain, sample)[0])
    detail = Interpreter(model_content=content).get_input_details()[0]
    assert detail["quantization"] == (0.0, 0)


def test_calibrate_only_leaves_inputs_float_whatever_is_asked() -> None:
    asked = {**WITH_DATA, **INT8_ONLY, "inference_input_type": np.uint8, CALIBRATE: True}
    assert net(**asked).convert() == net(**WITH_DATA, **{CALIBRATE: True}).convert()


@pytest.mark.parametrize(
    ("settings", "got"),
    [
        (DEFAULT, "dynamic"),
        ({"representative_dataset": data}, "float32"),
        ({**WITH_DATA, "supported_types": [np.float16]}, "float16"),
    ],
)
def test_calibrate_only_without_integers_is_refused(settings: dict[str, Any], got: str) -> None:
    with pytest.raises(ValueError, match=f"_experimental_calibrate_only: must be with .* got {got}"):
        net(**settings, **{CALIBRATE: True}).convert()


def trained(**settings: Any) -> Converter:
    """Of a graph that was trained for integers, but for its input's range."""
    graph = GraphBuilder()

    def fake(name: str, x: str, low: float, high: float, narrow: bool = False) -> str:
        given = {"min": low, "max": high, "narrow_range": narrow, "num_bits": 8}
        return graph.node("FakeQuantWithMinMaxArgs", name, x, **given)

    x = graph.placeholder("x", [1, 6, 6, 3])
    filters = fake("fw", graph.constant("w", weights((3, 3, 3, 8))), -3.0, 3.0, narrow=True)
    y = graph.node("Conv2D", "conv", x, filters, strides=[1, 1, 1, 1], padding="SAME")
    fake("y", graph.node("Relu", "relu", y), 0.0, 30.0)
    return set_up(Converter.from_graph_def(graph.graph_def, ["x"], ["y"]), settings)


def ends(content: bytes) -> list[tuple[str, float, int]]:
    """Type, scale and zero point of input and output."""
    interpreter = Interpreter(model_content=content)
    details = (*interpreter.get_input_details(), *interpreter.get_output_details())
    return [(np.dtype(d["dtype"]).name, *d["quantization"]) for d in details]


Y_SCALE = 0.11764705926179886


@pytest.mark.parametrize(
    ("mean", "deviation", "scale", "zero_point"),
    [(3.0, 31.0, 0.032258063554763794, 3), (200.0, 20.0, 0.05000000074505806, 127)],
)
def test_input_stats_are_the_scale_of_a_trained_model_s_input(
    mean: float, deviation: float, scale: float, zero_point: int
) -> None:
    settings = {"inference_type": np.int8, "quantized_input_stats": {"x": (mean, deviation)}}
    content = trained(**settings).convert()
    assert operators(content) == ["CONV_2D"]
    assert ends(content) == [("int8", scale, zero_point), ("int8", Y_SCALE, -128)]


@pytest.mark.parametrize(
    ("mean", "scale", "zero_point"), [(128.0, 0.032258063554763794, 128), (-10.0, 0.032258063554763794, 0)]
)
def test_input_stats_are_of_the_input_s_type(mean: float, scale: float, zero_point: int) -> None:
    settings = {"inference_type": np.int8, "quantized_input_stats": {"x": (mean, 31.0)}}
    types = {"inference_input_type": np.uint8, "inference_output_type": np.uint8}
    content = trained(**settings, **types).convert()
    assert ends(content) == [("uint8", scale, zero_point), ("uint8", Y_SCALE, 0)]


def test_floats_may_stay_outside_of_a_trained_model() -> None:
    stats = {"quantized_input_stats": {"x": (3.0, 31.0)}, "inference_type": np.int8}
    floats = {"inference_input_type": np.float32, "inference_output_type": np.float32}
    told, by_optimizations = trained(**stats, **floats).convert(), trained(**stats, **DEFAULT).convert()
    assert told == by_optimizations
    assert operators(told) == ["QUANTIZE", "CONV_2D", "DEQUANTIZE"]
    assert operand(told, "CONV_2D", 0).quantization.scale == [np.float32(0.032258063554763794)]


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        (
            {"inference_type": np.uint8},
            UnsupportedError,
            "int8 with inference_input_type = .* computes the same",
        ),
        ({"inference_type": np.int16}, ValueError, "inference_type: must be float32 or int8, got int16"),
        ({"inference_type": np.int8}, ValueError, r"got none for \['x'\]"),
        (
            {"inference_type": np.int8, "quantized_input_stats": {"x": (0, 1), "z": (0, 1)}},
            ValueError,
            r"\['z'\] that are no inputs",
        ),
        ({"quantized_input_stats": {"x": (0, 1)}}, ValueError, "inference_type must be int8 beside them"),
        (
            {"inference_type": np.int8, "quantized_input_stats": {"x": (0, 0)}},
            ValueError,
            "deviation above 0",
        ),
        ({"inference_type": np.int8, "quantized_input_stats": {"x": 3}}, ValueError, "must be two numbers"),
    ],
)
def test_stats_that_say_nothing_are_refused(
    settings: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        trained(**settings).convert()
