"""Passes of mixed-radix Fourier transforms in float64: microkernels that transform several rows side by side.

An element of a buffer is a vector of as many float64 as rows are transformed together; a complex one is two
such vectors. Each pass adds, multiplies and rounds in NumPy's order, so that results are NumPy's bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numba import int64

from .language.simd import Emitter, Value, f64, microkernel, vector

_HALF_ROOT = 0.7071067811865476


class _Complex(NamedTuple):
    """A complex number in two registers."""

    real: Value
    imaginary: Value


class _Arithmetic:
    """float64 arithmetic on `lanes` numbers at a time."""

    def __init__(self, e: Emitter, lanes: int) -> None:
        self.e, self.b, self.lanes = e, e.builder, lanes
        self.type = f64 if lanes == 1 else vector(f64, lanes)
        self.bytes = 8 * lanes
        self.half_root, self.minus_half_root = (e.const(v, self.type) for v in (_HALF_ROOT, -_HALF_ROOT))

    def scalar(self, base: Value, offset: int) -> Value:
        value = self.e.load(base, f64, offset)
        return value if self.lanes == 1 else self.e.splat(value, self.lanes)

    def twiddles(self, at: Value, count: int) -> list[_Complex]:
        return [_Complex(self.scalar(at, 16 * j), self.scalar(at, 16 * j + 8)) for j in range(count)]

    def both(self, x: Value, y: Value) -> tuple[Value, Value]:
        """(x + y, x - y)."""
        return self.b.fadd(x, y), self.b.fsub(x, y)

    def add(self, x: _Complex, y: _Complex) -> _Complex:
        return _Complex(*map(self.b.fadd, x, y))

    def subtract(self, x: _Complex, y: _Complex) -> _Complex:
        return _Complex(*map(self.b.fsub, x, y))

    def pair(self, x: _Complex, y: _Complex) -> tuple[_Complex, _Complex]:
        return self.add(x, y), self.subtract(x, y)

    def turned(self, x: _Complex, w: _Complex) -> _Complex:
        """x times the conjugate of w."""
        b = self.b
        return _Complex(
            b.fadd(b.fmul(w.real, x.real), b.fmul(w.imaginary, x.imaginary)),
            b.fsub(b.fmul(w.real, x.imaginary), b.fmul(w.imaginary, x.real)),
        )

    def quarter(self, x: _Complex) -> _Complex:
        """x turned back by 90 degrees."""
        return _Complex(x.imaginary, self.b.fneg(x.real))

    def eighth(self, x: _Complex) -> _Complex:
        """x turned back by 45 degrees."""
        real, imaginary = self.b.fadd(x.real, x.imaginary), self.b.fsub(x.imaginary, x.real)
        return _Complex(self.b.fmul(self.half_root, real), self.b.fmul(self.half_root, imaginary))

    def three_eighths(self, x: _Complex) -> _Complex:
        """x turned back by 135 degrees."""
        real, imaginary = self.b.fsub(x.imaginary, x.real), self.b.fadd(x.real, x.imaginary)
        return _Complex(self.b.fmul(self.half_root, real), self.b.fmul(self.minus_half_root, imaginary))


def real_pass(radix: int, lanes: int) -> Any:
    """(x, y, twiddles, run, count): one pass over rows of real numbers, by radix 2 or 4.

    x [radix, count, run] holds transforms of length run, each by its parts: 0's real part, then real and
    imaginary parts of 1, 2 ..., then the real part of the middle one. y [count, radix, run] gets those of
    `count` transforms radix times as long. run is 1 or even; twiddles are complex [(run - 1) / 2, radix - 1].
    """

    def emit(e: Emitter, x: Value, y: Value, twiddles: Value, run: Value, count: Value) -> None:
        b = e.builder
        step = _RealPass(_Arithmetic(e, lanes), radix, e.pointer(x), e.pointer(y), run, count)

        def sweep(body: Callable[[Value], None]) -> None:
            def one(k: Value, _: list[Value]) -> list[Value]:
                body(k)
                return []

            e.loop(count, [], one)

        def between(k: Value) -> None:
            def one(i: Value, carried: list[Value]) -> list[Value]:
                step.pair(k, i, step.m.twiddles(carried[0], radix - 1))
                return [e.offset(carried[0], 16 * (radix - 1))]

            e.loop(run, [e.pointer(twiddles)], one, step=2, start=e.const(2))

        sweep(step.first)
        is_even = b.icmp_signed("==", b.and_(run, e.const(1)), e.const(0))
        e.branch(is_even, lambda: sweep(step.middle))
        e.branch(b.icmp_signed(">", run, e.const(2)), lambda: sweep(between))

    return microkernel(f"fourier_real_{radix}_{lanes}", [int64] * 5, emit)


class _RealPass:
    """What real_pass does to transform k: its frequency 0, the middle one, and those between by pairs."""

    def __init__(self, m: _Arithmetic, radix: int, x: Value, y: Value, run: Value, count: Value) -> None:
        self.m, self.radix, self.x, self.y, self.run, self.count = m, radix, x, y, run, count
        self.zero, self.last = m.e.const(0), m.b.sub(run, m.e.const(1))

    def _place(self, base: Value, i: Value, row: Value) -> Value:
        b = self.m.b
        return self.m.e.offset(base, b.mul(b.add(i, b.mul(self.run, row)), self.m.e.const(self.m.bytes)))

    def _before(self, i: Value) -> Value:
        return self.m.b.sub(i, self.m.e.const(1))

    def _read(self, i: Value, k: Value, part: int) -> Value:
        row = self.m.b.add(k, self.m.b.mul(self.count, self.m.e.const(part)))
        return self.m.e.load(self._place(self.x, i, row), self.m.type)

    def _write(self, value: Value, i: Value, part: int, k: Value) -> None:
        row = self.m.b.add(self.m.b.mul(k, self.m.e.const(self.radix)), self.m.e.const(part))
        self.m.e.store(value, self._place(self.y, i, row))

    def first(self, k: Value) -> None:
        m, x = self.m, [self._read(self.zero, k, j) for j in range(self.radix)]
        if self.radix == 2:
            total, difference = m.both(x[0], x[1])
            self._write(total, self.zero, 0, k)
            self._write(difference, self.last, 1, k)
            return
        (odd, odd_difference), (even, even_difference) = m.both(x[3], x[1]), m.both(x[0], x[2])
        total, difference = m.both(even, odd)
        self._write(total, self.zero, 0, k)
        self._write(even_difference, self.last, 1, k)
        self._write(odd_difference, self.zero, 2, k)
        self._write(difference, self.last, 3, k)

    def middle(self, k: Value) -> None:
        m, b, x = self.m, self.m.b, [self._read(self.last, k, j) for j in range(self.radix)]
        if self.radix == 2:
            self._write(x[0], self.last, 0, k)
            self._write(b.fneg(x[1]), self.zero, 1, k)
            return
        real = b.fmul(m.half_root, b.fsub(x[1], x[3]))
        imaginary = b.fmul(m.minus_half_root, b.fadd(x[1], x[3]))
        (real_0, real_1), (imaginary_1, imaginary_0) = m.both(x[0], real), m.both(imaginary, x[2])
        self._write(real_0, self.last, 0, k)
        self._write(imaginary_0, self.zero, 1, k)
        self._write(real_1, self.last, 2, k)
        self._write(imaginary_1, self.zero, 3, k)

    def pair(self, k: Value, i: Value, twiddles: list[_Complex]) -> None:
        """The frequency whose imaginary part is at i, and those that mirror it."""
        m, before = self.m, self._before(i)
        x = [_Complex(self._read(before, k, j), self._read(i, k, j)) for j in range(self.radix)]
        x[1:] = [m.turned(value, w) for value, w in zip(x[1:], twiddles, strict=True)]
        if self.radix == 2:
            self._mirrored(k, i, 0, m.both(x[0].real, x[1].real), m.both(x[1].imaginary, x[0].imaginary))
            return
        real_odd, imaginary_turned = m.both(x[3].real, x[1].real)
        imaginary_odd, real_turned = m.both(x[1].imaginary, x[3].imaginary)
        real_even, real_difference = m.both(x[0].real, x[2].real)
        imaginary_even, imaginary_difference = m.both(x[0].imaginary, x[2].imaginary)
        self._mirrored(k, i, 0, m.both(real_even, real_odd), m.both(imaginary_odd, imaginary_even))
        turned = m.both(imaginary_turned, imaginary_difference)
        self._mirrored(k, i, 2, m.both(real_difference, real_turned), turned)

    def _mirrored(
        self, k: Value, i: Value, part: int, real: tuple[Value, Value], imaginary: tuple[Value, Value]
    ) -> None:
        """Write a frequency of a part, and the one that mirrors it."""
        mirror, far = self.m.b.sub(self.run, i), self.radix - 1 - part
        self._write(real[0], self._before(i), part, k)
        self._write(imaginary[0], i, part, k)
        self._write(real[1], self._before(mirror), far, k)
        self._write(imaginary[1], mirror, far, k)


def complex_pass(radix: int, lanes: int) -> Any:
    """(x, step, imaginary, y, twiddles, run, count): one pass over complex rows, by radix 2, 4 or 8.

    x [count, radix, run] becomes y [radix, count, run]. Elements of x lie `step` bytes apart, their imaginary
    parts `imaginary` bytes after the real ones; those of y lie together. twiddles are complex
    [run, radix - 1]; the first row of them is not read.
    """

    def emit(
        e: Emitter,
        x: Value,
        step: Value,
        imaginary: Value,
        y: Value,
        twiddles: Value,
        run: Value,
        count: Value,
    ) -> None:
        b, m = e.builder, _Arithmetic(e, lanes)
        x, y, twiddles = e.pointer(x), e.pointer(y), e.pointer(twiddles)

        def read(i: Value, part: int, k: Value) -> _Complex:
            row = b.add(b.mul(k, e.const(radix)), e.const(part))
            at = e.offset(x, b.mul(b.add(i, b.mul(run, row)), step))
            return _Complex(e.load(at, m.type), e.load(e.offset(at, imaginary), m.type))

        def write(value: _Complex, i: Value, k: Value, part: int) -> None:
            row = b.add(k, b.mul(count, e.const(part)))
            at = e.offset(y, b.mul(b.add(i, b.mul(run, row)), e.const(2 * m.bytes)))
            e.store(value.real, at)
            e.store(value.imaginary, at, m.bytes)

        def butterfly(i: Value, k: Value, weights: list[_Complex]) -> None:
            found = _BUTTERFLIES[radix](m, [read(i, j, k) for j in range(radix)])
            write(found[0], i, k, 0)
            for j, value in enumerate(found[1:], 1):
                write(m.turned(value, weights[j - 1]) if weights else value, i, k, j)

        def outer(k: Value, _: list[Value]) -> list[Value]:
            butterfly(e.const(0), k, [])

            def body(i: Value, _: list[Value]) -> list[Value]:
                at = e.offset(twiddles, b.mul(i, e.const(16 * (radix - 1))))
                butterfly(i, k, m.twiddles(at, radix - 1))
                return []

            e.loop(run, [], body, start=e.const(1))
            return []

        e.loop(count, [], outer)

    return microkernel(f"fourier_complex_{radix}_{lanes}", [int64] * 7, emit)


def _two(m: _Arithmetic, x: list[_Complex]) -> list[_Complex]:
    return list(m.pair(x[0], x[1]))


def _four(m: _Arithmetic, x: list[_Complex]) -> list[_Complex]:
    (even, difference), (odd, turn) = m.pair(x[0], x[2]), m.pair(x[1], x[3])
    turn = m.quarter(turn)
    (y0, y2), (y1, y3) = m.pair(even, odd), m.pair(difference, turn)
    return [y0, y1, y2, y3]


def _eight(m: _Arithmetic, x: list[_Complex]) -> list[_Complex]:
    (a1, a5), (a3, a7) = m.pair(x[1], x[5]), m.pair(x[3], x[7])
    a1, a3 = m.pair(a1, a3)
    a3, a7 = m.quarter(a3), m.quarter(a7)
    a5, a7 = m.pair(a5, a7)
    a5, a7 = m.eighth(a5), m.three_eighths(a7)
    (a0, a4), (a2, a6) = m.pair(x[0], x[4]), m.pair(x[2], x[6])
    a0, a2 = m.pair(a0, a2)
    a4, a6 = m.pair(a4, m.quarter(a6))
    (y0, y4), (y2, y6) = m.pair(a0, a1), m.pair(a2, a3)
    (y1, y5), (y3, y7) = m.pair(a4, a5), m.pair(a6, a7)
    return [y0, y1, y2, y3, y4, y5, y6, y7]


_BUTTERFLIES: dict[int, Callable[[_Arithmetic, list[_Complex]], list[_Complex]]] = {
    2: _two,
    4: _four,
    8: _eight,
}
