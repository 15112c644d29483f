"""Tiles of elementwise programs: how wide, and which of their sizes make loads wide."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from .launch import ELEMENT_BYTES, Argument, Constant, Pointer
from .tiles import power_of_two

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...lite.tensor import Shape

_ELEMENTS = {1: 2048, 2: 1024, 4: 1024, 8: 512}


class Tiling(NamedTuple):
    """A result [rows, columns] in tiles."""

    rows: int
    columns: int
    tile_rows: int
    tile_columns: int

    @property
    def grid(self) -> tuple[int]:
        return (-(-self.rows // self.tile_rows) * -(-self.columns // self.tile_columns),)

    @property
    def args(self) -> dict[str, Argument]:
        return {"rows": self.rows, "columns": self.columns}

    @property
    def constants(self) -> dict[str, Constant]:
        return {"ROWS": self.tile_rows, "COLUMNS": self.tile_columns}


def elements_of(pointers: Iterable[Argument]) -> int:
    """Elements of a program of 128 threads, each with one or two loads of 16 bytes of the widest operand."""
    return _ELEMENTS[max(ELEMENT_BYTES[p.type] for p in pointers if isinstance(p, Pointer))]


def tiling(rows: int, columns: int, elements: int) -> Tiling:
    """Tiles of so many elements; those of a single row are as wide as they can be."""
    wide = elements if rows == 1 else min(power_of_two(columns), elements)
    return Tiling(rows, columns, 1 if rows == 1 else elements // wide, wide)


def stays_even(shape: Shape) -> bool:
    """Whether the size is a multiple of 16 in every batch, so that one variant serves all of them."""
    return math.prod(shape[1:] if len(shape) > 1 else shape) % 16 == 0
