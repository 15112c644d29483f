"""The layers of three networks, each kind once: what there is to compute, not the networks themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple


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


def _inverted(stages: tuple[tuple[int, int, int, int, int], ...], side: int, depth: int) -> Iterator[Layer]:
    """Inverted residual blocks: (expansion, columns, blocks, stride, size of the window) a stage."""
    for expansion, columns, blocks, first_stride, size in stages:
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            wide = depth * expansion
            if expansion > 1:
                yield Layer("conv", side, depth, wide)
            yield Layer("dw", side, wide, wide, size, stride)
            side = -(-side // stride)
            yield Layer("conv", side, wide, columns)
            depth = columns


_MOBILENET = (
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 32, 3, 2, 3),
    (6, 64, 4, 2, 3),
    (6, 96, 3, 1, 3),
    (6, 160, 3, 2, 3),
    (6, 320, 1, 1, 3),
)
_LITE0 = (
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 40, 2, 2, 5),
    (6, 80, 3, 2, 3),
    (6, 112, 3, 1, 5),
    (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
)


def _mobilenet(stages: tuple[tuple[int, int, int, int, int], ...]) -> Iterator[Layer]:
    yield Layer("conv", 224, 3, 32, 3, 2)
    yield from _inverted(stages, 112, 32)
    yield Layer("conv", 7, 320, 1280)
    yield Layer("fc", 1, 1280, 1000)


def _resnet50() -> Iterator[Layer]:
    yield Layer("conv", 224, 3, 64, 7, 2)
    side, depth = 56, 64
    for narrow, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            stride = 2 if block == 0 and narrow > 64 else 1
            yield Layer("conv", side, depth, narrow)
            yield Layer("conv", side, narrow, narrow, 3, stride)
            if block == 0:
                yield Layer("conv", side, depth, 4 * narrow, 1, stride)
            side = -(-side // stride)
            yield Layer("conv", side, narrow, 4 * narrow)
            depth = 4 * narrow
    yield Layer("fc", 1, 2048, 1000)


NETWORKS = {
    "mobilenet_v2": Counter(_mobilenet(_MOBILENET)),
    "resnet50": Counter(_resnet50()),
    "efficientnet_lite0": Counter(_mobilenet(_LITE0)),
}
