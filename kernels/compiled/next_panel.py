"""Weights are brought near before they are needed: the next panel, while one is multiplied.

Products of a panel and all rows are so many that the next panel's lines, one now and then, arrive
unnoticed; the first tile of rows would wait for each of them.
"""

from __future__ import annotations

from collections.abc import Callable

from .language.simd import Emitter, Value
from .language.target import target

# Two panels of this size and a block of rows lie in a second-level cache together.
_NEAR_BYTES = 192 * 1024


class NextPanel:
    """What lies behind a panel: the next one, or what need not be memory at all."""

    def __init__(
        self,
        e: Emitter,
        height: int,
        rows: Value,
        first: Value,
        step_bytes: Value,
        steps: Value,
        shared_evenly: bool = False,
    ) -> None:
        """A panel's `steps` steps of weights begin at first; `rows` rows take them in tiles of height.

        Of rows that are shared out evenly many tiles are a row lower. Height 0 brings nothing: a narrow panel
        is the last of its matrix.
        """
        b = e.builder
        self._e, self._height, self._steps = e, height, steps
        self._heights = (height, height - 1) if shared_evenly else (height,)
        nbytes = b.mul(steps, step_bytes)
        self._at = e.offset(first, nbytes)
        # So many bytes in each step that all tiles together come to the next panel's end.
        pace = b.sdiv(b.mul(step_bytes, e.const(height)), e.smax(rows, e.const(1)))
        fits = b.icmp_signed("<=", nbytes, e.const(_NEAR_BYTES))
        self._pace = b.select(fits, b.add(pace, e.const(1)), e.const(0))

    def bring(self, row: Value, height: int, start: Value = None) -> Callable[[Value], None]:
        """What step k of the tile from a row emits beside its products; start counts steps before.

        Nothing in lower tiles, and where it was not measured.
        """
        e, b = self._e, self._e.builder
        if height not in self._heights or not target().avx2:
            return lambda k: None
        done = b.sdiv(b.mul(row, self._steps), e.const(self._height))
        begin = done if start is None else b.add(done, start)
        at = e.offset(self._at, b.mul(begin, self._pace))
        return lambda k: e.prefetch(e.offset(at, b.mul(k, self._pace)))
