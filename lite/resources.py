"""Resources: what the subgraphs of one interpreter share by name, and keep across invokes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .errors import InvokeError
from .tensor import Shape, Tensor


class VariableValue(NamedTuple):
    """What a resource variable holds: data are the bytes, whatever the type keeps them in."""

    type: int
    shape: Shape
    data: np.ndarray | None


class Resources:
    """Resources by number, and the numbers by (container, shared name).

    variables and tables hold what the operators put there. initialized lists the subgraphs that
    CALL_ONCE has run.
    """

    __slots__ = ("_numbers", "initialized", "tables", "variables")

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str, str], int] = {}
        self.variables: dict[int, VariableValue] = {}
        self.tables: dict[int, object] = {}
        self.initialized: set[int] = set()

    def number(self, kind: str, container: str, name: str) -> int:
        """The number of a resource; names are the same one wherever they appear, within a kind."""
        return self._numbers.setdefault((kind, container, name), len(self._numbers))


def handle_of(tensor: Tensor) -> int:
    """The number that a resource tensor holds; InvokeError when it holds none."""
    if tensor.data is None or len(tensor.data) != 4:
        raise InvokeError(f"tensor {tensor!r}: it must hold a resource, and nothing gave it one")
    return int(tensor.data.view(np.int32)[0])


def handle_bytes(number: int) -> np.ndarray:
    """The bytes of a resource tensor."""
    return np.array([number], np.int32).view(np.uint8)
