"""Vector code: a thin face over llvmlite's IRBuilder, and microkernels as Numba intrinsics.

A microkernel is one internal LLVM function, written as a Python function that emits it:
`microkernel("gemm_7x2", [int64, ...], emit)` gives an intrinsic that jitted drivers call.
Tile sizes, strides and epilogues are Python loops and conditions at emission time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .target import target

i1, i8, i16, i32, i64 = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
f32, f64 = ir.FloatType(), ir.DoubleType()
void = ir.VoidType()
Value = Any  # llvmlite ships no types


def vector(element: Any, lanes: int) -> Any:
    return ir.VectorType(element, lanes)


def constant(type_: Any, value: Any) -> Value:
    """A constant; a scalar given for a vector type fills every lane."""
    if isinstance(type_, ir.VectorType) and not isinstance(value, list | tuple):
        value = [value] * type_.count
    return ir.Constant(type_, list(value) if isinstance(value, tuple) else value)


class Emitter:
    """Instructions by name. Addresses are i64 values, pointers i8*, offsets are in bytes."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder
        self.module = builder.module
        self._kept: dict[Any, Value] = {}

    # --- functions and constants
    def declare(self, name: str, result: Any, arguments: Sequence[Any]) -> Value:
        found = self.module.globals.get(name)
        return found or ir.Function(self.module, ir.FunctionType(result, arguments), name)

    def call(self, name: str, result: Any, *arguments: Value) -> Value:
        """Call an LLVM intrinsic or external function by name."""
        return self.builder.call(self.declare(name, result, [a.type for a in arguments]), arguments)

    def const(self, value: Any, type_: Any = i64) -> Value:
        return constant(type_, value)

    def kept(self, key: Any, make: Callable[[], Value]) -> Value:
        """make(), emitted once where the function begins: what it gives serves all of the function."""
        if key not in self._kept:
            with self.builder.goto_entry_block():
                self._kept[key] = make()
        return self._kept[key]

    # --- memory
    def pointer(self, address: Value) -> Value:
        return self.builder.inttoptr(address, i8.as_pointer())

    def offset(self, base: Value, offset: Value | int) -> Value:
        if isinstance(offset, int):
            if offset == 0:
                return base
            offset = self.const(offset)
        return self.builder.gep(base, [offset])

    def load(self, base: Value, type_: Any, offset: Value | int = 0, align: int = 1) -> Value:
        at = self.builder.bitcast(self.offset(base, offset), type_.as_pointer())
        return self.builder.load(at, align=align)

    def store(self, value: Value, base: Value, offset: Value | int = 0, align: int = 1) -> None:
        at = self.builder.bitcast(self.offset(base, offset), value.type.as_pointer())
        self.builder.store(value, at, align=align)

    def first_lanes(self, lanes: int, count: Value) -> Value:
        """<lanes x i1> with the first `count` (i64, not negative) lanes set."""
        index = ir.Constant(vector(i32, lanes), list(range(lanes)))
        return self.builder.icmp_unsigned("<", index, self.splat(self.builder.trunc(count, i32), lanes))

    def masked_load(self, base: Value, type_: Any, mask: Value, otherwise: Value = None) -> Value:
        at = self.builder.bitcast(base, type_.as_pointer())
        name = f"llvm.masked.load.{suffix(type_)}.p0"
        function = self.declare(name, type_, [at.type, i32, mask.type, type_])
        other = constant(type_, 0) if otherwise is None else otherwise
        return self.builder.call(function, [at, self.const(1, i32), mask, other])

    def masked_store(self, value: Value, base: Value, mask: Value) -> None:
        at = self.builder.bitcast(base, value.type.as_pointer())
        name = f"llvm.masked.store.{suffix(value.type)}.p0"
        function = self.declare(name, void, [value.type, at.type, i32, mask.type])
        self.builder.call(function, [value, at, self.const(1, i32), mask])

    def prefetch(self, at: Value, near: int = 3) -> None:
        """Bring the line of an address, which need not be one of memory, near: 3 first cache, 2 second."""
        function = self.declare("llvm.prefetch.p0", void, [at.type, i32, i32, i32])
        read, data = 0, 1
        self.builder.call(function, [at, *(self.const(word, i32) for word in (read, near, data))])

    # --- lanes
    def splat(self, scalar: Value, lanes: int) -> Value:
        undefined = ir.Constant(vector(scalar.type, lanes), ir.Undefined)
        one = self.builder.insert_element(undefined, scalar, self.const(0, i32))
        return self.shuffle(one, undefined, [0] * lanes)

    def load_splat(self, base: Value, type_: Any, lanes: int, offset: Value | int = 0) -> Value:
        return self.splat(self.load(base, type_, offset), lanes)

    def shuffle(self, a: Value, b: Value, lanes: Sequence[int]) -> Value:
        return self.builder.shuffle_vector(a, b, ir.Constant(vector(i32, len(lanes)), list(lanes)))

    # --- arithmetic
    def _same_type(self, operation: str, *values: Value) -> Value:
        return self.call(f"llvm.{operation}.{suffix(values[0].type)}", values[0].type, *values)

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        """a * b + c, rounded once (a library call on processors without FMA)."""
        return self._same_type("fma", a, b, c)

    def multiply_add(self, a: Value, b: Value, c: Value) -> Value:
        """a * b + c, fused where the processor has FMA, rounded twice where not."""
        if target().fma:
            return self.fma(a, b, c)
        return self.builder.fadd(self.builder.fmul(a, b), c)

    def clamp(self, value: Value, low: Value, high: Value) -> Value:
        """value within low to high; NaN stays NaN."""
        return self.fmin(high, self.fmax(low, value))

    def fmin(self, a: Value, b: Value) -> Value:
        return self.builder.select(self.builder.fcmp_ordered("<", a, b), a, b)

    def fmax(self, a: Value, b: Value) -> Value:
        return self.builder.select(self.builder.fcmp_ordered(">", a, b), a, b)

    def smin(self, a: Value, b: Value) -> Value:
        return self._same_type("smin", a, b)

    def smax(self, a: Value, b: Value) -> Value:
        return self._same_type("smax", a, b)

    def umin(self, a: Value, b: Value) -> Value:
        return self._same_type("umin", a, b)

    def umax(self, a: Value, b: Value) -> Value:
        return self._same_type("umax", a, b)

    # --- control
    def loop(
        self,
        count: Value,
        carried: Sequence[Value],
        body: Callable[[Value, list[Value]], Sequence[Value]],
        step: int = 1,
        start: Value = None,
    ) -> list[Value]:
        """for i in range(start, count, step): carried = body(i, carried). Returns the last carried."""
        builder = self.builder
        before = builder.block
        head = builder.function.append_basic_block("loop")
        after = builder.function.append_basic_block("after")
        first = self.const(0) if start is None else start
        builder.cbranch(builder.icmp_signed("<", first, count), head, after)
        builder.position_at_end(head)
        i = builder.phi(i64)
        i.add_incoming(first, before)
        inside = [builder.phi(value.type) for value in carried]
        for phi, value in zip(inside, carried, strict=True):
            phi.add_incoming(value, before)
        out = list(body(i, list(inside)))
        following = builder.add(i, self.const(step))
        end = builder.block
        i.add_incoming(following, end)
        for phi, value in zip(inside, out, strict=True):
            phi.add_incoming(value, end)
        builder.cbranch(builder.icmp_signed("<", following, count), head, after)
        builder.position_at_end(after)
        results = [builder.phi(value.type) for value in carried]
        for phi, value, last in zip(results, carried, out, strict=True):
            phi.add_incoming(value, before)
            phi.add_incoming(last, end)
        return results

    def branch(
        self, condition: Value, then: Callable[[], None], otherwise: Callable[[], None] | None = None
    ) -> None:
        builder = self.builder
        blocks = [builder.function.append_basic_block(n) for n in ("then", "otherwise", "join")]
        builder.cbranch(condition, blocks[0], blocks[1])
        for block, emit in zip(blocks, (then, otherwise), strict=False):
            builder.position_at_end(block)
            if emit is not None:
                emit()
            if not builder.block.is_terminated:
                builder.branch(blocks[2])
        builder.position_at_end(blocks[2])

    def values_if(
        self, condition: Value, then: Callable[[list[Value]], list[Value]], values: list[Value]
    ) -> list[Value]:
        """then(values) where the condition holds, else the values as they are; a jump, not a select."""
        builder = self.builder
        before = builder.block
        inside = builder.function.append_basic_block("if")
        join = builder.function.append_basic_block("endif")
        builder.cbranch(condition, inside, join)
        builder.position_at_end(inside)
        changed = then(values)
        end = builder.block
        builder.branch(join)
        builder.position_at_end(join)
        merged = [builder.phi(value.type) for value in values]
        for phi, old, new in zip(merged, values, changed, strict=True):
            phi.add_incoming(old, before)
            phi.add_incoming(new, end)
        return merged


