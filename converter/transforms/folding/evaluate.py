"""Nodes of constants, computed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....kernels.fallback.node_runner import run_node
from ....lite.errors import InvokeError, ModelError, UnsupportedError
from ....schema.graph_def import NodeDef
from ...graph.algebra import fold_rule
from ...ir.attributes import Attributes, DenseAttr
from ...ir.export_body import write_node
from ...ir.node import Node
from ...ir.types import ElementType
from ..node_rewriter import NodeRewriter, data_type
from ..purity import is_pure
from .tensors import MOST_BYTES, MOST_OPERAND_BYTES, constant_of, constant_of_array, known_array

# Nodes that are constants in effect, that wait, or whose results no kernel should make beforehand.
_LEFT = frozenset(("Const", "HostConst", "AccumulateNV2", "IdentityN", "NoOp", "PlaceholderWithDefault"))
# Ops of these names round as a quantized value would.
_EMULATES = ("QuantizeAndDequantize", "FakeQuant")


def _known(rewriter: NodeRewriter, node: Node) -> list[np.ndarray] | None:
    if node.op in _LEFT or not node.operands or not node.results:
        return None
    if rewriter.is_kept(node) or not is_pure(node):
        return None
    if rewriter.keeps_emulation and node.op.startswith(_EMULATES):
        return None
    if node.op == "Identity":
        return None if constant_of(node.operands[0]) is None else []
    inputs = [known_array(value, MOST_OPERAND_BYTES) for value in node.operands]
    known = [array for array in inputs if array is not None]
    return known if len(known) == len(inputs) else None


def _give(rewriter: NodeRewriter, node: Node, found: Sequence[DenseAttr]) -> bool:
    """Each result of several gets its own constant, where something uses it."""
    if len(found) == 1:
        rewriter.replace_with_constant(node, found[0])
        return True
    if not any(value.users for value in node.results):
        return False
    waits = rewriter.waits_for_operands(node)
    for i, (value, constant) in enumerate(zip(node.results, found, strict=True)):
        if value.users:
            made = rewriter.constant(node, f"{node.name}/eval_{i}", constant, waits)
            rewriter.replace_value(value, made.results[0])
    return True


def _computed(node: Node, inputs: Sequence[np.ndarray]) -> list[DenseAttr] | None:
    """The node's results for the inputs, None when they cannot or should not be constants.

    What an Identity of a constant gives is at hand: frozen graphs have one for each variable.
    """
    if node.op == "Identity":
        held = constant_of(node.operands[0])
        return None if held is None else [held]
    elements = [data_type(value.type) for value in node.results]
    return run(node.op, node.attributes, list(inputs), elements)


def run(
    op: str, attributes: Attributes, inputs: list[np.ndarray], elements: list[ElementType]
) -> list[DenseAttr] | None:
    """Results of the op by its fallback kernel; None where they are large, and larger than the inputs."""
    try:
        proto = NodeDef()
        write_node(Node(op, "folded", attributes=attributes), [], proto)
        arrays = run_node(proto, inputs)
    except (ModelError, UnsupportedError, InvokeError):
        return None
    most = max(MOST_BYTES, sum(array.nbytes for array in inputs))
    found = [constant_of_array(np.asarray(a), e, most) for a, e in zip(arrays, elements, strict=True)]
    known = [constant for constant in found if constant is not None]
    return known if len(known) == len(found) else None


# Large results stay to be computed; so does what has no kernel or fails: the error is the run's.
evaluate = fold_rule("evaluate", _known, _computed, _give)
