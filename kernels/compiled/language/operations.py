"""The operations in which processors differ: each has a meaning, and a form for every target.

No kernel names an instruction but here. tests/compiled/test_operations.py compares every form that a
machine can run with NumPy, on lanes at the ends of their ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from .dot_forms import DotForm
from .simd import Emitter, Value, constant, f32, i1, i8, i16, i32, i64, suffix, vector
from .target import target

_ALL_LANES, _CURRENT_ROUNDING = constant(i16, -1), constant(i32, 4)
_VPDPBUSD = {8: "llvm.x86.avx512.vpdpbusd.256", 16: "llvm.x86.avx512.vpdpbusd.512"}
_PMADDWD = {4: "llvm.x86.sse2.pmadd.wd", 8: "llvm.x86.avx2.pmadd.wd"}
_PACK_WORDS = {8: "sse2.packssdw.128", 16: "avx2.packssdw", 32: "avx512.packssdw.512"}
# Signed, unsigned.
_PACK_BYTES = {
    16: ("llvm.x86.sse2.packsswb.128", "llvm.x86.sse2.packuswb.128"),
    32: ("llvm.x86.avx2.packsswb", "llvm.x86.avx2.packuswb"),
    64: ("llvm.x86.avx512.packsswb.512", "llvm.x86.avx512.packuswb.512"),
}


def _is_arm() -> bool:
    return target().arch == "aarch64"


def halves_of(e: Emitter, value: Value) -> list[Value]:
    count = value.type.count
    return [e.shuffle(value, value, list(range(at, at + count // 2))) for at in (0, count // 2)]


def joined(e: Emitter, parts: Sequence[Value]) -> Value:
    """Vectors of one type, as many as a power of two, one behind the other."""
    parts = list(parts)
    while len(parts) > 1:
        order = list(range(2 * parts[0].type.count))
        parts = [e.shuffle(parts[i], parts[i + 1], order) for i in range(0, len(parts), 2)]
    return parts[0]


def opaque(e: Emitter, value: Value) -> Value:
    """The vector or address, of which LLVM knows nothing.

    It would undo what a vector is used for, or search without end, and make addresses from one another.
    """
    place = "r" if isinstance(value.type, ir.PointerType) else "w" if _is_arm() else "x"
    kind = ir.FunctionType(value.type, [value.type])
    return e.builder.call(ir.InlineAsm(kind, "", f"={place},0"), [value])


def _ones(e: Emitter, type_: Any) -> Value:
    """Ones that LLVM does not know, in one register: made beside each use, they are copied for each."""
    return e.kept(("ones", str(type_)), lambda: opaque(e, e.const(1, type_)))


# --- sums of products of bytes


def add_products(e: Emitter, form: DotForm, acc: Value, x: Sequence[Value], w: Sequence[Any]) -> Value:
    """acc plus, in each lane, the sums of four products of bytes, for each of the x and w.

    x are of the target's kind, w are prepared_weights, <4 * columns x i8>. Where the form has halves, lane i
    is the sum of products 2i and 2i + 1; where it is short, the sizes of a lane's negative w are missing.
    """
    if form.halves:
        return _add_halves(e, acc, x, w)
    for each_x, each_w in zip(x, w, strict=True):
        acc = _ADD_FOURS[form.instruction](e, acc, each_x, each_w)
    return acc


def prepared_weights(e: Emitter, form: DotForm, w: Value, flip: Value | None = None) -> Any:
    """What add_products takes for signed w, form.least at least, with all x that they are multiplied with.

    In a form that is short x may be given as stored: flip makes them the target's.
    """
    if not form.short:
        return w
    signs = e.builder.ashr(w, e.const(7, w.type))
    return _sizes(e, w), signs if flip is None else e.builder.xor(signs, flip)


def add_block(e: Emitter, acc: Value, x: Value, w: Value) -> Value:
    """acc [2, 2] plus x [2, 8] times w [2, 8] transposed, all of them signed, <16 x i8> (ARM with i8mm)."""
    return e.call("llvm.aarch64.neon.smmla.v4i32.v16i8", acc.type, acc, x, w)


def add_fours(e: Emitter, form: DotForm, acc: Value, x: Value, w: Value) -> Value:
    """acc plus the sums of each four of products of x and w, each lane its own; no form that is short."""
    if acc.type.count > form.lanes:
        parts = zip(*(halves_of(e, v) for v in (acc, x, w)), strict=True)
        return joined(e, [add_fours(e, form, *part) for part in parts])
    if form.halves:
        return _add_fours_neon(e, acc, x, w)
    return _ADD_FOURS[form.instruction](e, acc, x, w)


def _vpdpbusd(e: Emitter, acc: Value, x: Value, w: Value) -> Value:
    return e.call(_VPDPBUSD[acc.type.count], acc.type, acc, x, w)


def _sdot(e: Emitter, acc: Value, x: Value, w: Value) -> Value:
    return e.call("llvm.aarch64.neon.sdot.v4i32.v16i8", acc.type, acc, w, x)


def _sizes(e: Emitter, x: Value) -> Value:
    return e.call(f"llvm.abs.{suffix(x.type)}", x.type, x, e.const(0, i1))


def byte_pairs(e: Emitter, u: Value, s: Value) -> Value:
    """Sums of two products each of unsigned by signed bytes, which must lie within their 16 bits; AVX2."""
    return e.call("llvm.x86.avx2.pmadd.ub.sw", vector(i16, u.type.count // 2), u, s)


def _unsigned_by_signed(e: Emitter, acc: Value, u: Value, s: Value) -> Value:
    pairs = byte_pairs(e, u, s)
    return e.builder.add(acc, pair_products(e, pairs, _ones(e, pairs.type)))


def _psignb(e: Emitter, acc: Value, x: Value, w: Value) -> Value:
    """Sizes of x times w with their signs: products of two lie within 16 bits if no w is -128."""
    return _unsigned_by_signed(e, acc, _sizes(e, x), e.call("llvm.x86.avx2.psign.b", x.type, w, x))


def _pabsb(e: Emitter, acc: Value, x: Value, w: tuple[Value, Value]) -> Value:
    """Sizes of w times x, or times its complement -x - 1 where w is negative: two lie within 16 bits."""
    return _unsigned_by_signed(e, acc, w[0], e.builder.xor(x, w[1]))


def _pmaddwd(e: Emitter, acc: Value, x: Value, w: Value) -> Value:
    """Even and odd bytes apart, as 16 bits."""
    b, words = e.builder, vector(i16, 2 * acc.type.count)
    eight = e.const(8, words)
    x, w = b.bitcast(x, words), b.bitcast(w, words)
    right = b.ashr if target().traits.signed_x else b.lshr
    even = pair_products(e, right(b.shl(x, eight), eight), b.ashr(b.shl(w, eight), eight))
    return b.add(b.add(acc, even), pair_products(e, right(x, eight), b.ashr(w, eight)))


# What has smmla has sdot, too.
_ADD_FOURS = {
    "vpdpbusd": _vpdpbusd,
    "smmla": _sdot,
    "sdot": _sdot,
    "psignb": _psignb,
    "pabsb": _pabsb,
    "pmaddwd": _pmaddwd,
}


def _smull(e: Emitter, x: Value, w: Value) -> Value:
    return e.call("llvm.aarch64.neon.smull.v8i16", vector(i16, 8), x, w)


def _add_pairs_neon(e: Emitter, acc: Value, words: Value) -> Value:
    pairs = e.call("llvm.aarch64.neon.saddlp.v4i32.v8i16", acc.type, words)
    return e.builder.add(acc, pairs)


def _add_halves(e: Emitter, acc: Value, x: Sequence[Value], w: Sequence[Value]) -> Value:
    """Products of all x and w lane by lane in 16 bits, then those of neighbours."""
    return _add_pairs_neon(e, acc, products_in_words(e, x, w))


def products_in_words(e: Emitter, x: Sequence[Value], w: Sequence[Value]) -> Value:
    """Sums of one or two products of signed bytes, <8 x i8>, as int16; of two, no w is -128 (ARM)."""
    products = _smull(e, x[0], w[0])
    for each_x, each_w in zip(x[1:], w[1:], strict=True):
        products = e.builder.add(products, _smull(e, each_x, each_w))
    return products


def _add_fours_neon(e: Emitter, acc: Value, x: Value, w: Value) -> Value:
    """Neighbours' products are added in 16 bits: no w is -128."""
    low, high = (_smull(e, *sides) for sides in zip(halves_of(e, x), halves_of(e, w), strict=True))
    pairs = e.call("llvm.aarch64.neon.addp.v8i16", low.type, low, high)
    return _add_pairs_neon(e, acc, pairs)


