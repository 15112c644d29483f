"""optimize: a graph as anyone has it, optimized."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from ..execution.graph_source import GraphSource, runnable
from ..plugins.choice import choice_of, custom_factory
from .config import OptimizerConfig
from .external import CustomFactory, PluginChoice
from .item import GrapplerItem
from .meta_optimizer import MetaOptimizer
from .result import OptimizationResult
from .verification import Verification


def optimize(
    graph: GraphSource,
    feeds: Iterable[str] = (),
    fetches: Iterable[str] = (),
    config: object = None,
    plugins: Iterable[object] | PluginChoice | None = None,
    custom: CustomFactory | None = None,
    keep_ops: Iterable[str] = (),
    signature: str | None = None,
    verify: int = 0,
) -> OptimizationResult:
    """The graph, optimized for these feeds and fetches ("node" or "node:1"); the graph itself stays as it is.

    Of a SavedModel, or one of its signatures frozen, feeds and fetches are the signature's where they are
    left out; what makes its variables and tables ready is kept. config is an OptimizerConfig, a
    dictionary of its fields, a RewriterConfig or ConfigProto, or None for the defaults.
    plugins are classes and paths (.so, .py) of those that may run; None stands for the registered and
    installed ones. With verify the graph runs on so many random inputs before and after each pass: one that
    changes what it gives is undone, and its record names rule and node.
    Raises ModelError for a damaged graph or a name of no node, ValueError for a config that is none, and
    UnsupportedError for an optimizer that is asked for and not built.
    """
    source = runnable(graph, signature)
    item = GrapplerItem.from_graph_def(
        source.definition,
        [source.inputs.get(name, name) for name in feeds] or list(source.inputs.values()),
        [source.outputs.get(name, name) for name in fetches] or list(source.outputs.values()),
        [*keep_ops, *source.initializers],
    )
    chosen = choice_of(plugins)
    check = partial(Verification, count=verify) if verify else None
    return MetaOptimizer(OptimizerConfig.of(config), chosen, custom or custom_factory(), check).optimize(item)
