"""FULLY_CONNECTED: the shape rule."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from ..lite.errors import PrepareError
from ..lite.tensor import Shape


class FullyConnectedGeometry(NamedTuple):
    """y [batch, out_depth] = x [batch, in_depth] times the transpose of w [out_depth, in_depth]."""

    batch: int
    in_depth: int
    out_depth: int
    output_shape: Shape

    @property
    def multiplies(self) -> int:
        """Multiply-adds of the whole operator."""
        return self.batch * self.in_depth * self.out_depth


def fully_connected_geometry(keep_num_dims: bool, x: Shape, w: Shape) -> FullyConnectedGeometry:
    """Sizes of FULLY_CONNECTED for an input x and weights w.

    w is [O, K]. x has any shape; with keep_num_dims its last dimension must be K and becomes O,
    otherwise its elements are read as [batch, K] and the result is [batch, O]. Raises
    PrepareError when w has not 2 dimensions or x's size is no multiple of K.
    Source: LiteRT tflite/kernels/fully_connected.cc, UpdateOutputSize and PrepareImpl.
    """
    shapes = f"got x {'x'.join(map(str, x)) or 'scalar'} and w {'x'.join(map(str, w)) or 'scalar'}"
    if len(w) != 2 or w[1] < 1:
        raise PrepareError(f"FULLY_CONNECTED: weights must be [units, depth] with a depth above 0, {shapes}")
    out_depth, in_depth = w
    if keep_num_dims:
        if not x or x[-1] != in_depth:
            raise PrepareError(f"FULLY_CONNECTED: the input's last dimension must be the depth, {shapes}")
        output_shape = (*x[:-1], out_depth)
    else:
        if prod(x) % in_depth:
            raise PrepareError(f"FULLY_CONNECTED: the input's size must be a multiple of the depth, {shapes}")
        output_shape = (prod(x) // in_depth, out_depth)
    return FullyConnectedGeometry(prod(x) // in_depth, in_depth, out_depth, output_shape)
