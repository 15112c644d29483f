"""Extremes of channels and histograms of values, by compiled kernels: one pass over memory."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np

from ...kernels.compiled.driver.library import Library
from ...kernels.observation import COUNTERS, EXTREMES, HISTOGRAM, WRONG, rows_together
from ...lite.kernel_call import KernelCall
from ...lite.tensor import Tensor


@cache
def compiled_kernel(family: str, name: str) -> Callable[[int, int, int], int]:
    """A kernel as a function: the address of its argument block, the chunk, of so many."""
    signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
    return signature(Library().address(family, name))


class Extremes:
    """The lowest and the highest value of each of some channels, which are the last axis of what is seen.

    apart gives the ends of each call by itself, instead of those of all.
    """

    def __init__(self, channels: int, apart: bool = False) -> None:
        self.channels = channels
        together = rows_together(channels)
        self._columns = np.zeros((3, together * channels), np.float32)
        self._columns[0], self._columns[1] = np.inf, -np.inf
        self._block = np.zeros(1, EXTREMES)
        self._block["depth"], self._block["together"], self._block["apart"] = channels, together, apart
        for name, row in zip(("low", "high", "sums"), self._columns, strict=True):
            self._block[name] = row.ctypes.data
        self._calls: list[KernelCall] = []

    @property
    def ranges(self) -> np.ndarray:
        """float32 [2, channels]; infinity and its negative where nothing was seen."""
        wide = self._columns[:2].reshape(2, -1, self.channels)
        # 0 is added so that -0 becomes 0, whichever was seen first.
        return np.stack([wide[0].min(axis=0), wide[1].max(axis=0)]) + np.float32(0)

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest value of the last look."""
        block = self._block[0]
        return float(block["lowest"]), float(block["highest"])

    @property
    def found_wrong(self) -> bool:
        """Whether a look has found a value that is NaN or infinite."""
        return any(block["wrong"][0] for block in (self._block, *(call.args for call in self._calls)))

    def look(self, values: np.ndarray) -> bool:
        """Take in float32 values in one piece; whether all are finite."""
        self._block["x"], self._block["rows"] = values.ctypes.data, values.size // self.channels
        return compiled_kernel("observation", "extremes_f32")(self._block.ctypes.data, 0, 1) != WRONG

    def call(self, tensor: Tensor) -> KernelCall:
        """A call that takes in a tensor's values; it fails where one is NaN or infinite."""
        args = self._block.copy()
        args["rows"] = tensor.size // self.channels
        made = KernelCall(
            *("observation", "extremes_f32", args, {"x": tensor}),
            keep=[self._columns],
            messages={WRONG: f"tensor {tensor.name!r}: values must be finite"},
        )
        self._calls.append(made)
        return made


def add_to_histogram(values: np.ndarray, counts: np.ndarray, first: int, exponent: int) -> None:
    """Count finite float32 values in one piece in counts (int64): bin b of those that begin at first holds
    2^exponent * b <= value < 2^exponent * (b + 1). All must have a bin."""
    block, found = np.zeros(1, HISTOGRAM), np.zeros((COUNTERS, len(counts)), np.int64)
    block[0] = values.ctypes.data, values.size, found.ctypes.data, len(counts), first, 2.0**-exponent
    status = compiled_kernel("observation", "histogram_f32")(block.ctypes.data, 0, 1)
    assert status == 0, "a histogram has a bin for each value"
    counts += found.sum(axis=0)
