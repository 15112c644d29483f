"""Quantized models: pairs of QuantizeLinear and DequantizeLinear, and operators on quantized tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...kernels.fallback.dtypes import numpy_dtype
from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import (
    DT_FLOAT,
    DT_INT8,
    DT_INT16,
    DT_INT32,
    DT_QINT8,
    DT_UINT8,
    DT_UINT16,
)
from ...schema.onnx import NodeProto
from ..building.contraction import product
from ..building.movement import axis_of, sliced
from ..building.quantized import int8_constant, int8_of
from ..building.tensor import Integers, Tensor
from .call import Call, Rule
from .conv import convolution
from .element_types import inner_type

# Where the quantized tensors are among the inputs; scale and zero point follow each.
_TAKES = {"DequantizeLinear": (0,), "QLinearConv": (0,), "QLinearMatMul": (0, 3)}
_SHIFT = 128


@dataclass(frozen=True)
class Grid:
    """Scale and zero point, or those of each index of the axis (-1 for one); type is of the integers.

    With a block, scales and zero points are of as many indices in a row.
    """

    scale: Tensor
    zero: Tensor | None
    axis: int
    type: int
    block: int = 0

    @property
    def is_constant(self) -> bool:
        return self.scale.data is not None and (self.zero is None or self.zero.data is not None)

    def scales(self) -> np.ndarray:
        assert self.scale.data is not None
        return self.scale.data.reshape(-1).astype(np.float32)

    def zeros(self) -> np.ndarray:
        """Zero points of int8, for uint8 as for int8."""
        held = self.zero.data if self.zero is not None else np.zeros(self.scales().size, np.int32)
        assert held is not None
        return held.reshape(-1).astype(np.int32) - (_SHIFT if self.type == DT_UINT8 else 0)


def _grid(c: Call, x: Tensor, scale: int, zero: int, type: int, axis: int) -> Grid:
    """The grid of inputs; the axis counts only for more than one scale."""
    scales, zeros = c.input(scale), c.optional(zero)
    if c.integer("block_size", 0):
        return _grid_of_blocks(c, x, scales, zeros, type, axis_of(axis, x.rank))
    if scales.rank > 1:
        raise ModelError("scales must be one for all or one for each index of an axis without block_size")
    one = scales.rank == 0 or scales.sizes == (1,)
    if zeros is not None and not _fit(zeros.sizes, scales.sizes) and {*zeros.sizes, *scales.sizes} != {1}:
        raise ModelError(f"zero points must be one for each scale, got {zeros.sizes} and {scales.sizes}")
    axis = -1 if one else axis_of(axis, x.rank)
    if not one and not _fit(scales.sizes, (x.sizes[axis],)):
        raise ModelError(f"scales must be one for each of {x.sizes[axis]} indices, got {scales.sizes[0]}")
    return Grid(scales, zeros, axis, type)


def _grid_of_blocks(c: Call, x: Tensor, scale: Tensor, zero: Tensor | None, type: int, axis: int) -> Grid:
    block, count = c.integer("block_size"), x.sizes[axis]
    if count == -1:
        raise UnsupportedError("scales of blocks: the size of the axis must be known")
    blocks = -(-count // block) if block > 0 else 0
    sizes = [*x.sizes[:axis], blocks, *x.sizes[axis + 1 :]]
    for what, each in (("scales", scale), ("zero points", zero)):
        if each is not None and not _fit(each.sizes, sizes):
            raise ModelError(f"{what} must be {sizes} for blocks of {block}, got {list(each.sizes)}")
    return Grid(scale, zero, axis, type, block)


def _fit(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether sizes are the same, as far as they are known."""
    return len(a) == len(b) and all(x == y or -1 in (x, y) for x, y in zip(a, b, strict=True))


def _stays_inside(c: Call, name: str) -> bool:
    """Whether only operators that take quantized tensors use the value, with constant scales."""
    users: list[NodeProto] = c.importer.users.get(name, [])
    for user in users:
        places = _TAKES.get(user.op_type, ())
        if any(other == name and place not in places for place, other in enumerate(user.input)):
            return False
    return bool(users) and name not in c.importer.outputs


