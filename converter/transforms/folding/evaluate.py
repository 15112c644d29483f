"""Nodes of constants, computed."""

from __future__ import annotations

import numpy as np

from ....kernels.fallback.node_runner import run_node
from ....lite.errors import InvokeError, ModelError, UnsupportedError
from ....schema.graph_def import NodeDef
from ...graph.rule import rule
from ...ir.attributes import Attributes, DenseAttr
from ...ir.export_body import write_node
from ...ir.node import Node
from ...ir.types import ElementType
from ..node_rewriter import NodeRewriter, data_type
from ..purity import is_pure
from .tensors import constant_of_array, known_array

# Nodes that are constants in effect, that wait, or whose results no kernel should make beforehand.
_LEFT = frozenset(("Const", "HostConst", "AccumulateNV2", "IdentityN", "NoOp", "PlaceholderWithDefault"))


@rule()
def evaluate(rewriter: NodeRewriter, node: Node) -> bool:
    """Compute a node without state whose operands are all constants.

    Given:  a = Const 1; b = Const 2; c = Add(a, b)
    Result: a = Const 1; b = Const 2; c = Const [a, b] 3

    Each result of several gets its own constant. Results above MOST_BYTES stay to be computed, and so
    does what has no kernel or fails: the error is the run's.
    """
    if node.op in _LEFT or not node.operands or not node.results:
        return False
    if rewriter.is_kept(node) or not is_pure(node):
        return False
    inputs = [known_array(value) for value in node.operands]
    known = [array for array in inputs if array is not None]
    if len(known) != len(inputs):
        return False
    found = computed(node, known)
    if found is None:
        return False
    if len(found) == 1:
        rewriter.replace_with_constant(node, found[0])
        return True
    if not any(value.users for value in node.results):
        return False
    for i, (value, constant) in enumerate(zip(node.results, found, strict=True)):
        if value.users:
            made = rewriter.constant(node, f"{node.name}/eval_{i}", constant, [node.control])
            rewriter.replace_value(value, made.results[0])
    return True


def computed(node: Node, inputs: list[np.ndarray]) -> list[DenseAttr] | None:
    """The node's results for the inputs, None when they cannot or should not be constants."""
    elements = [data_type(value.type) for value in node.results]
    return run(node.op, node.attributes, inputs, elements)


def run(
    op: str, attributes: Attributes, inputs: list[np.ndarray], elements: list[ElementType]
) -> list[DenseAttr] | None:
    """Results of the op by its fallback kernel."""
    try:
        proto = NodeDef()
        write_node(Node(op, "folded", attributes=attributes), [], proto)
        arrays = run_node(proto, inputs)
    except (ModelError, UnsupportedError, InvokeError):
        return None
    found = [constant_of_array(np.asarray(a), e) for a, e in zip(arrays, elements, strict=True)]
    known = [constant for constant in found if constant is not None]
    return known if len(known) == len(found) else None
