"""GatherV2, Gather and ResourceGather's like: rows by their places."""

from __future__ import annotations

from ...lite.errors import ModelError
from ...schema.tflite import BuiltinOperator, GatherOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule


def gather_v2(lowering: Lowering, node: Node) -> LiteTensor:
    """GATHER along a constant axis, with batch axes."""
    x, positions = lowering.input(node, 0), lowering.input(node, 1)
    [axis] = lowering.integers_input(node, 2, "the axis")
    batch_dims = node.integer("batch_dims")
    rank = None if x.shape is None else len(x.shape)
    if rank is not None and not -rank <= axis < rank:
        raise ModelError(f"axis must be in [{-rank}, {rank}), got {axis}")
    if rank is not None:
        axis %= rank
    options = GatherOptionsT(axis=axis, batch_dims=batch_dims)
    return lowering.operator(
        node, BuiltinOperator.GATHER, [x, positions], lowering.result_shape(node), options
    )


REGISTRATIONS: dict[str, Rule] = {"GatherV2": gather_v2}
