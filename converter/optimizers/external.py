"""What MetaOptimizer runs beside the optimizers of its own list: plugins and custom optimizers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ...lite.errors import ModelError
from ...schema.graph_def import GraphDef
from ..ir.import_graph import import_graph_def
from ..ir.import_options import ImportOptions
from ..ir.module import Module
from .config import OptimizerConfig
from .item import GrapplerItem
from .result import PassRecord


class ExternalOptimizer(Protocol):
    """An optimizer that is not of the list: a plugin, or one that somebody registered.

    One object serves one MetaOptimizer.optimize, for the graph and each function, in each iteration, and
    is closed at its end, also when something failed.
    """

    @property
    def name(self) -> str:
        """What records call it."""

    def run(self, item: GrapplerItem) -> Module | GraphDef | None:
        """Another graph for the item's, or None for: did nothing. The item is a clone, which may be changed
        and given back. Any Exception means that it failed: the graph stays as it was.
        """

    def close(self) -> None:
        """No run comes any more."""


@dataclass(frozen=True)
class Chosen:
    """The config as plugins leave it, the optimizers to run, and what they warn of."""

    config: OptimizerConfig
    optimizers: Sequence[ExternalOptimizer] = ()
    warnings: Sequence[str] = field(default_factory=tuple)


class GraphCheck(Protocol):
    """Looks at an item's graph after each pass that changed it."""

    @property
    def reason(self) -> str:
        """Why it looks at nothing, "" when it does."""

    def check(self, record: PassRecord) -> None:
        """An Exception means that the pass of this record made something wrong: it is undone."""


# What checks an item's graph.
CheckFactory = Callable[[GrapplerItem], GraphCheck]
# For an item (its device_types()) and the user's config, which plugins run.
PluginChoice = Callable[[GrapplerItem, OptimizerConfig], Chosen]
# A custom optimizer by name, made with its parameter_map; KeyError when there is none.
CustomFactory = Callable[[str, Mapping[str, object]], ExternalOptimizer]


def checked_module(item: GrapplerItem, given: Module | GraphDef) -> Module:
    """What an external optimizer gave, as a module of its own.

    ModelError when it does not import, a preserved node is missing or an op is not known.
    """
    if isinstance(given, GraphDef):
        given = import_graph_def(given, ImportOptions(check_nodes=True, allow_unknown_ops=False))
    if not isinstance(given, Module):
        raise ModelError(f"optimizer: must give a Module, a GraphDef or None, got {type(given).__name__}")
    if given.graph is None and not item.function:
        raise ModelError("optimizer: must give a graph, got a module without one")
    names = {node.name for node in given.graph.body} if given.graph is not None else set()
    missing = sorted(item.nodes_to_preserve() - names) if not item.function else []
    if missing:
        raise ModelError(f"optimizer: preserved nodes must be in its graph, got none for {missing[:8]}")
    return given
