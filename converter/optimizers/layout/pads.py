"""Pads between two Transposes that undo each other."""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from ...ir.attributes import Attributes
from ...ir.node import Block, Node, Value
from ...ir.types import TensorType
from ...transforms.folding.tensors import constant_of_array, known_array, known_integers
from ...transforms.node_rewriter import data_type
from ..arithmetic.nodes import source


def pad_inside(node: Node, preserved: Container[str]) -> bool:
    """Pads before a Transpose instead of behind it, when all that use the result transpose it back.

    Given:  t = Transpose(x, [0, 3, 1, 2]); p = Pad(t, pads); y = Transpose(p, [0, 2, 3, 1])
    Result: t = Identity(x); p = Pad(t, permuted pads); y = Identity(p)

    Whether it was done. Preserved nodes keep what they give.
    Source: TensorFlow core/grappler/optimizers/generic_layout_optimizer.cc, EraseCancellableNodesAroundPad.
    """
    if node.op not in ("Pad", "PadV2"):
        return False
    first = source(node.operands[0], "Transpose")
    pads = known_array(node.operands[1])
    order = None if first is None else known_integers(first.operands[1])
    users = list(node.results[0].users)
    if first is not None and first.name in preserved:
        return False
    if first is None or pads is None or order is None or len(first.results[0].users) != 1 or not users:
        return False
    back = [order.index(axis) for axis in range(len(order))]
    if any(user.op != "Transpose" or known_integers(user.operands[1]) != back for user in users):
        return False
    block = node.block
    assert isinstance(block, Block)
    old = [node.operands[1].owner, *(each.operands[1].owner for each in (first, *users))]
    operands = list(node.operands)
    operands[1] = _constant(block, node, pads[back], operands[1])
    node.operands = operands
    for each in (first, *users):
        each.op = "Identity"
        each.attributes = {"T": data_type(each.operands[0].type)}
        each.operands = each.operands[:1]
    first.results[0].type = first.operands[0].type
    node.results[0].type = users[0].results[0].type
    for owner in dict.fromkeys(old):
        if isinstance(owner, Node) and not owner.used and owner.name not in preserved:
            owner.erase()
    return True


def _constant(block: Block, node: Node, pads: np.ndarray, like: Value) -> Value:
    """A constant of the pads, of the type of another one."""
    assert isinstance(like.type, TensorType)
    held = constant_of_array(np.ascontiguousarray(pads), data_type(like.type))
    assert held is not None
    attributes: Attributes = {"dtype": held.type.element, "value": held}
    made = Node("Const", f"{node.name}/LayoutOptimizer/Paddings", [held.type], attributes, node.device)
    block.insert_before(node, made)
    return made.results[0]
