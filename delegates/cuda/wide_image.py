"""Images of few channels with their border stored and 4 channels a pixel, so that a window's row is one load.

A convolution of such images is one whose filter is a column: each tap has a whole row of the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...kernels.contraction.geometry import ConvGeometry
from ...lite.errors import UnsupportedError
from .launch import MOST_ELEMENTS, Argument, Pointer

if TYPE_CHECKING:
    from .lowering import Lowering

_CHANNELS = 4
_LEAST_ROW = 16  # elements of a row of the window that pay for the copy
_BLOCK = 256  # pixels of a program


def may_widen(g: ConvGeometry) -> bool:
    """Whether the images have few channels and the windows are wide."""
    is_plain = g.groups == 1 and g.dilation_w == 1
    return is_plain and g.in_depth <= _CHANNELS and g.filter_width * _CHANNELS > _LEAST_ROW


def widened(g: ConvGeometry) -> ConvGeometry:
    """The convolution of the stored images: nothing of it is outside, what pads a row has weight 0."""
    row = -(-g.filter_width * _CHANNELS // _LEAST_ROW) * _LEAST_ROW
    return g._replace(
        in_height=(g.out_height - 1) * g.stride_h + (g.filter_height - 1) * g.dilation_h + 1,
        in_width=(g.out_width - 1) * g.stride_w + row // _CHANNELS,
        in_depth=_CHANNELS,
        filter_width=1,
        filter_depth=row,
        pad_top=0,
        pad_left=0,
    )


def widened_weights(values: np.ndarray, g: ConvGeometry, wide: ConvGeometry) -> np.ndarray:
    """Weights [sets, O, taps, C] as [sets, O, KH, row]."""
    sets, columns = values.shape[:2]
    rows = np.zeros((sets, columns, g.filter_height, wide.filter_depth // _CHANNELS, _CHANNELS), values.dtype)
    rows[..., : g.filter_width, : g.filter_depth] = values.reshape(
        sets, columns, g.filter_height, g.filter_width, g.filter_depth
    )
    return rows.reshape(sets, columns, g.filter_height, wide.filter_depth)


def launch_widening(b: Lowering, x: Pointer, g: ConvGeometry, wide: ConvGeometry, outside: int) -> Pointer:
    """Store the images of x as `wide` reads them, with this value for what is outside.

    UnsupportedError where they are too large for the device code's offsets.
    """
    pixels = g.batch * wide.in_height * wide.in_width
    if pixels * _CHANNELS >= MOST_ELEMENTS:
        raise UnsupportedError(
            f"images with their border must have less than 2**31 elements, got {g.batch} of "
            f"{wide.in_height}x{wide.in_width}x{_CHANNELS}; a smaller batch would run"
        )
    y = b.scratch(x.type, pixels * _CHANNELS)
    args: dict[str, Argument] = {
        "x_ptr": x,
        "y_ptr": y,
        "pixels": pixels,
        "in_height": g.in_height,
        "in_width": g.in_width,
        "height": wide.in_height,
        "width": wide.in_width,
        "pad_top": g.pad_top,
        "pad_left": g.pad_left,
    }
    constants = {"DEPTH": g.in_depth, "CHANNELS": _CHANNELS, "OUTSIDE": outside, "BLOCK": _BLOCK}
    b.launch("movement", "widen", (-(-pixels // _BLOCK),), args, constants)
    return y
