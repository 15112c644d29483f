"""ARG_MAX and ARG_MIN: along the last axis by vectors of a row, else by vectors across rows."""

from llvmlite import ir
from numba import types

from ..arg_min_max import ARG_MIN_MAX
from .driver.kernel_source import KernelSources
from .language.memory import int32_pointer, int64_pointer
from .language.simd import Emitter, Value, f32, i8, i32, i64, microkernel, vector

kernels = KernelSources()

_VECTOR_BYTES = 64
_ACROSS = 16  # lanes of the search across rows: one index of 32 bits each


class _Element:
    """How elements of a type compare."""

    def __init__(self, type_, item_bytes, kind, sign, worst):
        self.type, self.item_bytes, self.kind, self.sign = type_, item_bytes, kind, sign
        self.worst = worst

    def beats(self, e: Emitter, a: Value, b: Value) -> Value:
        """Whether a is past b in the direction looked for; never when either is a NaN."""
        compare = {
            "float": e.builder.fcmp_ordered,
            "signed": e.builder.icmp_signed,
            "unsigned": e.builder.icmp_unsigned,
        }[self.kind]
        return compare(self.sign, a, b)

    def equal(self, e: Emitter, a: Value, b: Value) -> Value:
        compare = e.builder.fcmp_ordered if self.kind == "float" else e.builder.icmp_signed
        return compare("==", a, b)

    def replaces(self, e: Emitter, a: Value, b: Value) -> Value:
        """Whether a beats b, or b is a NaN and a is none."""
        beats = self.beats(e, a, b)
        if self.kind != "float":
            return beats
        only_b = e.builder.and_(e.builder.fcmp_unordered("uno", b, b), e.builder.fcmp_ordered("ord", a, a))
        return e.builder.or_(beats, only_b)

    def better(self, e: Emitter, a: Value, b: Value) -> Value:
        return e.builder.select(self.beats(e, a, b), a, b)


def _emit_row(element: _Element):
    """Emit: the index of the first best element of a row. Finds its value, then its place."""
    lanes = _VECTOR_BYTES // element.item_bytes
    row_type = vector(element.type, lanes)

    def emit(e: Emitter, address: Value, size: Value) -> Value:
        builder = e.builder
        row = e.pointer(address)
        worst = e.const(element.worst, row_type)

        def block(i: Value) -> tuple[Value, Value]:
            values = e.load(row, row_type, builder.mul(i, e.const(element.item_bytes)))
            return values, e.first_lanes(lanes, builder.sub(size, i))

        def look(i: Value, carried: list[Value]) -> list[Value]:
            values, valid = block(i)
            return [element.better(e, builder.select(valid, values, worst), carried[0])]

        (best,) = e.loop(size, [worst], look, step=lanes)
        width = lanes
        while width > 1:
            width //= 2
            low = e.shuffle(best, best, range(width))
            best = element.better(e, e.shuffle(best, best, range(width, 2 * width)), low)
        wanted = e.splat(builder.extract_element(best, e.const(0, i32)), lanes)

        def find(i: Value, carried: list[Value]) -> list[Value]:
            values, valid = block(i)
            hits = builder.bitcast(builder.and_(element.equal(e, values, wanted), valid), ir.IntType(lanes))
            hits = builder.zext(hits, i64) if lanes < 64 else hits
            place = builder.add(i, e.call("llvm.cttz.i64", i64, hits, ir.Constant(ir.IntType(1), 1)))
            none = builder.icmp_unsigned("==", hits, e.const(0))
            known = builder.icmp_signed("<", carried[0], size)
            return [builder.select(builder.or_(none, known), carried[0], place)]

        (index,) = e.loop(size, [size], find, step=lanes)
        # Nothing equals the best of a row of NaNs.
        return builder.select(builder.icmp_signed("<", index, size), index, e.const(0))

    return emit


def _emit_across(element: _Element):
    """Emit: for `count` neighbours, the index (int32 or int64) of the best of `size` elements."""
    values_type, index_type = vector(element.type, _ACROSS), vector(i32, _ACROSS)

    def emit(
        e: Emitter, address: Value, stride: Value, size: Value, out: Value, wide: Value, count: Value
    ) -> None:
        builder = e.builder
        first = e.pointer(address)

        def look(i: Value, carried: list[Value]) -> list[Value]:
            values = e.load(first, values_type, builder.mul(i, stride))
            beats = element.replaces(e, values, carried[0])
            here = e.splat(builder.trunc(i, i32), _ACROSS)
            return [builder.select(beats, values, carried[0]), builder.select(beats, here, carried[1])]

        start = [e.load(first, values_type), e.const(0, index_type)]
        _, index = e.loop(size, start, look, start=e.const(1))
        target, mask = e.pointer(out), e.first_lanes(_ACROSS, count)
        e.branch(
            builder.icmp_signed("!=", wide, e.const(0)),
            lambda: e.masked_store(builder.sext(index, vector(i64, _ACROSS)), target, mask),
            lambda: e.masked_store(index, target, mask),
        )

    return emit


def _search(name, element):
    row_best = microkernel(f"{name}_row", [types.int64] * 2, _emit_row(element), types.int64)
    across_best = microkernel(f"{name}_across", [types.int64] * 6, _emit_across(element))
    item_bytes = element.item_bytes

    def search(a, chunk, chunks):
        index_bytes = 8 if a.wide else 4
        if a.inner == 1:
            for row in range(a.outer * chunk // chunks, a.outer * (chunk + 1) // chunks):
                index = row_best(a.x + row * a.size * item_bytes, a.size)
                if a.wide:
                    int64_pointer(a.y)[row] = index
                else:
                    int32_pointer(a.y)[row] = index
            return 0
        blocks = (a.inner + _ACROSS - 1) // _ACROSS
        total = a.outer * blocks
        for block in range(total * chunk // chunks, total * (chunk + 1) // chunks):
            outer, at = block // blocks, block % blocks * _ACROSS
            across_best(
                a.x + (outer * a.size * a.inner + at) * item_bytes,
                a.inner * item_bytes,
                a.size,
                a.y + (outer * a.inner + at) * index_bytes,
                a.wide,
                min(a.inner - at, _ACROSS),
            )
        return 0

    return search


_INFINITY = float("inf")
for _operator, _sign, _k in (("arg_max", ">", 0), ("arg_min", "<", 1)):
    for _type, _element in (
        ("f32", _Element(f32, 4, "float", _sign, (-_INFINITY, _INFINITY)[_k])),
        ("i8", _Element(i8, 1, "signed", _sign, (-128, 127)[_k])),
        ("u8", _Element(i8, 1, "unsigned", _sign, (0, 255)[_k])),
        ("i32", _Element(i32, 4, "signed", _sign, (-(1 << 31), (1 << 31) - 1)[_k])),
    ):
        _name = f"{_operator}_{_type}"
        kernels.add(ARG_MIN_MAX, _name)(_search(_name, _element))
