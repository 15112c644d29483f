"""Tiles of matrix products: which of a few configurations suits a size, and how often it is split."""

from __future__ import annotations

from typing import NamedTuple


class Tile(NamedTuple):
    """Rows, columns and depth of a program's tile, and how it is compiled."""

    rows: int
    columns: int
    depth: int
    warps: int
    stages: int


class Product(NamedTuple):
    """Matrices [rows, repeats * depth] by [repeats * depth, columns], `groups` of them, of elements.

    A step walks up to a tile's depth of one repeat: the taps of a filter are repeats.
    """

    rows: int
    columns: int
    depth: int
    repeats: int
    groups: int
    element: str

    def steps(self, tile_depth: int) -> int:
        return self.repeats * -(-self.depth // tile_depth)

    def tiles(self, tile: Tile) -> int:
        """Programs of one group and one part."""
        return -(-self.rows // tile.rows) * -(-self.columns // tile.columns)


class Choice(NamedTuple):
    """A tile, and among how many programs the depth is split."""

    tile: Tile
    splits: int = 1


# The largest first. Of int8 (one byte an element), of 16-bit floats, and of float32.
_TILES = {
    1: (Tile(128, 128, 128, 8, 4), Tile(128, 64, 64, 4, 4), Tile(64, 64, 64, 4, 4), Tile(64, 32, 64, 4, 4)),
    2: (Tile(128, 128, 64, 8, 4), Tile(128, 64, 64, 4, 4), Tile(64, 64, 64, 4, 4), Tile(64, 32, 64, 4, 4)),
    4: (Tile(128, 64, 32, 8, 3), Tile(64, 64, 32, 4, 3), Tile(64, 32, 32, 4, 3)),
}
_LEAST_DEPTH = {1: 32, 2: 16, 4: 16}
_ELEMENT_BYTES = {"i8": 1, "bf16": 2, "fp16": 2, "fp32": 4}
PROCESSORS = 132  # of an H200; other GPUs of its class are near


def choose(product: Product) -> Choice:
    """The tile with the least padded work, in waves of programs over the processors."""
    nbytes = _ELEMENT_BYTES[product.element]

    def cost(tile: Tile) -> float:
        waves = -(-product.tiles(tile) * product.groups // PROCESSORS)
        return waves * (tile.rows * tile.columns + 2048)

    best = min(_TILES[nbytes], key=cost)
    return Choice(
        best._replace(depth=max(_LEAST_DEPTH[nbytes], min(best.depth, power_of_two(product.depth))))
    )


def power_of_two(size: int) -> int:
    """The least power of two that is at least size."""
    return 1 << max(size - 1, 0).bit_length()
