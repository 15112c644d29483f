"""Case: a small model, inputs for it, and what must come out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Arrays = Sequence[np.ndarray]


@dataclass(frozen=True)
class Exact:
    """Equal bit for bit, NaNs at the same places."""

    def check(self, actual: np.ndarray, expected: np.ndarray) -> None:
        np.testing.assert_array_equal(actual, expected)


@dataclass(frozen=True)
class Quanta:
    """Integers at most n apart."""

    n: int

    def check(self, actual: np.ndarray, expected: np.ndarray) -> None:
        apart = np.abs(actual.astype(np.int64) - expected.astype(np.int64))
        largest = apart.max(initial=0)
        assert largest <= self.n, f"{np.count_nonzero(apart > self.n)} elements differ by up to {largest}"


@dataclass(frozen=True)
class Close:
    """abs(actual - expected) <= atol + rtol * abs(expected)."""

    rtol: float = 1e-6
    atol: float = 1e-6

    def check(self, actual: np.ndarray, expected: np.ndarray) -> None:
        np.testing.assert_allclose(actual, expected, rtol=self.rtol, atol=self.atol)


@dataclass(frozen=True)
class Refuses:
    """LiteRT raises with a message that the regular expression matches in; numlite, where it says so.

    sometimes: it hangs on what was in LiteRT's memory before; where it runs, outputs are equal.
    """

    match: str
    numlite_too: bool = False
    sometimes: bool = False


@dataclass(frozen=True)
class Differs:
    """LiteRT or the oracle gives something else, and why; no number is over `most` off, where known."""

    reason: str
    most: float | None = None

    def check(self, actual: Arrays, expected: Arrays, usual: Closeness, of_floats: Closeness) -> None:
        """Fails when the outputs begin to agree, or are further apart than is known."""
        try:
            check_outputs(actual, expected, usual, of_floats)
        except AssertionError:
            apart = 0.0 if self.most is None else largest_difference(actual, expected)
            assert self.most is None or apart <= self.most, f"{self.reason}: now by {apart}"
            return
        raise AssertionError(f"these agree now, though {self.reason}")


@dataclass(frozen=True)
class Dies:
    """LiteRT takes the process with it, and when."""

    reason: str


# numlite's name of each numerics, with LiteRT's of the resolver.
RESOLVERS = {"default": "AUTO", "reference": "BUILTIN_REF"}
NUMERICS = tuple(RESOLVERS)
EXACT = Exact()
# Of operators whose inputs are quantized to 8 bits on the way, which an oracle does not do.
QUANTIZED = Close(rtol=0, atol=0.06)
Closeness = Exact | Quanta | Close
# How numlite stands to LiteRT.
Relation = Closeness | Refuses | Differs | Dies
# Of operators that LiteRT, or one of its resolvers, does not have.
NO_KERNEL = Refuses("Didn't find op|unresolved custom op")
# Of empty tensors; what LiteRT says depends on what it allocated before.
NO_EMPTY = Refuses("XNNPack delegate failed to reshape|BytesRequired|array is too big", sometimes=True)


@dataclass(frozen=True)
class Case:
    """One model with inputs, run by every processor.

    make gives the model; inputs are in the order of the model's inputs (their shapes may differ from
    the model's: the inputs are then resized). oracle takes the inputs and gives the outputs, written
    from the operator's definition in NumPy; None where only LiteRT can tell.

    closeness holds between numlite and the oracle, in all `numerics`: Differs where LiteRT, and so
    numlite, departs from the definition. litert_default and litert_reference hold between numlite and
    LiteRT's default and reference kernels; None stands for EXACT where outputs are integers and for
    closeness where they are floats.
    """

    id: str
    make: Callable[[], bytes]
    inputs: Arrays
    oracle: Callable[..., np.ndarray | Arrays] | None = None
    closeness: Closeness | Differs = EXACT
    litert_default: Relation | None = None
    litert_reference: Relation | None = None
    num_threads: int = 1
    numerics: tuple[str, ...] = NUMERICS

    def relation(self, numerics: str) -> Relation | None:
        """How numlite's outputs stand to LiteRT's in these numerics."""
        return self.litert_default if numerics == "default" else self.litert_reference

    def runs(self, numerics: str) -> bool:
        """Whether it is a case of these numerics that numlite does not refuse."""
        relation = self.relation(numerics)
        refused = isinstance(relation, Refuses) and relation.numlite_too
        return numerics in self.numerics and not refused

    def expected(self) -> list[np.ndarray]:
        """The oracle's outputs; AssertionError when there is no oracle."""
        assert self.oracle is not None, f"{self.id} has no oracle"
        outputs = self.oracle(*self.inputs)
        return [np.asarray(x) for x in (outputs if isinstance(outputs, list | tuple) else [outputs])]


def check_outputs(
    actual: Arrays, expected: Arrays, closeness: Closeness | None, of_floats: Closeness
) -> None:
    """Hold all outputs against the expected ones: shapes, types, values."""
    assert len(actual) == len(expected), f"{len(actual)} outputs, expected {len(expected)}"
    for a, e in zip(actual, expected, strict=True):
        assert (a.shape, a.dtype) == (e.shape, e.dtype)
        if closeness is not None:
            closeness.check(a, e)
        elif a.dtype.kind in "fc":
            of_floats.check(a, e)
        else:
            EXACT.check(a, e)


def largest_difference(actual: Arrays, expected: Arrays) -> float:
    """Between any two elements; infinite where shapes or types differ."""
    if [(x.shape, x.dtype) for x in actual] != [(x.shape, x.dtype) for x in expected]:
        return float("inf")
    with np.errstate(invalid="ignore"):
        apart = [
            np.abs(a.astype(np.float64) - b.astype(np.float64)) for a, b in zip(actual, expected, strict=True)
        ]
    return max((float(np.nanmax(each, initial=0.0)) for each in apart), default=0.0)
