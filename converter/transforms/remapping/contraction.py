"""Convolutions and matrix products with the bias and activation that follow."""

from __future__ import annotations

from ...ir.attributes import Attribute, Attributes
from ...ir.node import Node
from .fused_node import device_of, element, known_attributes, only_use, put_in_place, source

_FUSED = {"Conv2D": "_FusedConv2D", "MatMul": "_FusedMatMul"}
_FUSED_ONEDNN = {"Conv3D": "_FusedConv3D", "DepthwiseConv2dNative": "_FusedDepthwiseConv2dNative"}
_ACTIVATIONS = ("Relu", "Relu6", "Elu", "LeakyRelu")
_OF_MATMUL = ("Tanh", "Sigmoid")
_ELEMENTS = ("f32", "f64", "bf16", "f16")
_LAST = (b"NHWC", b"NDHWC")


def fuse_bias(node: Node, onednn: bool) -> Node | None:
    """A contraction and its bias.

    Given:  c = Conv2D(x, w); y = BiasAdd(c, b)
    Result: c = Conv2D(x, w); y = _FusedConv2D(x, w, b) {fused_ops = ["BiasAdd"]}

    On the CPU, channels last. The contraction, which nothing else may use, stays for whoever prunes.
    """
    if node.op != "BiasAdd" or node.attributes.get("data_format", b"NHWC") != b"NHWC":
        return None
    fused = _FUSED | _FUSED_ONEDNN if onednn else _FUSED
    contraction = source(node.operands[0], fused)
    if contraction is None or not only_use(contraction.results[0]):
        return None
    if device_of(node) != "cpu" or node.device != contraction.device:
        return None
    name = element(node.operands[1])
    form = contraction.attributes.get("data_format", b"NHWC")
    if name not in _ELEMENTS or form not in _LAST:
        return None
    op = fused[contraction.op]
    held: Attributes = {"fused_ops": (b"BiasAdd",), "num_args": 1}
    type = contraction.attributes.get("T")
    if op == "_FusedConv2D" and type is not None:
        held["TArgs"] = (type,)
    attributes = known_attributes(op, contraction.attributes, node.attributes, held)
    return put_in_place(node, op, (*contraction.operands, node.operands[1]), attributes, contraction)


def fuse_activation(node: Node, onednn: bool) -> Node | None:
    """A contraction with bias and its activation.

    Given:  c = _FusedConv2D(x, w, b) {fused_ops = ["BiasAdd"]}; y = Relu(c)
    Result: c = ..; y = _FusedConv2D(x, w, b) {fused_ops = ["BiasAdd", "Relu"]}
    """
    del onednn
    if node.op not in (*_ACTIVATIONS, *_OF_MATMUL):
        return None
    fused = source(node.operands[0], (*_FUSED.values(), *_FUSED_ONEDNN.values()))
    if fused is None or not only_use(fused.results[0]) or fused.attributes.get("fused_ops") != (b"BiasAdd",):
        return None
    if node.op in _OF_MATMUL and fused.op != "_FusedMatMul":
        return None
    if node.device != fused.device:
        return None
    ops: Attribute = (b"BiasAdd", node.op.encode())
    held: Attributes = {"fused_ops": ops}
    if node.op == "LeakyRelu":
        held["leakyrelu_alpha"] = node.attributes.get("alpha", 0.2)
    attributes = known_attributes(fused.op, fused.attributes, node.attributes, held)
    return put_in_place(node, fused.op, fused.operands, attributes, fused)
