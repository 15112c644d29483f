"""A graph with arrays for some runs of it, and what of two results counts as a difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tests.shared_arrays import difference

# By the type that is compared: what the order of sums and other libraries' functions may change.
TOLERANCES: Mapping[str, tuple[float, float]] = {
    "float16": (1e-2, 2e-3),
    "bfloat16": (5e-2, 2e-2),
    "float32": (1e-3, 1e-5),
    "float64": (1e-6, 1e-8),
    "complex64": (1e-3, 1e-5),
    "complex128": (1e-6, 1e-8),
}
_NARROW = ("float16", "bfloat16")


@dataclass(frozen=True)
class Trial:
    """A GraphDef, its inputs with their shapes (None for a size that is open), and its outputs.

    producer is what the GraphDef says of its maker's version; told names what was drawn.
    """

    graph: bytes
    inputs: tuple[str, ...]
    shapes: tuple[tuple[int | None, ...], ...]
    outputs: tuple[str, ...]
    runs: tuple[tuple[np.ndarray, ...], ...]
    told: str

    def feeds(self, run: int) -> dict[str, np.ndarray]:
        return dict(zip(self.inputs, self.runs[run], strict=True))


def differences(trial: Trial, found: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> str:
    """What is not as it should be, "" when all is."""
    if len(found) != len(wanted):
        return f"{len(found)} outputs, not {len(wanted)}"
    narrow = any(x.dtype.name in _NARROW for x in trial.runs[0])
    texts = [
        f"{name}: {text}"
        for name, y, expected in zip(trial.outputs, found, wanted, strict=True)
        if (text := difference(_plain(y, expected), _plain(expected), _tolerance(_plain(expected), narrow)))
    ]
    return "; ".join(texts)


def _plain(y: np.ndarray, like: np.ndarray | None = None) -> np.ndarray:
    """Strings as objects, and bits as the type of ml_dtypes that the other has."""
    y = np.asarray(y)
    if y.dtype.kind in "SU":
        return y.astype(object)
    is_bits = like is not None and like.dtype.kind == "V" and y.dtype == np.dtype(f"u{like.itemsize}")
    return y.view(like.dtype) if is_bits and like is not None else y


def _tolerance(expected: np.ndarray, narrow: bool) -> dict[str, float]:
    """Relative to each element, and to the largest: sums lose what is far below their terms."""
    name = expected.dtype.name
    relative, absolute = TOLERANCES.get(name, (0.0, 0.0))
    if name not in TOLERANCES:
        return {"rtol": 0.0, "atol": 0.0}
    if narrow:
        relative, absolute = max(relative, 1e-2), max(absolute, 2e-3)
    sizes = np.abs(expected.astype(np.complex128 if expected.dtype.kind == "c" else np.float64))
    largest = float(np.max(sizes[np.isfinite(sizes)], initial=0.0))
    return {"rtol": relative, "atol": absolute + 1e-2 * relative * min(largest, 1e30)}