def quantize_linear(c: Call) -> Tensor:
    """QUANTIZE where the result is made real again, else the formula."""
    x = c.input(0)
    zero = c.optional(2)
    type = zero.type if zero is not None else DT_UINT8
    if c.integer("output_dtype", 0):
        type = inner_type(c.integer("output_dtype"))
    return quantized(c, x, _grid(c, x, 1, 2, type, c.integer("axis", 1)), c.wanted[0])


def quantized(c: Call, x: Tensor, grid: Grid, name: str) -> Tensor:
    """The integers of x. Those that stay inside are int8, which stands for uint8 too."""
    if grid.type in (DT_INT8, DT_UINT8) and grid.is_constant and grid.axis == -1 and _stays_inside(c, name):
        return int8_of(x, grid.scales().reshape(()), grid.zeros().reshape(()))
    if grid.type == DT_FLOAT:
        raise UnsupportedError("floats of 8 or 4 bits: only constants have them")
    if grid.type not in (DT_INT8, DT_UINT8, DT_INT16, DT_UINT16, DT_INT32):
        raise UnsupportedError(f"integers of type {grid.type}")
    limits = np.iinfo(numpy_dtype(grid.type))
    steps = (c.body.cast(x, DT_FLOAT) / _along(x, grid.scale, grid)).apply("Round")
    if grid.zero is not None:
        steps = steps + _along(x, c.body.cast(grid.zero, DT_FLOAT), grid)
    return c.body.cast(steps.maximum(limits.min).minimum(limits.max), grid.type)


def _along(x: Tensor, values: Tensor, grid: Grid) -> Tensor:
    """Values of a grid in a shape that stretches to x's."""
    body, axis = values.body, grid.axis
    if grid.block:
        sizes = body.sizes_of(values)
        each = body.reshaped(values, [*sizes[: axis + 1], 1, *sizes[axis + 1 :]])
        ones = [1] * (x.rank + 1)
        ones[axis + 1] = grid.block
        rows = body.op("Tile", each, body.integers(ones))
        whole = body.reshaped(rows, [*sizes[:axis], values.sizes[axis] * grid.block, *sizes[axis + 1 :]])
        return sliced(whole, [axis], [0], [x.sizes[axis]], [1])
    return _stretched(x, values, axis)


def _stretched(x: Tensor, values: Tensor, axis: int) -> Tensor:
    """One value, or values for each index of an axis."""
    if axis == -1:
        return values.body.op("Reshape", values, values.body.integers([]))
    return values.body.reshaped(values, [-1 if each == axis else 1 for each in range(x.rank)])


def dequantize_linear(c: Call) -> Tensor:
    """DEQUANTIZE of what was quantized and of constants, else the formula."""
    x = c.input(0)
    return dequantized(c, x, _grid(c, x, 1, 2, x.type, c.integer("axis", 1)))


def dequantized(c: Call, x: Tensor, grid: Grid) -> Tensor:
    """The numbers that integers stand for."""
    if grid.block and x.data is not None and grid.is_constant:
        return _of_blocks(c, x, grid)
    if x.type == DT_QINT8:
        zero = grid.zero.type if grid.zero is not None else DT_UINT8
        return _dequantized_int8(c, x, Grid(grid.scale, grid.zero, grid.axis, zero))
    if x.type in (DT_INT8, DT_UINT8) and x.data is not None and grid.is_constant and not grid.block:
        shifted = x.data.astype(np.int16) - (_SHIFT if x.type == DT_UINT8 else 0)
        integers = int8_constant(c.body.constant(shifted.astype(np.int8), x.name))
        return _dequantized_int8(c, integers, grid)
    steps = c.body.cast(x, DT_FLOAT)
    if grid.zero is not None:
        if x.type == DT_INT32:
            steps = c.body.cast(x - _along(x, c.body.cast(grid.zero, DT_INT32), grid), DT_FLOAT)
        else:
            steps = steps - _along(x, c.body.cast(grid.zero, DT_FLOAT), grid)
    return steps * _along(x, grid.scale, grid)


def _dequantized_int8(c: Call, x: Tensor, grid: Grid) -> Tensor:
    if not grid.is_constant:
        raise UnsupportedError("scale and zero point must be constant")
    scales, zeros = grid.scales(), grid.zeros()
    if scales.size != zeros.size:
        raise ModelError(f"scales must have one zero point each, got {scales.size} and {zeros.size}")
    shape = () if grid.axis == -1 else (-1,)
    return c.body.dequantized(Integers(x, scales.reshape(shape), zeros.reshape(shape), grid.axis))


