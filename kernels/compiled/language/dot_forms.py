"""The forms in which targets sum products of bytes, as data: kernels are made for all of a target's.

Weights are signed. x is signed on some targets and unsigned on others (`Traits.signed_x`), so that one of
int8 and uint8 has to be flipped, by xor with 128, as it is read.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from .target import target


class DotForm(NamedTuple):
    """How sums of four products are made in registers: see operations.add_products."""

    instruction: str
    lanes: int  # int32 lanes of an accumulator
    halves: bool = False  # two lanes hold a column's sum, else one
    rows: int = 1  # rows of x whose sums an accumulator holds
    fours: int = 1  # fours of the depth that one instruction takes
    steps: int = 1  # fours of the depth that are taken together
    flips: bool = True  # x is flipped; else it is taken as it lies
    least: int = -128  # the lowest weight that it takes
    short: bool = False  # of the sizes of a column's negative weights, which its header holds
    matrix: bool = False  # whole matrices are multiplied, of x as it lies: see matrix_registers.multiply

    @property
    def columns(self) -> int:
        """Columns of an accumulator."""
        return self.lanes // 2 if self.halves else self.lanes // self.rows

    @property
    def spans(self) -> list[int]:
        """By how many fours a depth is taken: first as often as it goes by the first, then by the next."""
        return sorted({self.steps, self.fours, 1}, reverse=True)

    def serves(self, flip: int, least_weight: int) -> bool:
        return not self.matrix and (self.flips or flip == 0) and least_weight >= self.least


_SDOT = DotForm("sdot", 4, steps=4)
# Blocks of two rows by two columns, which take eight of the depth; of more, tiles of six rows would not
# stay in registers.
_SMMLA = DotForm("smmla", 4, rows=2, fours=2, steps=2)
# 16 bits hold the sum of two products unless all four factors are -128.
_SMLAL = DotForm("smlal", 4, halves=True, steps=2, least=-127)
_SIGNED_PAIRS = DotForm("psignb", 8, least=-127)
# In tiles of several rows sizes and signs of weights are found once for all rows, and without multiplying
# by -1, which is what makes sums short.
_SIZES = DotForm("pabsb", 8, short=True)
# Of signed and of unsigned x.
_MATRIX = DotForm("tdpbssd", 16, steps=16, fours=16, flips=False, matrix=True)
_MATRICES = (_MATRIX, _MATRIX._replace(instruction="tdpbusd"))
# From so many rows of x on matrices are multiplied: fewer leave registers for them empty.
_LEAST_ROWS = 8

# By what Traits.dot says; the last of a target serves all.
_FORMS = {
    "pairs": (DotForm("pmaddwd", 4),),
    "pmaddubsw": (_SIGNED_PAIRS._replace(flips=False), _SIGNED_PAIRS, DotForm("pmaddwd", 8)),
    "vnni256": (DotForm("vpdpbusd", 8),),
    "vnni512": (DotForm("vpdpbusd", 16),),
    "smull": (_SMLAL._replace(flips=False), _SMLAL, DotForm("smull", 4, halves=True)),
    "sdot": (_SDOT,),
    "smmla": (_SMMLA._replace(flips=False), _SMMLA),
}
# Where tiles have others.
_TILE_FORMS = {"pmaddubsw": (_SIZES._replace(flips=False), _SIZES)}


def dot_forms(of_tiles: bool = False) -> tuple[DotForm, ...]:
    """The target's forms, best first; the last serves all.

    of_tiles: those of matrix kernels of several rows, else of all others.
    """
    dot = target().traits.dot
    if not of_tiles:
        return _FORMS[dot]
    return (*(_MATRICES if target().matrices else ()), *_TILE_FORMS.get(dot, _FORMS[dot]))


def dot_form(flip: int, least_weight: int, of_tiles: bool = False) -> int:
    """The number of the best form for x that is flipped so, and weights from least_weight up."""
    return next(i for i, form in enumerate(dot_forms(of_tiles)) if form.serves(flip, least_weight))


class Products(Enum):
    """What multiplies a node's x, read as rows."""

    ROW = "row"  # kernels of a single row
    TILES = "tiles"
    MATRICES = "matrices"


def products_of(rows: int, of_one: bool = True) -> Products:
    """What multiplies so many rows, of operators that have a kernel of one, or that have not."""
    if rows == 1 and of_one:
        return Products.ROW
    return Products.MATRICES if target().matrices and rows >= _LEAST_ROWS else Products.TILES


def matrix_form(is_int8: bool) -> int:
    """The number, among those of tiles, of the form that multiplies matrices."""
    return dot_forms(of_tiles=True).index(_MATRICES[not is_int8])


def takes_bytes_of_rows(form: DotForm) -> bool:
    """Whether x may be uint8 in it, as rows that are quantized on the fly are."""
    return form.flips or form == _MATRICES[1]


def tiles_are_short() -> bool:
    """Whether headers of panels hold the sizes of the columns' negative weights, for sums of tiles."""
    return dot_forms(of_tiles=True)[-1].short


def column_order(width: int) -> list[int]:
    """Which channel each column of a panel of packed weights holds: on most targets its own.

    With vnni512, panels of two vectors are in the order that packing those to int16, 128 bits at a time, puts
    right again.
    """
    if target().traits.dot != "vnni512" or width == dot_forms()[0].columns:
        return list(range(width))
    groups = range(0, width, 8)
    return [group + half + lane for half in (0, 4) for group in groups for lane in range(4)]


def in_blocks() -> bool:
    """Whether rows of packed words lie in pairs, each column's eight bytes together.

    Of 16 columns and two rows, the first holds columns 0 to 7, the second 8 to 15. A last row without
    another, of each tap of a filter, is as it is elsewhere: four bytes of each column.
    """
    return dot_forms()[0].rows > 1


def flip_of(is_int8: bool) -> int:
    """What makes stored bytes of x those of the target's products, by xor: 128 or 0."""
    return 128 if is_int8 != target().traits.signed_x else 0


def flipped(zero_point: int, is_int8: bool) -> int:
    """A zero point of stored bytes among those of the target's products."""
    if flip_of(is_int8) == 0:
        return zero_point
    return zero_point + 128 if is_int8 else zero_point - 128


def least_weight() -> int:
    """The lowest weight that depthwise kernels take: sums of two products are held in 16 bits."""
    return -127 if target().traits.signed_x else -128
