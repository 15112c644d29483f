"""Grid: which numbers a tensor's integers stand for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator as Op
from ...schema.tflite import QuantizationParametersT
from ..lite_graph import LiteOperator, LiteTensor


class Grid(NamedTuple):
    """scales (float32 [n]) and zeros (int64 [n]): one, or one for each index of the axis."""

    scales: np.ndarray
    zeros: np.ndarray
    axis: int = 0

    @property
    def is_one(self) -> bool:
        return len(self.scales) == 1

    def table(self) -> QuantizationParametersT:
        """As a file has it."""
        return QuantizationParametersT(
            scale=self.scales, zero_point=self.zeros, quantized_dimension=0 if self.is_one else self.axis
        )

    def real(self, integers: np.ndarray) -> np.ndarray:
        """The float32 numbers that integers stand for."""
        shape = [-1 if axis == self.axis and not self.is_one else 1 for axis in range(integers.ndim)]
        scales, zeros = self.scales.reshape(shape), self.zeros.reshape(shape)
        return ((integers.astype(np.int64) - zeros).astype(np.float32) * scales).astype(np.float32)

    def equals(self, other: Grid | None) -> bool:
        """Whether integers of both stand for the same numbers."""
        if other is None or not np.array_equal(self.scales, other.scales):
            return False
        return np.array_equal(self.zeros, other.zeros) and (self.is_one or self.axis == other.axis)


def grid_of(tensor: LiteTensor | None) -> Grid | None:
    """The grid of an int8 tensor, None for others and where it has none."""
    held = None if tensor is None or tensor.type != TensorType.INT8 else tensor.quantization
    if held is None or held.scale is None or held.zero_point is None or len(held.scale) == 0:
        return None
    scales, zeros = np.asarray(held.scale, np.float32), np.asarray(held.zero_point, np.int64)
    return Grid(scales, zeros, int(held.quantized_dimension or 0)) if scales.shape == zeros.shape else None


def integers_before(operator: LiteOperator | None) -> tuple[LiteTensor, Grid] | None:
    """What DEQUANTIZE makes floats of, with its grid; None for other operators and for other integers."""
    if operator is None or operator.code != Op.DEQUANTIZE:
        return None
    q = operator.operand(0)
    grid = grid_of(q)
    return None if grid is None else (q, grid)


def int8_tensor(
    name: str, shape: tuple[int, ...] | None, grid: Grid, data: np.ndarray | None = None
) -> LiteTensor:
    """A new tensor of integers on the grid."""
    made = LiteTensor(name, TensorType.INT8, shape, data)
    made.quantization = grid.table()
    return made
