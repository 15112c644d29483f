"""Boxes of allocations, which searches place as one thing: fewer to place (arena_search.py).

Two that live equally long lie one upon the other; two of one size, one of which begins where the other
ends, lie in one place. Boxes and allocations become larger boxes by the same rules, so that no byte of a
box is ever idle. Not each plan can be made of given boxes: they are made by chance, anew for each search.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING

from ..schema.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

_LEFT_ALONE = 0.05  # how many look for no partner
_PARTNERS = 16  # that are looked at, so that thousands of equal allocations take no square of that


class Box(NamedTuple):
    """Positions from first up to, not including, end; bytes; allocations with their offsets in it."""

    first: int
    end: int
    nbytes: int
    inside: tuple[tuple[int, int], ...]

    def joined(self, other: Box) -> Box:
        """One box of two that go together."""
        if (self.first, self.end) == (other.first, other.end):
            above = tuple([(i, offset + self.nbytes) for i, offset in other.inside])
            return Box(self.first, self.end, self.nbytes + other.nbytes, self.inside + above)
        first, end = min(self.first, other.first), max(self.end, other.end)
        return Box(first, end, self.nbytes, self.inside + other.inside)


class _Loose:
    """Boxes by number, and who goes together with whom."""

    def __init__(self, boxes: Sequence[Box]) -> None:
        self.boxes = dict[int, Box]()
        self.made = 0
        self.numbers = defaultdict[tuple[str, int, int], dict[int, None]](dict)
        for box in boxes:
            self.add(box)

    def add(self, box: Box) -> int:
        number, self.made = self.made, self.made + 1
        self.boxes[number] = box
        for key in _keys(box):
            self.numbers[key][number] = None
        return number

    def remove(self, number: int) -> Box:
        box = self.boxes.pop(number)
        for key in _keys(box):
            del self.numbers[key][number]
        return box

    def partners(self, number: int) -> list[int]:
        first, end, nbytes, _ = self.boxes[number]
        found = list[int]()
        for key in (("life", first, end), ("begin", nbytes, end), ("end", nbytes, first)):
            found += islice(self.numbers.get(key, ()), _PARTNERS)
        return [n for n in found if n != number]


def _keys(box: Box) -> Iterator[tuple[str, int, int]]:
    yield "life", box.first, box.end
    yield "begin", box.nbytes, box.first
    yield "end", box.nbytes, box.end


def boxed(boxes: Sequence[Box], random: Random) -> list[Box]:
    """Larger boxes of the same allocations, made by chance; the same for the same state of random."""
    loose = _Loose(boxes)
    waiting = list(loose.boxes)
    random.shuffle(waiting)
    while waiting:
        number = waiting.pop()
        if number not in loose.boxes or random.random() < _LEFT_ALONE:
            continue
        partners = loose.partners(number)
        if not partners:
            continue
        other = loose.remove(random.choice(partners))
        waiting.append(loose.add(loose.remove(number).joined(other)))
        place = random.randrange(len(waiting))
        waiting[place], waiting[-1] = waiting[-1], waiting[place]
    return list(loose.boxes.values())
