"""OperatorSchemes: with which scheme each operator is quantized, where activations become integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...lite.tensor import TensorType
from .float_graph import FloatGraph, Site, Step
from .scheme import ACTIVATIONS, Scheme

# An operator: its subgraph and its results, which stay when others take its place.
Results = tuple[int, tuple[int, ...]]


def results_of(step: Step) -> Results:
    return step.graph, step.outputs


@dataclass(frozen=True)
class OperatorSchemes:
    """own are those of single operators; where there are none, usual is that of all."""

    usual: Scheme
    own: Mapping[Results, Scheme] = field(default_factory=dict)

    def type(self, results: Results) -> TensorType | None:
        """The activations of the operator with these results, None where it stays as it is."""
        scheme = self.own.get(results) if self.own else self.usual
        return None if scheme is None else TensorType(ACTIVATIONS[scheme.activation_bits].type)

    def of(self, graph: FloatGraph, step: Step) -> Scheme:
        """An operator's own; one that a rewriting has added before another has that of what reads it."""
        while self.own and (step.graph, step.outputs) not in self.own:
            users = [user for t in step.outputs for user in graph.users.get(Site(step.graph, t), ())]
            if not users:
                return self.usual
            step = users[0]
        return self.own.get(results_of(step), self.usual)

    def bits(self) -> set[int]:
        """Those of activations, of all schemes."""
        return {scheme.activation_bits for scheme in (self.own.values() if self.own else [self.usual])}
