"""Scans of progressive JPEG files: coefficients come in parts, and their low bits later.

Source: ITU-T T.81, Annex G.
"""

from __future__ import annotations

import numpy as np

from .jpeg_bits import Bits, refuse, short


class ProgressiveScan:
    """One scan: coefficients from start to end, in the order of the file, down to the bit low.

    refines says that higher bits came before. zigzag has the places of coefficients in a block.
    """

    def __init__(self, start: int, end: int, refines: bool, low: int, zigzag: list[int]) -> None:
        if not (start <= end <= 63 and low <= 13 and (start or not end)):
            message = "a scan must be of coefficients from 0 to 63, the first alone"
            raise refuse(f"{message}, got {start} to {end}, bit {low}")
        self._start, self._end = start, end
        self._refines, self._low = refines, low
        self._zigzag = zigzag
        # So many blocks to come have nothing more.
        self._empty = 0

    @property
    def tables(self) -> tuple[bool, bool]:
        """Whether codes of first coefficients are needed, and those of the others."""
        return (not self._start and not self._refines, self._start > 0)

    def restart(self) -> None:
        self._empty = 0

    @property
    def is_within_run(self) -> bool:
        """Whether nothing new is said of the blocks that come next, all of one colour."""
        return self._empty > 0

    def skip(self, bits: Bits, blocks: np.ndarray, places: np.ndarray) -> int:
        """Go over the blocks at these places, as far as the run goes; returns how many these are."""
        count = min(self._empty, len(places))
        if self._refines:
            band = blocks[np.ix_(places[:count], np.array(self._zigzag[self._start : self._end + 1]))]
            for number in np.flatnonzero(band.any(axis=1)).tolist():
                self._pass_by(bits, blocks[places[number]], self._start, 64)
        self._empty -= count
        return count

    def block(self, bits: Bits, table: list[int], block: np.ndarray, before: int) -> int:
        """Reads what the scan says of a block; returns the first coefficient, for the next block."""
        if self._start:
            if self._refines:
                self._refine(bits, table, block)
            else:
                self._first(bits, table, block)
        elif self._refines:
            block[0] |= short(bits.raw(1) << self._low)
        else:
            before += bits.signed(bits.symbol(table) & 15)
            block[0] = short(before << self._low)
        return before

    def _first(self, bits: Bits, table: list[int], block: np.ndarray) -> None:
        if self._empty:
            self._empty -= 1
            return
        at = self._start
        while at <= self._end:
            symbol = bits.symbol(table)
            run, size = symbol >> 4, symbol & 15
            if size:
                at += run
                block[self._zigzag[at]] = short(bits.signed(size) << self._low)
                at += 1
            elif run == 15:
                at += 16
            else:
                self._empty = (1 << run) - 1 + bits.raw(run)
                return

    def _refine(self, bits: Bits, table: list[int], block: np.ndarray) -> None:
        """One more bit of coefficients that are not 0, and those that are first not 0 at this bit."""
        at = self._start
        while at <= self._end and not self._empty:
            symbol = bits.symbol(table)
            run, size = symbol >> 4, symbol & 15
            if not size and run < 15:
                self._empty = (1 << run) + bits.raw(run)
                break
            value = (1 if bits.raw(1) else -1) << self._low if size else 0
            at = self._pass_by(bits, block, at, run)
            if value:
                block[self._zigzag[at]] = value
            at += 1
        if self._empty:
            self._pass_by(bits, block, at, 64)
            self._empty -= 1

    def _pass_by(self, bits: Bits, block: np.ndarray, at: int, zeros: int) -> int:
        """Refines what is not 0 up to the zero after so many zeros; returns where that is."""
        while at <= self._end:
            place = self._zigzag[at]
            held = int(block[place])
            if not held:
                if not zeros:
                    break
                zeros -= 1
            elif bits.raw(1) and not abs(held) >> self._low & 1:
                block[place] = short(held + (1 if held > 0 else -1) * (1 << self._low))
            at += 1
        return at
