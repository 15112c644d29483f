"""Affine quantization parameters of a tensor: real = scale * (stored - zero_point)."""

import numpy as np


class Quantization:
    """Per-tensor (one scale) or per-channel (one scale per index of quantized_dimension).

    scales is float32 [n]; zero_points is int64 [n] (or [1], shared); block_size is 0 unless
    the scales are given per block along the quantized dimension: then they are the values of the
    tensor of index scales_tensor, and scales is empty.
    """

    __slots__ = ("block_size", "quantized_dimension", "scales", "scales_tensor", "zero_points")

    def __init__(
        self,
        scales: np.ndarray,
        zero_points: np.ndarray,
        quantized_dimension: int = 0,
        block_size: int = 0,
        scales_tensor: int = -1,
    ) -> None:
        self.scales = scales
        self.zero_points = zero_points
        self.quantized_dimension = quantized_dimension
        self.block_size = block_size
        self.scales_tensor = scales_tensor

    @property
    def per_channel(self) -> bool:
        return len(self.scales) > 1

    @property
    def scale(self) -> float:
        """The single scale, as the float32 value in the file; 0 where there is none."""
        return float(self.scales[0]) if len(self.scales) else 0.0

    @property
    def zero_point(self) -> int:
        return int(self.zero_points[0]) if len(self.zero_points) else 0
