"""float32 3x3 convolutions by Winograd's F(2x2, 3x3): transform, 16 matrix products, transform back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float32, int64

from ..contraction.blocks import WINOGRAD_F32
from .driver.kernel_source import KernelSources
from .language.simd import Emitter, Value, f32, i8, i64, ir, microkernel, vector
from .language.target import target
from .panels_f32 import multiply_panels
from .tile_f32 import clamp_all

kernels = KernelSources()

LANES = target().vector_bytes // 4
INFINITY = np.float32(np.inf)


def _from_four(b: Any, d: list[Value]) -> list[Value]:
    """B' d: four inputs of a row or column, transformed."""
    return [b.fsub(d[0], d[2]), b.fadd(d[1], d[2]), b.fsub(d[2], d[1]), b.fsub(d[3], d[1])]


def _to_two(b: Any, m: list[Value]) -> list[Value]:
    """A' m: two outputs of a row or column."""
    return [b.fadd(b.fadd(m[0], m[1]), m[2]), b.fadd(b.fsub(m[1], m[2]), m[3])]


def _transform_input() -> Any:
    """(x, row_bytes, pixel_bytes, row, column, height, width, zeros, to, plane_bytes, depth).

    Transforms the 4x4 inputs from (row, column) of the image at x, which may lie outside, into
    16 planes from `to`, plane_bytes apart.
    """

    def emit(
        e: Emitter,
        x: Value,
        row_bytes: Value,
        pixel_bytes: Value,
        row: Value,
        column: Value,
        height: Value,
        width: Value,
        zeros: Value,
        to: Value,
        plane_bytes: Value,
        depth: Value,
    ) -> None:
        b = e.builder
        type_ = vector(f32, LANES)
        pointers = b.bitcast(b.alloca(ir.ArrayType(i64, 16)), i8.as_pointer())
        columns = [b.add(column, e.const(j)) for j in range(4)]
        inside_columns = [b.icmp_unsigned("<", at, width) for at in columns]
        for i in range(4):
            y = b.add(row, e.const(i))
            inside_row = b.icmp_unsigned("<", y, height)
            start = b.add(x, b.mul(y, row_bytes))
            for j in range(4):
                inside = b.and_(inside_row, inside_columns[j])
                at = b.select(inside, b.add(start, b.mul(columns[j], pixel_bytes)), zeros)
                e.store(at, pointers, 8 * (4 * i + j))
        planes = [b.add(to, b.mul(plane_bytes, e.const(k))) for k in range(16)]

        def block(c: Value, _: list[Value]) -> list[Value]:
            c4 = b.mul(c, e.const(4))

            def load(k: int) -> Value:
                at = b.add(e.load(pointers, i64, 8 * k), c4)
                return e.load(b.inttoptr(at, i8.as_pointer()), type_)

            rows = [_from_four(b, [load(4 * i + j) for i in range(4)]) for j in range(4)]
            for i in range(4):
                for j, value in enumerate(_from_four(b, [rows[j][i] for j in range(4)])):
                    e.store(value, b.inttoptr(b.add(planes[4 * i + j], c4), i8.as_pointer()))
            return []

        e.loop(depth, [], block, step=LANES)

    return microkernel("winograd_f32_input", [int64] * 11, emit)


