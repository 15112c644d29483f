"""A few float32 rows times matrices that are no constants: these are read as they lie, without packing.

Each result is added up in the order of the depth, as products of packed panels are.
"""

from __future__ import annotations

from numba import carray, int64

from ..contraction.blocks import BATCH_MATMUL_ROWS_F32
from .driver.kernel_source import KernelSources
from .language.lane_order import words_transposed
from .language.memory import int64_pointer
from .language.simd import Emitter, Value, f32, i32, microkernel, vector
from .output_q8 import PartialStore

kernels = KernelSources()

_LANES = 16
_FLOATS, _WORDS = vector(f32, _LANES), vector(i32, _LANES)
_VECTORS = 4  # of columns, side by side


def _emit_by_columns(e: Emitter, x: Value, w: Value, y: Value, columns: Value, depth: Value) -> None:
    """y [columns] = x [depth] times w [columns, depth]: squares of 16 by 16 are turned in registers."""
    b = e.builder
    x, y = e.pointer(x), e.pointer(y)
    partial, last, row_bytes = PartialStore(e, _FLOATS), b.sub(columns, e.const(1)), b.mul(depth, e.const(4))

    def some(n: Value, _: list[Value]) -> list[Value]:
        rows = [
            e.pointer(b.add(w, b.mul(e.smin(b.add(n, e.const(i)), last), row_bytes))) for i in range(_LANES)
        ]

        def square(k: Value, acc: list[Value]) -> list[Value]:
            (total,) = acc
            place = b.mul(k, e.const(4))
            turned = words_transposed(e, [e.load(row, _WORDS, place) for row in rows])
            for i, word in enumerate(turned):
                factor = e.load_splat(e.offset(x, place), f32, _LANES, 4 * i)
                added = e.multiply_add(factor, b.bitcast(word, _FLOATS), total)
                is_there = b.icmp_signed("<", b.add(k, e.const(i)), depth)
                total = b.select(is_there, added, total)
            return [total]

        (total,) = e.loop(depth, [e.const(0.0, _FLOATS)], square, step=_LANES)
        partial.store([total], [e.offset(y, b.mul(n, e.const(4)))], b.sub(columns, n))
        return []

    e.loop(columns, [], some, step=_LANES)


def _emit_by_rows(e: Emitter, x: Value, w: Value, y: Value, columns: Value, depth: Value) -> None:
    """The same of w [depth, columns]."""
    b = e.builder
    x, y = e.pointer(x), e.pointer(y)
    partial, row_bytes = PartialStore(e, _FLOATS), b.mul(columns, e.const(4))

    def blocks(begin: Value, end: Value, vectors: int) -> None:
        def some(n: Value, _: list[Value]) -> list[Value]:
            first = e.pointer(b.add(w, b.mul(n, e.const(4))))

            def step(k: Value, acc: list[Value]) -> list[Value]:
                row = e.offset(first, b.mul(k, row_bytes))
                factor = e.load_splat(e.offset(x, b.mul(k, e.const(4))), f32, _LANES)
                return [e.multiply_add(factor, e.load(row, _FLOATS, 64 * j), v) for j, v in enumerate(acc)]

            acc = e.loop(depth, [e.const(0.0, _FLOATS)] * vectors, step)
            for j, total in enumerate(acc):
                left = e.smax(b.sub(b.sub(columns, n), e.const(j * _LANES)), e.const(0))
                partial.store([total], [e.offset(y, b.add(b.mul(n, e.const(4)), e.const(64 * j)))], left)
            return []

        e.loop(end, [], some, step=vectors * _LANES, start=begin)

    # What is left for half a block of columns is read as such: more would lie too far behind the last row.
    width = _VECTORS * _LANES
    whole = b.mul(b.sdiv(b.add(columns, e.const(width // 2 - 1)), e.const(width)), e.const(width))
    blocks(e.const(0), whole, _VECTORS)
    blocks(whole, columns, _VECTORS // 2)


_by_columns = microkernel("row_by_columns_f32", [int64] * 5, _emit_by_columns)
_by_rows = microkernel("row_by_rows_f32", [int64] * 5, _emit_by_rows)


@kernels.add(BATCH_MATMUL_ROWS_F32)
def batch_matmul_rows_f32(a, chunk, chunks):
    x_index = carray(int64_pointer(a.x_index), a.batches)
    w_index = carray(int64_pointer(a.w_index), a.batches)
    depth, columns, rows = a.depth, a.columns, a.batches * a.rows
    for row in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
        batch = row // a.rows
        x = a.x + (x_index[batch] * a.rows + row - batch * a.rows) * depth * 4
        w, y = a.w + w_index[batch] * columns * depth * 4, a.y + row * columns * 4
        if a.by_columns:
            _by_columns(x, w, y, columns, depth)
        else:
            _by_rows(x, w, y, columns, depth)
    return 0
