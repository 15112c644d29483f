"""What peers compute: a network's layers with padding in numbers, and PADs folded."""

from __future__ import annotations

from dataclasses import dataclass

from numlite.benchmarks.gpu.networks import Layer, Network
from numlite.benchmarks.gpu.single_layers import same_padding

Padding = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class PeerLayer:
    """A layer of a network; inputs are numbers of its layers, padding is of rows and of columns."""

    number: int
    layer: Layer
    inputs: tuple[int, ...]
    padding: Padding

    @property
    def symmetric(self) -> bool:
        return all(before == after for before, after in self.padding)


def peer_layers(network: Network) -> list[PeerLayer]:
    """The layers but the image and the PADs, which belong to the windows that read them.

    Before a pool PADs add zeros; as what is pooled is not negative, not adding anything is the same.
    """
    found = []
    for number, layer in enumerate(network.layers):
        if layer.kind in ("image", "pad"):
            continue
        inputs, padding = layer.inputs, ((0, 0), (0, 0))
        x = network.layers[inputs[0]]
        if x.kind == "pad":
            inputs, padding = x.inputs, (x.padding, x.padding)
        elif layer.same and layer.kind in ("conv", "depthwise", "max_pool"):
            rows, columns = (same_padding(side, layer.size, layer.stride) for side in x.shape[:2])
            padding = rows, columns
        found.append(PeerLayer(number, layer, inputs, padding))
    return found
