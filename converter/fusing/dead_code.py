"""Operators whose results nothing uses."""

from __future__ import annotations

from ..lite_graph import LiteGraph, has_effects


class RemoveDeadCode:
    """Takes out operators that no output depends on.

    Given:  y = SIN(x); z = MUL(y, y)      y is the only output
    Result: y = SIN(x)
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        needed = {id(tensor) for tensor in graph.outputs}
        dead = []
        for operator in reversed(graph.operators):
            if any(id(tensor) in needed for tensor in operator.outputs) or has_effects(operator):
                needed.update(id(tensor) for tensor in operator.inputs if tensor is not None)
            else:
                dead.append(operator)
        graph.remove(dead)
        return len(dead)