def _transform_output() -> Any:
    """(of, plane_bytes, bias, y, row_bytes, rows, columns, channels, low, high).

    Adds the bias to the outputs of one tile, clamps them, and stores the first `rows` rows (1 or
    2) and `columns` columns of them.
    """

    def emit(
        e: Emitter,
        of: Value,
        plane_bytes: Value,
        bias: Value,
        y: Value,
        row_bytes: Value,
        rows: Value,
        columns: Value,
        channels: Value,
        low: Value,
        high: Value,
    ) -> None:
        b = e.builder
        type_ = vector(f32, LANES)
        bias = e.pointer(bias)
        pixel_bytes = b.mul(channels, e.const(4))
        planes = [b.add(of, b.mul(plane_bytes, e.const(k))) for k in range(16)]
        both_rows = b.icmp_signed(">", rows, e.const(1))
        both_columns = b.icmp_signed(">", columns, e.const(1))

        def block(c: Value, _: list[Value]) -> list[Value]:
            c4 = b.mul(c, e.const(4))

            def load(k: int) -> Value:
                return e.load(b.inttoptr(b.add(planes[k], c4), i8.as_pointer()), type_)

            start = e.load(e.offset(bias, c4), type_)
            halves = [_to_two(b, [load(4 * i + j) for i in range(4)]) for j in range(4)]
            values = [
                b.fadd(value, start)
                for i in range(2)
                for value in _to_two(b, [halves[j][i] for j in range(4)])
            ]
            values = clamp_all(e, values, low, high)
            at = e.offset(e.pointer(y), c4)
            left = b.sub(channels, c)

            def store_all(masked: bool) -> None:
                mask = e.first_lanes(LANES, left) if masked else None

                def one(k: int, to: Value) -> None:
                    if masked:
                        e.masked_store(values[k], to, mask)
                    else:
                        e.store(values[k], to)

                def row(first: int, to: Value) -> None:
                    one(first, to)
                    e.branch(both_columns, lambda: one(first + 1, e.offset(to, pixel_bytes)))

                row(0, at)
                e.branch(both_rows, lambda: row(2, e.offset(at, row_bytes)))

            whole = b.icmp_signed(">=", left, e.const(LANES))
            e.branch(whole, lambda: store_all(False), lambda: store_all(True))
            return []

        e.loop(channels, [], block, step=LANES)

    return microkernel("winograd_f32_output", [int64] * 8 + [float32] * 2, emit)


_input, _output = _transform_input(), _transform_output()


@kernels.add(WINOGRAD_F32)
def winograd_f32(a, chunk, chunks):
    across, down = (a.out_width + 1) // 2, (a.out_height + 1) // 2
    per_image = across * down
    total = a.images * per_image
    tile, end = total * chunk // chunks, total * (chunk + 1) // chunks
    pixel_bytes, out_pixel_bytes = a.depth * 4, a.columns * 4
    row_bytes, out_row_bytes = a.in_width * pixel_bytes, a.out_width * out_pixel_bytes
    v_row, m_row = a.padded_depth * 4, a.padded_columns * 4
    v_plane, m_plane = v_row * a.block_tiles, m_row * a.block_tiles
    v = a.scratch + chunk * a.scratch_bytes
    m = v + 16 * v_plane
    w_bytes = (a.depth + 1) * a.padded_columns * 4
    while tile < end:
        count = min(end - tile, a.block_tiles)
        for t in range(count):
            image = (tile + t) // per_image
            within = tile + t - image * per_image
            row, column = within // across * 2 - a.pad_top, within % across * 2 - a.pad_left
            x = a.x + image * a.in_height * row_bytes
            to = v + t * v_row
            h, w = a.in_height, a.in_width
            _input(x, row_bytes, pixel_bytes, row, column, h, w, a.zeros, to, v_plane, a.depth)
        for k in range(16):
            of, to, w = v + k * v_plane, m + k * m_plane, a.w + k * w_bytes
            c = a.columns
            multiply_panels(of, v_row, w, to, m_row, count, a.depth, c, 0, c, -INFINITY, INFINITY)
        for t in range(count):
            image = (tile + t) // per_image
            within = tile + t - image * per_image
            row, column = within // across * 2, within % across * 2
            y = a.y + (image * a.out_height + row) * out_row_bytes + column * out_pixel_bytes
            rows, columns, of = a.out_height - row, a.out_width - column, m + t * m_row
            _output(of, m_plane, a.bias, y, out_row_bytes, rows, columns, a.columns, a.low, a.high)
        tile += count
    return 0
