"""Affine quantization parameters of a tensor: real = scale * (stored - zero_point)."""

import math

import numpy as np

from .errors import UnsupportedError
from .tensor import TensorType


class Quantization:
    """Per-tensor (one scale) or per-channel (one scale per index of quantized_dimension).

    scales is float32 [n]; zero_points is int64 [n] (or [1], shared); block_size is 0 unless
    the scales are given per block along the quantized dimension: then they are the values of the
    tensor of index scales_tensor, the zero points those of zero_points_tensor (-1 where all are 0),
    and scales is empty.
    """

    __slots__ = (
        "block_size",
        "quantized_dimension",
        "scales",
        "scales_tensor",
        "zero_points",
        "zero_points_tensor",
    )

    def __init__(
        self,
        scales: np.ndarray,
        zero_points: np.ndarray,
        quantized_dimension: int = 0,
        block_size: int = 0,
        scales_tensor: int = -1,
        zero_points_tensor: int = -1,
    ) -> None:
        self.scales = scales
        self.zero_points = zero_points
        self.quantized_dimension = quantized_dimension
        self.block_size = block_size
        self.scales_tensor = scales_tensor
        self.zero_points_tensor = zero_points_tensor

    @property
    def per_channel(self) -> bool:
        return len(self.scales) > 1

    @property
    def scale(self) -> float:
        """The single scale, as the float32 value in the file; 0 where there is none.

        UnsupportedError when there are several: who reads one would take it for all.
        """
        if len(self.scales) > 1:
            raise UnsupportedError(
                f"this tensor must have one scale, got {len(self.scales)} along dimension "
                f"{self.quantized_dimension}; a tensor of one scale would run"
            )
        return float(self.scales[0]) if len(self.scales) else 0.0

    @property
    def zero_point(self) -> int:
        return int(self.zero_points[0]) if len(self.zero_points) else 0


# Values that a zero point can have. 32 bits where the type says nothing of quantization.
_SMALL_TYPES = frozenset(
    (TensorType.INT2, TensorType.INT4, TensorType.UINT4, TensorType.INT8, TensorType.UINT8, TensorType.INT16)
)
_MOST_ZERO_POINT = 1 << 16


def quantization_fault(type: int, quantization: Quantization) -> str | None:
    """What no integer of that type can be quantized by: far zero points.

    A zero point a little outside of the type is let pass: some producers write such for tensors
    whose values no kernel reads as reals. Scales of 0 and below are left to the kernels.
    """
    zero_points = quantization.zero_points
    most = _MOST_ZERO_POINT if type in _SMALL_TYPES else (1 << 31) - 1
    least, greatest = _ends(zero_points)
    if not (least >= -most - 1 and greatest <= most):
        return f"zero points must be in [{-most - 1}, {most}], got {_some(zero_points)}"
    return None


def endless_scales(type: int, quantization: Quantization | None) -> str | None:
    """What is said of scales that are no numbers; None where all are, or no integer kernel reads them."""
    if quantization is None or type not in _SMALL_TYPES or not len(quantization.scales):
        return None
    scales = quantization.scales
    least, greatest = _ends(scales)
    if least > -math.inf and greatest < math.inf:
        return None
    return f"scales must be finite, got {_some(scales)}"


def _ends(values: np.ndarray) -> tuple[float, float]:
    """The smallest and the largest of the values, 0 where there are none."""
    if len(values) <= 1:
        only = values.item() if len(values) else 0
        return only, only
    return values.min().item(), values.max().item()


def _some(values: np.ndarray) -> str:
    shown = ", ".join(map(str, values[:4].tolist()))
    return shown if len(values) <= 4 else f"{shown} ... ({len(values)} values)"
