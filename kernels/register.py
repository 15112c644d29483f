"""The builtin operators that numlite runs, and the family module that each comes from."""

from __future__ import annotations

import os
from functools import cache, partial
from typing import TYPE_CHECKING, Self

from ..lite.errors import UnsupportedError
from ..lite.families import Families
from ..lite.op_resolver import OpResolver
from ..lite.registration import Registration
from .operators import OPERATORS, promises

if TYPE_CHECKING:
    from ..lite.context import Context
    from ..lite.fusion import Fusion, Uses
    from ..lite.node import Node
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
        "dense_image_warp": ("DenseImageWarp",),
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
        "ragged": ("RaggedTensorToTensor",),
        "tftext": ("tftext:WhitespaceTokenizer", "tftext:Ngrams", "tftext:custom:SgnnProjection"),
    },
)


@cache
def registrations(family: str) -> tuple[Registration, ...]:
    """What a family module registers, with what the table says of its types."""
    from .typed_operator import with_types  # as the modules: what is prepared already needs neither

    return tuple(with_types(entry, OPERATORS[entry.name]) for entry in FAMILIES.registrations(family))


class _Announced(Registration):
    """A builtin operator as the table tells of it: its module is imported when a hook is first asked for."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        fuse = partial(_fused, name) if OPERATORS[name].fuses else None
        super().__init__(name, _no_hook, fuse=fuse, **promises(name))
        del self.prepare, self.invoke

    def __getattr__(self, attribute: str) -> object:
        if attribute not in ("prepare", "invoke"):
            raise AttributeError(attribute)
        known = _registered(self.name)
        self.prepare, self.invoke = known.prepare, known.invoke
        return getattr(known, attribute)


def _no_hook(context: Context, node: Node) -> None:
    raise AssertionError


def _fused(name: str, node: Node, uses: Uses) -> Fusion | None:
    """What the operator's module says; it is asked behind operators that it may know how to fuse."""
    before, fuses = (uses.writer(t) for t in node.inputs), OPERATORS[name].fuses.split()
    if not any(node is not None and node.registration.name in fuses for node in before):
        return None
    fuse = _registered(name).fuse
    assert fuse is not None
    return fuse(node, uses)


def _registered(name: str) -> Registration:
    return next(entry for entry in registrations(OPERATORS[name].family) if entry.name == name)


_announced = cache(_Announced)


class BuiltinOpResolver(OpResolver):
    """Knows all builtin operators, and the custom ones that TFLite ships or that common models carry.

    add_builtin and add_custom add operators of one's own, which win over these. UnsupportedError, when an
    interpreter is made, for a builtin operator or a version that is not known.
    Families are imported when one of their operators is first prepared.
    """

    def __init__(self) -> None:
        super().__init__()
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
        if name in OPERATORS:
            known = self._builtins.setdefault(code, [])
            if _announced(name) not in known:
                known.append(_announced(name))  # behind what a user has added, which wins
        return super().find_builtin(code, version, name)

    def find_custom(self, name: str) -> Registration | None:
        if self.selection is not None and name not in self.selection.custom | self._own:
            return None
        if name not in self._custom:
            for family in CUSTOM_FAMILIES.modules_of(name):
                for registration in CUSTOM_FAMILIES.registrations(family):
                    self._custom.setdefault(registration.name, registration)
        return super().find_custom(name)
