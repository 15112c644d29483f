"""What the processor can do at best: multiply-adds in registers, bytes read from memory."""

from __future__ import annotations

from numba import int64

from ..machine_peak import LINE_BYTES, MATRICES, PEAK_ARGS, SUMS, VNNI_LANES
from .driver.kernel_source import KernelSources
from .language import matrix_registers as registers
from .language.dot_forms import dot_forms, matrix_form
from .language.matrix_registers import ROW_BYTES, ROWS, Shape
from .language.operations import add_fours, pair_products
from .language.simd import Emitter, Value, f32, i8, i16, i32, microkernel, vector
from .language.target import target

kernels = KernelSources()


def _float_sums(e: Emitter, values: Value, rounds: Value, out: Value) -> None:
    lanes = vector(f32, target().vector_bytes // 4)
    x = e.load(e.pointer(values), lanes)

    def body(_: Value, sums: list[Value]) -> list[Value]:
        return [e.multiply_add(total, x, x) for total in sums]

    starts = [e.load(e.pointer(values), lanes, k * LINE_BYTES) for k in range(SUMS)]
    _store_sum(e, e.loop(rounds, starts, body), out, e.builder.fadd)


def _byte_sums(e: Emitter, values: Value, rounds: Value, out: Value) -> None:
    if target().matrices:
        _matrix_sums(e, values, rounds)
        return
    vnni = VNNI_LANES.get(target().traits.dot, 0)
    count = vnni or 8
    sums = vector(i32, count)
    x = e.load(e.pointer(values), vector(i8, 4 * count) if vnni else vector(i16, 2 * count))

    def body(_: Value, found: list[Value]) -> list[Value]:
        # Each takes a sum of its own: the same products for all would be computed once.
        if vnni:
            return [add_fours(e, dot_forms()[0], total, x, x) for total in found]
        pairs = [e.builder.bitcast(total, vector(i16, 2 * count)) for total in found]
        return [e.builder.add(t, pair_products(e, p, x)) for t, p in zip(found, pairs, strict=True)]

    starts = [e.load(e.pointer(values), sums, k * LINE_BYTES) for k in range(SUMS)]
    _store_sum(e, e.loop(rounds, starts, body), out, e.builder.add)


def _matrix_sums(e: Emitter, values: Value, rounds: Value) -> None:
    """Of nothing but registers, which LLVM takes for a purpose."""
    x, w = MATRICES, MATRICES + 1
    whole = Shape(e.const(ROWS), e.const(ROW_BYTES))
    registers.configure(e, dict.fromkeys(range(MATRICES + 2), whole))
    for register in x, w:
        registers.load(e, register, e.pointer(values), e.const(0))
    form = dot_forms(of_tiles=True)[matrix_form(is_int8=True)]

    def body(_: Value, found: list[Value]) -> list[Value]:
        for sums in range(MATRICES):
            registers.multiply(e, form, sums, x, w)
        return found

    e.loop(rounds, [], body)
    registers.let_go(e)


def _line_sums(e: Emitter, data: Value, nbytes: Value, out: Value) -> None:
    """Adds up all lines, so that each is read."""
    lanes = vector(i32, 16)
    base = e.pointer(data)

    def body(at: Value, sums: list[Value]) -> list[Value]:
        return [
            e.builder.add(total, e.load(e.offset(e.offset(base, at), k * LINE_BYTES), lanes))
            for k, total in enumerate(sums)
        ]

    starts = [e.const(0, lanes)] * 4
    _store_sum(e, e.loop(nbytes, starts, body, step=4 * LINE_BYTES), out, e.builder.add)


def _store_sum(e: Emitter, values: list[Value], out: Value, add: object) -> None:
    total = values[0]
    for value in values[1:]:
        total = add(total, value)  # type: ignore[operator]
    e.store(total, e.pointer(out))


_multiply_floats = microkernel("peak_multiply_floats", [int64] * 3, _float_sums)
_multiply_bytes = microkernel("peak_multiply_bytes", [int64] * 3, _byte_sums)
_read_lines = microkernel("peak_read_lines", [int64] * 3, _line_sums)


@kernels.add(PEAK_ARGS)
def peak_f32(a, chunk, chunks):
    _multiply_floats(a.values, a.rounds, a.out + chunk * LINE_BYTES)
    return 0


@kernels.add(PEAK_ARGS)
def peak_i8(a, chunk, chunks):
    _multiply_bytes(a.values, a.rounds, a.out + chunk * LINE_BYTES)
    return 0


@kernels.add(PEAK_ARGS)
def peak_read(a, chunk, chunks):
    part = a.nbytes // chunks // 256 * 256
    _read_lines(a.data + chunk * part, part, a.out + chunk * LINE_BYTES)
    return 0
