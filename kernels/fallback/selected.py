"""SelectedKernels: a registry that offers only some of the fallback kernels."""

from __future__ import annotations

from collections.abc import Collection

from ...lite.errors import UnsupportedError
from .kernel import KernelConstruction
from .op_metadata import OpMetadata
from .register import fallback_kernels
from .registry import KernelRegistration, KernelRegistry


class SelectedKernels(KernelRegistry):
    """The common registry's kernels of the selected ops, behind what is registered here."""

    def __init__(self, ops: Collection[str]) -> None:
        super().__init__()
        self._selected = frozenset(ops)
        self._common = fallback_kernels()

    def registrations(self, op: str) -> list[KernelRegistration]:
        common = self._common.registrations(op) if op in self._selected else []
        return [*super().registrations(op), *common]

    def ops(self) -> list[str]:
        return sorted({*self._selected.intersection(self._common.ops()), *super().ops()})

    def metadata(self, op: str) -> OpMetadata:
        return self._ops.get(op) or self._common.metadata(op)

    def find(self, construction: KernelConstruction) -> KernelRegistration:
        if construction.op not in self._selected and not self.registrations(construction.op):
            raise UnsupportedError(
                f"{construction.op}: it is not in the selection; numlite select-ops with this model makes "
                "one that has it"
            )
        return super().find(construction)
