"""Convolutions and matrix products with the bias and activation that follow."""

from __future__ import annotations

from ...graph.rule import rule
from ...ir.attributes import Attribute, Attributes
from ...ir.node import Node
from .fused_node import FusingRewriter, device_of, element, known_attributes, only_use, source

_FUSED = {"Conv2D": "_FusedConv2D", "MatMul": "_FusedMatMul"}
_FUSED_ONEDNN = {"Conv3D": "_FusedConv3D", "DepthwiseConv2dNative": "_FusedDepthwiseConv2dNative"}
_ACTIVATIONS = ("Relu", "Relu6", "Elu", "LeakyRelu")
_OF_MATMUL = ("Tanh", "Sigmoid")
_ELEMENTS = ("f32", "f64", "bf16", "f16")
_LAST = (b"NHWC", b"NDHWC")


@rule("BiasAdd", needs=("devices",))
def fuse_bias(rewriter: FusingRewriter, node: Node) -> bool:
    """A contraction and its bias.

    Given:  c = Conv2D(x, w); y = BiasAdd(c, b)
    Result: c = Conv2D(x, w); y = _FusedConv2D(x, w, b) {fused_ops = ["BiasAdd"]}

    On the CPU, channels last. The contraction, which nothing else may use, stays for whoever prunes.
    """
    if node.attributes.get("data_format", b"NHWC") != b"NHWC":
        return False
    fused = _FUSED | _FUSED_ONEDNN if rewriter.onednn else _FUSED
    contraction = source(node.operands[0], fused)
    if contraction is None or not only_use(contraction.results[0]) or rewriter.is_named(contraction):
        return False
    if device_of(node) != "cpu" or node.device != contraction.device:
        return False
    name = element(node.operands[1])
    form = contraction.attributes.get("data_format", b"NHWC")
    if name not in _ELEMENTS or form not in _LAST:
        return False
    op = fused[contraction.op]
    if not rewriter.is_wanted(op, name):
        return False
    held: Attributes = {"fused_ops": (b"BiasAdd",), "num_args": 1}
    if "data_format" in contraction.attributes:
        # The bias's own says NHWC of five axes, too.
        held["data_format"] = contraction.attributes["data_format"]
    type = contraction.attributes.get("T")
    if op == "_FusedConv2D" and type is not None:
        held["TArgs"] = (type,)
    attributes = known_attributes(op, contraction.attributes, node.attributes, held)
    return rewriter.put_in_place(node, op, (*contraction.operands, node.operands[1]), attributes, contraction)


@rule(*_ACTIVATIONS, *_OF_MATMUL, needs=("devices",))
def fuse_activation(rewriter: FusingRewriter, node: Node) -> bool:
    """A contraction with bias and its activation.

    Given:  c = _FusedConv2D(x, w, b) {fused_ops = ["BiasAdd"]}; y = Relu(c)
    Result: c = ..; y = _FusedConv2D(x, w, b) {fused_ops = ["BiasAdd", "Relu"]}
    """
    fused = source(node.operands[0], (*_FUSED.values(), *_FUSED_ONEDNN.values()))
    if fused is None or not only_use(fused.results[0]) or rewriter.is_named(fused):
        return False
    first = fused.attributes.get("fused_ops")
    if first == (b"BiasAdd", b"Add"):
        if node.op != "Relu" or fused.op != "_FusedConv2D":
            return False
    elif first not in ((b"BiasAdd",), (b"FusedBatchNorm",)):
        return False
    if node.op in _OF_MATMUL and fused.op != "_FusedMatMul":
        return False
    if node.device != fused.device:
        return False
    ops: Attribute = (*first, node.op.encode())
    held: Attributes = {"fused_ops": ops}
    if node.op == "LeakyRelu":
        held["leakyrelu_alpha"] = node.attributes.get("alpha", 0.2)
    attributes = known_attributes(fused.op, fused.attributes, node.attributes, held)
    return rewriter.put_in_place(node, fused.op, fused.operands, attributes, fused)
