"""Turn: what an optimizer gets of its run over one graph."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from ..graph.rule import Rule
from .config import OptimizerConfig
from .item import GrapplerItem
from .properties import GraphProperties
from .result import PassRecord
from .rewriter import OptimizingRewriter
from .toggle import Toggle


class Inferred:
    """Properties of one graph, inferred when first asked for and kept while the graph is changed."""

    def __init__(self, item: GrapplerItem) -> None:
        self.item = item
        self.current: GraphProperties | None = None
        self._trusted = False

    def get(self, trusted: bool) -> GraphProperties:
        """The properties; trusted takes the declared shapes of feeds for true."""
        if self.current is None or self._trusted != trusted:
            self.current = GraphProperties(self.item, trusts_arguments=True)
            self.current.infer_statically(assume_valid_feeds=trusted)
            self._trusted = trusted
        return self.current

    def forget(self) -> None:
        """The graph was changed by others."""
        self.current = None


class Turn:
    """One optimizer's run over one graph: the item, how far it goes, and until when (time.monotonic)."""

    def __init__(
        self,
        item: GrapplerItem,
        config: OptimizerConfig,
        level: Toggle,
        record: PassRecord,
        inferred: Inferred | None = None,
        deadline: float | None = None,
    ) -> None:
        self.item = item
        self.config = config
        self.level = level
        self.record = record
        self.deadline = deadline
        self.inferred = inferred or Inferred(item)

    @property
    def is_aggressive(self) -> bool:
        return self.level == Toggle.AGGRESSIVE

    def is_late(self) -> bool:
        """Whether the deadline has passed: a long loop ends then, with the graph whole."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def properties(self) -> GraphProperties:
        """Shapes and values; those of feeds are trusted by an aggressive optimizer, or when the config says
        so.
        """
        return self.inferred.get(self.is_aggressive or self.config.assume_valid_feeds)

    def rewrite(
        self, *groups: Iterable[Rule[Any]], shapes: bool = True, notes: dict[Any, Any] | None = None
    ) -> bool:
        """Run rules until none changes anything; whether any did.

        shapes: the rules look at shapes. notes are put among the rewriter's. Rules that the config's stages
        switch off are left out.
        """
        chosen: list[Sequence[Rule[Any]]] = [
            [rule for rule in rules if self.config.stages.get(rule.name, True)] for rules in groups
        ]
        properties = self.properties() if shapes else self.inferred.current
        rewriter = OptimizingRewriter(
            self.item, properties, chosen, level=self.level, deadline=self.deadline, onednn=self.config.onednn
        )
        rewriter.notes["config"] = self.config
        rewriter.keeps_nan = self.config.target == "portable"
        rewriter.keeps_emulation = self.config.experimental_disable_folding_quantization_emulation
        rewriter.notes.update(notes or {})
        trace = rewriter.run()
        self.record.add(trace)
        return trace.count > 0

    def count(self, rule: str, node: str) -> None:
        """Note a change that was made without a rewriter."""
        from ..graph.rule import Trace

        trace = Trace()
        trace.add(rule, node)
        self.record.add(trace)
