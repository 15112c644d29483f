"""Packing of int8 matrices that are not constant, in each invoke."""

from __future__ import annotations

import numpy as np
from numba import carray, njit, types

from ..contraction.blocks import PACK_MATRICES_Q8
from .driver.kernel_source import KernelSources
from .language.dot_forms import column_order, in_blocks, tiles_are_short
from .language.memory import int8_pointer, int32_pointer
from .language.operations import joined
from .language.panel_columns import NARROW_COLUMNS, PANEL_COLUMNS
from .language.simd import Emitter, Value, i8, i16, i32, microkernel, vector
from .tile_transpose import turned

kernels = KernelSources()

_HALF_COLUMNS = 16
_HALVES = range(PANEL_COLUMNS // _HALF_COLUMNS)
_ROW, _HALF = vector(i8, PANEL_COLUMNS), vector(i32, _HALF_COLUMNS)
# Which channel each column of a wide panel holds, and where each channel is.
_ORDER = column_order(PANEL_COLUMNS)
_ORDERS = [_ORDER[h * _HALF_COLUMNS :][:_HALF_COLUMNS] for h in _HALVES]
PLACES = np.argsort(_ORDER)
IN_BLOCKS = in_blocks()
# Whether the first row of a header, which holds sums of channels while they are packed, adds to them what
# short sums of products lack; the second row holds it until the rounding's rows come.
SHORT = tiles_are_short()
# Steps that are written together.
STEPS = 2 if IN_BLOCKS else 1
# Of each half, sums and, where they are wanted, what short sums lack.
_TOTALS = (2 if SHORT else 1) * len(_HALVES)
_ZIPPED = [[lane + 16 * k for lane in range(start, start + 8) for k in range(2)] for start in (0, 8)]


def _store_words(e: Emitter, steps: list[list[Value]], out: Value) -> None:
    """Words of neighbouring steps, the halves of a panel's columns apart, from a pair's first step on."""
    if IN_BLOCKS and len(steps) > 1:
        for at in range(0, len(steps), 2):
            halves = zip(steps[at], steps[at + 1], strict=True)
            blocks = [[e.shuffle(*half, order) for order in _ZIPPED] for half in halves]
            steps[at : at + 2] = [[half[k] for half in blocks] for k in range(2)]
    for step, words in enumerate(steps):
        for h, half in enumerate(words):
            e.store(half, out, step * PANEL_COLUMNS * 4 + h * 64)


def _emit_rows(e: Emitter, w: Value, row_bytes: Value, panel: Value, steps: Value, sums: Value) -> None:
    """Four rows of a wide panel's channels at a time; the channels' sums go to `sums`.

    What short sums lack goes to the row after. Where steps lie in pairs, their number is even.
    """
    b = e.builder
    source, to = e.pointer(w), e.pointer(panel)
    words = [[lane + PANEL_COLUMNS * k for lane in order for k in range(2)] for order in _ORDERS]

    def rows_of(step: Value) -> list[Value]:
        first = b.mul(step, b.mul(row_bytes, e.const(4)))
        return [e.load(source, _ROW, b.add(first, b.mul(row_bytes, e.const(k)))) for k in range(4)]

    def words_of(rows: list[Value], h: int) -> Value:
        low, high = (e.shuffle(rows[k], rows[k + 1], words[h]) for k in (0, 2))
        mixed = [lane for k in range(16) for lane in (2 * k, 2 * k + 1, 32 + 2 * k, 33 + 2 * k)]
        return b.bitcast(e.shuffle(low, high, mixed), _HALF)

    def body(step: Value, acc: list[Value]) -> list[Value]:
        each = [rows_of(b.add(step, e.const(k))) for k in range(STEPS)]
        out = e.offset(to, b.mul(step, e.const(PANEL_COLUMNS * 4)))
        _store_words(e, [[words_of(rows, h) for h in _HALVES] for rows in each], out)
        totals = []
        for h in _HALVES:
            total = acc[h]
            for row in [row for rows in each for row in rows]:
                part = e.shuffle(row, row, list(range(h * 16, h * 16 + 16)))
                total = b.add(total, b.sext(part, _HALF))
            totals.append(total)
        return totals + [_less_negatives(e, total, each, h) for h, total in enumerate(acc[len(_HALVES) :])]

    totals = e.loop(steps, [e.const(0, _HALF)] * _TOTALS, body, step=STEPS)
    for at in range(0, _TOTALS, len(_HALVES)):
        half = totals[at : at + len(_HALVES)]
        for h in _HALVES:
            e.store(e.shuffle(half[0], half[-1], _ORDERS[h]), e.pointer(sums), (at + h) * 64)


def _less_negatives(e: Emitter, total: Value, steps: list[list[Value]], h: int) -> Value:
    """total less the negative elements of a half of rows."""
    b, words = e.builder, vector(i16, _HALF_COLUMNS)
    for rows in steps:
        parts = [e.shuffle(row, row, list(range(h * 16, h * 16 + 16))) for row in rows]
        negative = [b.sext(e.smin(part, e.const(0, part.type)), words) for part in parts]
        added = b.add(b.add(*negative[:2]), b.add(*negative[2:]))
        total = b.sub(total, b.sext(added, _HALF))
    return total


_pack_rows = microkernel("pack_rows_q8", [types.int64] * 5, _emit_rows)


def _emit_columns(e: Emitter, w: Value, column_bytes: Value, panel: Value, fours: Value, sums: Value) -> None:
    """The same where a channel's elements lie together; four steps of a wide panel's channels at a time."""
    b = e.builder
    source, to = e.pointer(w), e.pointer(panel)
    places = [e.offset(source, b.mul(column_bytes, e.const(channel))) for channel in _ORDER]

    def body(four: Value, acc: list[Value]) -> list[Value]:
        at, out = b.mul(four, e.const(16)), e.offset(to, b.mul(four, e.const(PANEL_COLUMNS * 16)))
        totals, halves = list(acc), []
        for h in _HALVES:
            of_half = places[h * _HALF_COLUMNS :][:_HALF_COLUMNS]
            loaded = [e.load(place, vector(i32, 4), at) for place in of_half]
            halves.append(turned(e, [joined(e, loaded[k::4]) for k in range(4)], 4))
            for words in halves[h]:
                totals[h] = b.add(totals[h], _sums_of_words(e, words))
                if SHORT:
                    at_missing = len(_HALVES) + h
                    negative = _sums_of_words(e, _negative_bytes(e, words))
                    totals[at_missing] = b.sub(totals[at_missing], negative)
        _store_words(e, [list(step) for step in zip(*halves, strict=True)], out)
        return totals

    totals = e.loop(fours, [e.const(0, _HALF)] * _TOTALS, body)
    for at, total in enumerate(totals):
        e.store(total, e.pointer(sums), at * 64)


def _negative_bytes(e: Emitter, words: Value) -> Value:
    """Words with zeros for those of their signed bytes that are positive."""
    bytes_ = vector(i8, 4 * words.type.count)
    return e.builder.bitcast(e.smin(e.builder.bitcast(words, bytes_), e.const(0, bytes_)), words.type)


def _sums_of_words(e: Emitter, words: Value) -> Value:
    """Of the four signed bytes of each."""
    b, halves = e.builder, vector(i16, 2 * words.type.count)
    pairs, by = b.bitcast(words, halves), e.const(8, halves)
    pairs = b.bitcast(b.add(b.ashr(b.shl(pairs, by), by), b.ashr(pairs, by)), words.type)
    by = e.const(16, words.type)
    return b.add(b.ashr(b.shl(pairs, by), by), b.ashr(pairs, by))


_pack_columns = microkernel("pack_columns_q8", [types.int64] * 5, _emit_columns)


@njit(error_model="numpy")
def place_of(j, width):
    """Where a panel of this width holds its channel j."""
    if width == NARROW_COLUMNS:
        return j
    return PLACES[j]


@njit(error_model="numpy")
def step_place(step, steps, column):
    """(row, column) of a panel's word of a step, where steps lie in pairs: see dot_forms.in_blocks."""
    if IN_BLOCKS and step < steps // 2 * 2:
        return step // 2 * 2 + column % 16 // 8, column // 16 * 16 + column % 8 * 2 + step % 2
    return step, column


@njit(error_model="numpy")
def word(w, at, step, count):
    """The first `count` (up to 4) of four elements as the bytes of a word, the others 0; and their sum."""
    value, total = np.int32(0), np.int32(0)
    for k in range(count):
        element = np.int32(w[at + k * step])
        value |= np.int32((element & 255) << (8 * k))
        total += element
    return np.int32(value), np.int32(total)


@njit(error_model="numpy")
def run_sum(w, start, count):
    total = np.int32(0)
    for k in range(count):
        total += np.int32(w[start + k])
    return np.int32(total)


@njit(error_model="numpy")
def missing_sizes(w, at, step, count):
    """The sizes of the negative of `count` elements, summed."""
    total = np.int32(0)
    for k in range(count):
        total -= np.int32(min(w[at + k * step], 0))
    return np.int32(total)


@kernels.add(PACK_MATRICES_Q8)
def pack_matrices_q8(a, chunk, chunks):
    steps, whole, rest = (a.depth + 3) // 4, a.depth // 4, a.depth % 4
    panels = (a.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS
    last = a.columns - (panels - 1) * PANEL_COLUMNS
    last_width = PANEL_COLUMNS if last > NARROW_COLUMNS else NARROW_COLUMNS
    row_columns = (panels - 1) * PANEL_COLUMNS + last_width
    row_step, column_step = a.columns, 1
    if a.by_columns:
        row_step, column_step = 1, a.depth
    header = a.header_rows
    rows = header + steps
    x_offset, zero_points = np.int32(a.x_offset), np.int32(a.w_zero_point * a.depth)
    total = a.matrices * panels
    for i in range(total * chunk // chunks, total * (chunk + 1) // chunks):
        matrix = i // panels
        column = (i - matrix * panels) * PANEL_COLUMNS
        left = a.columns - column
        width = PANEL_COLUMNS if left > NARROW_COLUMNS else NARROW_COLUMNS
        address = a.packed + rows * (matrix * row_columns + column) * 4
        panel = carray(int32_pointer(address), (rows, width))
        rounding = int32_pointer(a.rounding_rows + (header - 1) * column * 4)
        source = a.w + matrix * a.depth * a.columns + column * column_step
        w = int8_pointer(source)
        done = 0
        panel[0, :] = 0
        if SHORT:
            panel[1, :] = 0
        if left >= width and width == PANEL_COLUMNS:
            first = address + header * PANEL_COLUMNS * 4
            if a.by_columns:
                done = whole // 4 * 4
                _pack_columns(source, column_step, first, whole // 4, address)
            else:
                done = whole // STEPS * STEPS
                _pack_rows(source, row_step, first, done, address)
        elif left < width:
            panel[:, :] = 0
        for j in range(min(left, width)):
            to, at = place_of(j, width), j * column_step
            sum_ = panel[0, to]
            if a.by_columns:
                words = int32_pointer(source + at)
                for step in range(done, whole):
                    row, place = step_place(step, steps, to)
                    panel[header + row, place] = words[step]
                sum_ += run_sum(w, at + done * 4, (whole - done) * 4)
            else:
                for step in range(done, whole):
                    value, part = word(w, at + 4 * step * row_step, row_step, 4)
                    row, place = step_place(step, steps, to)
                    panel[header + row, place] = value
                    sum_ += part
            if rest:
                value, part = word(w, at + 4 * whole * row_step, row_step, rest)
                row, place = step_place(whole, steps, to)
                panel[header + row, place] = value
                sum_ += part
            panel[0, to] = np.int32(-x_offset * np.int32(sum_ - zero_points))
            if SHORT:
                left_at, left_count = at + done * 4 * row_step, a.depth - done * 4
                panel[0, to] += panel[1, to] + missing_sizes(w, left_at, row_step, left_count)
        for row in range(1, header):
            for place in range(width):
                panel[row, place] = rounding[(row - 1) * width + place]
    return 0
