"""Models of one operator, and the reals that quantized arrays stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numlite.schema.objects import TableT
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder


@dataclass(frozen=True)
class Kind:
    """Type and shape of a tensor; scale None stands for no quantization."""

    shape: tuple[int, ...]
    dtype: type = np.float32
    scale: float | tuple[float, ...] | None = None
    zero_point: int = 0
    quantized_dimension: int = 0

    def _scales(self) -> np.ndarray:
        shape = [1] * len(self.shape)
        if isinstance(self.scale, tuple):
            shape[self.quantized_dimension] = len(self.scale)
        return np.reshape(np.asarray(self.scale, np.float32).astype(np.float64), shape)

    def real(self, stored: np.ndarray) -> np.ndarray:
        """float64 values of a stored array."""
        if self.scale is None:
            return stored.astype(np.float64)
        return self._scales() * (stored.astype(np.float64) - self.zero_point)

    def stored(self, real: np.ndarray) -> np.ndarray:
        """The stored array nearest to real values, saturated."""
        if self.scale is None:
            return np.asarray(real).astype(self.dtype)
        limits = np.iinfo(self.dtype)
        rounded = np.rint(real / self._scales()) + self.zero_point
        return np.clip(rounded, limits.min, limits.max).astype(self.dtype)

    def random(self, seed: str, spread: float = 4.0) -> np.ndarray:
        """Normal floats, or integers over the whole type (up to 1000 where it is wide)."""
        random = np.random.default_rng(sum(map(ord, seed)))
        if np.dtype(self.dtype).kind == "f":
            return (random.standard_normal(self.shape) * spread).astype(self.dtype)
        if self.dtype is np.bool_:
            return random.integers(0, 2, self.shape).astype(np.bool_)
        limits = np.iinfo(self.dtype)
        low, high = max(limits.min, -1000), min(limits.max, 1000)
        return random.integers(low, high + 1, self.shape).astype(self.dtype)


def single_op(
    code: BuiltinOperator,
    inputs: Sequence[Kind],
    output: Kind,
    options: TableT | None = None,
    version: int = 1,
    constants: Mapping[int, np.ndarray] | None = None,
) -> bytes:
    """A model of one operator; constants are the values of inputs that are no inputs of the model."""
    constants = constants or {}
    model = ModelBuilder()
    tensors = [
        model.tensor(
            kind.shape,
            kind.dtype,
            constants.get(i),
            scale=kind.scale,
            zero_point=kind.zero_point,
            quantized_dimension=kind.quantized_dimension,
        )
        for i, kind in enumerate([*inputs, output])
    ]
    model.op(code, tensors[:-1], tensors[-1:], options, version)
    return model.build([t for i, t in enumerate(tensors[:-1]) if i not in constants], tensors[-1:])
