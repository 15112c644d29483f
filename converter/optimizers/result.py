"""What optimizing gave: the module, and a record of each pass."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...schema.graph_def import GraphDef
from ..graph.rule import Fired, Trace
from ..ir.export_graph import export_graph_def
from ..ir.module import Module

CHANGED, DID_NOTHING, FAILED, SKIPPED = "changed", "did nothing", "failed", "skipped"
# Why a pass behind the deadline was skipped.
TIME_OVER = "the time was over"


@dataclass
class PassRecord:
    """One optimizer's turn.

    status is CHANGED, DID_NOTHING, FAILED or SKIPPED, reason says why for the last two. Nodes, edges (data
    and control) and bytes of constants are counted before and after. rules says for each rule how often it
    changed something, and the first nodes where it did. function is "" for the graph.
    """

    optimizer: str
    iteration: int = 0
    function: str = ""
    status: str = DID_NOTHING
    reason: str = ""
    nodes_before: int = 0
    nodes_after: int = 0
    edges_before: int = 0
    edges_after: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    ms: float = 0.0
    rules: dict[str, Fired] = field(default_factory=dict)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Nodes, edges and bytes of constants, each before and after."""
        nodes, edges = (self.nodes_before, self.nodes_after), (self.edges_before, self.edges_after)
        return *nodes, *edges, self.bytes_before, self.bytes_after

    def add(self, trace: Trace) -> None:
        """Count what a trace has in."""
        for name, fired in trace.fired.items():
            held = self.rules.setdefault(name, Fired())
            held.count += fired.count
            held.nodes += fired.nodes[: max(0, 16 - len(held.nodes))]

    def __str__(self) -> str:
        where = f" of {self.function}" if self.function else ""
        why = f" ({self.reason})" if self.reason else ""
        counts = f"{self.nodes_before} -> {self.nodes_after} nodes"
        return f"{self.optimizer}{where} [{self.iteration}]: {self.status}{why}, {counts}, {self.ms:.1f} ms"


@dataclass
class OptimizationResult:
    """The optimized module, warnings, and the passes in the order in which they ran."""

    module: Module
    passes: list[PassRecord] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def graph_def(self) -> GraphDef:
        """The module as a GraphDef."""
        return export_graph_def(self.module)

    @property
    def functions(self) -> list[str]:
        """Names of the functions that were optimized as items of their own."""
        return list(dict.fromkeys(each.function for each in self.passes if each.function))

    def rewrites(self) -> dict[str, int]:
        """How often each rule changed something, by "optimizer.rule"."""
        found: dict[str, int] = {}
        for each in self.passes:
            for name, fired in each.rules.items():
                key = f"{each.optimizer}.{name}"
                found[key] = found.get(key, 0) + fired.count
        return found
