"""Window: sizes, steps and padding of convolutions and pooling, and images of one dimension as planes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...lite.errors import ModelError
from ...schema.graph_def import DT_INT32
from ..building.movement import padded
from ..building.tensor import Tensor
from .call import Call


@dataclass(frozen=True)
class Window:
    """A window over the axes between batch and channels."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: str

    @property
    def rank(self) -> int:
        return len(self.kernel)

    def attributes(self) -> dict[str, list[int] | str]:
        """What TensorFlow's ops of one to three dimensions want; of one it is a plane of height 1."""
        ones = (1,) if self.rank == 1 else ()
        return {
            "strides": [1, *ones, *self.strides, 1],
            "dilations": [1, *ones, *self.dilations, 1],
            "padding": self.padding,
        }


def window_of(
    c: Call, rank: int, kernel: Sequence[int], paddings: Sequence[str] = ("valid", "same")
) -> Window:
    """The layer's window."""
    if c.x.rank != rank + 2:
        raise ModelError(f"its input must have {rank + 2} dimensions, got {c.x.rank}")
    padding = c.config.choice("padding", paddings, "valid").upper()
    strides = c.config.sizes("strides", rank, 1)
    return Window(tuple(kernel), strides, c.config.sizes("dilation_rate", rank, 1), padding)


def before(x: Tensor, amount: int) -> Tensor:
    """[n, w, c] with zeros before the first of w."""
    return padded(x, [(0, 0), (amount, 0), (0, 0)], x.body.scalar(0, x.type))


def with_height(x: Tensor) -> Tensor:
    """[n, w, c] as [n, 1, w, c]."""
    return x.body.op("ExpandDims", x, x.body.scalar(1, DT_INT32))


def without_height(y: Tensor) -> Tensor:
    """[n, 1, w, c] as [n, w, c]."""
    return y.body.op("Squeeze", y, squeeze_dims=[1])
