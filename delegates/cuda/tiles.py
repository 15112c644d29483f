"""Tiles of matrix products: which of a few configurations suits a size, and how often it is split."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from .launch import ELEMENT_BYTES


class Tile(NamedTuple):
    """Rows, columns and depth of a program's tile, and how it is compiled."""

    rows: int
    columns: int
    depth: int
    warps: int
    stages: int


class Product(NamedTuple):
    """Matrices [rows, repeats * depth] by [repeats * depth, columns], `groups` of them, of elements.

    A step walks up to a tile's depth of one repeat: the taps of a filter are repeats. is_light says that
    what follows the sums takes few registers, may_split that the depth may be split among programs.
    """

    rows: int
    columns: int
    depth: int
    repeats: int
    groups: int
    element: str
    is_light: bool = False
    may_split: bool = False

    def steps(self, tile_depth: int) -> int:
        return self.repeats * -(-self.depth // tile_depth)

    def tiles(self, tile: Tile) -> int:
        """Programs of one group and one part."""
        return -(-self.rows // tile.rows) * -(-self.columns // tile.columns)


class Choice(NamedTuple):
    """A tile, and among how many programs the depth is split."""

    tile: Tile
    splits: int = 1


class _Entry(NamedTuple):
    """A tile, and what stands in its machine code for sm_90 (tests/delegates/cuda/machine_code.py reads it).

    registers of a thread, and instructions of a warp: those outside the main loop, and those of a step; all
    of a 1x1 convolution.
    """

    tile: Tile
    registers: int
    once: int
    loop: int


# By bytes of an element: int8, 16-bit floats, and float32 (whose numbers are those of tf32x3).
TILES = {
    1: (
        _Entry(Tile(256, 128, 128, 8, 3), 214, 1407, 114),
        _Entry(Tile(128, 128, 128, 8, 4), 136, 919, 89),
        _Entry(Tile(256, 64, 64, 8, 3), 122, 763, 76),
        _Entry(Tile(128, 64, 128, 4, 4), 121, 909, 116),
        _Entry(Tile(128, 32, 64, 4, 4), 64, 529, 78),
        _Entry(Tile(64, 32, 128, 4, 4), 48, 431, 87),
        _Entry(Tile(16, 64, 128, 4, 4), 48, 377, 68),
        _Entry(Tile(16, 32, 256, 4, 4), 48, 346, 81),
    ),
    2: (
        _Entry(Tile(128, 256, 64, 8, 4), 192, 1072, 89),
        _Entry(Tile(128, 128, 64, 8, 4), 122, 723, 80),
        _Entry(Tile(128, 64, 64, 4, 4), 126, 736, 102),
        _Entry(Tile(128, 32, 64, 4, 4), 72, 497, 98),
        _Entry(Tile(64, 32, 64, 4, 4), 48, 361, 79),
        _Entry(Tile(16, 64, 128, 4, 4), 66, 365, 88),
        _Entry(Tile(16, 32, 128, 4, 4), 48, 305, 73),
    ),
    4: (
        _Entry(Tile(128, 128, 32, 8, 3), 208, 818, 460),
        _Entry(Tile(128, 64, 32, 8, 3), 130, 538, 317),
        _Entry(Tile(64, 64, 32, 4, 4), 134, 580, 355),
        _Entry(Tile(64, 32, 32, 4, 4), 102, 413, 259),
        _Entry(Tile(16, 64, 64, 4, 3), 168, 347, 469),
        _Entry(Tile(16, 32, 64, 4, 4), 119, 300, 347),
    ),
}
_LEAST_DEPTH = {1: 32, 2: 16, 4: 16}
_LIGHT_SUMS = 64  # of a thread: with more there are registers for little else

# An H200; other GPUs of its class are near. Multiply-adds and bytes are those of a processor in a clock.
PROCESSORS = 132
_REGISTERS, _SHARED_BYTES, _WARPS = 65536, 228 << 10, 64
_MACS = {1: 3400, 2: 1700, 4: 285}
_CACHE_BYTES, _MEMORY_BYTES = 48, 18
_SCHEDULERS = 4
# Guesses, in clocks, to be replaced by measurements: how long a load takes, a program's start and end, an
# instruction of a warp that is alone on its scheduler, and another launch.
_LOAD, _PROGRAM, _INSTRUCTION, _LAUNCH = 800, 1500, 2, 3000
_MOST_SPLITS, _LEAST_STEPS = 32, 4  # of a split
# A loop's instructions that do not depend on the tile's depth; how many times as many instructions, and how
# many more registers, a window takes.
_LOOP_FIXED, _WINDOW, _WINDOW_REGISTERS = 45, 1.6, 32


def choose(product: Product) -> Choice:
    """The configuration whose estimated time is least."""
    return ranked(product)[0]


@cache
def ranked(product: Product) -> tuple[Choice, ...]:
    """All configurations that serve, the one with the least estimated time first."""
    return tuple(sorted(_choices(product), key=lambda choice: clocks(product, choice)))


def _choices(product: Product) -> Iterator[Choice]:
    nbytes = ELEMENT_BYTES[product.element]
    most_depth = max(_LEAST_DEPTH[nbytes], power_of_two(product.depth))
    for tile, *_ in TILES[nbytes]:
        if not product.is_light and tile.rows * tile.columns // (32 * tile.warps) > _LIGHT_SUMS:
            continue
        depths = {min(tile.depth >> halvings, most_depth) for halvings in range(3)}
        for depth in sorted(depth for depth in depths if depth >= _LEAST_DEPTH[nbytes]):
            steps = product.steps(depth)
            for splits in _splits(product, steps):
                stages = max(2, min(tile.stages, -(-steps // splits) + 1))
                yield Choice(tile._replace(depth=depth, stages=stages), splits)


def _splits(product: Product, steps: int) -> list[int]:
    """Numbers of parts that are about equal, and none of them empty."""
    if not product.may_split:
        return [1]
    wanted = {-(-steps // -(-steps // splits)) for splits in (2, 4, 8, 16, _MOST_SPLITS)}
    return [1, *sorted(n for n in wanted if n > 1 and steps // n >= _LEAST_STEPS)]


def clocks(product: Product, choice: Choice) -> float:
    """An estimate of the time that a product takes, in clocks.

    A processor is busy issuing, multiplying or loading for all of its programs together; and each of its
    waves of programs takes no less than one program alone.
    """
    tile, splits = choice
    nbytes = ELEMENT_BYTES[product.element]
    entry = next(e for e in TILES[nbytes] if e.tile[:2] == tile[:2] and e.tile.warps == tile.warps)
    steps = -(-product.steps(tile.depth) // splits)
    share = tile.depth / entry.tile.depth
    window, more_registers = (_WINDOW, _WINDOW_REGISTERS) if product.repeats > 1 else (1.0, 0)
    loop = window * (_LOOP_FIXED + max(0, entry.loop - _LOOP_FIXED) * share)
    once = window * entry.once
    bytes_of_step = (tile.rows + tile.columns) * tile.depth * nbytes
    rate = _MACS[nbytes] if tile.rows >= 64 else _MACS[nbytes] / 2
    busy = max(
        tile.warps * (once + steps * loop) / _SCHEDULERS,
        steps * tile.rows * tile.columns * tile.depth / rate,
        steps * bytes_of_step / _CACHE_BYTES,
    )
    alone = _PROGRAM + _INSTRUCTION * once + steps * max(_LOAD / (tile.stages - 1), _INSTRUCTION * loop)
    programs = -(-product.tiles(tile) * product.groups * splits // PROCESSORS)
    resident = min(
        _REGISTERS // ((entry.registers + more_registers) * 32 * tile.warps),
        _SHARED_BYTES // (tile.stages * bytes_of_step + 1024),
        _WARPS // tile.warps,
    )
    time = max(programs * busy, -(-programs // max(resident, 1)) * alone)
    if splits == 1:
        return time
    partial_bytes = 8 * splits * product.rows * product.columns * product.groups
    return time + _LAUNCH + partial_bytes / PROCESSORS / _MEMORY_BYTES


def power_of_two(size: int) -> int:
    """The least power of two that is at least size."""
    return 1 << max(size - 1, 0).bit_length()
