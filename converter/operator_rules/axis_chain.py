"""What a row of reshapes and transposes does as a whole: which factors of the axes come where."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...schema.tflite import BuiltinOperator as Op

# What a factor's size is where it depends on a size that is not known.
OPEN = -1
# LiteRT transposes no more axes.
_MOST_AXES = 6
# The shape of a reshape, or the order of a transpose.
Step = tuple[Op, list[int]]


class AxisChain:
    """Where the factors of a tensor's axes are after reshapes and transposes.

    A factor is a part of an axis that nothing cuts; one of them may have a size that is not known. Axes of
    one element have no factors.
    """

    def __init__(self, shape: Sequence[int]) -> None:
        self.sizes: list[int] = []
        self.before: list[list[int]] = [self._new(size) for size in shape]
        self.now = [list(axis) for axis in self.before]

    def _new(self, size: int) -> list[int]:
        if size == 1:
            return []
        self.sizes.append(size)
        return [len(self.sizes) - 1]

    def transpose(self, order: Sequence[int]) -> None:
        self.now = [self.now[axis] for axis in order]

    def reshape(self, target: Sequence[int]) -> bool:
        """Whether each axis of the target is one of factors that lie side by side, and so it is now.

        target has one size at most that is not known (-1).
        """
        row = [factor for axis in self.now for factor in axis]
        place = list(target).index(OPEN) if OPEN in target else len(target)
        first = self._taken(row, target[:place], False)
        last = None if first is None else self._taken(row, target[place + 1 :][::-1], True)
        if first is None or last is None or (place == len(target) and row):
            return False
        self.now = [*first, *([row] if place < len(target) else []), *last[::-1]]
        return True

    def _taken(self, row: list[int], sizes: Sequence[int], from_behind: bool) -> list[list[int]] | None:
        """The factors of axes of these sizes, taken from an end of the row; None where one is cut across."""
        found = []
        for size in sizes:
            axis: list[int] = []
            while size != 1:
                if not row:
                    return None
                factor = row.pop(-1 if from_behind else 0)
                held = self.sizes[factor]
                if held == OPEN or held > size:
                    rest = self._cut(factor, size, from_behind)
                    if rest is None:
                        return None
                    row.insert(len(row) if from_behind else 0, rest[1])
                    factor, held = rest[0], size
                if held == 0 or size % held:
                    return None
                size //= held
                axis.append(factor)
            found.append(axis[::-1] if from_behind else axis)
        return found

    def _cut(self, factor: int, size: int, from_behind: bool) -> tuple[int, int] | None:
        """The factor as one of the size and a rest; None where the size is no part of it.

        Of an open one only a reshape that the model itself makes says that it is.
        """
        held = self.sizes[factor]
        if size == 0 or (held != OPEN and held % size):
            return None
        [rest] = self._new(OPEN if held == OPEN else held // size)
        self.sizes[factor] = size
        both = [rest, factor] if from_behind else [factor, rest]
        for axes in (self.before, self.now):
            for axis in axes:
                if factor in axis:
                    at = axis.index(factor)
                    axis[at : at + 1] = both
        return factor, rest

    def size_of(self, factors: Sequence[int]) -> int:
        """How many elements the factors have, -1 where that is not known."""
        sizes = [self.sizes[factor] for factor in factors]
        return OPEN if OPEN in sizes else math.prod(sizes)

    def groups(self) -> list[list[int]]:
        """The factors in the order they are in now, those together that are together before, too."""
        place = {factor: at for at, factor in enumerate(self._row(self.before))}
        found: list[list[int]] = []
        for factor in self._row(self.now):
            if found and place[factor] == place[found[-1][-1]] + 1:
                found[-1].append(factor)
            else:
                found.append([factor])
        return found

    def whole_order(self) -> list[int] | None:
        """The order of axes of before that gives the elements as they are now; None where one is cut."""
        order: list[int] = []
        row = self._row(self.now)
        while row:
            found = next(
                (at for at, axis in enumerate(self.before) if axis and axis == row[: len(axis)]), None
            )
            if found is None:
                return None
            order.append(found)
            del row[: len(self.before[found])]
        return _with_ones(order, self.before)

    def whole_axes(self) -> list[int] | None:
        """The axes of now in the order that their elements had before; None where one is cut."""
        row = self._row(self.before)
        order: list[int] = []
        while row:
            found = next((at for at, axis in enumerate(self.now) if axis and axis == row[: len(axis)]), None)
            if found is None:
                return None
            order.append(found)
            del row[: len(self.now[found])]
        return _with_ones(order, self.now)

    @staticmethod
    def _row(axes: Sequence[Sequence[int]]) -> list[int]:
        return [factor for axis in axes for factor in axis]


def _with_ones(order: list[int], axes: Sequence[Sequence[int]]) -> list[int]:
    """The order with axes of one element behind those that they are behind."""
    for place, axis in enumerate(axes):
        if not axis:
            order.insert(order.index(place - 1) + 1 if place else 0, place)
    return order


def cost(steps: Sequence[Step]) -> tuple[int, int]:
    """Transposes, then operators."""
    return sum(code == Op.TRANSPOSE for code, _ in steps), len(steps)


def merged_steps(shape: Sequence[int], moves: Sequence[Step]) -> list[Step] | None:
    """The fewest steps, of which one at most is a transpose, that do what the moves do to a shape.

    Each shape has one size at most that is not known (-1). None where a reshape goes across factors, or more
    axes are moved than LiteRT moves.
    """
    chain, target = AxisChain(shape), list(shape)
    for code, numbers in moves:
        if code == Op.TRANSPOSE:
            chain.transpose(numbers)
            target = [target[axis] for axis in numbers]
        elif chain.reshape(numbers):
            target = list(numbers)
        else:
            return None
    ways = (
        _moved_first(chain, shape, target),
        _moved_last(chain, shape, target),
        _moved_between(chain, target),
    )
    return min((way for way in ways if way is not None), key=cost, default=None)


def _moved_first(chain: AxisChain, shape: Sequence[int], target: list[int]) -> list[Step] | None:
    """Transposed as it is, and then reshaped."""
    order = chain.whole_order()
    if order is None or len(order) > _MOST_AXES:
        return None
    moved = [shape[axis] for axis in order]
    steps = [(Op.TRANSPOSE, order)] if order != sorted(order) else []
    return steps + ([(Op.RESHAPE, target)] if moved != target else [])


def _moved_last(chain: AxisChain, shape: Sequence[int], target: list[int]) -> list[Step] | None:
    """Reshaped, and then transposed."""
    places = chain.whole_axes()
    if places is None or len(places) > _MOST_AXES:
        return None
    sizes = [target[axis] for axis in places]
    steps = [(Op.RESHAPE, sizes)] if sizes != list(shape) else []
    return [*steps, (Op.TRANSPOSE, [places.index(axis) for axis in range(len(places))])]


def _moved_between(chain: AxisChain, target: list[int]) -> list[Step] | None:
    """Reshaped before and behind."""
    groups = chain.groups()
    if len(groups) > _MOST_AXES:
        return None
    row = [factor for axis in chain.before for factor in axis]
    before = sorted(groups, key=lambda group: row.index(group[0]))
    order = [before.index(group) for group in groups]
    sizes = [chain.size_of(group) for group in before]
    return [(Op.RESHAPE, sizes), (Op.TRANSPOSE, order), (Op.RESHAPE, target)]
