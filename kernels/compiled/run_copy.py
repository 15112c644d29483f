"""Copying and filling contiguous runs of bytes."""

from numba import types

from .language.simd import Emitter, Value, i8, i16, i32, i64, microkernel, vector

_WIDE = vector(i8, 64)
_NARROW = vector(i8, 16)


def _whole(e: Emitter, type_: object, width: int, nbytes: Value, move) -> None:
    """move(type, offset) over nbytes >= width: steps of width, then one that ends at the end."""

    def step(i: Value, carried: list[Value]) -> list[Value]:
        move(type_, i)
        return []

    last = e.builder.sub(nbytes, e.const(width))
    e.loop(last, [], step, step=width)
    move(type_, last)


def _by_size(e: Emitter, nbytes: Value, cover) -> None:
    """cover(type, width) of the widest move that fits into nbytes >= 0."""
    sizes = ((_WIDE, 64), (_NARROW, 16), (i64, 8), (i32, 4), (i16, 2), (i8, 1))

    def at_least(k: int) -> None:
        if k < len(sizes):
            type_, width = sizes[k]
            e.branch(
                e.builder.icmp_signed(">=", nbytes, e.const(width)),
                lambda: cover(type_, width),
                lambda: at_least(k + 1),
            )

    at_least(0)


def _emit_copy(e: Emitter, target: Value, source: Value, nbytes: Value) -> None:
    to, at = e.pointer(target), e.pointer(source)

    def move(type_: Value, offset: Value) -> None:
        e.store(e.load(at, type_, offset), to, offset)

    _by_size(e, nbytes, lambda type_, width: _whole(e, type_, width, nbytes, move))


def _emit_copy_rows(
    e: Emitter,
    target: Value,
    target_stride: Value,
    source: Value,
    source_stride: Value,
    rows: Value,
    nbytes: Value,
) -> None:
    def cover(type_: object, width: int) -> None:
        def row(i: Value, carried: list[Value]) -> list[Value]:
            to, at = e.pointer(carried[0]), e.pointer(carried[1])
            _whole(
                e, type_, width, nbytes, lambda type_, offset: e.store(e.load(at, type_, offset), to, offset)
            )
            return [e.builder.add(carried[0], target_stride), e.builder.add(carried[1], source_stride)]

        e.loop(rows, [target, source], row)

    _by_size(e, nbytes, cover)


def _emit_fill(e: Emitter, target: Value, pattern: Value, nbytes: Value) -> None:
    to = e.pointer(target)

    def move(type_: Value, offset: Value) -> None:
        if type_ in (_WIDE, _NARROW):
            lanes = type_.count // 8
            value = e.builder.bitcast(e.splat(pattern, lanes), type_)
        else:
            value = pattern if type_ == i64 else e.builder.trunc(pattern, type_)
        e.store(value, to, offset)

    _by_size(e, nbytes, lambda type_, width: _whole(e, type_, width, nbytes, move))


def _emit_repeat(
    e: Emitter, target: Value, source: Value, step: Value, pixels: Value, channels: Value, times: Value
) -> None:
    b = e.builder

    def repeated(at: Value, to: Value) -> None:
        e.store(e.load_splat(e.pointer(at), i8, 16), e.pointer(to))

    def channel(at: Value, to: Value, is_short: bool) -> None:
        if is_short:
            repeated(at, to)
            return

        def part(j: Value, _: list[Value]) -> list[Value]:
            repeated(at, b.add(to, j))
            return []

        e.loop(times, [], part, step=16)

    def one_channel() -> None:
        def one(pixel: Value, carried: list[Value]) -> list[Value]:
            channel(b.add(source, b.mul(pixel, step)), carried[0], True)
            return [b.add(carried[0], times)]

        e.loop(pixels, [target], one)

    def any_channels(is_short: bool) -> None:
        def one(pixel: Value, carried: list[Value]) -> list[Value]:
            start = b.add(source, b.mul(pixel, step))

            def each(c: Value, carried: list[Value]) -> list[Value]:
                channel(b.add(start, c), carried[0], is_short)
                return [b.add(carried[0], times)]

            return e.loop(channels, carried, each)

        e.loop(pixels, [target], one)

    def short() -> None:
        e.branch(b.icmp_signed("==", channels, e.const(1)), one_channel, lambda: any_channels(True))

    e.branch(b.icmp_signed("<=", times, e.const(16)), short, lambda: any_channels(False))


def _emit_copy_windows(
    e: Emitter,
    target: Value,
    source: Value,
    padding: Value,
    table: Value,
    runs: Value,
    nbytes: Value,
) -> None:
    b, offsets = e.builder, e.pointer(table)

    def cover(type_: object, width: int) -> None:
        def run(i: Value, carried: list[Value]) -> list[Value]:
            offset = b.sext(e.load(e.offset(offsets, b.shl(i, e.const(2))), i32), i64)
            is_outside = b.icmp_signed("<", offset, e.const(0))
            at = e.pointer(b.select(is_outside, padding, b.add(source, offset)))
            to = e.pointer(carried[0])
            _whole(e, type_, width, nbytes, lambda type_, place: e.store(e.load(at, type_, place), to, place))
            return [b.add(carried[0], nbytes)]

        e.loop(runs, [target], run)

    _by_size(e, nbytes, cover)


copy_run = microkernel("copy_run", [types.int64] * 3, _emit_copy)
"""copy_run(target, source, nbytes): nbytes from address to address; the two must not overlap."""

copy_rows = microkernel("copy_rows", [types.int64] * 6, _emit_copy_rows)
"""copy_rows(target, target_stride, source, source_stride, rows, nbytes): nbytes of every row."""

copy_windows = microkernel("copy_windows", [types.int64] * 6, _emit_copy_windows)
"""copy_windows(target, source, padding, table, runs, nbytes): runs, one behind the other.

Run i is nbytes at source + table[i] (int32), or of the padding where that is negative.
"""

fill_run = microkernel("fill_run", [types.int64] * 3, _emit_fill)
"""fill_run(target, pattern, nbytes): fill with an 8-byte pattern.

nbytes is a multiple of the element size, and the pattern repeats the element.
"""

repeat_bytes = microkernel("repeat_bytes", [types.int64] * 6, _emit_repeat)
"""repeat_bytes(target, source, step, pixels, channels, times): each byte `times` times.

They are the first `channels` of every pixel; pixels lie `step` bytes apart in the source. What is
written lies together; up to 15 bytes after it are overwritten, too.
"""
