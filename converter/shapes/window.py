"""Sizes that sliding windows leave, and where channels are."""

from __future__ import annotations

from collections.abc import Sequence

from .context import ShapeContext
from .dimensions import ANY


class Layout:
    """Where batch, channels and the spatial axes of an op's tensors are."""

    def __init__(self, c: ShapeContext, rank: int, name: str = "data_format") -> None:
        held = c.text(name) if name in c.attributes else ""
        first = held in ("NCHW", "NCDHW", "NCW", "NCHW_VECT_C")
        self.channels = 1 if first else rank - 1
        self.spatial = [axis for axis in range(1, rank) if axis != self.channels]
        self.rank = rank

    def made(self, batch: int, spatial: Sequence[int], channels: int) -> tuple[int, ...]:
        """A shape in the layout."""
        sizes = [batch] * self.rank
        for axis, size in zip(self.spatial, spatial, strict=True):
            sizes[axis] = size
        sizes[self.channels] = channels
        return tuple(sizes)

    def of(self, values: Sequence[int]) -> list[int]:
        """An attribute's values at the spatial axes."""
        return [values[axis] for axis in self.spatial] if len(values) == self.rank else list(values)


def slid(
    c: ShapeContext,
    sizes: Sequence[int],
    windows: Sequence[int],
    layout: Layout,
    dilated: bool = True,
    may_overhang: bool = False,
) -> list[int]:
    """Sizes of the spatial axes after windows slid over them, as strides, padding and dilations say.

    may_overhang is for ops that have no output of a window that overhangs by less than two strides.
    """
    strides = layout.of(c.integers("strides"))
    has_dilations = dilated and "dilations" in c.attributes
    dilations = layout.of(c.integers("dilations")) if has_dilations else []
    dilations = dilations or [1] * len(sizes)
    padding = c.text("padding")
    explicit = c.integers("explicit_paddings") if "explicit_paddings" in c.attributes else []
    found = []
    for i, axis in enumerate(layout.spatial):
        extra = explicit[2 * axis] + explicit[2 * axis + 1] if padding == "EXPLICIT" else 0
        overhang = 2 * strides[i] - 1 if may_overhang else 0
        found.append(_slid_axis(c, sizes[i], windows[i], strides[i], dilations[i], padding, extra, overhang))
    return found


def _slid_axis(
    c: ShapeContext,
    size: int,
    window: int,
    stride: int,
    dilation: int,
    padding: str,
    extra: int,
    overhang: int,
) -> int:
    if stride < 1 or dilation < 1:
        raise c.fault(f"strides and dilations must be at least 1, got {stride} and {dilation}")
    if size == ANY:
        return size if padding == "SAME" and stride == 1 else ANY
    if padding == "SAME":
        return -(-size // stride)
    if window == ANY:
        return ANY
    left = size + extra - (window - 1) * dilation - 1
    if left < -overhang:
        raise c.fault(f"window must fit, got size {size + extra} and extent {(window - 1) * dilation + 1}")
    return max(left // stride + 1, 0)
