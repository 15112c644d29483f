"""Proof that subgraphs or functions call each other without a circle, not too deep and not too often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from .fault import Fault
from .named_tuple import NamedTuple

# A call of a call takes six frames of the thousand that Python has by default, when the subgraphs are
# prepared, and some hundred bytes of the native stack, when they run. At 160 levels a program that is
# itself forty calls deep has none left. LiteRT runs 1000; networks have loops in loops.
MAX_DEPTH = 100

# Where each subgraph calls the next one twice, calls double with each level, in a file of some
# kilobytes. Each of them may have to be prepared of its own, which takes some 0.1 ms.
MAX_CALLS = 1 << 17


class Call(NamedTuple):
    """The subgraphs that an operator may run; of a loop all run, of branches one."""

    callees: tuple[int, ...]
    all_run: bool


class _Extent(NamedTuple):
    """What a subgraph calls in all: levels below it, and calls when each loop turns once."""

    depth: int
    calls: int


def check_calls(
    calls: Sequence[Counter[Call]],
    name: Callable[[int], str] = "model: subgraph {}".format,
    may_recurse: bool = False,
) -> None:
    """Raise Fault unless the calls of each subgraph come to an end, within the limits above.

    calls has each subgraph's calls, and how often it has each of them. Where subgraphs may call
    themselves, such a call counts as one that calls nothing: its depth shows when it runs.
    """
    extents: dict[int, _Extent] = {}
    for start in range(len(calls)):
        path: list[tuple[int, Iterator[int]]] = [(start, _callees(calls[start]))]
        open_subgraphs = {start}
        while path and start not in extents:
            current, callees = path[-1]
            callee = next((c for c in callees if c not in extents), None)
            if callee is None:
                extents[current] = _extent(name(current), calls[current], extents)
                open_subgraphs.discard(current)
                path.pop()
            elif callee not in open_subgraphs:
                open_subgraphs.add(callee)
                path.append((callee, _callees(calls[callee])))
            elif not may_recurse:
                raise Fault(f"{name(callee)} calls itself")


def _callees(calls: Counter[Call]) -> Iterator[int]:
    return (callee for call in calls for callee in call.callees)


def _extent(name: str, calls: Counter[Call], known: dict[int, _Extent]) -> _Extent:
    depth = count = 0
    for call, times in calls.items():
        below = [known.get(callee, _Extent(0, 0)) for callee in call.callees]
        depth = max(depth, *(1 + extent.depth for extent in below))
        runs = [1 + extent.calls for extent in below]
        count += times * (sum(runs) if call.all_run else max(runs))
    if depth > MAX_DEPTH:
        raise Fault(f"{name}: calls must be at most {MAX_DEPTH} deep, got {depth}")
    if count > MAX_CALLS:
        raise Fault(f"{name}: a run must make at most {MAX_CALLS:,} calls of subgraphs, got {count:,}")
    return _Extent(depth, count)
