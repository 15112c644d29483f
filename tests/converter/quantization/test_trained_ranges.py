"""Graphs that were trained for integers: their fake quantization becomes the scales."""

from __future__ import annotations

from typing import Any, NamedTuple

import ai_edge_litert.interpreter as litert
import numpy as np
import pytest
from numlite.converter import Converter, OpsSet, Optimize
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.quantization.quantizer import Quantizer
from numlite.converter.quantization.recipes import static_int8
from numlite.converter.quantization.trained_ranges import trained_model
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.lite.model import Model
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import Op, operators, outputs, weights


class Net:
    """A graph with fake quantization."""

    def __init__(self, shape: tuple[int, ...] = (1, 4, 4, 3)) -> None:
        self.graph = GraphBuilder()
        self.x = self.graph.placeholder("x", shape)

    def fake(self, name: str, x: str, low: float, high: float, **attributes: Any) -> str:
        ends = [self.graph.constant(f"{name}/{i}", np.float32(end)) for i, end in enumerate((low, high))]
        return self.graph.node("FakeQuantWithMinMaxVars", name, x, *ends, **attributes)

    def conv(self, name: str, x: str, filters: np.ndarray, more: float = 1.0) -> str:
        """With filters on grids of their channels, which go beyond the largest weight by a factor."""
        most = np.abs(filters).max(axis=(0, 1, 2)) * np.float32(more)
        ends = [self.graph.constant(f"{name}/{i}", end) for i, end in enumerate((-most, most))]
        given = self.graph.constant(f"{name}/given", filters)
        w = self.graph.node("FakeQuantWithMinMaxVarsPerChannel", f"{name}/w", given, *ends, narrow_range=True)
        return self.graph.node("Conv2D", name, x, w, strides=[1, 1, 1, 1], padding="SAME")

    def convert(self, integers: bool = True, **settings: Any) -> bytes:
        made = Converter.from_graph_def(self.graph.graph_def)
        made.optimizations = [Optimize.DEFAULT] if integers else []
        for name, value in settings.items():
            setattr(made.target_spec if name.startswith("supported") else made, name, value)
        return made.convert()


class Scale(NamedTuple):
    scale: float
    zero_point: int


def scales(content: bytes) -> dict[str, Scale]:
    """Of each integer tensor with one scale, by the start of its name."""
    found = {}
    for tensor in Model(content).root.subgraphs[0].tensors:
        table = tensor.quantization
        if table is not None and table.scale is not None and len(table.scale) == 1:
            found[tensor.name] = Scale(float(table.scale[0]), int(table.zero_point[0]))
    return found