def add_unsigned_fours(e: Emitter, acc: Value, x: Value, w: Value) -> Value:
    """acc plus the sums of each four products of unsigned x and signed w, of any values."""
    dot, lanes = target().traits.dot, acc.type.count
    most = {"vnni512": 16, "vnni256": 8}.get(dot, 8 if target().avx2 else 4)
    if lanes > most:
        parts = zip(*(halves_of(e, v) for v in (acc, x, w)), strict=True)
        return joined(e, [add_unsigned_fours(e, *part) for part in parts])
    if dot in ("vnni256", "vnni512"):
        return _vpdpbusd(e, acc, x, w)
    if dot in ("sdot", "smmla"):
        # u = (u - 128) + 64 + 64
        half = e.const(64, w.type)
        flipped = e.builder.xor(x, e.const(128, x.type))
        return _sdot(e, _sdot(e, _sdot(e, acc, flipped, w), half, w), half, w)
    b, words = e.builder, vector(i16, 2 * lanes)
    eight = e.const(8, words)
    x, w = b.bitcast(x, words), b.bitcast(w, words)
    even = b.and_(x, e.const(255, words)), b.ashr(b.shl(w, eight), eight)
    odd = b.lshr(x, eight), b.ashr(w, eight)
    return b.add(b.add(acc, pair_products(e, *even)), pair_products(e, *odd))


