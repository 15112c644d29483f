"""The operators that random cases are made of."""

from __future__ import annotations

from . import (
    control,
    custom,
    elementwise,
    indexing,
    movement,
    products,
    recurrent,
    recurrent_q8,
    reductions,
    reused,
    stablehlo,
    tables,
)
from .entry import Entry

FAMILIES = (
    *(elementwise, movement, reductions, products, indexing, recurrent, recurrent_q8, stablehlo),
    *(custom, reused, control, tables),
)
ENTRIES: dict[str, Entry] = {name: entry for family in FAMILIES for name, entry in family.ENTRIES.items()}
