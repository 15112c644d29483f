"""The networks are the ones that they are called after, and their quantized values are used to the full."""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np
import pytest
from numlite.benchmarks.gpu.limits import ceilings_from, operators
from numlite.benchmarks.gpu.lowered import lowered
from numlite.benchmarks.gpu.networks import FULL, NETWORKS, NetworkWriter, Size, model_file
from numlite.interpreter import Interpreter
from numlite.schema import tflite

# Millions of multiply-adds and of weights at 224x224, as published (convolutions' and the classes' own).
PUBLISHED = {
    "mobilenet_v2": (300.774, 3.470, (7, 7, 1280)),
    "resnet50": (4089.184, 25.503, (7, 7, 2048)),
    "efficientnet_lite0": (385.188, 4.609, (7, 7, 1280)),
}
NARROW = Size(64, 0.5, 2, 50)
_MATRICES = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


def _writer(name: str, type: str, size: Size) -> NetworkWriter:
    writer = NetworkWriter(type, size)
    NETWORKS[name](writer)
    return writer


def _operators(writer: NetworkWriter) -> list[tuple[str, list[tflite.TensorT], tflite.OperatorT]]:
    """Names, the first two operands with the result, and what else there is."""
    graph, codes = writer.model.subgraph, writer.model.model.operator_codes
    found = []
    for operator in graph.operators:
        name = tflite.BuiltinOperator(codes[operator.opcode_index].builtin_code).name
        operands = [graph.tensors[t] for t in (*operator.inputs[:2], operator.outputs[0])]
        found.append((name, operands, operator))
    return found


@pytest.mark.parametrize("name", NETWORKS)
def test_sizes_are_those_of_the_real_network(name: str) -> None:
    macs = weights = 0
    mean_of: list[int] = []
    for operator, operands, _ in _operators(_writer(name, "float32", FULL)):
        if operator in _MATRICES:
            w, y = operands[1].shape, operands[2].shape
            weights += prod(w)
            macs += prod(y[1:3] if len(y) == 4 else ()) * prod(w)
        elif operator == "MEAN":
            mean_of = operands[0].shape
    published = PUBLISHED[name]
    assert macs / 1e6 == pytest.approx(published[0], abs=1e-3)
    assert weights / 1e6 == pytest.approx(published[1], abs=1e-3)
    assert tuple(mean_of[1:]) == published[2]


@pytest.mark.parametrize(
    "name, padded",
    (("mobilenet_v2", {(0, 1)}), ("resnet50", {(3, 3), (1, 1)}), ("efficientnet_lite0", set())),
)
def test_pads_are_those_of_keras(name: str, padded: set[tuple[int, int]]) -> None:
    """A PAD and a VALID window with a stride, where TensorFlow's SAME would do otherwise."""
    writer = _writer(name, "float32", FULL)
    found, pads = set(), set()
    for operator, operands, whole in _operators(writer):
        if operator == "PAD":
            pads.add(whole.outputs[0])
            content = writer.model.model.buffers[operands[1].buffer].data
            found.add(tuple(np.frombuffer(content, np.int32).reshape(4, 2)[1].tolist()))
        elif whole.inputs[0] in pads:
            assert whole.builtin_options.padding == 1 and whole.builtin_options.stride_h == 2
    assert found == padded


def _activations(name: str, type: str) -> dict[str, np.ndarray]:
    """Of every layer, for normal images."""
    writer = _writer(name, type, NARROW)
    values = [*writer.sums, *writer.others]
    interpreter = Interpreter(
        model_content=writer.model.build([writer.image.tensor], [value.tensor for value in values])
    )
    (detail,) = interpreter.get_input_details()
    shape = (2, *writer.image.shape)
    interpreter.resize_tensor_input(detail["index"], shape)
    interpreter.allocate_tensors()
    images = np.random.default_rng(5).standard_normal(shape).astype(np.float32)
    if type == "int8":
        scale, zero_point = detail["quantization"]
        images = np.clip(np.rint(images / scale) + zero_point, -128, 127).astype(np.int8)
    interpreter.set_tensor(detail["index"], images)
    interpreter.invoke()
    details = interpreter.get_output_details()
    return {output["name"]: interpreter.get_tensor(output["index"]) for output in details}


@pytest.mark.parametrize("name", NETWORKS)
def test_quantized_values_neither_saturate_nor_vanish(name: str) -> None:
    exact, stored = _activations(name, "float32"), _activations(name, "int8")
    assert len(exact) > 20
    for layer, values in stored.items():
        if layer == "softmax":
            continue
        saturated = np.mean(values == 127)
        assert saturated < 0.03, f"{layer}: {saturated:.3f} of the values are the largest"
        assert len(np.unique(values)) >= 30, f"{layer} has {len(np.unique(values))} values"
        assert 0.05 < exact[layer].std() < 4, f"{layer} deviates by {exact[layer].std():.3f}"
    scores = exact["scores"].reshape(-1), stored["scores"].reshape(-1).astype(float)
    assert np.corrcoef(*scores)[0, 1] > 0.7


def test_watched_layers_are_those_within() -> None:
    watched = _writer("resnet50", "float32", NARROW).watched()
    assert len({value.tensor for value in watched}) == len(watched) >= 4


def test_limits_count_bytes_and_multiply_adds_once(tmp_path: Path) -> None:
    """Of MobileNetV2 some 13.7 million elements an image, and int8's limit is bytes over bandwidth."""
    pytest.importorskip("triton")
    ceilings, limits = ceilings_from([]), {}
    assert set(ceilings.assumed) == {"int8", "bfloat16", "float16", "tf32", "tf32x3", "copy"}
    for mode in ("int8", "bfloat16"):
        model = model_file(str(tmp_path), "mobilenet_v2", mode, FULL)
        found = operators(lowered(model, mode, 64).lowering)
        assert any(len(operator.names) > 1 for operator in found)
        network = [operator for operator in found if operator.label != "CAST"]
        limits[mode] = sum(len(o.names) * ceilings.floor_us(mode, o) for o in network)
        if mode == "int8":
            nbytes = sum(len(operator.names) * operator.nbytes for operator in network)
            assert nbytes / 64e6 == pytest.approx(13.7, abs=0.3)
            macs = sum(len(operator.names) * operator.macs for operator in network)
            assert macs / 64e6 == pytest.approx(279, abs=5)  # all but the depthwise ones'
    assert limits["bfloat16"] == pytest.approx(2 * limits["int8"], rel=0.02)
    measured = ceilings_from([{"kind": "copy", "rate": 2.0e12}, {"kind": "copy", "rate": 4.0e12}])
    assert measured.copy == 4.0e12 and "copy" not in measured.assumed
