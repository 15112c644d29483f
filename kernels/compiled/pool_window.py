"""Vector code that reduces a window of pixels: channels are lanes, kept in registers throughout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from .language.simd import Emitter, Value, constant, f32, i8, i16, i32, microkernel, suffix, vector
from .language.target import target

# Vectors of channels that are reduced side by side, as many as are left: their additions
# overlap, and pixels far apart are touched less often.
_SIDE_BY_SIDE = 8
# A window so wide is reduced without a loop over its columns.
_COMMON_COLUMNS = 3
_REST = (1, 2, 3, 4, 5, 6, 8)


class Reduction:
    """How elements become a result: start, combine and finish work on vectors of channels.

    scalars are the kernel's trailing arguments as vectors of the accumulator's type.
    """

    element: Any = f32
    accumulator: Any = f32
    start: float = 0

    def widen(self, e: Emitter, x: Value, lanes: int) -> Value:
        return x

    def combine(self, e: Emitter, x: Value, y: Value) -> Value:
        raise NotImplementedError

    def finish(self, e: Emitter, x: Value, scalars: list[Value]) -> Value:
        return x

    def scalars(self, e: Emitter, scalars: list[Value], lanes: int) -> list[Value]:
        """A kernel's trailing arguments as finish takes them."""
        if self.accumulator in (i8, i16):
            scalars = [e.builder.trunc(scalar, self.accumulator) for scalar in scalars]
        return [e.splat(scalar, lanes) for scalar in scalars]


class _Extremum(Reduction):
    """The largest or smallest element as it is; NaN yields to what comes after it."""

    def __init__(self, element: Any, start: float, operation: str) -> None:
        self.element = self.accumulator = element
        self.start = start
        self.operation = operation

    def combine(self, e: Emitter, x: Value, y: Value) -> Value:
        found: Value = getattr(e, self.operation)(x, y)
        return found


class _Maximum(_Extremum):
    """The largest element, clamped; kind is how elements compare: f, s (signed) or u."""

    def __init__(self, element: Any, start: float, kind: str) -> None:
        super().__init__(element, start, f"{kind}max")
        self.smaller = f"{kind}min"

    def finish(self, e: Emitter, x: Value, scalars: list[Value]) -> Value:
        found: Value = getattr(e, self.smaller)(self.combine(e, x, scalars[0]), scalars[1])
        return found


class _MeanF32(Reduction):
    def combine(self, e: Emitter, x: Value, y: Value) -> Value:
        return e.builder.fadd(x, y)

    def finish(self, e: Emitter, x: Value, scalars: list[Value]) -> Value:
        return e.builder.fmul(x, scalars[0])


class _AverageF32(_MeanF32):
    """A mean that is clamped: of NaN, it is the lowest value."""

    def finish(self, e: Emitter, x: Value, scalars: list[Value]) -> Value:
        return e.fmin(e.fmax(e.builder.fmul(x, scalars[2]), scalars[0]), scalars[1])


class _RootMeanSquareF32(_AverageF32):
    def widen(self, e: Emitter, x: Value, lanes: int) -> Value:
        return e.builder.fmul(x, x)

    def finish(self, e: Emitter, x: Value, scalars: list[Value]) -> Value:
        mean = e.builder.fmul(x, scalars[2])
        root = e.call(f"llvm.sqrt.{suffix(mean.type)}", mean.type, mean)
        return e.clamp(root, *scalars[:2])


class _Sum(Reduction):
    accumulator = i32

    def __init__(self, element: Any, signed: bool) -> None:
        self.element = element
        self.signed = signed

    def widen(self, e: Emitter, x: Value, lanes: int) -> Value:
        return (e.builder.sext if self.signed else e.builder.zext)(x, vector(i32, lanes))

    def combine(self, e: Emitter, x: Value, y: Value) -> Value:
        return e.builder.add(x, y)


def element_bytes(element: Any) -> int:
    return 4 if element == f32 else element.width // 8


class _Window:
    """One call of the emitted code: where the window lies, and what becomes of the result."""

    def __init__(self, e: Emitter, reduction: Reduction, arguments: tuple[Value, ...]) -> None:
        x, y, self.depth, self.rows, self.columns, self.row_bytes, self.pixel_bytes, *scalars = arguments
        self.e, self.reduction = e, reduction
        self.x, self.y = e.pointer(x), e.pointer(y)
        self.lanes = target().vector_bytes // element_bytes(reduction.accumulator)
        self.scalars = reduction.scalars(e, scalars, self.lanes)

    def _scaled(self, channel: Value, element: Any) -> Value:
        return self.e.builder.mul(channel, self.e.const(element_bytes(element)))

    def reduced(self, channels: list[Value]) -> list[Value]:
        """Vectors of results, one from each of the channels on."""
        e, builder, reduction = self.e, self.e.builder, self.reduction
        starts = [self._scaled(channel, reduction.element) for channel in channels]
        start = constant(vector(reduction.accumulator, self.lanes), reduction.start)
        element = vector(reduction.element, self.lanes)

        def at_pixel(pixel: Value, totals: list[Value]) -> list[Value]:
            loaded = [e.load(pixel, element, at) for at in starts]
            widened = [reduction.widen(e, x, self.lanes) for x in loaded]
            return [reduction.combine(e, *pair) for pair in zip(totals, widened, strict=True)]

        def along_row(row: Value, totals: list[Value]) -> list[Value]:
            at_row = e.offset(self.x, builder.mul(row, self.row_bytes))

            def at_column(column: Value, totals: list[Value]) -> list[Value]:
                return at_pixel(e.offset(at_row, builder.mul(column, self.pixel_bytes)), totals)

            def three(totals: list[Value]) -> list[Value]:
                for column in range(_COMMON_COLUMNS):
                    totals = at_column(e.const(column), totals)
                return totals

            totals = e.values_if(is_common, three, totals)
            return e.loop(others, totals, at_column)

        is_common = builder.icmp_signed("==", self.columns, e.const(_COMMON_COLUMNS))
        others = builder.select(is_common, e.const(0), self.columns)
        totals = e.loop(self.rows, [start] * len(channels), along_row)
        return [reduction.finish(e, total, self.scalars) for total in totals]

    def store(self, values: list[Value], channels: list[Value]) -> None:
        for value, channel in zip(values, channels, strict=True):
            self.e.store(value, self.e.offset(self.y, self._scaled(channel, self.reduction.accumulator)))

    def set(self, channels: list[Value]) -> None:
        self.store(self.reduced(channels), channels)


