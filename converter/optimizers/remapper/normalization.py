"""Batch norms in inference: behind a convolution, before Relu, and by themselves."""

from __future__ import annotations

import numpy as np

from ...graph.rule import rule
from ...ir.attributes import Attributes
from ...ir.node import Node, Value
from ...ir.types import ElementType, TensorType
from ...transforms.node_rewriter import data_type
from ...transforms.remapping.batch_norm import has_channels_by_four, with_relu
from ...transforms.remapping.fused_node import device_of, element, known_attributes, only_use, source
from ..arithmetic.nodes import number, shape
from ..rewriter import OptimizingRewriter

_SOURCE = "TensorFlow core/grappler/optimizers/remapper.cc"
_NORMS = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
_CHANNELS_FIRST = b"NCHW"


@rule(*_NORMS, needs=("devices",), keeps_bits=False, source=_SOURCE)
def fuse_contraction_norm(rewriter: OptimizingRewriter, node: Node) -> bool:
    """On the CPU a convolution and its normalization.

    Given:  c = Conv2D(x, w); y, .. = FusedBatchNormV3(c, scale, offset, mean, variance)
    Result: y = _FusedConv2D(x, w, scale, offset, mean, variance) {fused_ops = ["FusedBatchNorm"]}
    """
    conv = source(node.operands[0], ("Conv2D",))
    if conv is None or device_of(node) != "cpu" or node.device != conv.device or not _is_inference(node):
        return False
    if not only_use(conv.results[0]) or rewriter.is_named(conv) or element(node.operands[0]) != "f32":
        return False
    if any(each.attributes.get("data_format", b"NHWC") != b"NHWC" for each in (node, conv)):
        return False
    if any(value.users for value in node.results[1:]):
        return False
    kind = data_type(node.operands[0].type)
    held: Attributes = {
        "fused_ops": (b"FusedBatchNorm",),
        "num_args": 4,
        "TArgs": (kind,) * 4,
        "epsilon": node.attributes.get("epsilon", 1e-4),
    }
    attributes = known_attributes("_FusedConv2D", conv.attributes, held)
    made = Node(
        "_FusedConv2D", node.name, [node.results[0].type], attributes, node.device, node.assigned_device
    )
    rewriter.insert_before(node, made)
    rewriter.set_operands(made, (*conv.operands, *node.operands[1:]))
    made.controls = dict.fromkeys((*conv.controls, *node.controls))
    rewriter.replace(node, made)
    return True


@rule("Relu", needs=("onednn",), source=_SOURCE)
def fuse_norm_without_device(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A normalization and Relu where nothing says on which device they run.

    Given:  n, .. = FusedBatchNormV3(x, ..); y = Relu(n)
    Result: n, .. = _FusedBatchNormEx(x, ..) {activation_mode = "Relu"}; y = Identity(n)
    """
    norm = source(node.operands[0], ("FusedBatchNormV3",))
    if norm is None or norm.device or node.device or not _is_inference(norm) or not only_use(norm.results[0]):
        return False
    if element(norm.operands[0]) not in ("f32", "bf16") or rewriter.is_named(norm):
        return False
    if norm.attributes.get("data_format", b"NHWC") != b"NHWC" or not has_channels_by_four(norm):
        return False
    return with_relu(rewriter, node, norm, None, None)


@rule(*_NORMS, needs=("shapes",), keeps_bits=False, source=_SOURCE)
def split_batch_norm(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A normalization in inference is a product and a sum for each channel.

    Given:  y, .. = FusedBatchNormV3(x, scale, offset, mean, variance)
    Result: s = Mul(Rsqrt(Add(variance, epsilon)), scale); y = Add(Mul(x, s), Sub(offset, Mul(mean, s)))

    Where channels come before other axes they are reshaped. Only float32, and only where the other results
    are not used. Constants fold, and go into a convolution before.
    """
    if not _is_inference(node) or any(value.users for value in node.results[1:]):
        return False
    if any(element(value) != "f32" for value in node.operands) or rewriter.is_kept(node):
        return False
    x, scale, offset, mean, variance = node.operands[:5]
    form = node.attributes.get("data_format", b"NHWC")
    if form not in (b"NHWC", _CHANNELS_FIRST):
        return False
    epsilon = node.attributes.get("epsilon", 1e-4)
    held = number(rewriter, node, "Epsilon", np.array(epsilon, np.float32), "f32")
    if held is None or not isinstance(epsilon, float):
        return False
    if form == _CHANNELS_FIRST:
        sizes = number(rewriter, node, "Channels", np.array([1, -1, 1, 1], np.int32), "i32")
        assert sizes is not None
        reshaped = [_channels_first(rewriter, node, value, sizes) for value in node.operands[1:5]]
        scale, offset, mean, variance = reshaped
    flat = scale.type
    inverse = _add(rewriter, node, "Rsqrt", [_add(rewriter, node, "Add", [variance, held], flat)], flat)
    factor = _add(rewriter, node, "Mul", [inverse, scale], flat)
    shift = _add(rewriter, node, "Sub", [offset, _add(rewriter, node, "Mul", [mean, factor], flat)], flat)
    scaled = _add(rewriter, node, "Mul", [x, factor], node.results[0].type)
    attributes: Attributes = {"T": ElementType("f32")}
    made = Node("Add", node.name, [node.results[0].type], attributes, node.device, node.assigned_device)
    rewriter.insert_before(node, made)
    rewriter.set_operands(made, (scaled, shift))
    made.controls = node.controls
    rewriter.replace(node, made)
    return True


def _is_inference(node: Node) -> bool:
    return node.attributes.get("is_training") is False and node.op in _NORMS


def _add(rewriter: OptimizingRewriter, node: Node, op: str, operands: list[Value], type: object) -> Value:
    assert isinstance(type, TensorType)
    name = f"{node.name}/remapped_{op}"
    return rewriter.add(node, op, name, operands, {"T": ElementType("f32")}, [type]).results[0]


def _channels_first(rewriter: OptimizingRewriter, node: Node, value: Value, sizes: Value) -> Value:
    """The vector as [1, C, 1, 1]."""
    whole = shape(value)
    channels = whole[0] if whole is not None and len(whole) == 1 else -1
    attributes: Attributes = {"T": ElementType("f32"), "Tshape": ElementType("i32")}
    type = TensorType(ElementType("f32"), (1, channels, 1, 1))
    name = f"{node.name}/remapped_Reshape"
    return rewriter.add(node, "Reshape", name, [value, sizes], attributes, [type]).results[0]
