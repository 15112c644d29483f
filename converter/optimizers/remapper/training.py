"""Normalizations in training before Relu, and their gradients behind its own."""

from __future__ import annotations

from ...graph.rule import rule
from ...ir.attributes import Attributes
from ...ir.node import Node, Value
from ...transforms.remapping.batch_norm import has_channels_by_four, with_relu
from ...transforms.remapping.fused_node import device_of, element, known_attributes, only_use, source
from ..arithmetic.nodes import shape
from ..rewriter import OptimizingRewriter

_SOURCE = "TensorFlow core/grappler/optimizers/remapper.cc, FindFusedBatchNormEx and FindFusedBatchNormGradEx"
_EX = "_FusedBatchNormEx"


@rule("Relu", needs=("devices", "onednn"), source=_SOURCE)
def fuse_norm_in_training(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A normalization in training, and Relu: on the CPU, and of halves on the GPU.

    Given:  n, .. = FusedBatchNormV3(x, ..); y = Relu(n)
    Result: n, .. = _FusedBatchNormEx(x, ..) {activation_mode = "Relu"}; y = Identity(n)
    """
    norm = source(node.operands[0], ("FusedBatchNormV3",))
    if norm is None or not only_use(norm.results[0]) or rewriter.is_named(norm) or norm.device != node.device:
        return False
    if norm.attributes.get("is_training") is False or not _is_wanted(node, norm):
        return False
    return with_relu(rewriter, node, norm, None, None)


def _is_wanted(node: Node, norm: Node) -> bool:
    """Whether a normalization is of a type, layout and number of channels that its device fuses."""
    kind = element(norm.operands[0])
    if norm.attributes.get("data_format", b"NHWC") != b"NHWC" or not has_channels_by_four(norm):
        return False
    if device_of(node) == "cpu":
        return kind in ("f32", "bf16")
    sizes = shape(norm.operands[1])
    is_known = sizes is not None and len(sizes) == 1 and sizes[0] > 0 and sizes[0] % 4 == 0
    return device_of(node) == "gpu" and kind == "f16" and is_known


@rule("FusedBatchNormGradV3", needs=("devices",), source=_SOURCE)
def fuse_norm_gradient(rewriter: OptimizingRewriter, node: Node) -> bool:
    """On the GPU the gradients of a Relu and of the normalization in training before it.

    Given:  g = ReluGrad(dy, y); dx, .. = FusedBatchNormGradV3(g, x, ..); y is _FusedBatchNormEx's
    Result: dx, .. = _FusedBatchNormGradEx(dy, x, .., offset, y) {activation_mode = "Relu"}

    Where the norm has a side input, its gradient is g, and comes from the new node, too.
    """
    gradient, norm = source(node.operands[0], ("ReluGrad",)), node.operands[3].owner
    if gradient is None or not isinstance(norm, Node) or norm.op != _EX or device_of(node) != "gpu":
        return False
    if not _fits(node, gradient, norm) or rewriter.is_named(gradient) or gradient.control.users:
        return False
    sides = norm.attributes.get("num_side_inputs", 0)
    if len(gradient.results[0].users) != 1 + bool(sides) or rewriter.is_named(node):
        return False
    held: Attributes = {"activation_mode": b"Relu", "num_side_inputs": sides}
    attributes = known_attributes("_FusedBatchNormGradEx", node.attributes, held)
    types = [value.type for value in node.results] + [gradient.results[0].type] * bool(sides)
    made = Node("_FusedBatchNormGradEx", node.name, types, attributes, node.device, node.assigned_device)
    rewriter.insert_before(node, made)
    operands = (gradient.operands[0], *node.operands[1:], norm.operands[2], gradient.operands[1])
    rewriter.set_operands(made, operands)
    made.controls = dict.fromkeys((*gradient.controls, *node.controls))
    rewriter.replace(node, made)
    if sides:
        rewriter.replace_value(gradient.results[0], made.results[-1])
    rewriter.erase(gradient)
    return True


def _fits(node: Node, gradient: Node, norm: Node) -> bool:
    """Whether the gradients are those of one norm with Relu, in training."""
    reserved = [value.owner for value in node.operands[3:6]]
    if any(owner is not norm for owner in reserved) or node.operands[1:3] != norm.operands[:2]:
        return False
    if _passed(gradient.operands[1]) is not norm.results[0] or not _is_wanted(node, norm):
        return False
    both = node.attributes.get("is_training", True), norm.attributes.get("is_training", True)
    return both == (True, True) and norm.attributes.get("activation_mode") == b"Relu"


def _passed(value: Value) -> Value:
    """What an Identity passes on."""
    found = source(value, ("Identity",))
    return value if found is None else found.operands[0]
