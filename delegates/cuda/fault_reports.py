"""FaultReports: what launches may find wrong while they run, and how the host learns of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...lite.node import Node
    from .launch import Argument, Pointer
    from .operands import Operands

_MOST = 1 << 30


class FaultReports:
    """The faults that a partition's launches may meet, in words; status is where they say which, if any may.

    The word at status starts at 0 and takes the largest number; those of earlier launches are larger.
    """

    def __init__(self) -> None:
        self.status: Pointer | None = None
        self._words: list[str] = []

    def add(self, operands: Operands, node: Node, fault: str) -> dict[str, Argument]:
        """Arguments for a launch that may meet a fault (given in words): where it says so, and its number."""
        if self.status is None:
            self.status = operands.table(lambda: np.zeros(1, np.int32), "i32")
        name = node.registration.name
        text = fault if fault.startswith(name) else f"{name}: {fault}"
        self._words.append(f"{text} (node {node.index}, output {operands.graph.output(node, 0).name!r})")
        return {"status_ptr": self.status, "report": _MOST - len(self._words)}

    def words(self, number: int) -> str:
        """What the number at status says."""
        return self._words[_MOST - 1 - number]
