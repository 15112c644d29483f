"""Batch normalization with the addition and activation that follow."""

from __future__ import annotations

from ...graph.rule import rule
from ...ir.attributes import Attributes
from ...ir.node import Node, Value
from ...ir.types import TensorType
from .fused_node import FusingRewriter, device_of, element, known_attributes, only_use, source

_NORMS = ("FusedBatchNormV3",)
_ELEMENTS = ("f32", "f16", "bf16")
_ADDS = ("Add", "AddV2")


@rule("Relu", needs=("devices",))
def fuse_batch_norm(rewriter: FusingRewriter, node: Node) -> bool:
    """A normalization, a sum with another tensor if there is one, and Relu.

    Given:  n = FusedBatchNormV3(x, ..); a = AddV2(n, s); y = Relu(a)
    Result: n = _FusedBatchNormEx(x, .., s) {activation_mode = "Relu", num_side_inputs = 1}; y = Identity(n)

    On the GPU; on the CPU with oneDNN and without the sum. Not in training, and for channels by fours,
    where they are known.
    """
    add = source(node.operands[0], _ADDS)
    sides = add.operands if add is not None else node.operands[:1]
    for i, value in enumerate(sides):
        norm = source(value, _NORMS)
        if norm is not None and _fits(node, norm, add, rewriter.onednn):
            return with_relu(rewriter, node, norm, add, sides[1 - i] if add is not None else None)
    return False


def _fits(node: Node, norm: Node, add: Node | None, onednn: bool) -> bool:
    device = device_of(norm)
    if device != device_of(node) or not (device == "gpu" or (device == "cpu" and onednn and add is None)):
        return False
    if norm.attributes.get("is_training") is not False or element(norm.operands[0]) not in _ELEMENTS:
        return False
    if not only_use(norm.results[0]) or (add is not None and not only_use(add.results[0])):
        return False
    if norm.attributes.get("data_format", b"NHWC") != b"NHWC":
        return False
    return has_channels_by_four(norm)


def has_channels_by_four(norm: Node) -> bool:
    """Whether TensorFlow imports the norm as _FusedBatchNormEx, as far as its channels are known."""
    type = norm.operands[0].type
    return not isinstance(type, TensorType) or not type.shape or type.shape[-1] < 0 or type.shape[-1] % 4 == 0


def with_relu(rewriter: FusingRewriter, node: Node, norm: Node, add: Node | None, side: Value | None) -> bool:
    """Make one node of a normalization, a sum if there is one, and the Relu, which passes it on then.
    True.
    """
    held: Attributes = {"activation_mode": b"Relu", "num_side_inputs": 0 if side is None else 1}
    attributes = known_attributes("_FusedBatchNormEx", norm.attributes, held)
    types = [value.type for value in norm.results]
    made = Node("_FusedBatchNormEx", norm.name, types, attributes, norm.device, norm.assigned_device)
    rewriter.insert_before(norm, made)
    rewriter.set_operands(made, norm.operands if side is None else (*norm.operands, side))
    made.controls = dict.fromkeys((*norm.controls, *(add.controls if add is not None else ())))
    passed: Attributes = {"T": node.attributes["T"]} if "T" in node.attributes else {}
    identity = Node("Identity", node.name, [node.results[0].type], passed, node.device, node.assigned_device)
    rewriter.insert_before(node, identity)
    rewriter.set_operands(identity, made.results[:1])
    identity.controls = node.controls
    rewriter.replace(node, identity)
    if add is not None:
        rewriter.erase(add)
    rewriter.replace(norm, made)
    return True