def pair_products(e: Emitter, x: Value, w: Value) -> Value:
    """Sums of neighbouring products of <2n x i16>, as <n x i32>."""
    b, halves = e.builder, x.type.count
    sums = vector(i32, halves // 2)
    if not _is_arm() and halves // 2 in _PMADDWD and (halves == 8 or target().avx2):
        return e.call(_PMADDWD[halves // 2], sums, x, w)
    products = b.mul(b.sext(x, vector(i32, halves)), b.sext(w, vector(i32, halves)))
    even = e.shuffle(products, products, list(range(0, halves, 2)))
    odd = e.shuffle(products, products, list(range(1, halves, 2)))
    return b.add(even, odd)


def add_pair_products(e: Emitter, acc: Value, x: Value, w: Value) -> Value:
    """acc plus pair_products."""
    if acc.type.count == 16 and target().vnni:
        return e.call("llvm.x86.avx512.vpdpwssd.512", acc.type, acc, x, w)
    return e.builder.add(acc, pair_products(e, x, w))


def add_bytes(e: Emitter, acc: Value, x: Value) -> Value:
    """acc plus the sums of each four bytes of the target's kind."""
    dot, ones = target().traits.dot, e.const(1, x.type)
    if target().vnni:
        return _vpdpbusd(e, acc, x, ones)
    if acc.type.count > (8 if target().avx2 else 4):
        parts = zip(*(halves_of(e, v) for v in (acc, x)), strict=True)
        return joined(e, [add_bytes(e, *part) for part in parts])
    if dot == "vnni256":
        return _vpdpbusd(e, acc, x, ones)
    if dot in ("sdot", "smmla"):
        return _sdot(e, acc, x, ones)
    if _is_arm():
        return _add_pairs_neon(e, acc, e.call("llvm.aarch64.neon.saddlp.v8i16.v16i8", vector(i16, 8), x))
    if target().traits.signed_x:
        return _unsigned_by_signed(e, acc, _ones(e, x.type), x)
    return _pmaddwd(e, acc, x, ones)


def sums_of_8(e: Emitter, x: Value) -> Value:
    """Sums of each 8 unsigned bytes as i64, on targets with AVX2."""
    name = "llvm.x86.avx512.psad.bw.512" if target().avx512 else "llvm.x86.avx2.psad.bw"
    return e.call(name, vector(i64, x.type.count // 8), x, constant(x.type, 0))


# --- rounding and narrowing


def round_even(e: Emitter, x: Value) -> Value:
    """x <n x f32>, less than 2**31 in size, rounded to int32, ties to even."""
    lanes = x.type.count
    sums = vector(i32, lanes)
    if _is_arm():
        if lanes > 4:
            return joined(e, [round_even(e, part) for part in halves_of(e, x)])
        return e.call("llvm.aarch64.neon.fcvtns.v4i32.v4f32", sums, x)
    if lanes == 16 and target().avx512:
        zeros = e.const(0, sums)
        name = "llvm.x86.avx512.mask.cvtps2dq.512"
        return e.call(name, sums, x, zeros, _ALL_LANES, _CURRENT_ROUNDING)
    if lanes == 8 and target().avx2:
        return e.call("llvm.x86.avx.cvt.ps2dq.256", sums, x)
    if lanes > 4:
        return joined(e, [round_even(e, part) for part in halves_of(e, x)])
    return e.call("llvm.x86.sse2.cvtps2dq", sums, x)


def packed_words(e: Emitter, a: Value, b: Value) -> Value:
    """Lanes of int32 saturated to int16: 128-bit lane L holds those of a's lane L, then of b's."""
    words = vector(i16, 2 * a.type.count)
    if _is_arm():
        parts = [e.call("llvm.aarch64.neon.sqxtn.v4i16", vector(i16, 4), v) for v in (a, b)]
        return joined(e, parts)
    return e.call(f"llvm.x86.{_PACK_WORDS[words.count]}", words, a, b)


def packed_bytes(e: Emitter, a: Value, b: Value, signed: bool = True) -> Value:
    """Lanes of int16 saturated to int8 or uint8, in the order of packed_words."""
    bytes_ = vector(i8, 2 * a.type.count)
    if _is_arm():
        name = f"llvm.aarch64.neon.{'sqxtn' if signed else 'sqxtun'}.v8i8"
        return joined(e, [e.call(name, vector(i8, 8), v) for v in (a, b)])
    return e.call(_PACK_BYTES[bytes_.count][not signed], bytes_, a, b)


# --- tables and parts of floats


def permuted_bytes(e: Emitter, low: Value, index: Value, high: Value) -> Value:
    """Bytes of low and high, 64 each, by the lower 7 bits of each index (AVX512_VBMI)."""
    return e.call("llvm.x86.avx512.vpermi2var.qi.512", index.type, low, index, high)


def shuffled_bytes(e: Emitter, table: Value, index: Value) -> Value:
    """Bytes of a table of 16 by the lower 4 bits of each index, 0 where it is negative, <32 x i8> (AVX2)."""
    whole = e.shuffle(table, table, [*range(16)] * 2)
    return e.call("llvm.x86.avx2.pshuf.b", index.type, whole, index)


def permuted_floats(e: Emitter, table: Sequence[float], index: Value) -> Value:
    """Elements of a table of 16 by the lower 4 bits of each index."""
    lanes = index.type.count
    if lanes > target().vector_bytes // 4:
        return joined(e, [permuted_floats(e, table, part) for part in halves_of(e, index)])
    floats = vector(f32, lanes)
    if lanes == 16:
        return e.call("llvm.x86.avx512.permvar.sf.512", floats, constant(floats, list(table)), index)
    if lanes == 8:
        parts = [constant(floats, list(table[at : at + 8])) for at in (0, 8)]
        low, high = (e.call("llvm.x86.avx2.permps", floats, part, index) for part in parts)
        is_low = e.builder.icmp_signed(
            "==", e.builder.and_(index, e.const(8, index.type)), e.const(0, index.type)
        )
        return e.builder.select(is_low, low, high)
    if _is_arm():
        return _table_lookup_neon(e, table, index)
    parts = [
        e.builder.and_(e.builder.extract_element(index, e.const(k, i32)), e.const(15, i32))
        for k in range(lanes)
    ]
    whole, found = constant(vector(f32, 16), list(table)), constant(floats, 0.0)
    for k, part in enumerate(parts):
        found = e.builder.insert_element(found, e.builder.extract_element(whole, part), e.const(k, i32))
    return found


def _table_lookup_neon(e: Emitter, table: Sequence[float], index: Value) -> Value:
    """The four bytes of each element, by indices of bytes."""
    b, bytes_ = e.builder, vector(i8, 16)
    quarters = [
        b.bitcast(constant(vector(f32, 4), list(table[at : at + 4])), bytes_) for at in range(0, 16, 4)
    ]
    scaled = b.mul(b.and_(index, e.const(15, index.type)), e.const(0x04040404, index.type))
    places = b.bitcast(b.add(scaled, e.const(0x03020100, index.type)), bytes_)
    found = e.call("llvm.aarch64.neon.tbl4.v16i8", bytes_, *quarters, places)
    return b.bitcast(found, vector(f32, 4))


def scaled_by_power(e: Emitter, x: Value, exponent: Value) -> Value:
    """x, at least 1/2 and less than 4, times two to an exponent of -152 to 130 (i32 lanes), rounded once."""
    b, lanes = e.builder, exponent.type
    # In two steps, of which the first is exact: 2^exponent alone would leave float32's range.
    half = b.ashr(exponent, e.const(1, lanes))
    for part in half, b.sub(exponent, half):
        power = b.shl(b.add(part, e.const(127, lanes)), e.const(23, lanes))
        x = b.fmul(x, b.bitcast(power, x.type))
    return x


def scaled_by_sixteenths(e: Emitter, x: Value, n: Value, whole: Value) -> Value:
    """x, as above, times two to the floor of n / 16: n as float32, and as i32 lanes."""
    if x.type.count == 16 and target().avx512:
        name = "llvm.x86.avx512.mask.scalef.ps.512"
        exponent = e.builder.fmul(n, e.const(1 / 16, x.type))
        return e.call(name, x.type, x, exponent, x, _ALL_LANES, _CURRENT_ROUNDING)
    return scaled_by_power(e, x, e.builder.ashr(whole, e.const(4, whole.type)))


def exponent_and_mantissa(e: Emitter, x: Value) -> tuple[Value, Value]:
    """(k, m), both float32, with x = m * 2^k and m in [3/4, 3/2).

    k is infinite for 0 (below) and for infinity; m is NaN where x is negative or NaN.
    """
    if x.type.count == 16 and target().avx512:
        name, interval = "llvm.x86.avx512.mask.getmant.ps.512", constant(i32, 0b1011)
        mantissa = e.call(name, x.type, x, interval, x, _ALL_LANES, _CURRENT_ROUNDING)
        exponents = [_exponent(e, part) for part in (x, mantissa)]
        return e.builder.fsub(*exponents), mantissa
    b, lanes, zero, infinity = e.builder, vector(i32, x.type.count), e.const(0.0, x.type), float("inf")
    is_small = b.fcmp_ordered("<", x, e.const(2.0**-126, x.type))
    bits = b.bitcast(b.select(is_small, b.fmul(x, e.const(2.0**23, x.type)), x), lanes)
    whole = b.ashr(b.sub(bits, e.const(0x3F400000, lanes)), e.const(23, lanes))
    mantissa = b.bitcast(b.sub(bits, b.shl(whole, e.const(23, lanes))), x.type)
    mantissa = b.select(b.fcmp_ordered("ord", x, x), mantissa, x)
    nan = b.bitcast(e.const(-0x400000, lanes), x.type)
    mantissa = b.select(b.fcmp_ordered("<", x, zero), nan, mantissa)
    whole = b.sub(whole, b.select(is_small, e.const(23, lanes), e.const(0, lanes)))
    exponent = b.select(b.fcmp_ordered("==", x, zero), e.const(-infinity, x.type), b.sitofp(whole, x.type))
    return b.select(b.fcmp_ordered("==", x, e.const(infinity, x.type)), x, exponent), mantissa


def _exponent(e: Emitter, x: Value) -> Value:
    """floor(log2(|x|)) of <16 x f32>."""
    name = "llvm.x86.avx512.mask.getexp.ps.512"
    return e.call(name, x.type, x, x, _ALL_LANES, _CURRENT_ROUNDING)


def pause(builder: Any) -> None:
    """Tell the processor that this thread is spinning."""
    name, operands = ("llvm.aarch64.hint", [1]) if _is_arm() else ("llvm.x86.sse2.pause", [])
    values = [constant(i32, value) for value in operands]
    kind = ir.FunctionType(ir.VoidType(), [value.type for value in values])
    builder.call(builder.module.globals.get(name) or ir.Function(builder.module, kind, name), values)
