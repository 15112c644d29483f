"""Operations in which processors differ: every form gives what NumPy gives, at the ends of ranges too."""

import ctypes
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numlite
import numpy as np
import pytest
from llvmlite import ir
from numlite.kernels.compiled.driver import compile as compiler
from numlite.kernels.compiled.language import operations as o
from numlite.kernels.compiled.language import target as module
from numlite.kernels.compiled.language.dot_forms import (
    DotForm,
    column_order,
    dot_form,
    dot_forms,
    flip_of,
    flipped,
    in_blocks,
    tiles_are_short,
)
from numlite.kernels.compiled.language.host import host_words, machine
from numlite.kernels.compiled.language.simd import Emitter, f32, i8, i16, i32, i64, vector
from numlite.kernels.compiled.language.target import target
from numlite.kernels.compiled.language.targets import TARGETS

HERE = [name for name, t in TARGETS.items() if t.arch == machine() and t.needs <= host_words()]
ARM = [name for name, t in TARGETS.items() if t.arch == "aarch64"]

TABLE, ONE = [k / 4 - 1 for k in range(16)], 1.2345678


@pytest.fixture
def made_for(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    def choose(name: str) -> None:
        monkeypatch.setattr(module, "_given", TARGETS[name])
        target.cache_clear()

    yield choose
    monkeypatch.undo()
    target.cache_clear()


def compiled(emit: Callable[..., None]) -> tuple[Any, Any]:
    """LLVM's module and target machine of a function of six addresses."""
    written = ir.Module("operations")
    written.triple = compiler._triple()
    function = ir.Function(written, ir.FunctionType(ir.VoidType(), [i64] * 6), "operations")
    builder = ir.IRBuilder(function.append_basic_block())
    e = Emitter(builder)
    emit(e, *(e.pointer(argument) for argument in function.args))
    builder.ret_void()
    processor = compiler._new_target_machine()
    parsed = llvm.parse_assembly(str(written))
    passes = llvm.create_pass_builder(processor, llvm.create_pipeline_tuning_options(3))
    passes.getModulePassManager().run(parsed, passes)
    return parsed, processor


def all_forms() -> tuple[DotForm, ...]:
    """The target's forms in vectors, those of tiles last where they are others."""
    found = [*dot_forms(), *(form for form in dot_forms(of_tiles=True) if not form.matrix)]
    return tuple(dict.fromkeys(found))


def emit_all(e: Emitter, x: Any, w: Any, small: Any, acc: Any, floats: Any, out: Any) -> None:
    """Every operation that all targets have, 64 bytes of results each."""
    places = iter(range(0, 1 << 20, 64))
    bytes_, words, sums = vector(i8, 64), vector(i16, 32), vector(i32, 16)
    each = [e.load(p, type_) for p, type_ in ((x, bytes_), (w, bytes_), (small, bytes_), (acc, sums))]
    xs, ws, smalls, totals = each
    for form in all_forms():
        weights = ws if form.least == -128 else smalls
        if form.halves:
            e.store(in_halves(e, form, totals, xs, weights), out, next(places))
        elif form.rows > 1:
            block = [
                e.shuffle(v, v, list(range(64 // width))) for v, width in ((totals, 16), (xs, 4), (ws, 4))
            ]
            e.store(o.add_block(e, *block), out, next(places))
        elif form.short:
            e.store(in_short(e, form, totals, xs, weights), out, next(places))
        else:
            e.store(o.add_fours(e, form, totals, xs, weights), out, next(places))
    e.store(o.add_fours(e, dot_forms()[0], totals, xs, smalls), out, next(places))
    e.store(o.add_unsigned_fours(e, totals, xs, ws), out, next(places))
    e.store(o.add_bytes(e, totals, xs), out, next(places))
    pairs = [e.load(p, words) for p in (x, w)]
    e.store(by_parts(e, o.pair_products, *pairs), out, next(places))
    e.store(o.add_pair_products(e, totals, *pairs), out, next(places))
    e.store(o.round_even(e, e.load(floats, vector(f32, 16))), out, next(places))
    quarter = [e.load(p, vector(i32, 4)) for p in (acc, x)]
    packed = o.packed_words(e, *quarter)
    e.store(packed, out, next(places))
    for signed in (True, False):
        e.store(o.packed_bytes(e, packed, e.load(w, vector(i16, 8)), signed), out, next(places))
    for value in emit_floats(e, totals):
        e.store(value, out, next(places))


def emit_floats(e: Emitter, integers: Any) -> Iterator[Any]:
    """Operations on float32 with exponents, indices or bits from integers."""
    b, reals = e.builder, vector(f32, 16)
    yield o.permuted_floats(e, TABLE, integers)
    one = e.const(ONE, reals)
    yield o.scaled_by_power(e, one, b.ashr(integers, e.const(24, integers.type)))
    sixteenths = b.ashr(integers, e.const(20, integers.type))
    yield o.scaled_by_sixteenths(e, one, b.sitofp(sixteenths, reals), sixteenths)
    any_float = b.bitcast(integers, reals)
    exponent, mantissa = o.exponent_and_mantissa(e, any_float)
    is_defined = b.fcmp_ordered(">=", any_float, e.const(0.0, reals))
    yield b.select(is_defined, exponent, e.const(0.0, reals))
    is_zero = b.fcmp_ordered("==", any_float, e.const(0.0, reals))
    yield b.select(is_zero, e.const(1.0, reals), mantissa)


def float_meanings(integers: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    yield "permuted floats", np.array(TABLE, np.float32)[integers & 15]
    yield "scaled", np.ldexp(np.float32(ONE), integers >> 24)
    yield "scaled by sixteenths", np.ldexp(np.float32(ONE), integers >> 24)
    x = integers.view(np.float32)
    half, exponent = np.frexp(np.where(np.isfinite(x), x, 1).astype(np.float64))
    is_low = half < 0.75
    exponent = np.where(x == np.inf, np.inf, np.where(x == 0, -np.inf, exponent - is_low))
    yield "exponent", np.where(x >= 0, exponent, 0).astype(np.float32)
    mantissa = np.where((x == 0) | (x == np.inf), 1, half * (1 + is_low))
    yield "mantissa", np.where((x >= 0), mantissa, np.nan).astype(np.float32)


def in_halves(e: Emitter, form: Any, totals: Any, xs: Any, ws: Any) -> Any:
    """What halves give from two steps of 8 bytes, of which the other lanes are as they were."""
    steps = [[e.shuffle(v, v, list(range(at, at + 8))) for at in (0, 8)] for v in (xs, ws)]
    first = e.shuffle(totals, totals, list(range(4)))
    return o.add_products(e, form, first, steps[0][: form.steps], steps[1][: form.steps])


def in_short(e: Emitter, form: Any, totals: Any, xs: Any, ws: Any) -> Any:
    """What a form gives whose weights are prepared, of x stored with other top bits where it flips."""
    if totals.type.count > form.lanes:
        parts = zip(*(o.halves_of(e, v) for v in (totals, xs, ws)), strict=True)
        return o.joined(e, [in_short(e, form, *part) for part in parts])
    flip = e.const(128, xs.type) if form.flips else None
    stored = xs if flip is None else e.builder.xor(xs, o.opaque(e, flip))
    return o.add_products(e, form, totals, [stored], [o.prepared_weights(e, form, ws, flip)])


def by_parts(e: Emitter, operation: Any, *values: Any) -> Any:
    """An operation of all that fits into the target's registers, joined."""
    parts = [[v] for v in values]
    while parts[0][0].type.count > target().vector_bytes // 2:
        parts = [[half for v in side for half in o.halves_of(e, v)] for side in parts]
    return o.joined(e, [operation(e, *each) for each in zip(*parts, strict=True)])


def meanings(
    x: np.ndarray, w: np.ndarray, small: np.ndarray, acc: np.ndarray, floats: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """The same in NumPy, by name."""
    own = x.view(np.int8 if target().traits.signed_x else np.uint8)

    def fours(x: np.ndarray, w: np.ndarray, short: bool = False) -> np.ndarray:
        missing = np.maximum(-w.astype(np.int64), 0) * short
        return (acc + (x.astype(np.int64) * w - missing).reshape(16, 4).sum(1)).astype(np.int32)

    for i, form in enumerate(all_forms()):
        weights = w if form.least == -128 else small
        assert form.serves(128, -127) == form.flips
        if form.halves:
            products = own.astype(np.int64) * weights
            found = sum(products[8 * k : 8 * k + 8].reshape(4, 2).sum(1) for k in range(form.steps))
            yield f"form {i}", (acc[:4] + found).astype(np.int32)
        elif form.rows > 1:
            rows, columns = (v[:16].reshape(2, 8).astype(np.int64) for v in (own, weights))
            yield f"form {i}", (acc[:4] + (rows @ columns.T).reshape(4)).astype(np.int32)
        else:
            yield f"form {i}", fours(own, weights, form.short)
    yield "fours", fours(own, small)
    yield "unsigned fours", fours(x, w)
    yield "bytes", fours(own, np.ones(64, np.int8))
    x16, w16 = x.view(np.int16).astype(np.int64), w.view(np.int16)
    pairs = (x16 * w16).reshape(16, 2).sum(1)
    yield "pairs", pairs.astype(np.int32)
    yield "added pairs", (acc + pairs).astype(np.int32)
    yield "rounded", np.rint(floats).astype(np.int32)
    words = np.clip(np.concatenate([acc[:4], x.view(np.int32)[:4]]), -32768, 32767).astype(np.int16)
    yield "words", words
    words = np.concatenate([words, w16[:8]])
    yield "packed bytes", np.clip(words, -128, 127).astype(np.int8)
    yield "packed unsigned bytes", np.clip(words, 0, 255).astype(np.uint8)
    yield from float_meanings(acc)


def lanes(round_: int) -> list[np.ndarray]:
    """x (uint8), weights, weights without -128, sums, floats: ends of their ranges, then random ones."""
    rng = np.random.default_rng(round_)
    ends = round_ < 40
    x = rng.choice([0, 1, 127, 128, 255], 64) if ends else rng.integers(0, 256, 64)
    w = rng.choice([-128, -127, 0, 127], 64) if ends else rng.integers(-128, 128, 64)
    acc = (
        rng.choice([-(2**31), -1, 0, 1, 0x7F800000, 2**31 - 1], 16)
        if ends
        else rng.integers(-(2**31), 2**31, 16)
    )
    ties = rng.integers(-40000, 40000, 16) + 0.5
    floats = rng.choice([0.5, -0.5, 1.5, 2.5, -2.5, 2.0**30, -(2.0**30), 8388609.0], 16) if ends else ties
    weights = w.astype(np.int8)
    small = np.maximum(weights, -127)
    return [x.astype(np.uint8), weights, small, acc.astype(np.int32), floats.astype(np.float32)]


@pytest.mark.parametrize("name", HERE)
def test_forms_of_this_machine(made_for: Callable[[str], None], name: str) -> None:
    made_for(name)
    parsed, processor = compiled(emit_all)
    with llvm.create_mcjit_compiler(parsed, processor) as engine:
        engine.finalize_object()
        run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 6)(engine.get_function_address("operations"))
        for round_ in range(200):
            arrays, out = lanes(round_), np.zeros((30, 64), np.uint8)
            run(*(a.ctypes.data for a in (*arrays, out)))
            for place, (operation, expected) in zip(out, meanings(*arrays), strict=False):
                found = place.view(expected.dtype)[: expected.size]
                same = np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f")
                assert same, (operation, round_, found, expected)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("aarch64", "smull smlal sadalp sqxtn fcvtns tbl"),
        ("aarch64-dotprod", "sdot sqxtn fcvtns tbl"),
        ("aarch64-i8mm", "smmla sdot sqxtn fcvtns tbl"),
    ],
)
def test_forms_of_arm(made_for: Callable[[str], None], name: str, words: str) -> None:
    made_for(name)
    parsed, processor = compiled(emit_all)
    text = processor.emit_assembly(parsed)
    assert {word for word in words.split() if not re.search(rf"\t{word}2?\s", text)} == set()


def test_products_of_two_taps_stay_in_words(made_for: Callable[[str], None]) -> None:
    def emit(e: Emitter, x: Any, w: Any, _: Any, __: Any, ___: Any, out: Any) -> None:
        sides = [[e.load(p, vector(i8, 8), at) for at in (0, 8)] for p in (x, w)]
        e.store(o.products_in_words(e, *sides), out)

    made_for("aarch64-dotprod")
    parsed, processor = compiled(emit)
    text = processor.emit_assembly(parsed)
    assert len(re.findall(r"\tsm(ull|lal)\s", text)) == 2 and "sdot" not in text


def test_sdot_takes_lanes_of_a_row(made_for: Callable[[str], None]) -> None:
    """Four steps of a row are loaded once, without a copy for each."""

    def emit(e: Emitter, x: Any, w: Any, _: Any, acc: Any, __: Any, out: Any) -> None:
        whole, form = e.load(x, vector(i32, 4)), dot_forms()[0]
        steps = [e.builder.bitcast(e.shuffle(whole, whole, [k] * 4), vector(i8, 16)) for k in range(4)]
        weights = [e.load(w, vector(i8, 16), 16 * k) for k in range(4)]
        e.store(o.add_products(e, form, e.load(acc, vector(i32, 4)), steps, weights), out)

    made_for("aarch64-dotprod")
    parsed, processor = compiled(emit)
    text = processor.emit_assembly(parsed)
    assert len(re.findall(r"sdot\s.*\.4b\[\d\]", text)) == 4 and "dup" not in text


@pytest.mark.parametrize("name", TARGETS)
def test_the_domain_of_x(made_for: Callable[[str], None], name: str) -> None:
    """Exactly one of int8 and uint8 is flipped, and a zero point is what its flipped byte stands for."""
    made_for(name)
    signed = target().traits.signed_x
    assert flip_of(is_int8=not signed) == 128 and flip_of(is_int8=signed) == 0
    for is_int8, zero_point in ((True, -128), (True, 127), (False, 0), (False, 255)):
        byte = np.array((zero_point & 0xFF) ^ flip_of(is_int8), np.uint8)
        assert flipped(zero_point, is_int8) == int(byte.view(np.int8) if signed else byte)
    for of_tiles in (False, True):
        forms = dot_forms(of_tiles)
        assert forms[-1].serves(128, -128)
        assert forms[dot_form(128, -128, of_tiles)].serves(128, -128)
    assert not any(form.short for form in dot_forms())
    assert {form.short for form in dot_forms(of_tiles=True)} == {tiles_are_short()}
    for width in (16, 32):
        assert sorted(column_order(width)) == list(range(width))


@pytest.mark.parametrize("name", TARGETS)
def test_depths_are_taken_by_whole_instructions(made_for: Callable[[str], None], name: str) -> None:
    """Each form goes by spans that end with single fours, the longest of whole instructions."""
    made_for(name)
    for form in all_forms():
        assert form.spans[-1] == 1 and all(span % form.fours == 0 for span in form.spans[:-1])
        assert form.columns * form.rows * (2 if form.halves else 1) == form.lanes
    assert in_blocks() == (name == "aarch64-i8mm")


def test_instructions_are_named_in_two_files() -> None:
    """What vectors hold, and what registers for matrices do."""
    root = Path(numlite.__file__).parent
    named = re.compile(r"llvm\.(x86|aarch64)\.")
    found = {
        p.name
        for folder in ("kernels", "delegates", "lite")
        for p in (root / folder).rglob("*.py")
        if named.search(p.read_text())
    }
    assert found == {"operations.py", "matrix_registers.py"}
