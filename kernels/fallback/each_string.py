"""Functions of strings applied to every element of string tensors (object arrays of bytes)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .status import InvalidArgumentError


def each_string(function: Callable[..., object], *inputs: np.ndarray) -> list[object]:
    """The function of every element of the tensors, broadcast against each other, in order."""
    spread = np.broadcast_arrays(*inputs)
    return [function(*row) for row in zip(*(x.reshape(-1).tolist() for x in spread), strict=True)]


def mapped_strings(function: Callable[..., bytes], *inputs: np.ndarray) -> np.ndarray:
    """The strings that the function makes of every element, as a tensor of the broadcast shape."""
    made = np.empty(np.broadcast_shapes(*(x.shape for x in inputs)), object)
    made.reshape(-1)[:] = each_string(function, *inputs)
    return made


def scalar_string(value: np.ndarray, what: str) -> bytes:
    """The one string of a scalar."""
    if value.ndim:
        raise InvalidArgumentError(f"{what} must be a scalar, got {list(value.shape)}")
    (text,) = value.reshape(-1).tolist()
    assert isinstance(text, bytes)
    return text
