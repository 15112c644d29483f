"""The builtin operators that numlite runs, and the family module that each comes from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Self

from ..lite.errors import UnsupportedError
from ..lite.families import Families
from ..lite.op_resolver import OpResolver
from ..lite.registration import Registration
from .operators import OPERATORS
from .typed_operator import with_types

if TYPE_CHECKING:
    from .fallback.registry import KernelRegistry
    from .selection import Selection


def _builtin_families() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, facts in OPERATORS.items():
        found.setdefault(facts.family, []).append(name)
    return found


FAMILIES: Families[tuple[Registration, ...]] = Families(__package__, _builtin_families())
# Custom operators that TFLite ships, or that common models carry.
CUSTOM_FAMILIES: Families[tuple[Registration, ...]] = Families(
    __package__,
    {
        "audio": ("AudioSpectrogram", "Mfcc"),
        "detection_postprocess": ("TFLite_Detection_PostProcess",),
        "hadamard_rotation": ("aeq.hadamard_rotation",),
        "numeric_verify": ("NumericVerify",),
        "pool_argmax": ("MaxPoolingWithArgmax2D", "MaxPoolWithArgmax", "MaxUnpooling2D"),
        "tensor_list": (
            "TensorListReserve",
            "TensorListFromTensor",
            "TensorListSetItem",
            "TensorListPushBack",
            "TensorListResize",
            "VariantZerosLike",
            "VariantAddN",
            "TensorListGetItem",
            "TensorListPopBack",
            "TensorListStack",
            "TensorListLength",
            "TensorListElementShape",
        ),
        "contraction.transpose_conv_bias": ("Convolution2DTransposeBias",),
    },
)


def registrations(family: str) -> tuple[Registration, ...]:
    """What a family module registers, with what the table says of its types."""
    return tuple(with_types(entry, OPERATORS[entry.name]) for entry in FAMILIES.registrations(family))


class BuiltinOpResolver(OpResolver):
    """Knows every operator of the table; families are imported when they are first asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._imported: set[str] = set()
        self.selection: Selection | None = None  # the only operators to offer, besides a user's own
        self._own: set[int | str] = set()

    @classmethod
    def from_selection(cls, path: str | os.PathLike[str]) -> BuiltinOpResolver:
        """Offers only what a file of `numlite select-ops` lists; ModelError when it is none."""
        from .selection import read_selection

        resolver = cls()
        resolver.selection = read_selection(path)
        return resolver

    def fallback_kernels(self) -> KernelRegistry | None:
        """The TensorFlow kernels to offer, None for all."""
        if self.selection is None:
            return None
        from .fallback.selected import SelectedKernels

        return SelectedKernels(self.selection.fallback)

    def add_builtin(self, registration: Registration) -> None:
        self._own.add(registration.builtin_code)
        super().add_builtin(registration)

    def add_custom(self, name: str, operator: object) -> None:
        super().add_custom(name, operator)
        self._own.add(name)

    def copy(self) -> Self:
        made = super().copy()
        made._imported = set(self._imported)
        made._own = set(self._own)
        return made

    def find_builtin(self, code: int, version: int, name: str) -> Registration:
        if self.selection is not None and code not in self._own:
            least, greatest = self.selection.builtin.get(name, (0, -1))
            if not least <= version <= greatest:
                raise UnsupportedError(
                    f"Didn't find op for builtin opcode {name!r} version '{version}' in the selection; "
                    "numlite select-ops with this model makes one that has it"
                )
        for family in FAMILIES.modules_of(name):
            if family not in self._imported:
                self._imported.add(family)
                for registration in registrations(family):
                    # Behind what a user has added, which wins.
                    self._builtins.setdefault(registration.builtin_code, []).append(registration)
        return super().find_builtin(code, version, name)

    def find_custom(self, name: str) -> Registration | None:
        if self.selection is not None and name not in self.selection.custom | self._own:
            return None
        if name not in self._custom:
            for family in CUSTOM_FAMILIES.modules_of(name):
                for registration in CUSTOM_FAMILIES.registrations(family):
                    self._custom.setdefault(registration.name, registration)
        return super().find_custom(name)
