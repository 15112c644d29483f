"""Peers compute what numlite computes, where they are installed."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.benchmarks.gpu.network_model import Filter, random_filters, write_model
from numlite.benchmarks.gpu.networks import NETWORKS, Network, Size
from numlite.benchmarks.gpu.peer_layers import peer_layers
from numlite.interpreter import Interpreter

_SIZE = Size(32, 0.5, 2, 40)
_IMAGES = np.random.default_rng(4).standard_normal((2, 32, 32, 3)).astype(np.float32)


@pytest.fixture(params=NETWORKS)
def network(request: pytest.FixtureRequest) -> Network:
    return NETWORKS[request.param](_SIZE)


def _expected(network: Network, filters: dict[str, Filter]) -> np.ndarray:
    interpreter = Interpreter(model_content=write_model(network, "float32", filters))
    (detail,) = interpreter.get_input_details()
    interpreter.resize_tensor_input(detail["index"], _IMAGES.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(detail["index"], _IMAGES)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def test_torch_computes_the_same(network: Network) -> None:
    torch = pytest.importorskip("torch")
    from numlite.benchmarks.gpu.torch_network import torch_images, torch_network

    filters = random_filters(network)
    with torch.no_grad():
        model = torch_network(network, filters, torch.float32, "cpu")
        got = model(torch_images(_IMAGES, torch.float32, "cpu")).numpy()
    np.testing.assert_allclose(got, _expected(network, filters), rtol=1e-4)


def test_jax_computes_the_same(network: Network) -> None:
    jax = pytest.importorskip("jax")
    from numlite.benchmarks.gpu.jax_network import jax_network, jax_parameters

    filters = random_filters(network)
    got = jax.jit(jax_network(network))(jax_parameters(network, filters, np.float32), _IMAGES)
    np.testing.assert_allclose(np.asarray(got), _expected(network, filters), rtol=1e-4)


def test_pads_become_the_windows_own() -> None:
    layers = {peer.layer.name: peer for peer in peer_layers(NETWORKS["mobilenet_v2"](Size()))}
    assert layers["block_1_depthwise"].padding == ((0, 1), (0, 1))
    assert layers["Conv1"].padding == ((0, 1), (0, 1)) and not layers["Conv1"].symmetric
    assert layers["block_2_depthwise"].padding == ((1, 1), (1, 1)) and layers["block_2_depthwise"].symmetric
    resnet = {peer.layer.name: peer for peer in peer_layers(NETWORKS["resnet50"](Size()))}
    assert resnet["conv1_conv"].padding == ((3, 3), (3, 3)) and resnet["pool1_pool"].symmetric
