"""What means the same in every graph: what is known is computed, the unused goes, equal nodes become one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from .rewriter import Rewriter
from .rule import Rule
from .structure import AnyNode

N = TypeVar("N", bound=AnyNode[Any, Any])


# What leaves the other operand as it is: the number, and whether it may stand on either side.
_NEUTRAL = {"add": (0, True), "subtract": (0, False), "multiply": (1, True), "divide": (1, False)}


def neutral_operand(operation: str, is_all: Callable[[int, int], bool]) -> int | None:
    """Which operand an operation ("add", "subtract", "multiply", "divide") gives as it is; None for none.

    Given:  y = x + 0
    Result: 0, the place of x

    is_all(place, number) says whether an operand is a constant of that number alone.
    """
    number, commutes = _NEUTRAL[operation]
    return next((place for place in range(1 + commutes) if is_all(1 - place, number)), None)


# The number that settles the result, whatever the other operand is.
_SETTLES = {"multiply": 0}


def settling_operand(operation: str, is_all: Callable[[int, int], bool]) -> int | None:
    """Which operand alone makes the result of an operation, as its only number; None for none.

    Given:  y = x * 0
    Result: 1, the place of 0

    As in TensorFlow, the other operand counts as finite. is_all is that of neutral_operand.
    """
    number = _SETTLES.get(operation)
    return None if number is None else next((place for place in (0, 1) if is_all(place, number)), None)


def fold_rule(
    name: str,
    known: Callable[[Any, N], Sequence[np.ndarray] | None],
    compute: Callable[[N, Sequence[np.ndarray]], Sequence[Any] | None],
    give: Callable[[Any, N, Sequence[Any]], bool],
    roots: Iterable[Hashable] = (),
) -> Rule[Any]:
    """Computes what depends on constants only.

    Given:  a = Const 1; b = Const 2; c = Add(a, b)
    Result: a = Const 1; b = Const 2; c = Const 3

    known(rewriter, node) gives the operands, None where one is not known or the node must run. compute gives
    constants, None where there are none. give puts them in the place of the results, and says whether it did.
    """

    def fold(rewriter: Rewriter[N], node: N) -> bool:
        operands = known(rewriter, node)
        results = None if operands is None else compute(node, operands)
        return results is not None and give(rewriter, node, results)

    fold.__doc__ = fold_rule.__doc__
    return Rule(name, fold, frozenset(roots))


def unused_rule(may_go: Callable[[N], bool]) -> Rule[Any]:
    """Takes out a node that nothing uses.

    Given:  c = Cast(a); n = Neg(c); return(a)
    Result: return(a)

    may_go says whether running the node has no other effect than its results.
    """

    def drop_unused(rewriter: Rewriter[N], node: N) -> bool:
        if node.used or node in rewriter.kept or not may_go(node):
            return False
        rewriter.erase(node)
        return True

    drop_unused.__doc__ = unused_rule.__doc__
    return Rule("drop_unused", drop_unused)


def equal_rule(
    key: Callable[[N], Hashable | None], is_ahead: Callable[[N, N], bool], may_go: Callable[[N], bool]
) -> Rule[Any]:
    """Keeps the first one of equal nodes.

    Given:  a = Add(x, x); b = Add(x, x); y = Mul(a, b)
    Result: a = Add(x, x); y = Mul(a, a)

    Nodes with equal keys are equal; None is for one that is like no other. is_ahead says whether the first
    node's results are there wherever the second one stands. may_go is False for one whose results must stay.
    """

    def share_equal(rewriter: Rewriter[N], node: N) -> bool:
        found = key(node)
        if found is None:
            return False
        seen: dict[Hashable, N] = rewriter.notes.setdefault(share_equal, {})
        first = seen.setdefault(found, node)
        if first is node:
            return False
        # A node that has been changed or erased since is known by a key that is not its own.
        if first.block is not None and key(first) == found:
            if is_ahead(first, node):
                return _merge(rewriter, first, node)
            if is_ahead(node, first):
                seen[found] = node
                return _merge(rewriter, node, first)
        seen[found] = node
        return False

    def _merge(rewriter: Rewriter[N], first: N, second: N) -> bool:
        if second in rewriter.kept and first not in rewriter.kept and is_ahead(second, first):
            first, second = second, first
            rewriter.notes[share_equal][key(first)] = first
        if second in rewriter.kept or not may_go(second):
            return False
        rewriter.replace(second, first)
        return True

    share_equal.__doc__ = equal_rule.__doc__
    return Rule("share_equal", share_equal)
