"""Case: a small model, inputs for it, and what must come out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

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
class Skip:
    """The comparison is not made, and why (for example: the other has no such kernel)."""

    reason: str


EXACT = Exact()
Closeness = Exact | Quanta | Close


@dataclass(frozen=True)
class Case:
    """One model with inputs, run by every processor.

    make gives the model; inputs are in the order of the model's inputs (their shapes may differ from
    the model's: the inputs are then resized). oracle takes the inputs and gives the outputs, written
    from the operator's definition in NumPy; None where only LiteRT can tell.

    closeness holds between numlite and the oracle, in both numerics. litert_default and
    litert_reference hold between numlite and LiteRT's default and reference kernels; None stands for
    EXACT where outputs are integers and for closeness where they are floats.
    """

    id: str
    make: Callable[[], bytes]
    inputs: Arrays
    oracle: Callable[..., np.ndarray | Arrays] | None = None
    closeness: Closeness | Skip = EXACT
    litert_default: Closeness | Skip | None = None
    litert_reference: Closeness | Skip | None = None
    num_threads: int = 1
    tags: frozenset[str] = field(default_factory=frozenset)

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
