"""Activations: behind a convolution on the GPU, and such as are written out."""

from __future__ import annotations

from ...graph.rule import rule
from ...ir.attributes import Attributes
from ...ir.node import Node
from ...transforms.folding.tensors import known_array
from ...transforms.node_rewriter import data_type
from ...transforms.remapping.fused_node import device_of, element, known_attributes, only_use, source
from ..arithmetic.nodes import FLOATS, become, inner
from ..rewriter import OptimizingRewriter

_SOURCE = "TensorFlow core/grappler/optimizers/remapper.cc"


@rule("Relu", needs=("devices",), source=_SOURCE)
def fuse_gpu_activation(rewriter: OptimizingRewriter, node: Node) -> bool:
    """On the GPU a convolution, its bias and Relu, all three or none.

    Given:  c = Conv2D(x, w); d = BiasAdd(c, b); y = Relu(d)
    Result: y = _FusedConv2D(x, w, b) {fused_ops = ["BiasAdd", "Relu"]}
    """
    bias = source(node.operands[0], ("BiasAdd",))
    conv = None if bias is None else source(bias.operands[0], ("Conv2D",))
    if (
        bias is None
        or conv is None
        or device_of(node) != "gpu"
        or element(node.operands[0]) not in ("f32", "f16")
    ):
        return False
    if (
        not only_use(bias.results[0])
        or not only_use(conv.results[0])
        or not node.device == bias.device == conv.device
    ):
        return False
    forms = {each.attributes.get("data_format", b"NHWC") for each in (bias, conv)}
    if forms != {b"NHWC"} or rewriter.is_named(bias) or rewriter.is_named(conv):
        return False
    held: Attributes = {"fused_ops": (b"BiasAdd", b"Relu"), "num_args": 1}
    held["TArgs"] = (data_type(conv.results[0].type),)
    attributes = known_attributes("_FusedConv2D", conv.attributes, held)
    operands = (*conv.operands, bias.operands[1])
    return rewriter.put_in_place(node, "_FusedConv2D", operands, attributes, bias, conv)


@rule("Maximum", source=_SOURCE)
def leaky_relu_of_max(rewriter: OptimizingRewriter, node: Node) -> bool:
    """The larger one of a value and a smaller multiple of it.

    Given:  m = Mul(0.2, x); y = Maximum(m, x)
    Result: y = LeakyRelu(x) {alpha = 0.2}

    Only for multiples up to 1: TensorFlow does so for any, and gives other results for larger ones.
    """
    if element(node.results[0]) not in FLOATS:
        return False
    for scaled, x in (node.operands, node.operands[::-1]):
        product = inner(rewriter, node, scaled, "Mul")
        if product is None or x not in product.operands:
            continue
        factor = product.operands[1 - product.operands.index(x)]
        alpha = known_array(factor)
        if alpha is None or alpha.shape != () or not float(alpha) <= 1 or factor is x:
            continue
        attributes: Attributes = {"T": data_type(x.type), "alpha": float(alpha)}
        return become(rewriter, node, "LeakyRelu", [x], attributes)
    return False
