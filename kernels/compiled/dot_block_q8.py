"""Rows of bytes times packed weights where an instruction multiplies blocks: two rows by two columns.

A row of an odd number of rows is in a block with itself. Weights lie as dot_forms.in_blocks says.
"""

from __future__ import annotations

from collections.abc import Sequence

from .dot_q8 import Dot, Tiling
from .language.dot_forms import DotForm
from .language.operations import add_block, joined
from .language.simd import Emitter, Value, i8, i32, i64, vector
from .output_q8 import flip_bytes

_BYTES, _BLOCK_BYTES = vector(i8, 16), 16
_TOP, _BOTTOM = [0, 1, 4, 5], [2, 3, 6, 7]


def dot_for(
    e: Emitter, tiling: Tiling, rounding: int, form: DotForm, w: Value, output: Value, shared: bool = False
) -> Dot:
    """What emits tiles in a form."""
    kind = BlockDot if form.rows > 1 else Dot
    return kind(e, tiling, rounding, form, w, output, shared)


class BlockDot(Dot):
    """Emits one tile: the accumulators of a pair of rows come one after the other."""

    def step(
        self, rows: Sequence[Value], at: Value, w: Value, acc: Sequence[Value], count: int = 1
    ) -> list[Value]:
        """acc plus `count` fours of each row (from byte `at`) times the weights: 1, or the 2 of a block."""
        e, out = self.e, list(acc)
        places = [e.offset(row, at) for row in rows]
        blocks = [
            self._x(places[m], places[min(m + 1, len(rows) - 1)], count) for m in range(0, len(rows), 2)
        ]
        vectors = len(acc) // len(blocks)
        for j in range(vectors):
            weights = self._weights(w, j, count)
            for pair, x in enumerate(blocks):
                i = pair * vectors + j
                out[i] = add_block(e, out[i], x, weights)
        return out

    def _x(self, top: Value, bottom: Value, count: int) -> Value:
        """Two rows of eight bytes; of a single four, with anything in place of the next."""
        e, b = self.e, self.e.builder
        read = joined(e, [self._flipped(e.load(place, vector(i32, count))) for place in (top, bottom)])
        return b.bitcast(read if count == 2 else b.zext(read, vector(i64, 2)), _BYTES)

    def _flipped(self, words: Value) -> Value:
        if self.flip is None:
            return words
        flip = flip_bytes(self.e, self.output, words.type)
        return self.e.builder.xor(words, flip)

    def _weights(self, w: Value, j: int, count: int) -> Value:
        """The block of columns 2j and 2j + 1; of a single four, with zeros behind it."""
        e, b = self.e, self.e.builder
        if count == 1:
            words = e.load(w, vector(i32, 2), 8 * j)
            return b.bitcast(b.zext(words, vector(i64, 2)), _BYTES)
        row, place = divmod(j, 4)
        # Two rows hold 16 columns, eight each.
        return e.load(w, _BYTES, row * self.step_bytes + place * _BLOCK_BYTES)

    def _by_rows(self, acc: Sequence[Value], height: int) -> list[list[Value]]:
        pairs = -(-height // 2)
        vectors, rows = len(acc) // pairs, []
        for m in range(height):
            first, lanes = m // 2 * vectors, _BOTTOM if m % 2 else _TOP
            blocks = acc[first : first + vectors]
            pairs_of = zip(blocks[::2], blocks[1::2], strict=True)
            rows.append([self.e.shuffle(left, right, lanes) for left, right in pairs_of])
        return rows
