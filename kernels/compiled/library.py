"""Library: compiled kernels by family and name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .family import KernelFamily


class Library:
    """Compiles kernels in memory, when they are first asked for."""

    def __init__(self) -> None:
        self._functions: dict[tuple[str, str], object] = {}
        self._addresses: dict[tuple[str, str], int] = {}

    def load(self, wanted: Mapping[str, set[str]]) -> None:
        for family, names in wanted.items():
            for name in names:
                self.address(family, name)

    def address(self, family: str, kernel: str) -> int:
        key = (family, kernel)
        if key not in self._addresses:
            from .compile import compile_kernel

            kernels: KernelFamily = import_module(f".{family}", __package__).kernels
            function = compile_kernel(kernels.sources[kernel])
            self._functions[key] = function
            self._addresses[key] = function.address
        return self._addresses[key]
