"""The layers of three networks, each kind once: what there is to compute, not the networks themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from numlite.benchmarks.gpu.networks import FULL, Network
from numlite.benchmarks.gpu.networks import NETWORKS as MAKERS


class Layer(NamedTuple):
    """A convolution of images of side x side pixels; "dw" is depthwise, "fc" has images of one pixel."""

    kind: str
    side: int
    depth: int
    columns: int
    size: int = 1
    stride: int = 1

    @property
    def out_side(self) -> int:
        return -(-self.side // self.stride)

    @property
    def macs(self) -> int:
        """Multiply-adds of one image."""
        depth = 1 if self.kind == "dw" else self.depth
        return self.out_side**2 * self.columns * self.size**2 * depth

    @property
    def elements(self) -> tuple[int, int]:
        """What is read and written of one image, and the weights."""
        weights = self.columns * self.size**2 * (1 if self.kind == "dw" else self.depth)
        return self.side**2 * self.depth + self.out_side**2 * self.columns, weights

    def __str__(self) -> str:
        window = f"{self.size}x{self.size}" + (f"/{self.stride}" if self.stride > 1 else "")
        return f"{self.kind} {window} {self.side}x{self.side} {self.depth}>{self.columns}"


# By the kinds of networks.py.
_KINDS = {"conv": "conv", "depthwise": "dw", "dense": "fc"}


def _layers(network: Network) -> Iterator[Layer]:
    for layer in network.layers:
        if layer.kind not in _KINDS:
            continue
        source = network.layers[layer.inputs[0]]
        if source.kind == "pad":  # which is fused
            source = network.layers[source.inputs[0]]
        *image, depth = source.shape
        side = image[0] if image else 1
        yield Layer(_KINDS[layer.kind], side, depth, layer.shape[-1], layer.size, layer.stride)


NETWORKS = {name: Counter(_layers(make(FULL))) for name, make in MAKERS.items()}
