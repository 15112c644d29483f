"""Axes that ops name by number, from the front or, below zero, from the back."""

from __future__ import annotations

from collections.abc import Iterable

from .context import ShapeContext


def axis_of(c: ShapeContext, axis: int, rank: int) -> int:
    """The axis counted from the front; ModelError when there is none such."""
    if not -rank <= axis < rank:
        raise c.fault(f"axis must be in [{-rank}, {rank}), got {axis}")
    return axis % rank


def axes_of(c: ShapeContext, axes: Iterable[int], rank: int) -> set[int]:
    return {axis_of(c, axis, rank) for axis in axes}
