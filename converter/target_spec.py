"""What a converted model may use: the sets of operators, as TensorFlow's converter names them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum


class OpsSet(Enum):
    """A set of operators; names and values are TensorFlow's."""

    TFLITE_BUILTINS = "TFLITE_BUILTINS"
    # TensorFlow's own ops, run by the flex delegate.
    SELECT_TF_OPS = "SELECT_TF_OPS"

    def __str__(self) -> str:
        return self.value

    @staticmethod
    def get_options() -> list[str]:
        """The names of all sets."""
        return [str(option) for option in OpsSet]


@dataclass
class TargetSpec:
    """The operators that a model may have, and user ops that run as flex operators.

    With SELECT_TF_OPS alone every op becomes a flex operator, but for control flow and constants.
    """

    supported_ops: Iterable[OpsSet] = (OpsSet.TFLITE_BUILTINS,)
    experimental_select_user_tf_ops: Iterable[str] = field(default_factory=tuple)


@dataclass(frozen=True)
class Settings:
    """A target spec that was checked, and whether unknown ops may become custom operators."""

    builtins: bool = True
    select: bool = False
    user_ops: frozenset[str] = frozenset()
    custom_ops: bool = False

    @classmethod
    def of(cls, spec: TargetSpec, allow_custom_ops: bool) -> Settings:
        """The settings; ValueError when a set is unknown or there is none."""
        sets = set(spec.supported_ops)
        unknown = sorted(str(each) for each in sets if not isinstance(each, OpsSet))
        if unknown or not sets:
            raise ValueError(
                f"supported_ops: must be of {', '.join(OpsSet.get_options())}, got {unknown or 'none'}"
            )
        return cls(
            OpsSet.TFLITE_BUILTINS in sets,
            OpsSet.SELECT_TF_OPS in sets,
            frozenset(spec.experimental_select_user_tf_ops),
            allow_custom_ops,
        )
