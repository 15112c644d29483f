"""KernelSources: the visible list of the kernels that a module writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., int])


class KernelSource(NamedTuple):
    """A kernel as written: a function of (block record, chunk, chunks) that returns a status."""

    function: Callable[..., int]
    block: np.dtype


class KernelSources(dict[str, KernelSource]):
    """Kernels by name: what a module calls `kernels`. The table in families.py cuts them into families."""

    def add(self, block: np.dtype, name: str = "") -> Callable[[F], F]:
        """Register the decorated function under its own name (or `name`); leave it unchanged.

        The function takes (a, chunk, chunks): a is the argument block as a record of dtype
        `block`, read by field; chunk counts 0 to chunks - 1. It returns 0, or a status that the
        call's messages explain. It must not raise, allocate or touch a Python object.
        """

        def register(function: F) -> F:
            key = name or function.__name__
            if key in self:
                raise ValueError(f"kernel {key} is registered twice")
            self[key] = KernelSource(function, block)
            return function

        return register
