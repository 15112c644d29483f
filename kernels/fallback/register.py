"""The TensorFlow ops that run without TensorFlow, and the family module that each comes from."""

from __future__ import annotations

from functools import lru_cache
from threading import RLock

from ...lite.families import Families
from .ops_of_data import DATA
from .ops_of_numbers import NUMBERS
from .ops_with_state import STATE
from .registry import KernelRegistration, KernelRegistry

# By family module; several may have kernels for one op, each for other types.
_OPS = NUMBERS | DATA | STATE

FAMILIES: Families[tuple[KernelRegistration, ...]] = Families(__package__, _OPS)


class FallbackKernels(KernelRegistry):
    """Knows every op of the table, behind what a user has registered. Safe from several threads."""

    def __init__(self) -> None:
        super().__init__()
        self._imported: set[str] = set()
        self._lock = RLock()

    def registrations(self, op: str) -> list[KernelRegistration]:
        # Looked at before the lock is taken: nearly always all is there.
        if not self._imported.issuperset(FAMILIES.modules_of(op)):
            with self._lock:
                self._import(op)
        return super().registrations(op)

    def _import(self, op: str) -> None:
        for family in FAMILIES.modules_of(op):
            if family not in self._imported:
                for registration in FAMILIES.registrations(family):
                    self._kernels.setdefault(registration.op, []).append(registration)
                self._imported.add(family)

    def ops(self) -> list[str]:
        return sorted({*FAMILIES.names(), *self._kernels})


@lru_cache(1)
def fallback_kernels() -> FallbackKernels:
    """The registry that everything uses unless another is given."""
    return FallbackKernels()
