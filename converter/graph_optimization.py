"""Graphs are optimized before they are lowered, as far as that makes smaller models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..lite.errors import UnsupportedError
from .conversion import Conversion, Entry, NodeOutcome, convert_entries
from .ir.attributes import ShapeAttr
from .ir.types import TensorType
from .optimizers.config import OptimizerConfig
from .optimizers.item import GrapplerItem
from .optimizers.meta_optimizer import MetaOptimizer
from .target_spec import Settings

LEVELS = ("off", "default", "aggressive")
# What lowering does by itself, better, or by patterns that these would destroy.
OPTIMIZERS = (
    *("pruning", "common_subgraph_elimination", "debug_stripper", "constfold", "shape", "arithmetic"),
    *("loop", "dependency"),
)
STAGES_OFF = {
    "convert_log1p": "there is no operator for Log1p",
    "convert_expm1": "there is no operator for Expm1",
    "combine_add_to_addn": "an activation is fused into ADD, not into ADD_N",
    "hoist_cwise_unary_chains": "an activation is fused into the operators before a concatenation",
    "hoist_unary_out_of_split": "an activation is fused into the operators behind",
    "optimize_max_or_min_of_monotonic": "an activation is fused into the operator before the reduction",
    "minimize_broadcasts": "constants of one product or sum are fused into the operator before",
    "push_constant": "the same, and batch norms are found by their products and sums",
    "multiply_filter": "a product behind a convolution is fused by its own rule",
    "fold_multiply_into_conv": "a product before a convolution is fused by its own rule",
    "strip_check": "a check of numbers is left out or refused by its own rule",
    "strip_effect": "an Assert is left out or refused by its own rule",
}


def optimized_entries(entries: Iterable[Entry], level: str) -> list[Entry]:
    """The entries with graphs that do the same with fewer nodes; "off" gives them as they are.

    Functions stay calls: lowering inlines them. Declared shapes, and those that an entry gives its inputs,
    are trusted by "aggressive". UnsupportedError for another level.
    """
    if level not in LEVELS:
        raise UnsupportedError(f"graph_optimizations: must be one of {', '.join(LEVELS)}, got {level!r}")
    if level == "off":
        return list(entries)
    return [_optimized(entry, level) for entry in entries]


def smaller_conversion(entries: Iterable[Entry], level: str, settings: Settings) -> Conversion:
    """The conversion of the optimized entries, unless it has more operators or bytes than that of these.

    Nodes that the optimizers took out are "optimized away". Raises what convert_entries raises, when neither
    can be converted.
    """
    plain = list(entries)
    chosen = optimized_entries(plain, level)
    if level == "off":
        return convert_entries(plain, settings)
    try:
        made = convert_entries(plain, settings)
    except UnsupportedError:
        return convert_entries(chosen, settings)
    try:
        smaller = convert_entries(chosen, settings)
    except UnsupportedError:
        return made
    if any(new > old for new, old in zip(_size(smaller), _size(made), strict=True)):
        return made
    known = {each.node for each in smaller.outcomes}
    gone = [
        NodeOutcome(each.node, each.op, "optimized away") for each in made.outcomes if each.node not in known
    ]
    return replace(smaller, outcomes=(*smaller.outcomes, *gone))


def _size(conversion: Conversion) -> tuple[int, int]:
    """Operators, and bytes of the file."""
    return sum(len(graph) for graph in conversion.lite.graphs()), len(conversion.model)


def _optimized(entry: Entry, level: str) -> Entry:
    item = GrapplerItem(
        entry.module,
        tuple(entry.inputs.values()),
        tuple(entry.outputs.values()),
        init_ops=tuple(entry.initializers),
    ).clone()
    _declare(item, entry)
    config = OptimizerConfig(
        optimizers=OPTIMIZERS,
        target="portable",
        min_graph_nodes=-1,
        stages=dict.fromkeys(STAGES_OFF, False),
    )
    chosen = config.aggressive() if level == "aggressive" else config
    module = MetaOptimizer(chosen).optimize(item).module
    return replace(entry, module=module)


def _declare(item: GrapplerItem, entry: Entry) -> None:
    """Give placeholders the shapes that the entry has for them."""
    for node in item.nodes():
        shape = entry.shapes.get(node.name, entry.shapes.get(f"{node.name}:0"))
        if shape is not None and "shape" in node.attributes and node.results:
            sizes = tuple(-1 if size is None else int(size) for size in shape)
            node.attributes["shape"] = ShapeAttr(sizes)
            type = node.results[0].type
            assert isinstance(type, TensorType)
            node.results[0].type = TensorType(type.element, sizes)
