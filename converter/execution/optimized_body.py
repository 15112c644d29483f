"""Bodies of a graph that is optimized for what is fed and fetched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...lite.errors import ModelError
from ...schema.graph_def import GraphDef
from ..optimizers.config import OptimizerConfig
from ..optimizers.item import GrapplerItem, ItemOptions
from ..optimizers.meta_optimizer import MetaOptimizer
from ..optimizers.toggle import Toggle
from ..plugins.choice import choice_of
from ..transforms.purity import is_stateless
from .body import Body, Endpoint, graph_body


def optimizer_config(optimize: object) -> OptimizerConfig:
    """What GraphRunner's `optimize` means: a config of target "numlite", but for a config or dictionary,
    which is taken as it is. ValueError for anything else.

    Declared shapes of feeds are checked when they are fed, so they are trusted.
    """
    if optimize is True or optimize == "aggressive":
        config = OptimizerConfig(target="numlite", assume_valid_feeds=True, min_graph_nodes=-1)
        return config if optimize is True else config.aggressive()
    if isinstance(optimize, str):
        raise ValueError(f"optimize: must be True, False, 'aggressive' or a config, got {optimize!r}")
    return OptimizerConfig.of(optimize)


class GraphOptimizer:
    """Optimizes a graph for feeds and fetches; functions of its library stay as they are.

    plugins (classes, paths of .so and .py) are those that may run.
    """

    def __init__(self, definition: GraphDef, config: OptimizerConfig, plugins: Iterable[object] = ()) -> None:
        self._definition = definition
        if _has_state(definition):
            # A node of a function with state is one, from wherever the function is called.
            off = {"function_optimization": Toggle.OFF, "lower_functional_ops": Toggle.OFF}
            config = config.with_options(**off)
        self._meta = MetaOptimizer(config, choice_of(plugins))

    def body(
        self, body: Body, given: Sequence[Endpoint], results: Sequence[Endpoint], targets: Sequence[int]
    ) -> Body:
        """The graph's body, optimized; fed and fetched nodes and targets have their names.

        Raises UnsupportedError for a type that the graph IR has no form for.
        """
        copy = GraphDef()
        copy.CopyFrom(self._definition)
        fed = {body.nodes[endpoint.node].name for endpoint in given}
        for node in copy.node:
            # The runner takes any shape for one that declares rank 0: older graphs mean by it that they do
            # not know.
            if node.name in fed and node.op.startswith("Placeholder") and "shape" in node.attr:
                node.attr["shape"].shape.unknown_rank |= not node.attr["shape"].shape.dim
        item = GrapplerItem.from_graph_def(
            copy,
            [_text(body, endpoint) for endpoint in given],
            [_text(body, endpoint) for endpoint in results],
            [body.nodes[place].name for place in targets],
        )
        item.options = ItemOptions(optimize_function_library=False)
        result = self._meta.optimize(item)
        try:
            return graph_body(result.graph_def().node)
        except ModelError as error:
            raise ModelError(f"the optimized graph: {error}") from error


def _has_state(definition: GraphDef) -> bool:
    """Whether a function has a node with state that is not a variable's."""
    return any(
        not is_stateless(node.op) and "Variable" not in node.op and not node.op.startswith("VarHandle")
        for function in definition.library.function
        for node in function.node_def
    )


def _text(body: Body, endpoint: Endpoint) -> str:
    return f"{body.nodes[endpoint.node].name}:{endpoint.port}"
