"""SparseTensor: indices [n, rank], values [n] and the dense shape [rank], checked together."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from .axis import vector
from .status import InvalidArgumentError


@dataclass(frozen=True)
class SparseTensor:
    """Elements that are not zero: their places (int64), themselves, and the sizes of the whole."""

    indices: np.ndarray
    values: np.ndarray
    shape: tuple[int, ...]

    @classmethod
    def of(cls, indices: np.ndarray, values: np.ndarray, shape: np.ndarray) -> SparseTensor:
        """InvalidArgumentError when the three do not fit each other, or an index lies outside."""
        sizes = vector(shape, "dense shape")
        if indices.ndim != 2 or values.ndim != 1 or indices.shape != (len(values), len(sizes)):
            got = f"{list(indices.shape)}, {list(values.shape)} and {list(shape.shape)}"
            raise InvalidArgumentError(f"must be indices [n, rank], values [n] and shape [rank], got {got}")
        if any(size < 0 for size in sizes) or prod(sizes) >= 1 << 63:
            raise InvalidArgumentError(f"dense shape must have sizes of 0 or more, got {list(sizes)}")
        outside = ((indices < 0) | (indices >= np.array(sizes, np.int64))).any(-1)
        if outside.any():
            first = int(np.flatnonzero(outside)[0])
            row = indices[first].tolist()
            raise InvalidArgumentError(f"indices[{first}] = {row} is out of bounds of {list(sizes)}")
        return cls(indices.astype(np.int64, copy=False), values, sizes)

    @classmethod
    def of_flat(cls, flat: np.ndarray, values: np.ndarray, shape: tuple[int, ...]) -> SparseTensor:
        """From flat indices."""
        places = np.stack(np.unravel_index(flat, shape), -1) if shape and len(flat) else None
        indices = np.zeros((len(flat), len(shape)), np.int64) if places is None else places
        return cls(indices.astype(np.int64), values, shape)

    def flat(self) -> np.ndarray:
        """The row-major place of every element."""
        if not self.shape or not len(self.indices):
            return np.zeros(len(self.indices), np.int64)
        return np.ravel_multi_index(tuple(self.indices.T), self.shape).astype(np.int64)

    def ordered(self) -> SparseTensor:
        """With the elements in row-major order."""
        order = np.argsort(self.flat(), kind="stable")
        return SparseTensor(self.indices[order], self.values[order], self.shape)

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Indices, values and shape as an op gives them."""
        return self.indices, self.values, np.array(self.shape, np.int64)
