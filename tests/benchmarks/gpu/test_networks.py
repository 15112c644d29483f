"""The networks are the ones that they are called after, and their quantized values are used to the full."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from numlite.benchmarks.gpu.limits import ceilings_from, elements, unfused_us
from numlite.benchmarks.gpu.network_model import random_filters, watched_layers, write_model
from numlite.benchmarks.gpu.networks import NETWORKS, Network, Size
from numlite.benchmarks.gpu.single_layers import SingleLayer, single_layers
from numlite.interpreter import Interpreter

# Millions of multiply-adds and of weights at 224x224, as published (convolutions' and the classes' own).
PUBLISHED = {
    "mobilenet_v2": (300.774, 3.470, (7, 7, 1280)),
    "resnet50": (4089.184, 25.503, (7, 7, 2048)),
    "efficientnet_lite0": (385.188, 4.609, (7, 7, 1280)),
}
NARROW = Size(64, 0.5, 2, 50)


@pytest.mark.parametrize("name", NETWORKS)
def test_sizes_are_those_of_the_real_network(name: str) -> None:
    network = NETWORKS[name](Size())
    macs, weights, last = PUBLISHED[name]
    assert network.total_macs / 1e6 == pytest.approx(macs, abs=1e-3)
    counted = sum(
        prod(network.weight_shape(layer)) for layer in network.layers if network.weight_shape(layer)
    )
    assert counted / 1e6 == pytest.approx(weights, abs=1e-3)
    before_mean = next(n for n, layer in enumerate(network.layers) if layer.kind == "mean")
    assert network.layers[network.layers[before_mean].inputs[0]].shape == last


@pytest.mark.parametrize(
    "name, padded",
    (("mobilenet_v2", {(0, 1)}), ("resnet50", {(3, 3), (1, 1)}), ("efficientnet_lite0", set())),
)
def test_pads_are_those_of_keras(name: str, padded: set[tuple[int, int]]) -> None:
    """A PAD and a VALID window with a stride, where TensorFlow's SAME would do otherwise."""
    network = NETWORKS[name](Size())
    assert {layer.padding for layer in network.layers if layer.kind == "pad"} == padded
    for layer in network.layers:
        if layer.inputs and network.layers[layer.inputs[0]].kind == "pad":
            assert not layer.same and layer.stride == 2


def _activations(network: Network, type_: str) -> list[np.ndarray]:
    """Of every layer, for normal images."""
    names = [layer.name for layer in network.layers[1:]]
    interpreter = Interpreter(model_content=write_model(network, type_, random_filters(network), names))
    (detail,) = interpreter.get_input_details()
    shape = (2, *network.layers[0].shape)
    interpreter.resize_tensor_input(detail["index"], shape)
    interpreter.allocate_tensors()
    images = np.random.default_rng(5).standard_normal(shape).astype(np.float32)
    if type_ != "float32":
        scale, zero_point = detail["quantization"]
        limits = np.iinfo(type_)
        images = np.clip(np.rint(images / scale) + zero_point, limits.min, limits.max).astype(type_)
    interpreter.set_tensor(detail["index"], images)
    interpreter.invoke()
    return [interpreter.get_tensor(output["index"]) for output in interpreter.get_output_details()]


@pytest.mark.parametrize("type_", ("int8", "uint8"))
@pytest.mark.parametrize("name", NETWORKS)
def test_quantized_values_neither_saturate_nor_vanish(name: str, type_: str) -> None:
    network = NETWORKS[name](NARROW)
    exact, stored = _activations(network, "float32"), _activations(network, type_)
    for layer, values, floats in zip(network.layers[1:], stored, exact, strict=True):
        if layer.kind in ("mean", "softmax"):
            continue
        saturated = np.mean(values == np.iinfo(type_).max)
        assert saturated < 0.03, f"{layer.name}: {saturated:.3f} of the values are the largest"
        assert len(np.unique(values)) >= 30, f"{layer.name} has {len(np.unique(values))} values"
        assert 0.05 < floats.std() < 4, f"{layer.name} deviates by {floats.std():.3f}"
    scores, quantized = exact[-2].reshape(-1), stored[-2].reshape(-1).astype(float)
    assert np.corrcoef(scores, quantized)[0, 1] > 0.7


def test_watched_layers_are_in_the_network() -> None:
    network = NETWORKS["resnet50"](NARROW)
    watched = watched_layers(network)
    assert len(set(watched)) == len(watched) >= 4
    assert set(watched) <= {layer.name for layer in network.layers}


@pytest.mark.parametrize("layer", single_layers(), ids=lambda layer: layer.name)
def test_single_layers_equal_the_cpu(layer: SingleLayer) -> None:
    """Their float64 results, which devices are measured by."""
    interpreter = Interpreter(model_content=layer.content("float32"))
    (detail,) = interpreter.get_input_details()
    x = np.random.default_rng(2).standard_normal((3, *layer.network.layers[0].shape)).astype(np.float32)
    interpreter.resize_tensor_input(detail["index"], x.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    got = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    exact = layer.exact(x)
    assert got.shape == exact.shape
    assert np.linalg.norm(got - exact) <= 1e-6 * np.linalg.norm(exact)


def test_limits_count_bytes_and_multiply_adds_once() -> None:
    """Of MobileNetV2 some 13.7 million elements an image, and int8's limit is bytes over bandwidth."""
    network = NETWORKS["mobilenet_v2"](Size())
    assert sum(moved for _, moved, _ in elements(network)) / 1e6 == pytest.approx(13.73, abs=0.01)
    ceilings = ceilings_from([])
    assert set(ceilings.assumed) == {"int8", "bfloat16", "float16", "tf32", "tf32x3", "copy"}
    assert unfused_us(network, "bfloat16", 256, ceilings) == pytest.approx(
        2 * unfused_us(network, "int8", 256, ceilings), rel=0.01
    )
    measured = ceilings_from(
        [{"kind": "copy", "bytes_per_s": 2.0e12}, {"kind": "copy", "bytes_per_s": 4.0e12}]
    )
    assert measured.copy == 4.0e12 and "copy" not in measured.assumed
