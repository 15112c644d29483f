"""The process's memory map: whether a number is an address of something."""

from __future__ import annotations

from bisect import bisect_right


class MappedRanges:
    """The ranges of addresses that are in use when it is made; `address in ranges` asks for one.

    OSError where the system does not tell. Source: Linux, proc(5), /proc/pid/maps.
    """

    def __init__(self) -> None:
        with open("/proc/self/maps") as file:
            ends = [line.partition(" ")[0].split("-") for line in file]
        ranges = sorted((int(start, 16), int(end, 16)) for start, end in ends)
        ranges = [(start, end) for start, end in ranges if start < 1 << 63]  # the kernel's own page
        self._starts = [start for start, _ in ranges]
        self._ends = [end for _, end in ranges]
        self.lowest, self.highest = self._starts[0], self._ends[-1]

    def __contains__(self, address: int) -> bool:
        before = bisect_right(self._starts, address) - 1
        return before >= 0 and address < self._ends[before]
