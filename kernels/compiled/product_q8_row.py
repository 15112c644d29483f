"""Vector code of 8-bit MUL over elements that follow one another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from .language.lane_order import interleaved
from .language.operations import packed_words, round_even
from .language.simd import Emitter, Value, f32, i8, i16, i32, microkernel, vector
from .sum_q8_row import store_bytes

_LARGEST_SCALE = 2.0**14


def _emit(signed: bool, both: bool) -> Callable[..., None]:
    """emit(e, a, [b,] out, count, a_zero, b_zero, scale, zero, low, high): see product_rows."""

    def emit(e: Emitter, *arguments: Value) -> None:
        builder = e.builder
        *sources, out = [e.pointer(address) for address in arguments[: 2 + both]]
        count, a_zero, b_zero, scale, zero, low, high = arguments[2 + both :]
        # All products but 0 saturate by far with the largest; rounded they are of 31 bits.
        scale = e.fmin(scale, e.const(_LARGEST_SCALE, f32))

        def rounded(products: Value) -> Value:
            reals = vector(f32, products.type.count)
            return round_even(e, builder.fmul(builder.sitofp(products, reals), e.splat(scale, reals.count)))

        def operands(offset: Value, type_: Any) -> list[Value]:
            """Less their zero points, in 16 or 32 bits."""
            zeros = [
                e.splat(builder.trunc(z, type_.element) if type_.element == i16 else z, type_.count)
                for z in (a_zero, b_zero)
            ]
            widen = builder.sext if signed else builder.zext
            bytes_ = [widen(e.load(source, vector(i8, type_.count), offset), type_) for source in sources]
            made = [builder.sub(x, z) for x, z in zip(bytes_, zeros, strict=False)]
            return made if both else [*made, zeros[1]]

        def total(offset: Value, lanes: int) -> Value:
            x, y = operands(offset, vector(i32, lanes))
            return rounded(builder.mul(x, y))

        def words(offset: Value) -> list[Value]:
            halves = []
            for k in (0, 32):
                x, y = operands(builder.add(offset, e.const(k)), vector(i16, 32))
                low_words, high_words = builder.mul(x, y), _high_words(e, x, y)
                parts = [interleaved(e, low_words, high_words, part) for part in (0, 1)]
                halves.append(packed_words(e, *(rounded(builder.bitcast(p, vector(i32, 16))) for p in parts)))
            return halves

        store_bytes(e, signed, total, out, count, (zero, low, high), words)

    return emit


def _high_words(e: Emitter, x: Value, y: Value) -> Value:
    """The upper halves of products of 16 bits."""
    wide = vector(i32, x.type.count)
    product = e.builder.mul(e.builder.sext(x, wide), e.builder.sext(y, wide))
    return e.builder.trunc(e.builder.ashr(product, e.const(16, wide)), x.type)


def _kernel(signed: bool, both: bool) -> Any:
    name = f"{'product' if both else 'multiple'}_row_{'i8' if signed else 'u8'}"
    arguments = [types.int64] * (3 + both) + [types.int32] * 2 + [types.float32] + [types.int32] * 3
    return microkernel(name, arguments, _emit(signed, both))


def product_rows(signed: bool) -> tuple[Any, Any]:
    """Microkernels of int8 or uint8 rows: of two, and of one that meets one element.

    (a, b, out, count, a_zero, b_zero, scale, zero, low, high) sets out[i] = zero + the integer nearest to
    (a[i] - a_zero) * (b[i] - b_zero) * scale, halves to even, within low to high; the second takes no b, and
    the element less its zero point for b_zero. Reads past the end of a and b, as far as OVERREAD_BYTES allow.
    """
    return _kernel(signed, both=True), _kernel(signed, both=False)
