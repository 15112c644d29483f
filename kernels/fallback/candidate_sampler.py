"""Candidate samplers: classes drawn for sampled losses, and how often each of them was to be expected.

Source: TensorFlow tensorflow/core/kernels/range_sampler.cc and candidate_sampler_ops.cc.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from .file_access import files_of, path_of
from .kernel import KernelConstruction, KernelContext, checked_shape
from .random import RandomKernel
from .registry import kernel_class
from .simple_philox import below, double, single
from .status import InvalidArgumentError

# Blocks of words that are reserved for each class that is drawn.
_BLOCKS = 512
# Who wants so many different classes of a range waits for ever for the rare ones.
_MOST_TRIES = 1 << 24


class _Sampler(RandomKernel):
    """Draws num_sampled classes of [0, range); true_classes [batch, num_true] tell which are looked for."""

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        self.count = construction.get_attr("num_sampled", int)
        self.unique = construction.get_attr("unique", bool)
        self.range = self.range_of(construction)
        if self.range < 1:
            raise InvalidArgumentError(f"{construction.op}: range_max must be positive, got {self.range}")

    def range_of(self, construction: KernelConstruction) -> int:
        """How many classes there are."""
        return construction.get_attr("range_max", int)

    def compute(self, context: KernelContext) -> None:
        op, wanted = self.construction.op, context.input(0)
        columns = self.construction.get_attr("num_true", int)
        if wanted.ndim != 2 or wanted.shape[1] != columns:
            message = f"true_classes must be a matrix of {columns} columns"
            raise InvalidArgumentError(f"{op}: {message}, got {list(wanted.shape)}")
        if self.unique and self.count > self.range:
            message = f"num_sampled must be at most {self.range}, got {self.count}"
            raise InvalidArgumentError(f"{op}: Sampler's range is too small: {message}")
        if np.any((wanted < 0) | (wanted >= self.range)):
            raise InvalidArgumentError(f"{op}: true_classes must be in [0, {self.range})")
        checked_shape((self.count,), np.dtype(np.int64))
        self.prepare(context)
        classes, tries = self.draw(self.reserved(self.count * _BLOCKS).words())
        context.set_output(0, classes)
        context.set_output(1, self._expected(wanted, tries))
        context.set_output(2, self._expected(classes, tries))
        self.seen(wanted)

    def draw(self, words: Iterator[int]) -> tuple[np.ndarray, int]:
        """The classes, int64, and how many were drawn to have so many different ones."""
        found: dict[int, None] | list[int] = {} if self.unique else []
        tries = 0
        while len(found) < self.count:
            if self.unique and tries == _MOST_TRIES:
                message = f"{self.count} different classes must come in {tries} draws, got {len(found)}"
                raise InvalidArgumentError(f"{self.construction.op}: {message}")
            value = self.one(words)
            tries += 1
            if isinstance(found, list):
                found.append(value)
            else:
                found.setdefault(value)
        return np.array(list(found), np.int64), tries

    def _expected(self, classes: np.ndarray, tries: int) -> np.ndarray:
        """Near 1 - (1 - p)^tries, float32."""
        chance = self.chance(classes).astype(np.float32)
        if tries == self.count:
            return chance * np.float32(self.count)
        return -np.expm1(np.float32(tries) * np.log1p(-chance))

    def prepare(self, context: KernelContext) -> None:
        """Done before classes are drawn."""

    def one(self, words: Iterator[int]) -> int:
        """A class."""
        raise NotImplementedError

    def chance(self, classes: np.ndarray) -> np.ndarray:
        """How probable each of the classes is."""
        raise NotImplementedError

    def seen(self, wanted: np.ndarray) -> None:
        """Told the true classes of each run."""


class UniformCandidateSampler(_Sampler):
    """Each class is as probable."""

    def one(self, words: Iterator[int]) -> int:
        return below(words, self.range, 2)

    def chance(self, classes: np.ndarray) -> np.ndarray:
        return np.full(classes.shape, 1 / self.range)


class LogUniformCandidateSampler(_Sampler):
    """Class k is as probable as log((k + 2) / (k + 1)): of classes in the order of their frequency."""

    def one(self, words: Iterator[int]) -> int:
        return (int(math.exp(double(words) * math.log1p(self.range))) - 1) % self.range

    def chance(self, classes: np.ndarray) -> np.ndarray:
        return np.asarray(np.log((classes + 2.0) / (classes + 1.0)) / math.log1p(self.range))


class AllCandidateSampler(_Sampler):
    """All classes, each once."""

    def range_of(self, construction: KernelConstruction) -> int:
        return construction.get_attr("num_sampled", int)

    def draw(self, words: Iterator[int]) -> tuple[np.ndarray, int]:
        return np.arange(self.count, dtype=np.int64), self.count

    def chance(self, classes: np.ndarray) -> np.ndarray:
        return np.full(classes.shape, 1 / self.count)


class LearnedUnigramCandidateSampler(_Sampler):
    """Classes as often as they were true before, and once more."""

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        checked_shape((self.range,), np.dtype(np.int64))
        self._weights = np.ones(self.range, np.int64)
        self._ends = np.cumsum(self._weights)

    def one(self, words: Iterator[int]) -> int:
        return int(np.searchsorted(self._ends, below(words, int(self._ends[-1])), "right"))

    def chance(self, classes: np.ndarray) -> np.ndarray:
        return np.asarray(self._weights[classes].astype(np.float32) / np.float32(self._ends[-1]))

    def seen(self, wanted: np.ndarray) -> None:
        np.add.at(self._weights, wanted.reshape(-1), 1)
        self._ends = np.cumsum(self._weights)


class FixedUnigramCandidateSampler(_Sampler):
    """Classes by weights that attributes or a file give, drawn by Walker's aliases."""

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        self._file = construction.get_attr("vocab_file", str)
        unigrams = construction.get_attr("unigrams", list[float])
        if bool(self._file) == bool(unigrams):
            raise InvalidArgumentError(f"{construction.op}: must have either vocab_file or unigrams")
        self._weights = np.zeros(0, np.float32)
        if unigrams:
            self._weigh(unigrams)

    def prepare(self, context: KernelContext) -> None:
        if not self._weights.size:
            path = path_of(self.construction.op, "vocab_file", np.array(self._file.encode(), object))
            lines = files_of(context).read(path).splitlines()
            self._weigh([_last_number(line) for line in lines])

    def _weigh(self, unigrams: list[float]) -> None:
        get = self.construction.get_attr
        reserved, shards, shard = (get(name, int) for name in ("num_reserved_ids", "num_shards", "shard"))
        powers = np.array(unigrams, np.float32) ** np.float32(get("distortion", float))
        all_weights = np.concatenate([np.zeros(max(reserved, 0), np.float32), powers])
        self._weights = all_weights[np.arange(len(all_weights)) % max(shards, 1) == shard]
        if len(self._weights) != self.range:
            message = f"there must be a weight for each of {self.range} classes, got {len(self._weights)}"
            raise InvalidArgumentError(f"{self.construction.op}: {message}")
        self._total = np.add.accumulate(self._weights, dtype=np.float32)[-1]
        if not (np.all(self._weights >= 0) and 0 < self._total < np.inf):
            message = f"weights must be 0 or more and their sum positive and finite, got {self._weights[:4]}"
            raise InvalidArgumentError(f"{self.construction.op}: {message}")
        self._shares, self._aliases = _aliases(self._weights)

    def one(self, words: Iterator[int]) -> int:
        share, place = single(words), below(words, len(self._shares))
        return place if share < self._shares[place] else self._aliases[place]

    def chance(self, classes: np.ndarray) -> np.ndarray:
        return np.asarray(self._weights[classes] / self._total)


