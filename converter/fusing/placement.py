"""Placement: where a pass wants operators, until it has seen them all."""

from __future__ import annotations

from ..lite_graph import LiteGraph, LiteOperator


class Placement:
    """Operators that go or move, all at once in the end; one by one, each would take time for all."""

    def __init__(self) -> None:
        self._gone: set[int] = set()
        self._behind: dict[int, LiteOperator] = {}  # by the id of the one before
        self._before: dict[int, int] = {}  # the other way round, by ids

    def remove(self, operator: LiteOperator) -> None:
        """The operator goes, from where it is or has been put."""
        before = self._before.pop(id(operator), None)
        if before is None:
            self._gone.add(id(operator))
        else:
            del self._behind[before]

    def put_behind(self, before: LiteOperator, operator: LiteOperator) -> None:
        """An operator that is new or was removed comes right behind another, which has none behind it yet."""
        self._behind[id(before)] = operator
        self._before[id(operator)] = id(before)

    def apply(self, graph: LiteGraph) -> None:
        operators = []
        for operator in graph.operators:
            if id(operator) not in self._gone:
                operators.append(operator)
            behind = self._behind.get(id(operator))
            if behind is not None:
                operators.append(behind)
        graph.operators = operators
