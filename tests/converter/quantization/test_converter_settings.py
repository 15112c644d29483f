"""Quantization by the names of TensorFlow's converter: what each combination of settings gives."""

from typing import Any

import numpy as np
import pytest
from numlite.converter import Converter, OpsSet, Optimize, RepresentativeDataset
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.errors import UnsupportedError
from numlite.lite.model import Model
from numlite.schema import tflite

from .float_models import operators, outputs, weights

INT8_ONLY = [OpsSet.TFLITE_BUILTINS_INT8]
INT16 = [OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8]


def converter(op: str = "Relu", **settings: Any) -> Converter:
    """Of y = op(matmul(x, w)) with 64 x 32 weights."""
    graph = GraphBuilder()
    filters = graph.constant("w", weights((64, 32)))
    product = graph.node("MatMul", "product", graph.placeholder("x", [1, 64]), filters)
    graph.node(op, "y", product)
    made = Converter.from_graph_def(graph.graph_def)
    for name, value in settings.items():
        setattr(made.target_spec if name.startswith("supported") else made, name, value)
    return made


def data() -> list[list[np.ndarray]]:
    random = np.random.default_rng(0)
    return [[random.uniform(-1, 1, (1, 64)).astype(np.float32)] for _ in range(10)]


def types(content: bytes) -> list[str]:
    """The types of input, weights and output."""
    graph = Model(content).root.subgraphs[0]
    tensors = [graph.tensors[t] for t in (graph.inputs[0], graph.outputs[0])]
    kept = [t for t in graph.tensors if list(t.shape) == [32, 64]]
    return [tflite.TensorType(t.type).name.lower() for t in (tensors[0], kept[0], tensors[1])]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ["float32", "float32", "float32"]),
        ({"optimizations": [Optimize.DEFAULT]}, ["float32", "int8", "float32"]),
        ({"optimizations": [Optimize.OPTIMIZE_FOR_SIZE]}, ["float32", "int8", "float32"]),
        (
            {"optimizations": [Optimize.DEFAULT], "supported_types": [np.float16]},
            ["float32", "float16", "float32"],
        ),
        (
            {"optimizations": [Optimize.DEFAULT], "representative_dataset": data},
            ["float32", "int8", "float32"],
        ),
        (
            {
                "optimizations": [Optimize.DEFAULT],
                "representative_dataset": RepresentativeDataset(data),
                "supported_ops": INT8_ONLY,
                "inference_input_type": np.uint8,
                "inference_output_type": np.int8,
            },
            ["uint8", "int8", "int8"],
        ),
        (
            {
                "optimizations": [Optimize.DEFAULT],
                "representative_dataset": data,
                "supported_ops": INT16,
                "inference_input_type": np.int16,
            },
            ["int16", "int8", "float32"],
        ),
    ],
)
def test_settings_choose_the_scheme(settings: dict[str, Any], expected: list[str]) -> None:
    content = converter(**settings).convert()
    assert types(content) == expected
    is_integer = "QUANTIZE" in operators(content) or expected[0] != "float32"
    assert is_integer == ("representative_dataset" in settings)
    for sample in data()[:3]:
        real, made = outputs(converter().convert(), sample)[0], outputs(content, sample)[0]
        assert np.abs(real - made).max() <= 0.03 * np.abs(real).max()


def test_samples_may_be_by_name_and_signature() -> None:
    plain = converter(optimizations=[Optimize.DEFAULT], representative_dataset=data).convert()
    for form in (lambda a: {"x": a}, lambda a: ("serving_default", {"x": a})):
        samples = [form(array) for [array] in data()]
        given = converter(optimizations=[Optimize.DEFAULT], representative_dataset=samples.copy)
        assert given.convert() == plain


def test_per_tensor() -> None:
    settings = {"optimizations": [Optimize.DEFAULT], "representative_dataset": data}
    wide = converter(**settings, _experimental_disable_per_channel=True).convert()
    assert len(wide) < len(converter(**settings).convert())


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({"supported_ops": INT8_ONLY}, ValueError, "optimizations: must be .Optimize.DEFAULT. for integers"),
        (
            {"optimizations": [Optimize.DEFAULT], "supported_ops": INT8_ONLY},
            ValueError,
            "representative_dataset: must be given",
        ),
        ({"optimizations": ["FAST"]}, ValueError, "optimizations: must be of DEFAULT"),
        ({"optimizations": [Optimize.EXPERIMENTAL_SPARSITY]}, UnsupportedError, "DEFAULT would run"),
        ({"inference_input_type": np.int8}, ValueError, "must be float32 without integer activations"),
        (
            {"optimizations": [Optimize.DEFAULT], "inference_output_type": np.uint8},
            ValueError,
            "must be float32 without integer activations",
        ),
        (
            {"optimizations": [Optimize.DEFAULT], "supported_types": [np.int32]},
            ValueError,
            "supported_types: must be of float16",
        ),
        (
            {"optimizations": [Optimize.DEFAULT], "representative_dataset": 7},
            ValueError,
            "must be a function that gives samples",
        ),
        (
            {
                "op": "Sin",
                "optimizations": [Optimize.DEFAULT],
                "representative_dataset": data,
                "supported_ops": INT8_ONLY,
            },
            UnsupportedError,
            "1 operators cannot be of integers in int8; .*\n  SIN 'y': it has no integer kernel",
        ),
    ],
)
def test_what_contradicts_itself_is_said(settings: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        converter(**settings).convert()


def test_what_has_no_kernel_stays_float_beside_other_sets() -> None:
    sets = [OpsSet.TFLITE_BUILTINS_INT8, OpsSet.TFLITE_BUILTINS]
    content = converter(
        "Sin", optimizations=[Optimize.DEFAULT], representative_dataset=data, supported_ops=sets
    ).convert()
    assert operators(content) == ["QUANTIZE", "FULLY_CONNECTED", "DEQUANTIZE", "SIN"]