def suffix(type_: Any) -> str:
    """How LLVM's overloaded intrinsics spell a type: v16f32, i32 ..."""
    element = type_.element if isinstance(type_, ir.VectorType) else type_
    name = "f32" if element == f32 else "f64" if element == f64 else f"i{element.width}"
    return f"v{type_.count}{name}" if isinstance(type_, ir.VectorType) else name


_LLVM_TYPES = {types.int64: i64, types.int32: i32, types.float32: f32}


def microkernel(
    name: str,
    arguments: Sequence[types.Type],
    emit: Callable[..., Value],
    result: types.Type | None = None,
) -> Any:
    """A Numba intrinsic that calls one internal LLVM function, emitted by emit(Emitter, *arguments)."""
    llvm_arguments = [_LLVM_TYPES[a] for a in arguments]
    llvm_result = void if result is None else _LLVM_TYPES[result]

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Value:
        function = builder.module.globals.get(name)
        if function is None:
            function = ir.Function(builder.module, ir.FunctionType(llvm_result, llvm_arguments), name)
            function.linkage = "internal"
            function.attributes.add("noinline")
            function.attributes.add("nounwind")
            inner = ir.IRBuilder(function.append_basic_block("entry"))
            returned = emit(Emitter(inner), *function.args)
            if result is None:
                inner.ret_void()
            else:
                inner.ret(returned)
        returned = builder.call(function, values)
        return context.get_dummy_value() if result is None else returned

    # Numba reads an intrinsic's arity from its signature, so one is made for each arity.
    names = ", ".join(f"a{k}" for k in range(len(arguments)))
    scope = {"returns": types.none if result is None else result, "arguments": arguments, "codegen": codegen}
    exec(f"def typer(context, {names}):\n    return returns(*arguments), codegen\n", scope)
    typer: Any = scope["typer"]
    typer.__name__ = typer.__qualname__ = name
    return intrinsic(typer)
