"""Random choices of which a case of one operator is made: sizes, types, quantization, values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

T = TypeVar("T")
Shape = tuple[int, ...]

QUANTIZED = ("int8", "uint8", "int16")
PACKED_BITS = {"int4": 4, "uint4": 4, "int2": 2}
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 3e38, -3e38, 1e-40, 1e-7, 1.0, -1.0, 0.5, -2.5)


@dataclass(frozen=True)
class Kind:
    """Element type by the schema's name in small letters, with its quantization where it has one."""

    type: str
    scale: tuple[float, ...] = ()
    zero_point: int = 0
    dimension: int = 0

    @property
    def dtype(self) -> np.dtype:
        """Of the arrays that hold such elements; packed ones lie in bytes."""
        if self.type == "string":
            return np.dtype(object)
        if self.type == "bfloat16":
            return np.dtype(np.uint16)
        return np.dtype({"int4": "int8", "int2": "int8", "uint4": "uint8"}.get(self.type, self.type))


class Draw:
    """Draws everything from one seed."""

    def __init__(self, *seed: int) -> None:
        self.random = np.random.default_rng(seed)
        # " with extremes" when floats were drawn that are very large or small, " with NaN" when some are none
        self.special = ""

    def chance(self, probability: float = 0.5) -> bool:
        return bool(self.random.random() < probability)

    def pick(self, *choices: T) -> T:
        return choices[self.random.integers(len(choices))]

    def number(self, low: int, high: int) -> int:
        """low to high, both included."""
        return int(self.random.integers(low, high + 1))

    def size(self) -> int:
        """Of one axis: small mostly, seldom 0, seldom beyond the width of a vector."""
        return self.pick(0, *(1,) * 8, *range(2, 8), *range(2, 8), 2, 3, 4, 8, 9, 13, 16, 17, 33)

    def shape(self, low: int = 0, high: int = 5, most: int = 4096) -> Shape:
        """Of rank low to high, of no more than that many elements."""
        shape = tuple(self.size() for _ in range(self.number(low, high)))
        while np.prod(shape, dtype=np.int64) > most:
            shape = tuple(min(size, 1 + size // 2) for size in shape)
        return shape

    def broadcast(self, shape: Shape) -> tuple[Shape, Shape]:
        """Two shapes that broadcast to one another, the second often of fewer axes."""
        if self.chance(0.35):
            return shape, shape
        first, second = list(shape), list(shape)
        for axis in range(len(shape)):
            if self.chance(0.3):
                self.pick(first, second)[axis] = 1
        return tuple(first), tuple(second[self.number(0, len(shape)) if self.chance(0.4) else 0 :])

    def axis(self, rank: int) -> int:
        """Any, from either end; seldom one that does not exist."""
        return self.number(-rank, rank - 1) if rank and not self.chance(0.02) else self.number(-1, 1)

    def kind(self, *types: str) -> Kind:
        """One of the types; those that can be quantized are ("int8" with a scale, "int8!" without)."""
        type_ = self.pick(*types)
        if type_.endswith("!"):
            return Kind(type_[:-1])
        return self.quantized(type_) if type_ in QUANTIZED else Kind(type_)

    def quantized(self, type_: str) -> Kind:
        """One scale and zero point; int16 is symmetric nearly always."""
        scale = (float(np.float32(10 ** self.random.uniform(-3, 0.3))),)
        if type_ == "int16":
            return Kind(type_, scale, 0 if self.chance(0.97) else self.number(-5, 5))
        limits = np.iinfo(type_)
        middle = (int(limits.min) + int(limits.max) + 1) // 2
        return Kind(type_, scale, self.pick(middle, self.number(limits.min, limits.max)))

    def like(self, kind: Kind) -> Kind:
        """Of the same type, of the same quantization half of the time."""
        return kind if not kind.scale or self.chance() else self.quantized(kind.type)

    def values(self, kind: Kind, shape: Shape) -> np.ndarray:
        """Any elements of the kind."""
        if kind.type == "string":
            words = [
                self.pick(b"", b"a", b"bc", b"word", b"\xc3\xa9", b"x" * 30) for _ in range(_count(shape))
            ]
            return np.array(words, "S30").reshape(shape)
        if kind.type == "bfloat16":
            return (self.floats(shape).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        if kind.dtype.kind == "f":
            return self.floats(shape).astype(kind.dtype)
        if kind.dtype.kind == "c":
            return (self.floats(shape) + 1j * self.floats(shape)).astype(kind.dtype)
        if kind.dtype.kind == "b":
            return self.random.integers(0, 2, shape).astype(np.bool_)
        return self.integers(kind, shape)

    def floats(self, shape: Shape) -> np.ndarray:
        """Normal mostly; whole numbers, wide magnitudes, some that are special, or a few that are none."""
        values = self.random.standard_normal(shape) * self.pick(0.3, 1.0, 4.0, 4.0)
        how = self.random.random()
        if how < 0.1:
            values = np.rint(values * 4) / 2
        elif how < 0.15:
            self.special = " with extremes"
            values = np.clip(values * 10.0 ** self.random.integers(-6, 9, shape), -3e38, 3e38)
        elif how < 0.25:
            self.special = " with extremes"
            odd = np.array(SPECIAL)[self.random.integers(0, len(SPECIAL), shape)]
            values = np.where(self.random.random(shape) < self.pick(0.05, 1.0), odd, values)
        elif how < 0.3:
            values = np.abs(values)
        elif how < 0.33:
            self.special = self.special or " with NaN"
            values = np.where(self.random.random(shape) < 0.05, np.nan, values)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(values)

    def integers(self, kind: Kind, shape: Shape) -> np.ndarray:
        """The whole range of narrow types; of wide ones small numbers mostly, seldom the whole range."""
        if kind.type in PACKED_BITS:
            bits = PACKED_BITS[kind.type]
            low = 0 if kind.type[0] == "u" else -(1 << bits - 1)
            return self.random.integers(low, low + (1 << bits), shape).astype(kind.dtype)
        limits = np.iinfo(kind.dtype)
        low, high = int(limits.min), int(limits.max)
        if kind.dtype.itemsize > 1 and not kind.scale and not self.chance(0.1):
            low, high = max(low, -20), min(high, 20)
        values = self.random.integers(low, high, shape, dtype=kind.dtype, endpoint=True)
        if self.chance(0.1):
            ends = np.array([limits.min, limits.max], kind.dtype)[self.random.integers(0, 2, shape)]
            values = np.where(self.random.random(shape) < 0.3, ends, values).astype(kind.dtype)
        return np.asarray(values)


def _count(shape: Sequence[int]) -> int:
    return int(np.prod(shape, dtype=np.int64))


def packed(values: np.ndarray, bits: int) -> bytes:
    """Elements of so many bits, the first in the lowest bits of the first byte."""
    each = 8 // bits
    codes = values.reshape(-1).astype(np.uint8) & ((1 << bits) - 1)
    rows = np.pad(codes, (0, -len(codes) % each)).reshape(-1, each)
    return bytes((rows << (np.arange(each, dtype=np.uint8) * bits)).sum(axis=1).astype(np.uint8))
