"""Limits: what a conversion may take, however little its graph says."""

from __future__ import annotations

from ...lite import available_memory
from ...lite.errors import ModelError
from ..ir.module import Module
from ..transforms.bodies import bodies

# A function's nodes are lowered for each of its calls, a loop's again when its shapes have changed. A
# few functions that call each other twice would make any number of them; graphs lower each node a few times.
_TIMES = 16
_MOST_LOWERED = 1 << 15
# Constants that a graph only describes (one value and a shape, the result of a fold) may take this part of
# the memory that is left: they are held converted, written and as they were, besides all else.
_SHARE = 8


class Limits:
    """What is left of the nodes and bytes that one conversion may take."""

    def __init__(self) -> None:
        self._nodes = _MOST_LOWERED
        self._bytes = available_memory.available_bytes() // _SHARE
        self.most_bytes = self._bytes

    def admit(self, module: Module) -> None:
        """Let a module's nodes be lowered, each several times."""
        self._nodes += _TIMES * sum(len(body.body) for body in bodies(module))

    def lower_node(self) -> None:
        """Count a node; ModelError when functions make too many of them."""
        self._nodes -= 1
        if self._nodes < 0:
            raise ModelError("functions: their calls, one in another, make more nodes than can be converted")

    def take(self, nbytes: int) -> bool:
        """Whether a constant of so many bytes may be made, which then counts."""
        if nbytes > self._bytes:
            return False
        self._bytes -= nbytes
        return True
