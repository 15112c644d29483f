"""Vectors as lanes of 128 bits, which processors shuffle at the least cost."""

from __future__ import annotations

from .simd import Emitter, Value, i32, i64, vector


def interleaved(e: Emitter, a: Value, b: Value, part: int) -> Value:
    """Elements of two vectors in turns: the low or high (part 0 or 1) halves of each of their four lanes."""
    count = a.type.count
    lane = count // 4
    starts = range(part * lane // 2, count, lane)
    order = [start + i // 2 + i % 2 * count for start in starts for i in range(lane)]
    return e.shuffle(a, b, order)


def quarters(e: Emitter, a: Value, b: Value, lanes: tuple[int, int]) -> Value:
    """Two of the four lanes of a, then the same of b, which are vectors of 16 elements."""
    order = [side + lane * 4 + i for side in (0, 16) for lane in lanes for i in range(4)]
    return e.shuffle(a, b, order)


def lanes_transposed(e: Emitter, vectors: list[Value]) -> list[Value]:
    """Four vectors of 16: lane j of vector i as lane i of vector j."""
    out = []
    for half in (0, 1):
        sides = [quarters(e, vectors[i], vectors[i + 1], (2 * half, 2 * half + 1)) for i in (0, 2)]
        out += [quarters(e, sides[0], sides[1], (odd, odd + 2)) for odd in (0, 1)]
    return out


def words_transposed(e: Emitter, rows: list[Value]) -> list[Value]:
    """Word j of each of 16 vectors of 16 words, as vector j."""
    groups = []
    for g in range(0, 16, 4):
        words = [interleaved(e, rows[g + i], rows[g + i + 1], part) for i in (0, 2) for part in (0, 1)]
        pairs = [e.builder.bitcast(v, vector(i64, 8)) for v in words]
        fours = [interleaved(e, pairs[k], pairs[k + 2], part) for k in (0, 1) for part in (0, 1)]
        groups.append([e.builder.bitcast(v, vector(i32, 16)) for v in fours])
    out: list[Value] = [None] * 16
    for k in range(4):
        out[k::4] = lanes_transposed(e, [group[k] for group in groups])
    return out
