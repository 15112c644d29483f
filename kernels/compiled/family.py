"""KernelFamily: the visible list of one family's compiled kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., int])


class KernelSource(NamedTuple):
    """A kernel as written: a function of (block record, chunk, chunks) that returns a status."""

    function: Callable[..., int]
    block: np.dtype


class KernelFamily:
    """Kernels by name. Each `kernels/compiled/<family>.py` ends up with one, named `kernels`."""

    def __init__(self) -> None:
        self.sources: dict[str, KernelSource] = {}

    def add(self, block: np.dtype, name: str = "") -> Callable[[F], F]:
        """Register the decorated function under its own name (or `name`); leave it unchanged.

        The function takes (a, chunk, chunks): a is the argument block as a record of dtype
        `block`, read by field; chunk counts 0 to chunks - 1. It returns 0, or a status that the
        call's messages explain. It must not raise, allocate or touch a Python object.
        """

        def register(function: F) -> F:
            key = name or function.__name__
            if key in self.sources:
                raise ValueError(f"kernel {key} is registered twice")
            self.sources[key] = KernelSource(function, block)
            return function

        return register
