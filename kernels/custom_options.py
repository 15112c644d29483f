"""Options of custom operators: flexbuffer maps, and TFLite's parameter structures as raw bytes."""

from __future__ import annotations

from struct import error as StructError
from typing import Any

import numpy as np

from ..lite.errors import PrepareError
from ..lite.node import Node

# What reading a damaged flexbuffer may raise.
_DAMAGED = (
    AssertionError,
    KeyError,
    IndexError,
    OverflowError,
    RecursionError,
    StructError,
    TypeError,
    ValueError,
)
_LONGEST_VECTOR = 16


class FlexOptions:
    """A flexbuffer map of scalars, texts and short vectors of either, read key by key.

    A key that is missing or null gives the default. Raises PrepareError, naming the operator,
    when the bytes are no such map.
    """

    def __init__(self, node: Node) -> None:
        # Imported here because start-up time counts.
        from flatbuffers import flexbuffers

        self._name = node.registration.name
        try:
            self._map: Any = flexbuffers.GetRoot(bytes(node.custom_options)).AsMap
        except _DAMAGED as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> PrepareError:
        return PrepareError(f"{self._name}: custom options must be a flexbuffer map, got {error!r}")

    def _read(self, key: str, longest: int = _LONGEST_VECTOR) -> Any:
        """A number, bool or text, a list of up to so many integers (or all texts), or None."""
        try:
            reference = self._map[key]
            if reference.IsNull:
                return None
            if reference.IsBool or reference.IsNumeric or reference.IsString or reference.IsKey:
                return reference.Value
            if reference.IsTypedVector or reference.IsVector:
                vector = reference.AsTypedVector if reference.IsTypedVector else reference.AsVector
                if len(vector) > longest:
                    raise ValueError(f"a vector of {len(vector)} elements")
                are_texts = len(vector) > 0 and all(item.IsString for item in vector)
                return [item.AsString if are_texts else item.AsInt for item in vector]
        except KeyError:
            return None
        except _DAMAGED as error:
            raise self._damaged(error) from error
        raise PrepareError(f"{self._name}: option {key} must be a scalar, a text or a vector of these")

    def number(self, key: str, default: float = 0.0) -> float:
        value = self._read(key)
        if value is not None and not isinstance(value, bool | int | float):
            raise PrepareError(f"{self._name}: option {key} must be a number, got {value!r}")
        return default if value is None else float(value)

    def integer(self, key: str, default: int = 0) -> int:
        value = self.number(key, default)
        if not abs(value) < 2**31:
            raise PrepareError(f"{self._name}: option {key} must fit 32 bits, got {value}")
        return int(value)

    def flag(self, key: str, default: bool = False) -> bool:
        return bool(self.number(key, default))

    def text(self, key: str) -> str:
        value = self._read(key)
        if not isinstance(value, str):
            raise PrepareError(f"{self._name}: option {key} must be a text, got {value!r}")
        return value

    def integers(self, key: str, longest: int = _LONGEST_VECTOR) -> list[int]:
        value = self._read(key, longest)
        if not isinstance(value, list) or not all(isinstance(each, int) for each in value):
            raise PrepareError(f"{self._name}: option {key} must be a vector of integers, got {value!r}")
        return value

    def texts(self, key: str) -> list[str]:
        value = self._read(key)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise PrepareError(f"{self._name}: option {key} must be a vector of texts, got {value!r}")
        return value


def raw_integers(node: Node, count: int) -> list[int]:
    """The first int32 fields of a structure that a custom operator's options are, as C lays it out."""
    if len(node.custom_options) < 4 * count:
        raise PrepareError(
            f"{node.registration.name}: custom options must be a structure of {4 * count} bytes or more, "
            f"got {len(node.custom_options)}"
        )
    return [int(value) for value in np.frombuffer(bytes(node.custom_options[: 4 * count]), "<i4")]


# TfLitePadding, which parameter structures hold, to the schema's Padding.
STRUCTURE_PADDING = {1: 0, 2: 1}
