"""Vector code that moves the elements of one row: backwards, or every second one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from .language.simd import Emitter, Value, i8, i16, i32, i64, microkernel, vector
from .language.target import target

_ITEMS = {1: i8, 2: i16, 4: i32, 8: i64}
_NARROW_BYTES = 16

# (Emitter, lanes, index of the first element) -> a vector of what belongs there.
_Gather = Callable[[Emitter, int, Value], Value]


def _emit_row(item_bytes: int, gather: Callable[..., _Gather]) -> Callable[..., None]:
    """target[k] = gathered element for k < count, in the widest vectors that fit into the row.

    The last vector overlaps the one before it; rows of less than the narrowest go by elements.
    """

    def emit(e: Emitter, to: Value, source: Value, count: Value) -> None:
        builder = e.builder
        out, taken = e.pointer(to), gather(e, e.pointer(source), item_bytes)

        def cover(lanes: int) -> None:
            def step(i: Value, _: list[Value]) -> list[Value]:
                e.store(taken(e, lanes, i), e.offset(out, builder.mul(i, e.const(item_bytes))))
                return []

            last = builder.sub(count, e.const(lanes))
            e.loop(last, [], step, step=lanes)
            step(last, [])

        def elements() -> None:
            def step(i: Value, _: list[Value]) -> list[Value]:
                e.store(taken(e, 1, i), e.offset(out, builder.mul(i, e.const(item_bytes))))
                return []

            e.loop(count, [], step)

        wide, narrow = target().vector_bytes // item_bytes, _NARROW_BYTES // item_bytes
        e.branch(
            builder.icmp_signed(">=", count, e.const(wide)),
            lambda: cover(wide),
            lambda: e.branch(
                builder.icmp_signed(">=", count, e.const(narrow)), lambda: cover(narrow), elements
            ),
        )

    return emit


def _backwards(e: Emitter, source: Value, item_bytes: int) -> _Gather:
    def gather(e: Emitter, lanes: int, i: Value) -> Value:
        before = e.builder.mul(e.builder.add(i, e.const(lanes - 1)), e.const(-item_bytes))
        loaded = e.load(e.offset(source, before), vector(_ITEMS[item_bytes], lanes))
        return e.shuffle(loaded, loaded, list(range(lanes - 1, -1, -1)))

    return gather


def _every_second(e: Emitter, source: Value, item_bytes: int) -> _Gather:
    def gather(e: Emitter, lanes: int, i: Value) -> Value:
        type_ = vector(_ITEMS[item_bytes], lanes)
        first = e.offset(source, e.builder.mul(i, e.const(2 * item_bytes)))
        if lanes == 1:
            return e.load(first, type_)
        # The second half ends with the last element taken, so that nothing past it is read.
        halves = [e.load(first, type_), e.load(first, type_, (lanes - 1) * item_bytes)]
        chosen = [*range(0, lanes, 2), *(lanes + k for k in range(1, lanes, 2))]
        return e.shuffle(halves[0], halves[1], chosen)

    return gather


def _kernels(name: str, gather: Callable[..., _Gather]) -> dict[int, Any]:
    return {
        size: microkernel(f"{name}_{size}", [types.int64] * 3, _emit_row(size, gather)) for size in _ITEMS
    }


# By the bytes of an element: (target, source, count). source is the address of the first element
# taken; the others lie before it, or at every second place after it.
reversed_row = _kernels("reversed_row", _backwards)
every_second = _kernels("every_second", _every_second)
