"""What functions say they implement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .ir.attributes import Attribute, FuncAttr
from .ir.module import Function
from .ir.types import ElementType, TensorType

# TensorFlow's names for it: of any function, and of Keras layers.
_KEYS = ("tf._implements", "_implements", "tf.api_implements", "api_implements")
# Functions of these names, and of names that begin so, may become operators; others say so themselves.
_NAMES = frozenset(
    (
        *(
            "addons:DenseImageWarp",
            "addons:MaxUnpooling2D",
            "embedding_matmul",
            "non_max_suppression_padded_v2",
        ),
        *("TFLite_Detection_PostProcess", "tftext:Ngrams", "tftext:WhitespaceTokenizer"),
        "tftext:custom:SgnnProjection",
    )
)
_KERAS_LSTM = "lstm_"
FUSABLE = "tfl_fusable_op"
# Attributes of what a StableHLO program calls a composite: its version, and those that the program gives.
COMPOSITE_VERSION, _GIVEN = "_composite_version", "_composite."


def declared(function: Function) -> Attribute | None:
    """The attribute that says what the function implements: a name, or a name with attributes."""
    return next((function.attributes[key] for key in _KEYS if key in function.attributes), None)


def composite_name(function: Function) -> str:
    """The name under which calls of the function may become operators of their own; "" for none.

    All of Keras's LSTM functions are "lstm": theirs end in numbers of their own.
    """
    held = declared(function)
    if isinstance(held, FuncAttr):
        is_named = held.attributes.get(FUSABLE) is True or COMPOSITE_VERSION in held.attributes
        is_named |= held.name in _NAMES
        return held.name if is_named else ""
    name = held.decode(errors="replace") if isinstance(held, bytes) else ""
    if name.startswith(_KERAS_LSTM):
        return "lstm"
    return name if name in _NAMES else ""


def composite_attribute(name: str, version: int, given: Mapping[str, bool | int | float | str]) -> FuncAttr:
    """What the function of a StableHLO composite says that it implements."""
    held: dict[str, Attribute] = {COMPOSITE_VERSION: version}
    for key, value in given.items():
        held[f"{_GIVEN}{key}"] = value.encode() if isinstance(value, str) else value
    return FuncAttr(name, held)


def given_attributes(held: FuncAttr) -> dict[str, Attribute]:
    """The attributes that the program gives a composite."""
    return {key.removeprefix(_GIVEN): each for key, each in held.attributes.items() if key.startswith(_GIVEN)}


def composites(functions: Iterable[Function]) -> set[str]:
    """Names of the functions whose calls shall stay calls until they are lowered."""
    return {f.name for f in functions if not f.generic and composite_name(f) and not _takes_handles(f)}


def _takes_handles(function: Function) -> bool:
    types = (value.type for value in function.arguments)
    return any(not isinstance(t, TensorType) or t.element == ElementType("resource") for t in types)
