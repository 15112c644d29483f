"""What functions say they implement."""

from __future__ import annotations

from collections.abc import Iterable

from .ir.attributes import Attribute, FuncAttr
from .ir.module import Function
from .ir.types import ElementType, TensorType

# TensorFlow's names for it: of any function, and of Keras layers.
_KEYS = ("tf._implements", "_implements", "tf.api_implements", "api_implements")
# Functions of these names, and of names that begin so, may become operators; custom ones say so themselves.
_NAMES = frozenset(("embedding_matmul", "non_max_suppression_padded_v2"))
_KERAS_LSTM = "lstm_"
_FUSABLE = "tfl_fusable_op"


def declared(function: Function) -> Attribute | None:
    """The attribute that says what the function implements: a name, or a name with attributes."""
    return next((function.attributes[key] for key in _KEYS if key in function.attributes), None)


def composite_name(function: Function) -> str:
    """The name under which calls of the function may become operators of their own; "" for none.

    All of Keras's LSTM functions are "lstm": theirs end in numbers of their own.
    """
    held = declared(function)
    if isinstance(held, FuncAttr):
        return held.name if held.attributes.get(_FUSABLE) is True else ""
    name = held.decode(errors="replace") if isinstance(held, bytes) else ""
    if name.startswith(_KERAS_LSTM):
        return "lstm"
    return name if name in _NAMES else ""


def composites(functions: Iterable[Function]) -> set[str]:
    """Names of the functions whose calls shall stay calls until they are lowered."""
    return {f.name for f in functions if not f.generic and composite_name(f) and not _takes_handles(f)}


def _takes_handles(function: Function) -> bool:
    types = (value.type for value in function.arguments)
    return any(not isinstance(t, TensorType) or t.element == ElementType("resource") for t in types)
