"""Batch sizes: which ones kernels are compiled ahead for, and choose their tiles by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...lite.tensor import Shape


def batched(shapes: Mapping[int, Shape], batches: Iterable[int]) -> Iterator[dict[int, Shape]]:
    """The inputs' shapes as they are, and then with other batch sizes, where they all have one."""
    present = dict(shapes)
    yield present
    batch = batch_of(present)
    for other in batches if batch else ():
        if other != batch:
            yield {t: (other, *shape[1:]) for t, shape in present.items()}


def batch_of(shapes: Mapping[int, Shape]) -> int:
    """The first size that all shapes have; 0 where they have none."""
    sizes = {shape[:1] for shape in shapes.values()}
    return next(iter(sizes))[0] if len(sizes) == 1 and () not in sizes else 0


def tuned_batch(batch: int, batches: Sequence[int]) -> int:
    """The batch size that tiles are chosen by: the least of batches that is no smaller, or the largest.

    So any batch needs no other kernels than these few.
    """
    larger = [other for other in batches if other >= batch]
    return min(larger) if larger else max(batches, default=batch)
