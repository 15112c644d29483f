"""Stage: the part of a subgraph that is ready to run, and whether the whole can run."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .memory import StageMemory
    from .plan import Plan


class State(Enum):
    """Whether the subgraph can run; the names are TFLite's."""

    UNINVOKABLE = "uninvokable"
    INVOKABLE = "invokable"


class Stage:
    """Nodes at positions first to last (inclusive) of the execution plan, ready to run.

    A subgraph without dynamic tensors has one stage. Otherwise a stage ends with the node
    whose output shapes are known only when it has run; the next one is prepared then. found says what
    it was prepared for.
    """

    __slots__ = ("first", "found", "last", "memory", "plan")

    def __init__(
        self, first: int, last: int, memory: StageMemory, plan: Plan, found: tuple[object, ...] = ()
    ) -> None:
        self.first = first
        self.last = last
        self.memory = memory
        self.plan = plan
        self.found = found
