"""Operations on the bits of integers, and on truth values."""

from __future__ import annotations

import numpy as np

from ...kernels.fallback.dtypes import numpy_dtype
from ...lite.errors import UnsupportedError
from ...schema.graph_def import (
    DT_BOOL,
    DT_INT8,
    DT_INT16,
    DT_INT32,
    DT_INT64,
    DT_UINT8,
    DT_UINT16,
    DT_UINT32,
)
from ..building.computed_types import SHORT_INTEGERS
from ..building.tensor import Tensor
from ..ir.attributes import DenseAttr
from ..ir.node import Node
from ..ir.types import element_type
from .elementwise import as_int32, as_type, elementwise
from .step import Rule

_UNSIGNED = tuple(element_type(type) for type in (DT_UINT8, DT_UINT16, DT_UINT32))
_HALF = 16


def _check(x: Tensor) -> None:
    if x.type not in (*SHORT_INTEGERS, DT_INT32, DT_UINT32):
        raise UnsupportedError("bits of integers of 64 bits have no operators")


def _folded(op: str, a: Tensor, b: Tensor) -> Tensor | None:
    """The op's result for constants, of 64 bits too, None where they are none."""
    return a.body.op(op, a, b) if a.data is not None and b.data is not None else None


def _width(x: Tensor) -> int:
    return 8 * numpy_dtype(x.type).itemsize


def common_bits(a: Tensor, b: Tensor) -> Tensor:
    """a & b, half of what a + b has over a ^ b; for 32 bits, whose sum may not fit, the two halves apart."""
    body = a.body
    if (known := _folded("BitwiseAnd", a, b)) is not None:
        return known
    _check(a)
    if a.type in SHORT_INTEGERS:
        wide = [body.cast(each, DT_INT32) for each in (a, b, body.op("BitwiseXor", a, b))]
        return body.cast(_half_excess(*wide), a.type)
    parts = []
    for x in (as_type(a, DT_UINT32), as_type(b, DT_UINT32)):
        high = _right(x, body.scalar(_HALF, DT_UINT32))
        low = body.op("BitwiseXor", x, _left(high, body.scalar(_HALF, DT_UINT32)))
        parts.append((as_int32(high), as_int32(low)))
    (a_high, a_low), (b_high, b_low) = parts
    high = _half_excess(a_high, b_high, body.op("BitwiseXor", a_high, b_high))
    low = _half_excess(a_low, b_low, body.op("BitwiseXor", a_low, b_low))
    return as_type(high * (1 << _HALF) + low, a.type)


def _half_excess(a: Tensor, b: Tensor, different: Tensor) -> Tensor:
    """Half of a + b - (a ^ b) of small numbers."""
    return a.body.op("RightShift", a + b - different, a.body.scalar(1, DT_INT32))


def _and(a: Tensor, b: Tensor) -> Tensor:
    return a.body.op("LogicalAnd", a, b) if a.type == DT_BOOL else common_bits(a, b)


def _or(a: Tensor, b: Tensor) -> Tensor:
    if a.type == DT_BOOL:
        return a.body.op("LogicalOr", a, b)
    if (known := _folded("BitwiseOr", a, b)) is not None:
        return known
    _check(a)
    different = a.body.op("BitwiseXor", a, b)
    if not _bits_of(a) & _bits_of(b):
        return different
    return a.body.op("BitwiseXor", different, common_bits(a, b))


def _bits_of(x: Tensor) -> int:
    """The bits that may be set, as far as a constant or a shift by one tells."""
    every = (1 << _width(x)) - 1
    if x.data is not None:
        # Any of its numbers' bits.
        return int(np.bitwise_or.reduce(x.data.reshape(-1).astype(np.int64), initial=0)) & every
    node = None if x.made is None else x.made.owner
    while isinstance(node, Node) and node.op == "Bitcast":
        node = node.operands[0].owner
    if not isinstance(node, Node) or node.op not in ("RightShift", "Mul"):
        return every
    other = node.operands[1].owner
    if not isinstance(other, Node) or other.op != "Const":
        return every
    dense = other.attributes["value"]
    if not isinstance(dense, DenseAttr) or not isinstance(dense.elements, bytes) or dense.count != 1:
        return every
    number = int.from_bytes(dense.elements, "little", signed=node.op == "Mul")
    if node.op == "RightShift":
        return every >> number if node.attributes.get("T") in _UNSIGNED else every
    # Times a power of 2, as _left has it.
    lowest = number & -number
    return every & -lowest if number else 0


def _not(x: Tensor) -> Tensor:
    if x.type == DT_BOOL:
        return x.apply("LogicalNot")
    if x.type == DT_UINT32:
        return as_type(-1 - as_int32(x), x.type)
    return (2 ** _width(x) - 1 if x.type in (DT_UINT8, DT_UINT16) else -1) - x


