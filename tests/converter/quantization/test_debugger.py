"""QuantizationDebugger: what it measures, and what its options change."""

import csv
import io

import numpy as np
import pytest
from numlite.converter import Converter, Optimize
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.quantization import QuantizationDebugger, QuantizationDebugOptions
from numlite.interpreter import Interpreter
from numlite.lite.errors import ModelError

from .float_models import operators, weights
from .test_converter_settings import data

NAMES = ["num_elements", "stddev", "mean_error", "max_abs_error", "mean_squared_error"]


def converter(**settings: object) -> Converter:
    """Of y = softmax(relu(matmul(x, w)) matmul v)."""
    graph = GraphBuilder()
    product = graph.node(
        "MatMul", "product", graph.placeholder("x", [1, 64]), graph.constant("w", weights((64, 32)))
    )
    hidden = graph.node("Relu", "hidden", product)
    graph.node("Softmax", "y", graph.node("MatMul", "logits", hidden, graph.constant("v", weights((32, 5)))))
    made = Converter.from_graph_def(graph.graph_def)
    made.optimizations, made.representative_dataset = [Optimize.DEFAULT], data
    for name, value in settings.items():
        setattr(made, name, value)
    return made


def debugger(options: QuantizationDebugOptions | None = None) -> QuantizationDebugger:
    return QuantizationDebugger(converter=converter(), debug_dataset=data, debug_options=options)


def rows(made: QuantizationDebugger) -> list[dict[str, str]]:
    file = io.StringIO()
    made.layer_statistics_dump(file)
    return list(csv.DictReader(file.getvalue().splitlines()))


def test_layers_are_measured_by_themselves() -> None:
    made = debugger()
    made.run()
    found = rows(made)
    assert list(found[0]) == ["op_name", "tensor_idx", *NAMES, "scale", "zero_point", "tensor_name"]
    assert [row["op_name"] for row in found] == ["FULLY_CONNECTED", "FULLY_CONNECTED", "SOFTMAX"]
    assert [row["tensor_name"] for row in found] == ["hidden", "logits", "y"]
    assert found[2]["scale"] == str(1 / 256)
    for row in found:
        # Rounded weights and a rounded result, not what layers before it lost.
        error = np.sqrt(float(row["mean_squared_error"])) / float(row["scale"])
        assert 0 < error < 1, row
        assert float(row["max_abs_error"]) >= abs(float(row["mean_error"]))
    assert [float(row["num_elements"]) for row in found] == [32, 5, 5]


def test_layers_that_have_taken_in_others_are_measured_as_they_are() -> None:
    """The filter has what was taken from its inputs, and NEG is in what reads it."""
    random = np.random.default_rng(3)
    g = GraphBuilder()
    means = g.constant("means", np.array([100, 120, 90], np.float32))
    filters = g.constant("filters", random.normal(size=(3, 3, 3, 4)).astype(np.float32))
    centered = g.node("Sub", "centered", g.placeholder("x", (1, 6, 6, 3)), means)
    y = g.node("Conv2D", "conv", centered, filters, strides=[1, 1, 1, 1], padding="VALID")
    turned = g.node("Mul", "turned", g.node("Neg", "negative", g.node("Relu", "relu", y)), y)
    g.node("AddV2", "y", g.node("Mul", "scaled", turned, g.constant("scale", np.float32(0.01))), y)
    made_of = Converter.from_graph_def(g.graph_def)
    images = random.uniform(0, 255, (8, 1, 6, 6, 3)).astype(np.float32)
    made_of.optimizations = [Optimize.DEFAULT]
    made_of.representative_dataset = lambda: ([each] for each in images)
    made = QuantizationDebugger(converter=made_of, debug_dataset=made_of.representative_dataset)
    made.run()
    found = rows(made)
    assert {"CONV_2D", "MUL"} <= {row["op_name"] for row in found}
    for row in found:
        assert np.sqrt(float(row["mean_squared_error"])) / float(row["scale"]) < 2, row


def test_own_metrics() -> None:
    def compared(real: np.ndarray, integers: np.ndarray, scale: float, zero_point: np.int32) -> float:
        assert integers.dtype == np.int8
        return float(np.abs((integers - zero_point) * scale - real).max())

    options = QuantizationDebugOptions(
        layer_debug_metrics={"largest": lambda differences: float(np.abs(differences).max())},
        layer_direct_compare_metrics={"compared": compared},
        model_debug_metrics={"shift": lambda real, made: float(np.abs(real[0] - made[0]).max())},
    )
    made = debugger(options)
    made.run()
    for row in rows(made):
        assert float(row["largest"]) == float(row["max_abs_error"])
        assert float(row["compared"]) == pytest.approx(float(row["largest"]), rel=1e-4)
    assert made.model_statistics is not None
    assert 0 < made.model_statistics["shift"] < 0.05


@pytest.mark.parametrize(
    "options",
    [
        QuantizationDebugOptions(denylisted_ops=["SOFTMAX"]),
        QuantizationDebugOptions(denylisted_nodes=["y"]),
    ],
)
def test_what_is_denied_stays_float(options: QuantizationDebugOptions) -> None:
    made = debugger()
    assert operators(made.get_nondebug_quantized_model())[-2:] == ["SOFTMAX", "DEQUANTIZE"]
    made.options = options
    assert made.layer_statistics is None
    assert operators(made.get_nondebug_quantized_model())[-2:] == ["DEQUANTIZE", "SOFTMAX"]
    made.run()
    assert [row["op_name"] for row in rows(made)] == ["FULLY_CONNECTED", "FULLY_CONNECTED"]


def test_a_debug_model_is_debugged_without_its_converter() -> None:
    made = debugger(QuantizationDebugOptions(fully_quantize=True))
    made.run()
    content = made.get_debug_quantized_model()
    detail = Interpreter(model_content=content).get_input_details()[0]
    assert detail["dtype"] == np.int8
    again = QuantizationDebugger(quant_debug_model_content=content, debug_dataset=data)
    again.run()
    assert rows(again) == rows(made)
    with pytest.raises(ValueError, match="a converter must have been given"):
        again.get_nondebug_quantized_model()


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(ValueError, match="a converter, or a debug model"):
        QuantizationDebugger(debug_dataset=data)
    with pytest.raises(ValueError, match="a representative_dataset"):
        QuantizationDebugger(converter=converter(representative_dataset=None))
    with pytest.raises(ValueError, match="NumericVerify"):
        QuantizationDebugger(quant_debug_model_content=converter().convert(), debug_dataset=data)
    with pytest.raises(ValueError, match="names must differ"):
        QuantizationDebugOptions({"a": np.max}, None, {"a": lambda a, b, c, d: 0.0})
    with pytest.raises(ValueError, match="debug_dataset"):
        QuantizationDebugger(converter=converter()).run()
    with pytest.raises(ModelError, match="there must be samples"):
        QuantizationDebugger(converter=converter(), debug_dataset=list).run()
