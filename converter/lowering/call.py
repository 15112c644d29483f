"""PartitionedCall and legacy calls: the function's body takes the call's place."""

from __future__ import annotations

from ..ir.node import Node
from ..lite_graph import LiteTensor
from .body import function_named, lower_function
from .lowering import Lowering, Rule


def call(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """The results of the function, whose operators become part of the graph."""
    is_legacy = node.op in lowering.program.functions
    function = function_named(lowering.program, node.op if is_legacy else node.function("f").name)
    lowering.program.outcomes[lowering.name(node)] = "inlined"
    prefix = f"{lowering.name(node)}/"
    return lower_function(lowering.program, function, lowering.inputs(node), lowering.graph, prefix)


REGISTRATIONS: dict[str, Rule] = {"PartitionedCall": call, "StatefulPartitionedCall": call}
