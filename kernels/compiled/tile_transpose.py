"""Transposition of dense bands in square tiles of one vector a side."""

from numba import types

from .simd import Emitter, Value, i8, i16, i32, i64, microkernel, vector

TILE_BYTES = 16
LINE_TILES = 4  # tiles that fill a cache line


def _tile(e: Emitter, rows: list[Value]) -> list[Value]:
    """Transpose n vectors of n lanes: log2(n) rounds of interleaving row i with row i + n / 2."""
    n = len(rows)
    low = [k // 2 + (k % 2) * n for k in range(n)]
    high = [n // 2 + k for k in low]
    rounds = n.bit_length() - 1
    for _ in range(rounds):
        pairs = [(rows[i], rows[i + n // 2]) for i in range(n // 2)]
        rows = [e.shuffle(a, b, lanes) for a, b in pairs for lanes in (low, high)]
    return rows


def _band(item_bytes: int, tiles: int):
    """Emit: target row p, item q = source row q, item p, for tiles * n values of p and all q."""
    n = TILE_BYTES // item_bytes
    row_type = vector({1: i8, 2: i16, 4: i32, 8: i64}[item_bytes], n)

    def emit(
        e: Emitter, source: Value, source_stride: Value, target: Value, target_stride: Value, count: Value
    ) -> None:
        builder = e.builder

        def columns(q: Value) -> None:
            row = e.pointer(builder.add(source, builder.mul(q, source_stride)))
            rows = [e.offset(row, builder.mul(source_stride, e.const(k))) for k in range(n)]
            out = e.pointer(builder.add(target, builder.mul(q, e.const(item_bytes))))
            for tile in range(tiles):
                loaded = [e.load(at, row_type, tile * TILE_BYTES) for at in rows]
                for k, value in enumerate(_tile(e, loaded)):
                    e.store(value, e.offset(out, builder.mul(target_stride, e.const(tile * n + k))))

        def step(q: Value, carried: list[Value]) -> list[Value]:
            columns(q)
            return []

        last = builder.sub(count, e.const(n))
        e.loop(last, [], step, step=n)
        columns(last)

    return emit


def _microkernel(item_bytes: int, tiles: int):
    return microkernel(f"transpose_band_{item_bytes}x{tiles}", [types.int64] * 5, _band(item_bytes, tiles))


narrow_band = {size: _microkernel(size, 1) for size in (1, 2, 4, 8)}
line_band = {size: _microkernel(size, LINE_TILES) for size in (1, 2, 4, 8)}
