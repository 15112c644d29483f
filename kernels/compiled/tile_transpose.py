"""Transposition of dense bands in tiles of 16 bytes a side, several side by side in a vector.

A band is `rows` neighbours of the source's fastest axis by all columns: target row r, item c
becomes source row c, item r. Strides are in bytes.
"""

from numba import types

from .language.operations import joined
from .language.simd import Emitter, Value, i8, i16, i32, i64, microkernel, vector
from .language.target import target

TILE_BYTES = 16
LINE_TILES = 4  # tiles that fill a cache line
_ITEMS = {1: i8, 2: i16, 4: i32, 8: i64}
# Tiles in the widest vector.
WIDE_GROUPS = target().vector_bytes // TILE_BYTES


def turned(e: Emitter, vectors: list[Value], groups: int) -> list[Value]:
    """Transpose the n x n tile in each 16-byte part of n vectors.

    log2(n) rounds of interleaving vector i with vector i + n / 2.
    """
    n = len(vectors)
    lanes = range(n * groups)
    low, high = (
        [lane // n * n + (lane % n) // 2 + half + (lane % 2) * n * groups for lane in lanes]
        for half in (0, n // 2)
    )
    for _ in range(n.bit_length() - 1):
        pairs = [(vectors[i], vectors[i + n // 2]) for i in range(n // 2)]
        vectors = [e.shuffle(a, b, order) for a, b in pairs for order in (low, high)]
    return vectors


def _emit_band(item_bytes: int, tiles: int, groups: int):
    """Whole bands of `tiles` tiles; columns >= n * groups, of which the last steps overlap."""
    n = TILE_BYTES // item_bytes
    row_type = vector(_ITEMS[item_bytes], n)
    step = n * groups

    def emit(e: Emitter, source: Value, source_stride: Value, to: Value, to_stride: Value, columns: Value):
        builder = e.builder
        multiples = [builder.mul(source_stride, e.const(k)) for k in range(step)]

        def turn(column: Value) -> None:
            first = e.pointer(builder.add(source, builder.mul(column, source_stride)))
            out = e.pointer(builder.add(to, builder.mul(column, e.const(item_bytes))))
            rows = [e.offset(first, multiple) for multiple in multiples]
            for tile in range(tiles):
                loaded = [e.load(row, row_type, tile * TILE_BYTES) for row in rows]
                vectors = [joined(e, loaded[k::n]) for k in range(n)]
                for k, value in enumerate(turned(e, vectors, groups)):
                    e.store(value, e.offset(out, builder.mul(to_stride, e.const(tile * n + k))))

        def body(column: Value, carried: list[Value]) -> list[Value]:
            turn(column)
            return []

        last = builder.sub(columns, e.const(step))
        e.loop(last, [], body, step=step)
        turn(last)

    return emit


def _emit_thin_band(item_bytes: int):
    """A band of fewer than n rows; columns >= n. Reads up to a tile's width of every source row."""
    n = TILE_BYTES // item_bytes
    row_type = vector(_ITEMS[item_bytes], n)

    def emit(
        e: Emitter,
        source: Value,
        source_stride: Value,
        to: Value,
        to_stride: Value,
        columns: Value,
        rows: Value,
    ):
        builder = e.builder

        def turn(column: Value) -> None:
            first = e.pointer(builder.add(source, builder.mul(column, source_stride)))
            out = e.pointer(builder.add(to, builder.mul(column, e.const(item_bytes))))
            loaded = [
                e.load(e.offset(first, builder.mul(source_stride, e.const(k))), row_type) for k in range(n)
            ]
            rows_of = turned(e, loaded, 1)

            def store_from(k: int) -> None:
                def store() -> None:
                    e.store(rows_of[k], e.offset(out, builder.mul(to_stride, e.const(k))))
                    store_from(k + 1)

                if k < n - 1:
                    e.branch(builder.icmp_signed("<", e.const(k), rows), store)

            store_from(0)

        def body(column: Value, carried: list[Value]) -> list[Value]:
            turn(column)
            return []

        last = builder.sub(columns, e.const(n))
        e.loop(last, [], body, step=n)
        turn(last)

    return emit


def _emit_few_columns(item_bytes: int):
    """A dense target of fewer than n columns, rows a multiple of n.

    Every store is a tile wide and spills over the rows after its own, which come later: the
    caller sees to the last rows, whose spill would reach past the band.
    """
    n = TILE_BYTES // item_bytes
    row_type = vector(_ITEMS[item_bytes], n)

    def emit(e: Emitter, source: Value, source_stride: Value, to: Value, columns: Value, rows: Value):
        builder = e.builder
        last_column = builder.sub(columns, e.const(1))
        starts = []
        for k in range(n):
            inside = builder.icmp_signed("<", e.const(k), columns)
            column = builder.select(inside, e.const(k), last_column)
            starts.append(e.pointer(builder.add(source, builder.mul(column, source_stride))))
        to_stride = builder.mul(columns, e.const(item_bytes))

        def body(row: Value, carried: list[Value]) -> list[Value]:
            at = builder.mul(row, e.const(item_bytes))
            out = e.pointer(builder.add(to, builder.mul(row, to_stride)))
            loaded = [e.load(start, row_type, at) for start in starts]
            for k, value in enumerate(turned(e, loaded, 1)):
                e.store(value, e.offset(out, builder.mul(to_stride, e.const(k))))
            return []

        e.loop(rows, [], body, step=n)

    return emit


def bands(item_bytes: int) -> tuple:
    """(narrow, line, wide, thin, few) microkernels of an item size.

    narrow, line and wide: (source, source_stride, target, target_stride, columns), one tile or a
    cache line high, wide by whole vectors; thin takes the rows as well. few: (source,
    source_stride, target, columns, rows).
    """

    def made(name: str, arguments: int, emit):
        return microkernel(f"transpose_{item_bytes}_{name}", [types.int64] * arguments, emit)

    return (
        made("narrow", 5, _emit_band(item_bytes, 1, 1)),
        made("line", 5, _emit_band(item_bytes, LINE_TILES, 1)),
        made("wide", 5, _emit_band(item_bytes, LINE_TILES, WIDE_GROUPS)),
        made("thin", 6, _emit_thin_band(item_bytes)),
        made("few", 5, _emit_few_columns(item_bytes)),
    )
