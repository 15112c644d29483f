"""Which axes of a transposed tensor a reshape cuts or joins, and the same change before the transpose."""

from __future__ import annotations

from collections.abc import Sequence

# Places before the reshape and behind it with the same elements; one side is a single place, or none.
Group = tuple[list[int], list[int]]


def regrouped(
    shape: Sequence[int], order: Sequence[int], target: Sequence[int]
) -> tuple[list[int], list[int], list[int]] | None:
    """RESHAPE(TRANSPOSE(x, order), target) as TRANSPOSE(RESHAPE(TRANSPOSE(x, first), sizes), last).

    shape is x's. first moves as little as there must be: nothing where what becomes one axis lies side by
    side in x. None where the reshape goes across axes, or more than one size is not known.
    """
    before = [shape[axis] for axis in order]
    if before.count(-1) > 1 or list(target).count(-1) > 1 or (-1 in before) != (-1 in target):
        return None
    groups = _groups(before, target)
    if groups is None:
        return None
    keyed, last_key = [], -1
    for left, right in groups:
        axes = [order[place] for place in left]
        # A new axis of one element stays behind what it stood behind.
        last_key = min(axes) if axes else last_key
        keyed.append(((last_key, not axes), axes, right))
    keyed.sort(key=lambda each: each[0])
    first = [axis for _, axes, _ in keyed for axis in axes]
    places = [place for _, _, right in keyed for place in right]
    long = [axis for axis in first if shape[axis] != 1]
    last = [places.index(place) for place in range(len(target))]
    return (sorted(first) if long == sorted(long) else first), [target[place] for place in places], last


def _groups(before: Sequence[int], target: Sequence[int]) -> list[Group] | None:
    """The groups in order, None where there are none."""
    left, right = list(range(len(before))), list(range(len(target)))
    found: list[Group] = []
    while left or right:
        ends = bool(left) and before[left[0]] == 1, bool(right) and target[right[0]] == 1
        if any(ends):
            found.append(([left.pop(0)] if ends[0] else [], [right.pop(0)] if ends[1] else []))
            continue
        group = _group(before, target, left, right) if left and right else None
        if group is None:
            return None
        found.append(group)
    return found


def _group(before: Sequence[int], target: Sequence[int], left: list[int], right: list[int]) -> Group | None:
    """The next places with as many elements on both sides, taken from the lists."""
    some, others = [left.pop(0)], [right.pop(0)]
    one, other = before[some[0]], target[others[0]]
    while one != other:
        if -1 in (one, other):
            return None
        if one < other and left and before[left[0]] != -1:
            some.append(left.pop(0))
            one *= before[some[-1]]
        elif other < one and right and target[right[0]] != -1:
            others.append(right.pop(0))
            other *= target[others[-1]]
        else:
            return None
    return None if len(some) > 1 and len(others) > 1 else (some, others)