def _last_number(line: bytes) -> float:
    try:
        return float(line.split(b",")[-1])
    except ValueError:
        raise InvalidArgumentError(
            f"lines must end with a number behind a comma, got {line[:80]!r}"
        ) from None


def _aliases(weights: np.ndarray) -> tuple[list[float], list[int]]:
    """For each place how much of it is its own, and whose the rest is. Source: Knuth, volume 2, 3.4.1."""
    total = sum(weights.astype(np.float64).tolist())
    shares = [float(weight * np.float32(len(weights))) / total for weight in weights]
    aliases = list(range(len(weights)))
    low = [i for i, share in enumerate(shares) if share < 1]
    high = [i for i, share in enumerate(shares) if share >= 1]
    while low and high:
        small, large = low.pop(), high.pop()
        aliases[small] = large
        shares[large] -= 1 - shares[small]
        (low if shares[large] < 1 else high).append(large)
    for place in (*low, *high):
        shares[place] = 1.0
    return [float(np.float32(share)) for share in shares], aliases


REGISTRATIONS = (
    kernel_class("UniformCandidateSampler", UniformCandidateSampler),
    kernel_class("LogUniformCandidateSampler", LogUniformCandidateSampler),
    kernel_class("AllCandidateSampler", AllCandidateSampler),
    kernel_class("LearnedUnigramCandidateSampler", LearnedUnigramCandidateSampler),
    kernel_class("ThreadUnsafeUnigramCandidateSampler", LearnedUnigramCandidateSampler),
    kernel_class("FixedUnigramCandidateSampler", FixedUnigramCandidateSampler),
)