def _of_blocks(c: Call, x: Tensor, grid: Grid) -> Tensor:
    """Constants whose scales are those of blocks along an axis, as floats."""
    count = x.sizes[grid.axis]

    def stretched(values: np.ndarray) -> np.ndarray:
        return values.repeat(grid.block, grid.axis).take(np.arange(count), grid.axis).astype(np.float32)

    assert x.data is not None and grid.scale.data is not None
    values = x.data.astype(np.float32)
    if grid.zero is not None and grid.zero.data is not None:
        values = values - stretched(grid.zero.data)
    return c.body.constant(values * stretched(grid.scale.data), x.name)


def qlinear_conv(c: Call) -> Tensor:
    """A convolution between quantized tensors, its bias in steps of both scales."""
    x, w, bias = c.input(0), c.input(3), c.optional(8)
    x_grid, w_grid = _grid(c, x, 1, 2, x.type, 1), _grid(c, w, 4, 5, w.type, 0)
    real_bias = None
    if bias is not None:
        steps = c.make("Reshape", x_grid.scale * w_grid.scale, c.body.integers([-1]))
        real_bias = c.body.cast(bias, DT_FLOAT) * steps
    y = convolution(c, dequantized(c, x, x_grid), dequantized(c, w, w_grid), real_bias)
    return _result(c, y, 6, 7)


def qlinear_matmul(c: Call) -> Tensor:
    """A product between quantized tensors."""
    a, b = c.input(0), c.input(3)
    y = product(
        dequantized(c, a, _grid(c, a, 1, 2, a.type, a.rank - 2)),
        dequantized(c, b, _grid(c, b, 4, 5, b.type, b.rank - 1)),
    )
    return _result(c, y, 6, 7)


def _result(c: Call, y: Tensor, scale: int, zero: int) -> Tensor:
    return quantized(c, y, _grid(c, y, scale, zero, c.input(zero).type, 1), c.wanted[0])


def _centered(c: Call, place: int, zero: int, axis: int) -> Tensor:
    """Integers less their zero point, as floats, which hold them and their products' sums up to 2^24."""
    x, zeros = c.input(place), c.optional(zero)
    steps = c.body.cast(x, DT_FLOAT)
    if zeros is None:
        return steps
    one = zeros.rank == 0 or zeros.sizes == (1,)
    return steps - _stretched(x, c.body.cast(zeros, DT_FLOAT), -1 if one else axis)


def matmul_integer(c: Call) -> Tensor:
    """Sums of products of integers less their zero points."""
    a, b = c.input(0), c.input(1)
    y = product(_centered(c, 0, 2, a.rank - 2), _centered(c, 1, 3, b.rank - 1))
    return c.body.cast(y.apply("Round"), DT_INT32)


def conv_integer(c: Call) -> Tensor:
    """A convolution of integers less their zero points."""
    y = convolution(c, _centered(c, 0, 2, -1), _centered(c, 1, 3, 0), None)
    return c.body.cast(y.apply("Round"), DT_INT32)


def dynamic_quantize_linear(c: Call) -> list[Tensor]:
    """uint8 by the tensor's own range, with its scale and zero point."""
    x = c.input(0)
    axes = c.body.integers(list(range(x.rank)))
    low = c.make("Min", x, axes, keep_dims=False).minimum(0)
    high = c.make("Max", x, axes, keep_dims=False).maximum(0)
    scale = (high - low) / 255
    safe = scale.equals(0).choose(1, scale)
    zero = ((-low) / safe).maximum(0).minimum(255).apply("Round")
    steps = (x / safe).apply("Round") + zero
    return [c.body.cast(steps.maximum(0).minimum(255), DT_UINT8), scale, c.body.cast(zero, DT_UINT8)]


REGISTRATIONS: dict[str, Rule] = {
    "ConvInteger": conv_integer,
    "DequantizeLinear": dequantize_linear,
    "DynamicQuantizeLinear": dynamic_quantize_linear,
    "MatMulInteger": matmul_integer,
    "QLinearConv": qlinear_conv,
    "QLinearMatMul": qlinear_matmul,
    "QuantizeLinear": quantize_linear,
}
