"""Tiles of matrix products: which of a few configurations suits a size."""

from __future__ import annotations

from typing import NamedTuple


class Tile(NamedTuple):
    """Rows, columns and depth of a program's tile, and how it is compiled."""

    rows: int
    columns: int
    depth: int
    warps: int
    stages: int


# The largest first. Of int8 (one byte an element), of 16-bit floats, and of float32.
_TILES = {
    1: (Tile(128, 128, 128, 8, 4), Tile(128, 64, 64, 4, 4), Tile(64, 64, 64, 4, 4), Tile(64, 32, 64, 4, 4)),
    2: (Tile(128, 128, 64, 8, 4), Tile(128, 64, 64, 4, 4), Tile(64, 64, 64, 4, 4), Tile(64, 32, 64, 4, 4)),
    4: (Tile(128, 64, 32, 8, 3), Tile(64, 64, 32, 4, 3), Tile(64, 32, 32, 4, 3)),
}
_LEAST_DEPTH = 32
PROCESSORS = 132  # of an H200; other GPUs of its class are near


def choose_tile(rows: int, columns: int, depth: int, element_bytes: int) -> Tile:
    """The tile with the least padded work, in waves of programs over the processors.

    The cost of a wave is the tile's multiply-adds, and a fixed share for what is not multiplying.
    """

    def cost(tile: Tile) -> float:
        programs = -(-rows // tile.rows) * -(-columns // tile.columns)
        waves = -(-programs // PROCESSORS)
        return waves * (tile.rows * tile.columns + 2048)

    best = min(_TILES[element_bytes], key=cost)
    return best._replace(depth=max(_LEAST_DEPTH, min(best.depth, power_of_two(depth))))


def power_of_two(size: int) -> int:
    """The least power of two that is at least size."""
    return 1 << max(size - 1, 0).bit_length()
