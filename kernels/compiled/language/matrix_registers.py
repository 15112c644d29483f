"""Registers of 16 rows of 64 bytes and their product, which processors with AMX have; named by number.

They have the shapes that a configuration gives them, all at once, and are zeros then. A function that
configures them lets them go before it ends, so that the system need not keep them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .dot_forms import DotForm
from .simd import Emitter, Value, i8, i16, void

ROWS, ROW_BYTES = 16, 64
_PALETTE = 1
# A configuration: the palette, then bytes of a row (int16) and rows (a byte) for each register.
_BYTES, _WIDTHS, _HEIGHTS = 64, 16, 48


class Shape(NamedTuple):
    """Rows, and bytes of each, at run time: 1 to 16, 1 to 64."""

    rows: Value
    row_bytes: Value


def configure(e: Emitter, shapes: Mapping[int, Shape]) -> None:
    """Give registers their shapes, and zeros."""
    place = e.kept("matrix registers", lambda: e.builder.alloca(i8, size=e.const(_BYTES)))
    for at in range(0, _BYTES, 8):
        e.store(e.const(0), place, at)
    e.store(e.const(_PALETTE, i8), place)
    for number, shape in shapes.items():
        e.store(e.builder.trunc(shape.row_bytes, i16), place, _WIDTHS + 2 * number)
        e.store(e.builder.trunc(shape.rows, i8), place, _HEIGHTS + number)
    e.builder.call(e.declare("llvm.x86.ldtilecfg", void, [place.type]), [place])


def let_go(e: Emitter) -> None:
    e.builder.call(e.declare("llvm.x86.tilerelease", void, []), [])


def clear(e: Emitter, register: int) -> None:
    e.builder.call(e.declare("llvm.x86.tilezero", void, [i8]), [e.const(register, i8)])


def load(e: Emitter, register: int, place: Value, stride: Value) -> None:
    """A register's rows, `stride` bytes apart."""
    _move(e, "tileloadd64", register, place, stride)


def store(e: Emitter, register: int, place: Value, stride: Value) -> None:
    _move(e, "tilestored64", register, place, stride)


def _move(e: Emitter, name: str, register: int, place: Value, stride: Value) -> None:
    function = e.declare(f"llvm.x86.{name}", void, [i8, place.type, stride.type])
    e.builder.call(function, [e.const(register, i8), place, stride])


def multiply(e: Emitter, form: DotForm, sums: int, x: int, w: int) -> None:
    """sums (int32) plus x, rows of fours of bytes, times w, signed: a row for each four, columns in fours."""
    function = e.declare(f"llvm.x86.{form.instruction}", void, [i8] * 3)
    e.builder.call(function, [e.const(register, i8) for register in (sums, x, w)])