def _xor(a: Tensor, b: Tensor) -> Tensor:
    if a.type == DT_BOOL:
        return a.body.op("NotEqual", a, b)
    if a.data is None or b.data is None:
        _check(a)
    return a.body.op("BitwiseXor", a, b)


def _amount(by: Tensor) -> int | None:
    return None if by.data is None or by.data.size != 1 else int(by.data.reshape(-1)[0])


def _left(x: Tensor, by: Tensor) -> Tensor:
    """Times a power of 2; 0 where all bits are moved out."""
    if (amount := _amount(by)) is not None and 0 <= amount < _width(x):
        known = _folded("LeftShift", x, by)
        if known is not None:
            return known
    _check(x)
    body, bits = x.body, _width(x)
    powers = (np.int64(1) << np.arange(bits)).astype(np.uint32).view(np.int32)
    if amount is not None:
        factor = body.scalar(int(powers[amount]) if 0 <= amount < bits else 0, DT_INT32)
    else:
        table = body.constant(np.append(powers, np.int32(0)))
        at = body.cast(by, DT_INT32).minimum(bits)
        at = (at < 0).choose(bits, at)
        factor = body.op("GatherV2", table, at, body.scalar(0, DT_INT32))
    if x.type in (DT_INT32, DT_UINT32):
        return as_type(as_int32(x) * factor, x.type)
    return body.cast(body.cast(x, DT_INT32) * factor, x.type)


def _right(x: Tensor, by: Tensor) -> Tensor:
    """Zeros come in from the left."""
    if x.data is None:
        _check(x)
    if x.type in (DT_INT8, DT_INT16, DT_INT64):
        raise UnsupportedError("logical shifts of signed integers but those of 32 bits")
    unsigned = as_type(x, DT_UINT32) if x.type == DT_INT32 else x
    bits, amount = _width(x), _amount(by)
    by = by if by.type == unsigned.type else by.body.cast(by, unsigned.type)
    if amount is not None and not 0 <= amount < bits:
        moved = unsigned.apply("ZerosLike")
    else:
        moved = x.body.op("RightShift", unsigned, by)
        if amount is None:
            inside = x.body.cast(by, DT_INT32) < bits
            moved = inside.choose(moved, x.body.scalar(0, unsigned.type))
    return as_type(moved, x.type)


def _right_with_sign(x: Tensor, by: Tensor) -> Tensor:
    """The sign comes in from the left; all of it where all bits are moved out."""
    _check(x)
    signed = as_int32(x) if x.type == DT_UINT32 else x
    if x.type in (DT_UINT8, DT_UINT16):
        raise UnsupportedError("arithmetic shifts of unsigned integers of 8 and 16 bits")
    most = _width(x) - 1
    amount = _amount(by)
    if amount is not None:
        by = x.body.scalar(amount if 0 <= amount <= most else most, signed.type)
    else:
        wide = x.body.cast(by, DT_INT32)
        by = x.body.cast((wide < 0).choose(most, wide.minimum(most)), signed.type)
    return as_type(x.body.op("RightShift", signed, by), x.type)


def _counted(x: Tensor) -> Tensor:
    """How many bits are set: the number less all its halves, quarters ..., cut off."""
    small = _as_number(x)
    halves = x.body.op("Sum", _moved_by(small, 1, _width(x)), x.body.integers([-1]))
    return x.body.cast(small - halves, x.type)


def _leading_zeros(x: Tensor) -> Tensor:
    """As many as there are places by which the number can be moved until nothing is left."""
    body, zero = x.body, x.body.scalar(0, DT_INT32)
    left = body.cast(body.op("NotEqual", _moved_by(_as_number(x), 0, _width(x)), zero), DT_INT32)
    return body.cast(_width(x) - body.op("Sum", left, body.integers([-1])), x.type)


def _as_number(x: Tensor) -> Tensor:
    """The bits as int32, with zeros in front."""
    _check(x)
    same = {DT_INT8: DT_UINT8, DT_INT16: DT_UINT16}
    return x.body.cast(as_int32(as_type(x, same.get(x.type, x.type))), DT_INT32)


def _moved_by(x: Tensor, first: int, end: int) -> Tensor:
    """The numbers moved right by so many places each, along a new last axis."""
    deep = x.body.op("ExpandDims", x, x.body.scalar(x.rank, DT_INT32))
    places = x.body.constant(np.arange(first, end, dtype=np.uint32))
    return as_int32(x.body.op("RightShift", as_type(deep, DT_UINT32), places))


REGISTRATIONS: dict[str, Rule] = {
    "and": elementwise(_and),
    "count_leading_zeros": elementwise(_leading_zeros),
    "not": elementwise(_not),
    "or": elementwise(_or),
    "popcnt": elementwise(_counted),
    "shift_left": elementwise(_left),
    "shift_right_arithmetic": elementwise(_right_with_sign),
    "shift_right_logical": elementwise(_right),
    "xor": elementwise(_xor),
}
