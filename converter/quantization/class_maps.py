"""ClassMaps: how well two models agree on the class of each point of a picture."""

from __future__ import annotations

import numpy as np

_RANK = 3
# Integers beyond are no classes, but indices of something else.
_MOST_CLASSES = 1 << 16
# As in PASCAL VOC: a point of no class.
_NO_CLASS = 255


class ClassMaps:
    """How often an output's points are of each class in one model, in the other, and in both."""

    def __init__(self) -> None:
        self._counts = np.zeros((3, 0), np.int64)
        self._labelled = [np.zeros((3, 0), np.int64)] * 2
        self._is_map = True

    def add(self, real: np.ndarray, other: np.ndarray, labels: np.ndarray | None = None) -> None:
        """See an output of both; labels are the classes of its points, negative or 255 for none."""
        maps = class_maps(real, other)
        if maps is None or not self._is_map:
            self._is_map = False
            return
        a, b = (each.reshape(-1) for each in maps)
        self._counts = _added(self._counts, a, b)
        if labels is not None:
            known = (labels >= 0) & (labels != _NO_CLASS)
            pairs = zip(self._labelled, (a, b), strict=True)
            self._labelled = [_added(counts, each[known], labels[known]) for counts, each in pairs]

    def overlap(self) -> float | None:
        """What both have of what either has, averaged over the classes that occur; None for no map."""
        return _mean_overlap(self._counts) if self._is_map and self._counts.any() else None

    def labelled(self) -> tuple[float, float] | None:
        """The same of the labels with each of the models; None without labels."""
        if not (self._is_map and self._labelled[0].any()):
            return None
        real, other = map(_mean_overlap, self._labelled)
        return real, other


def class_maps(real: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The class of each point of an output in both models, None for what is no map of classes.

    A map is [n, height, width, classes] of scores, or of one score (a mask: above a half where all of the
    float model's are between 0 and 1, else above 0), or [n, height, width] of integers.
    """
    is_flat = real.ndim < _RANK or min(real.shape[1:3]) < 2
    if is_flat or real.dtype.kind not in "fiu":
        return None
    if real.dtype.kind in "iu":
        ends = [int(end) for each in (real, other) for end in (each.min(initial=0), each.max(initial=0))]
        is_map = real.ndim == _RANK and min(ends) >= 0 and max(ends) < _MOST_CLASSES
        return (real.astype(np.int64), other.astype(np.int64)) if is_map else None
    if real.ndim != _RANK + 1:
        return None
    if real.shape[-1] > 1:
        return real.argmax(axis=-1), other.argmax(axis=-1)
    is_share = real.min(initial=0.0) >= 0 and real.max(initial=0.0) <= 1
    least = 0.5 if is_share else 0.0
    return (real > least).astype(np.int64), (other > least).astype(np.int64)


def _added(counts: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """[3, classes]: points of each class in a, in b, and in both, added to counts of fewer classes."""
    size = max(counts.shape[1], int(max(a.max(initial=-1), b.max(initial=-1))) + 1)
    found = np.stack([np.bincount(each, minlength=size) for each in (a, b, a[a == b])])
    found[:, : counts.shape[1]] += counts
    return found


def _mean_overlap(counts: np.ndarray) -> float:
    first, second, both = counts
    either = first + second - both
    return float((both[either > 0] / either[either > 0]).mean())