def residual() -> Net:
    """x -> fq -> conv -> relu6 -> fq -> y; y + conv(y) -> fq -> max pool -> softmax."""
    net = Net()
    g = net.graph
    first = net.conv("first", net.fake("x/fq", net.x, -1.0, 1.0), weights((3, 3, 3, 4)), 1.1)
    y = net.fake("y", g.node("Relu6", "relu", first), 0.0, 5.7)
    second = net.fake("z", net.conv("second", y, weights((1, 1, 4, 4), 1)), -7.0, 6.3)
    total = net.fake("total/fq", g.node("AddV2", "total", y, second), -7.0, 9.0)
    pooled = g.node("MaxPool", "pool", total, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    g.node("Softmax", "out", pooled)
    return net


def test_scales_are_those_of_training() -> None:
    """The numbers are TensorFlow's for this graph, of tf.lite.TFLiteConverter 2.21."""
    content = residual().convert()
    assert operators(content) == [
        *("QUANTIZE", "CONV_2D", "CONV_2D", "ADD", "MAX_POOL_2D", "SOFTMAX", "DEQUANTIZE")
    ]
    found = scales(content)
    expected = {
        "x_quantized": Scale(0.0078431377, 0),  # a tie, which goes up
        "relu": Scale(0.022352941, -128),
        "second": Scale(0.052156862, 6),
        "total": Scale(0.062745102, -16),
        "pool": Scale(0.062745102, -16),
    }
    for name, scale in expected.items():
        assert found[name].zero_point == scale.zero_point, name
        assert np.float32(found[name].scale) == pytest.approx(np.float32(scale.scale), rel=1e-7), name


def test_filters_keep_their_grid() -> None:
    content = residual().convert()
    filters = weights((3, 3, 3, 4))
    expected = np.abs(filters).max(axis=(0, 1, 2)) * np.float32(1.1) / 127
    tables = [
        t.quantization for t in Model(content).root.subgraphs[0].tensors if list(t.shape) == [4, 3, 3, 3]
    ]
    np.testing.assert_allclose(tables[0].scale, expected, rtol=1e-6)


def test_integers_follow_what_was_trained() -> None:
    content, real = residual().convert(), residual().convert(integers=False)
    for seed in range(5):
        x = np.random.default_rng(seed).uniform(-1.2, 1.2, (1, 4, 4, 3)).astype(np.float32)
        ours, theirs = outputs(content, [x]), outputs(content, [x], litert.Interpreter)
        np.testing.assert_array_equal(ours[0], theirs[0])
        np.testing.assert_allclose(ours[0], outputs(real, [x])[0], atol=0.08)


def test_without_optimizations_it_stays_fake() -> None:
    assert "CONV_2D" in operators(residual().convert(integers=False))
    assert operators(residual().convert(integers=False)).count("QUANTIZE") == 4


def test_float16_weights_leave_it_fake() -> None:
    content = residual().convert(supported_types=[np.float16])
    assert operators(content).count("QUANTIZE") == 4


def test_samples_give_what_training_has_not() -> None:
    net = Net()
    y = net.graph.node(
        "Relu", "y", net.conv("conv", net.fake("x/fq", net.x, -1.0, 1.0), weights((1, 1, 3, 4)))
    )
    net.fake("out", net.graph.node("Exp", "exp", net.fake("y/fq", y, 0.0, 3.0)), 0.0, 20.0)
    net.graph.node("Sub", "other", y, net.graph.constant("one", np.float32(1)))

    def data() -> list[list[np.ndarray]]:
        return [[np.random.default_rng(i).normal(size=(1, 4, 4, 3)).astype(np.float32)] for i in range(4)]

    alone = net.convert()
    assert _is_float(alone, "SUB")
    assert not _is_float(alone, "CONV_2D")
    both = net.convert(representative_dataset=data)
    assert not _is_float(both, "SUB")
    assert scales(both)["y"].scale == pytest.approx(3 / 255)


def _is_float(content: bytes, operator: str) -> bool:
    graph = Model(content).root.subgraphs[0]
    place = operators(content).index(operator)
    return int(graph.tensors[graph.operators[place].outputs[0]].type) == 0


def test_whole_integer_needs_a_range_everywhere() -> None:
    net = residual()
    settings: dict[str, Any] = {"supported_ops": [OpsSet.TFLITE_BUILTINS_INT8]}
    ends = {"inference_input_type": np.uint8, "inference_output_type": np.uint8}
    content = net.convert(**settings, **ends)
    assert "QUANTIZE" in operators(content)
    net.graph.node("Sub", "bare", "total", net.graph.constant("one", np.float32(1)))
    with pytest.raises(UnsupportedError, match="no range of 'bare'"):
        net.convert(**settings)


def test_tied_results_with_ranges_of_their_own() -> None:
    net = Net()
    g = net.graph
    x = net.fake("x/fq", net.x, -1.0, 1.0)
    pooled = g.node("AvgPool", "pool", x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    net.fake("out", pooled, -0.5, 0.75)
    content = net.convert(inference_input_type=np.int8, inference_output_type=np.int8)
    assert operators(content) == ["AVERAGE_POOL_2D", "QUANTIZE"]
    assert scales(content)["out"].scale == pytest.approx(1.25 / 255)


def test_narrow_activations_and_few_bits() -> None:
    net = Net()
    y = net.graph.node("Relu", "y", net.fake("x/fq", net.x, -1.0, 1.0, narrow_range=True))
    net.fake("out", y, 0.0, 1.5, num_bits=4)
    found = scales(net.convert())
    assert found["x_quantized"] == Scale(pytest.approx(2 / 254), 0)
    assert found["out_quantized"] == Scale(pytest.approx(1.5 / 255), -128)


def test_files_with_pairs_of_quantize_and_dequantize() -> None:
    """What TensorFlow's converter, and ours, makes of such a graph without optimizations."""
    real = residual().convert(integers=False)
    quantizer = Quantizer(real, static_int8())
    assert not quantizer.need_calibration
    made = quantizer.quantize()
    assert operators(made.quantized_model) == operators(residual().convert())
    with pytest.raises(Exception, match="improve"):
        quantizer.quantize(improve="all")
    assert trained_model(made.source).ranges == {}


def faked(ends: tuple[float, float] | None, bits: int = 8) -> Model:
    """A FAKE_QUANT between two operators."""
    model = ModelBuilder()
    x, a, b, y = (model.tensor((1, 4)) for _ in range(4))
    model.op(Op.NEG, [x], [a])
    options = ends and tflite.FakeQuantOptionsT(min=ends[0], max=ends[1], num_bits=bits)
    model.op(Op.FAKE_QUANT, [a], [b], options)
    model.op(Op.NEG, [b], [y])
    return Model(model.build([x], [y]))


@pytest.mark.parametrize("ends", [None, (0, 0), (1, 1), (2, -2), (0, np.nan), (-np.inf, 1)], ids=str)
def test_ranges_that_no_kernel_takes_are_no_ranges(ends: tuple[float, float] | None) -> None:
    with pytest.raises(ModelError, match="FAKE_QUANT: min must be under max, both finite"):
        trained_model(faked(ends))


@pytest.mark.parametrize("bits", [-1, 0, 17, 33])
def test_bits_that_no_kernel_takes(bits: int) -> None:
    with pytest.raises(ModelError, match=r"num_bits in \[1, 16\], got"):
        trained_model(faked((-1, 1), bits))
    assert trained_model(faked((-1, 1), 1)).ranges


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_pairs_whose_scale_tells_no_range(scale: float) -> None:
    model = ModelBuilder()
    x, a, b, y = (model.tensor((1, 4)) for _ in range(4))
    q = model.tensor((1, 4), "int8", name="q", scale=scale)
    model.op(Op.NEG, [x], [a])
    model.op(Op.QUANTIZE, [a], [q])
    model.op(Op.DEQUANTIZE, [q], [b])
    model.op(Op.NEG, [b], [y])
    with pytest.raises(ModelError, match="QUANTIZE 'q': its scale must be above 0 and finite, got"):
        trained_model(Model(model.build([x], [y])))


def test_what_lies_between_ends_alone_stays() -> None:
    net = Net()
    net.fake("out", net.x, -1.0, 1.0)
    assert operators(net.convert(integers=False)) == ["QUANTIZE", "DEQUANTIZE"]
    assert trained_model(Model(net.convert(integers=False))).ranges == {}
    assert operators(net.convert()) == ["FAKE_QUANT"]


def test_weights_behind_quantize_and_dequantize() -> None:
    """As TensorFlow's converter leaves them in a float file: the float constant, quantized in each run."""
    filters = weights((4, 6))
    scales_ = np.abs(filters).max(axis=1).astype(np.float32) / 100
    model = ModelBuilder()
    x, w = model.tensor((2, 6), name="x"), model.constant(filters, name="w")
    integers = model.tensor((4, 6), "uint8", name="q", scale=scales_.tolist(), zero_point=[128] * 4)
    real = model.tensor((4, 6), name="real")
    y, z = model.tensor((2, 4), name="y"), model.tensor((2, 4), name="z")
    grids = [model.tensor((2, size), "int8", scale=0.05, zero_point=3) for size in (6, 4)]
    x_real = model.tensor((2, 6), name="x_real")
    model.op(Op.QUANTIZE, [x], [grids[0]])
    model.op(Op.DEQUANTIZE, [grids[0]], [x_real])
    model.op(Op.QUANTIZE, [w], [integers])
    model.op(Op.DEQUANTIZE, [integers], [real])
    model.op(Op.FULLY_CONNECTED, [x_real, real], [y], tflite.FullyConnectedOptionsT())
    model.op(Op.QUANTIZE, [y], [grids[1]])
    model.op(Op.DEQUANTIZE, [grids[1]], [z])
    made = Quantizer(model.build([x], [z]), static_int8()).quantize(input_type="int8", output_type="int8")
    assert operators(made.quantized_model) == ["FULLY_CONNECTED"]
    assert scales(made.quantized_model)["x"] == Scale(pytest.approx(0.05), 3)
    tensors = Model(made.quantized_model).root.subgraphs[0].tensors
    kept = next(t.quantization for t in tensors if list(t.shape) == [4, 6])
    np.testing.assert_allclose(kept.scale, scales_, rtol=1e-6)
