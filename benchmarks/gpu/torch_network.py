"""A network in PyTorch, with the weights that its .tflite file has; NCHW in channels_last."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numlite.benchmarks.gpu.network_model import Filter
from numlite.benchmarks.gpu.networks import Network
from numlite.benchmarks.gpu.peer_layers import PeerLayer, peer_layers
from torch.nn import functional


class TorchNetwork(torch.nn.Module):
    """The network's probabilities for images [N, C, H, W]; parameters are named by the layers' numbers."""

    def __init__(self, network: Network, filters: Mapping[str, Filter]) -> None:
        super().__init__()
        self._layers = peer_layers(network)
        self.weights, self.biases = torch.nn.ParameterDict(), torch.nn.ParameterDict()
        for peer in self._layers:
            if peer.layer.name in filters:
                w, bias = filters[peer.layer.name]
                if peer.layer.kind == "depthwise":
                    w = w.transpose(3, 0, 1, 2)
                elif peer.layer.kind == "conv":
                    w = w.transpose(0, 3, 1, 2)
                parameter = torch.from_numpy(np.ascontiguousarray(w))
                self.weights[str(peer.number)] = torch.nn.Parameter(parameter, requires_grad=False)
                self.biases[str(peer.number)] = torch.nn.Parameter(
                    torch.from_numpy(bias), requires_grad=False
                )

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        values = {0: images}
        for peer in self._layers:
            inputs = [values[n] for n in peer.inputs]
            values[peer.number] = _ACTIVATIONS[peer.layer.activation](self._plain(peer, inputs))
        return values[self._layers[-1].number]

    def _plain(self, peer: PeerLayer, inputs: list[torch.Tensor]) -> torch.Tensor:
        """The layer without its activation."""
        x, layer = inputs[0], peer.layer
        if layer.kind in ("conv", "depthwise"):
            (top, bottom), (left, right) = peer.padding
            padding = (top, left)
            if not peer.symmetric:
                x, padding = functional.pad(x, (left, right, top, bottom)), (0, 0)
            groups = layer.shape[2] if layer.kind == "depthwise" else 1
            w, bias = self.weights[str(peer.number)], self.biases[str(peer.number)]
            return functional.conv2d(x, w, bias, layer.stride, padding, groups=groups)
        if layer.kind == "max_pool":
            return functional.max_pool2d(x, layer.size, layer.stride, peer.padding[0][0])
        if layer.kind == "add":
            return inputs[0] + inputs[1]
        if layer.kind == "mean":
            return x.mean((2, 3))
        if layer.kind == "dense":
            return functional.linear(x, self.weights[str(peer.number)], self.biases[str(peer.number)])
        return functional.softmax(x, 1)


_ACTIVATIONS = {"": lambda x: x, "relu": functional.relu, "relu6": functional.relu6}


def torch_network(
    network: Network, filters: Mapping[str, Filter], dtype: torch.dtype, device: str
) -> TorchNetwork:
    """On a device, in channels_last."""
    model = TorchNetwork(network, filters).eval()
    return model.to(device=device, dtype=dtype, memory_format=torch.channels_last)  # type: ignore[call-overload]


def torch_images(images: np.ndarray, dtype: torch.dtype, device: str) -> torch.Tensor:
    """float32 [N, H, W, C] as [N, C, H, W] in channels_last."""
    x = torch.from_numpy(images).permute(0, 3, 1, 2)
    return x.to(device=device, dtype=dtype, memory_format=torch.channels_last)