def _emit(reduction: Reduction) -> Callable[..., None]:
    def emit(e: Emitter, *arguments: Value) -> None:
        window = _Window(e, reduction, arguments)
        builder, lanes, depth = e.builder, window.lanes, window.depth

        def full(channel: Value, _: list[Value]) -> list[Value]:
            window.set([builder.add(channel, e.const(k * lanes)) for k in range(_SIDE_BY_SIDE)])
            return []

        def rest(start: Value, sizes: tuple[int, ...]) -> None:
            # The last vector ends with the channels: it may overlap the one before it.
            last = builder.sub(depth, e.const(lanes))
            channels = [builder.add(start, e.const(k * lanes)) for k in range(sizes[0])]
            fits = builder.icmp_signed("<=", builder.sub(depth, start), e.const(sizes[0] * lanes))
            e.branch(
                fits,
                lambda: window.set([e.smin(channel, last) for channel in channels]),
                (lambda: rest(start, sizes[1:])) if len(sizes) > 1 else None,
            )

        def wide() -> None:
            stop = builder.and_(depth, e.const(-lanes * _SIDE_BY_SIDE))
            e.loop(stop, [], full, step=lanes * _SIDE_BY_SIDE)
            e.branch(builder.icmp_signed("<", stop, depth), lambda: rest(stop, _REST))

        def narrow() -> None:
            values = window.reduced([e.const(0)])
            e.masked_store(values[0], window.y, e.first_lanes(lanes, depth))

        e.branch(builder.icmp_signed(">=", depth, e.const(lanes)), wide, narrow)

    return emit


def _kernel(name: str, reduction: Reduction, scalars: list[types.Type]) -> Any:
    return microkernel(name, [types.int64] * 7 + scalars, _emit(reduction))


MAX_F32, MAX_I8, MAX_U8, AVERAGE_F32 = (
    _Maximum(f32, -3.4028234663852886e38, "f"),
    _Maximum(i8, -128, "s"),
    _Maximum(i8, 0, "u"),
    _AverageF32(),
)

# All take (x, y, depth, rows, columns, row_bytes, pixel_bytes, ...), x the address of the
# window's first pixel, and set y[c] for each c < depth; rows and columns may be 0. Reads go as
# far past a pixel as OVERREAD_BYTES allow.

# (..., low, high): the largest element, clamped.
max_window_f32 = _kernel("max_window_f32", MAX_F32, [types.float32] * 2)
max_window_i8 = _kernel("max_window_i8", MAX_I8, [types.int32] * 2)
max_window_i16 = _kernel("max_window_i16", _Maximum(i16, -32768, "s"), [types.int32] * 2)
max_window_u8 = _kernel("max_window_u8", MAX_U8, [types.int32] * 2)

# The largest and smallest element.
EXTREMUM_WINDOWS = {
    name: _kernel(f"{name}_window", _Extremum(element, start, operation), [])
    for name, element, start, operation in (
        ("max_f32", f32, -float("inf"), "fmax"),
        ("min_f32", f32, float("inf"), "fmin"),
        ("max_i8", i8, -128, "smax"),
        ("min_i8", i8, 127, "smin"),
        ("max_u8", i8, 0, "umax"),
        ("min_u8", i8, -1, "umin"),
        ("max_i16", i16, -32768, "smax"),
        ("min_i16", i16, 32767, "smin"),
    )
}

# (..., share): the sum times share.
mean_window_f32 = _kernel("mean_window_f32", _MeanF32(), [types.float32])

# (..., low, high, share): the sum times share, clamped.
average_window_f32 = _kernel("average_window_f32", AVERAGE_F32, [types.float32] * 3)

# (..., low, high, share): the square root of the sum of squares times share, clamped; NaN stays.
root_mean_square_window_f32 = _kernel(
    "root_mean_square_window_f32", _RootMeanSquareF32(), [types.float32] * 3
)

# y is int32: the sum.
sum_window_i8 = _kernel("sum_window_i8", _Sum(i8, True), [])
sum_window_i16 = _kernel("sum_window_i16", _Sum(i16, True), [])
sum_window_u8 = _kernel("sum_window_u8", _Sum(i8, False), [])
