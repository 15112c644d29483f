"""Variants that hold tensors, or none: optionals and compressed elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .attributes import DataType
from .dtypes import numpy_dtype
from .registry import kernel
from .status import InvalidArgumentError
from .variable import held


@dataclass(frozen=True)
class Optional:
    """Components, or None."""

    components: tuple[np.ndarray, ...] | None


@dataclass(frozen=True)
class CompressedElement:
    """Components; nothing is gained by packing what stays in memory."""

    components: tuple[np.ndarray, ...]


def _checked(op: str, components: Sequence[np.ndarray], types: Sequence[int]) -> list[np.ndarray]:
    found = [component.dtype for component in components]
    wanted = [numpy_dtype(type) for type in types]
    if found != wanted:
        raise InvalidArgumentError(f"{op}: components must be {wanted}, got {found}")
    return list(components)


def from_value(components: list[np.ndarray]) -> Optional:
    """An optional with a value."""
    return Optional(tuple(components))


def none() -> Optional:
    """An optional without one."""
    return Optional(None)


def has_value(optional: np.ndarray) -> np.ndarray:
    """Whether the optional has a value."""
    return np.array(held(optional, Optional).components is not None)


def get_value(optional: np.ndarray, *, output_types: list[DataType]) -> list[np.ndarray]:
    """The components of the optional's value."""
    components = held(optional, Optional).components
    if components is None:
        raise InvalidArgumentError("OptionalGetValue: the optional must have a value, it has none")
    return _checked("OptionalGetValue", components, output_types)


def compress(components: list[np.ndarray]) -> CompressedElement:
    """A variant that holds the components."""
    return CompressedElement(tuple(components))


def uncompress(compressed: np.ndarray, *, output_types: list[DataType]) -> list[np.ndarray]:
    """The components."""
    return _checked("UncompressElement", held(compressed, CompressedElement).components, output_types)


REGISTRATIONS = (
    kernel("OptionalFromValue", from_value),
    kernel("OptionalNone", none),
    kernel("OptionalHasValue", has_value),
    kernel("OptionalGetValue", get_value),
    kernel("CompressElement", compress),
    kernel("UncompressElement", uncompress),
)
