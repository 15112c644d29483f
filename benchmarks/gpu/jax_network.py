"""A network in JAX, with the weights that its .tflite file has; NHWC."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numlite.benchmarks.gpu.network_model import Filter
from numlite.benchmarks.gpu.networks import Network
from numlite.benchmarks.gpu.peer_layers import PeerLayer, peer_layers

Parameters = dict[str, tuple[jax.Array, jax.Array]]
_DIMENSIONS = ("NHWC", "HWIO", "NHWC")


def jax_parameters(network: Network, filters: Mapping[str, Filter], dtype: jnp.dtype) -> Parameters:
    """Weights as the functions below take them, [KH, KW, I, O] and [I, O]."""
    found = {}
    for peer in peer_layers(network):
        if peer.layer.name in filters:
            w, bias = filters[peer.layer.name]
            if peer.layer.kind == "depthwise":
                w = w.transpose(1, 2, 0, 3)
            elif peer.layer.kind == "conv":
                w = w.transpose(1, 2, 3, 0)
            else:
                w = w.T
            found[peer.layer.name] = jnp.asarray(w, dtype), jnp.asarray(bias, dtype)
    return found


def jax_network(network: Network) -> Callable[[Parameters, jax.Array], jax.Array]:
    """The function from parameters and images [N, H, W, C] to probabilities, not compiled yet."""
    layers = peer_layers(network)

    def apply(parameters: Parameters, images: jax.Array) -> jax.Array:
        values = {0: images}
        for peer in layers:
            plain = _plain(parameters, peer, [values[n] for n in peer.inputs])
            values[peer.number] = _ACTIVATIONS[peer.layer.activation](plain)
        return values[layers[-1].number]

    return apply


def _plain(parameters: Parameters, peer: PeerLayer, inputs: list[jax.Array]) -> jax.Array:
    """The layer without its activation."""
    x, layer = inputs[0], peer.layer
    strides = (layer.stride, layer.stride)
    if layer.kind in ("conv", "depthwise"):
        w, bias = parameters[layer.name]
        groups = layer.shape[2] if layer.kind == "depthwise" else 1
        y = lax.conv_general_dilated(
            x, w, strides, peer.padding, dimension_numbers=_DIMENSIONS, feature_group_count=groups
        )
        return y + bias
    if layer.kind == "max_pool":
        lowest = np.array(-np.inf, x.dtype)
        window = (1, layer.size, layer.size, 1)
        padding = ((0, 0), *peer.padding, (0, 0))
        return lax.reduce_window(x, lowest, lax.max, window, (1, *strides, 1), padding)
    if layer.kind == "add":
        return inputs[0] + inputs[1]
    if layer.kind == "mean":
        return x.mean((1, 2))
    if layer.kind == "dense":
        w, bias = parameters[layer.name]
        return x @ w + bias
    return jax.nn.softmax(x)


_ACTIVATIONS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "": lambda x: x,
    "relu": lambda x: jnp.maximum(x, 0),
    "relu6": lambda x: jnp.clip(x, 0, 6),
}
