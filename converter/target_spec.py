"""What a converted model may use: the sets of operators, as TensorFlow's converter names them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ..lite.errors import UnsupportedError
from .known_settings import KnownSettings


class OpsSet(Enum):
    """A set of operators; names and values are TensorFlow's."""

    TFLITE_BUILTINS = "TFLITE_BUILTINS"
    # TensorFlow's own ops, run by the flex delegate.
    SELECT_TF_OPS = "SELECT_TF_OPS"
    # Integers throughout; with TFLITE_BUILTINS beside them, wherever there are kernels.
    TFLITE_BUILTINS_INT8 = "TFLITE_BUILTINS_INT8"
    EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8 = (
        "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8"
    )
    # Not built: converting for it is an UnsupportedError.
    EXPERIMENTAL_STABLEHLO_OPS = "EXPERIMENTAL_STABLEHLO_OPS"

    def __str__(self) -> str:
        return self.value

    @staticmethod
    def get_options() -> list[str]:
        """The names of all sets that a model can be converted for."""
        return [str(option) for option in _BUILT]


_INTEGER = (
    OpsSet.TFLITE_BUILTINS_INT8,
    OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8,
)
_BUILT = (OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS, *_INTEGER)


@dataclass
class TargetSpec(KnownSettings):
    """The operators and types that a model may have, and user ops that run as flex operators.

    With SELECT_TF_OPS alone every op becomes a flex operator, but for control flow and constants.
    supported_types are float16 or int8, NumPy's or TensorFlow's, for models that are quantized.
    """

    supported_ops: Iterable[OpsSet] = (OpsSet.TFLITE_BUILTINS,)
    experimental_select_user_tf_ops: Iterable[str] = field(default_factory=tuple)
    supported_types: Iterable[Any] = ()


@dataclass(frozen=True)
class Settings:
    """A target spec that was checked, and whether unknown ops may become custom operators.

    keeps_fake_quant: each fake quantization becomes one operator with the range, from which scales are taken.
    """

    builtins: bool = True
    select: bool = False
    user_ops: frozenset[str] = frozenset()
    custom_ops: bool = False
    keeps_fake_quant: bool = False

    @classmethod
    def of(cls, spec: TargetSpec, allow_custom_ops: bool) -> Settings:
        """The settings. The sets may also be TensorFlow's.

        ValueError when a set is unknown or there is none, UnsupportedError for one that is not built.
        """
        if not isinstance(spec, TargetSpec):
            raise ValueError(f"target_spec: must be a numlite.converter.TargetSpec, got {spec!r}")
        if isinstance(spec.supported_ops, str) or not isinstance(spec.supported_ops, Iterable):
            raise ValueError(f"supported_ops: must be a list of sets, got {spec.supported_ops!r}")
        given = list(spec.supported_ops)
        names = {str(each.value) for each in given if isinstance(each, Enum)}
        unknown = sorted({str(each) for each in given if not isinstance(each, Enum)})
        unknown += sorted(names.difference(OpsSet.__members__))
        if unknown or not given:
            raise ValueError(
                f"supported_ops: must be of {', '.join(OpsSet.get_options())}, got {unknown or 'none'}"
            )
        sets = {OpsSet[name] for name in names}
        if missing := sorted(map(str, sets.difference(_BUILT))):
            raise UnsupportedError(f"supported_ops: {', '.join(missing)} is not built; leave it out")
        return cls(
            not sets.isdisjoint((OpsSet.TFLITE_BUILTINS, *_INTEGER)),
            OpsSet.SELECT_TF_OPS in sets,
            frozenset(spec.experimental_select_user_tf_ops),
            allow_custom_ops,
        )
