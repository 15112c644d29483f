"""Patterns that TensorFlow fuses on CPUs, most of them only where oneDNN computes."""

from __future__ import annotations

import numpy as np

from ...graph.rule import rule
from ...ir.attributes import Attributes
from ...ir.node import Node, Value
from ...shapes.dimensions import same_shape
from ...transforms.folding.tensors import known_array, known_integers
from ...transforms.node_rewriter import data_type, rank_of
from ...transforms.remapping.fused_node import device_of, element, known_attributes, source
from ..arithmetic.nodes import INTEGERS, become, inner, number, shape
from ..rewriter import OptimizingRewriter

_SOURCE = "TensorFlow core/grappler/optimizers/remapper.cc"
_ONEDNN = ("devices", "onednn")
_ADDS = ("Add", "AddV2")
_FLOATS = ("f32", "bf16")
_CONTRACTIONS = {
    "Conv2D": "_FusedConv2D",
    "Conv3D": "_FusedConv3D",
    "DepthwiseConv2dNative": "_FusedDepthwiseConv2dNative",
    "MatMul": "_FusedMatMul",
}
_SQUEEZED_LAST = (3, -1)


@rule("Mul", needs=_ONEDNN, keeps_bits=False, source=_SOURCE)
def fuse_swish(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A value times its sigmoid, behind a convolution with bias, too.

    Given:  s = Sigmoid(x); y = Mul(x, s)
    Result: y = _MklSwish(x)
    """
    for x, value in (node.operands, node.operands[::-1]):
        sigmoid = inner(rewriter, node, value, "Sigmoid")
        if sigmoid is None or sigmoid.operands[0] is not x or not is_on_cpu(node, x):
            continue
        conv = source(x, ("_FusedConv2D",))
        if conv is not None and _fits_swish(rewriter, conv, node):
            held: Attributes = {"fused_ops": (b"BiasAdd", b"_MklSwish")}
            attributes = known_attributes("_FusedConv2D", conv.attributes, held)
            return rewriter.put_in_place(node, "_FusedConv2D", conv.operands, attributes, conv, sigmoid)
        return become(rewriter, node, "_MklSwish", [x], {"T": data_type(x.type)})
    return False


def _fits_swish(rewriter: OptimizingRewriter, conv: Node, node: Node) -> bool:
    is_alone = len(conv.results[0].users) == 2 and not conv.control.users and not rewriter.is_named(conv)
    return is_alone and conv.attributes.get("fused_ops") == (b"BiasAdd",) and conv.device == node.device


@rule("Mul", needs=_ONEDNN, keeps_bits=False, source=_SOURCE)
def fuse_mish(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A value times the hyperbolic tangent of its softplus.

    Given:  s = Softplus(x); t = Tanh(s); y = Mul(x, t)
    Result: y = _MklFusedMish(x)
    """
    for x, value in (node.operands, node.operands[::-1]):
        tangent = inner(rewriter, node, value, "Tanh")
        softplus = None if tangent is None else inner(rewriter, node, tangent.operands[0], "Softplus")
        if softplus is not None and softplus.operands[0] is x and is_on_cpu(node, x):
            return become(rewriter, node, "_MklFusedMish", [x], {"T": data_type(x.type)})
    return False


@rule(*_ADDS, needs=_ONEDNN, source=_SOURCE)
def fuse_added_vector(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A contraction and a number added to each of its channels.

    Given:  c = Conv2D(x, w); y = AddV2(c, b), b a vector of c's channels, or a constant [1, 1, 1, channels]
    Result: y = _FusedConv2D(x, w, b) {fused_ops = ["BiasAdd"]}
    """
    for value, bias in (node.operands, node.operands[::-1]):
        found = inner(rewriter, node, value, *_CONTRACTIONS)
        if found is None or not is_on_cpu(node, value) or not _is_bias(found, bias):
            continue
        if rank_of(bias) != 1:
            flat = number(rewriter, node, "Bias", _flat(bias), element(bias))
            if flat is None:
                continue
            bias = flat
        op = _CONTRACTIONS[found.op]
        attributes = known_attributes(op, found.attributes, _with_bias(found, (b"BiasAdd",)))
        return rewriter.put_in_place(node, op, (*found.operands, bias), attributes, found)
    return False


def _is_bias(node: Node, bias: Value) -> bool:
    """Whether a value is a vector of as many numbers as a contraction with channels last has channels."""
    vector, whole = shape(bias), shape(node.results[0])
    if not vector or whole is None or len(vector) > len(whole) or len(whole) < 2 or vector[-1] < 0:
        return False
    if len(vector) > 1 and (any(size != 1 for size in vector[:-1]) or known_array(bias) is None):
        return False
    is_last = node.attributes.get("data_format", b"NHWC") in (b"NHWC", b"NDHWC")
    return is_last and vector[-1] == whole[-1]


def _flat(value: Value) -> np.ndarray:
    """The elements of a constant as a vector."""
    held = known_array(value)
    assert held is not None
    return held.reshape(-1)


def _with_bias(node: Node, fused_ops: tuple[bytes, ...]) -> Attributes:
    kind = data_type(node.results[0].type)
    held: Attributes = {"fused_ops": fused_ops, "num_args": 1}
    return held | {"TArgs": (kind,)} if node.op == "Conv2D" else held


@rule("BiasAdd", needs=("devices",), source=_SOURCE)
def fuse_bias_behind_squeeze(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A convolution with channels last and its bias, with a Squeeze between that keeps the channels.

    Given:  c = Conv2D(x, w); s = Squeeze(c); y = BiasAdd(s, b)
    Result: c = _FusedConv2D(x, w, b) {fused_ops = ["BiasAdd"]}; y = Squeeze(c)
    """
    squeeze = inner(rewriter, node, node.operands[0], "Squeeze")
    conv = None if squeeze is None else inner(rewriter, node, squeeze.operands[0], "Conv2D")
    if squeeze is None or conv is None or not is_on_cpu(node, node.operands[1]):
        return False
    dims = squeeze.attributes.get("squeeze_dims")
    if not isinstance(dims, tuple) or not dims or any(axis in _SQUEEZED_LAST for axis in dims):
        return False
    forms = {each.attributes.get("data_format", b"NHWC") for each in (node, conv)}
    if forms != {b"NHWC"}:
        return False
    attributes = known_attributes("_FusedConv2D", conv.attributes, _with_bias(conv, (b"BiasAdd",)))
    types = [conv.results[0].type]
    operands = (*conv.operands, node.operands[1])
    fused = rewriter.add(node, "_FusedConv2D", conv.name, operands, attributes, types, conv.controls)
    return become(rewriter, node, "Squeeze", fused.results[:1], dict(squeeze.attributes))


@rule(*_ADDS, needs=(*_ONEDNN, "shapes"), source=_SOURCE)
def fuse_added_tensor(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A convolution or product of matrices with bias, and a tensor of its shape added.

    Given:  c = _FusedConv2D(x, w, b) {fused_ops = ["BiasAdd"]}; y = AddV2(c, z)
    Result: y = _FusedConv2D(x, w, b, z) {fused_ops = ["BiasAdd", "Add"]}
    """
    for value, other in (node.operands, node.operands[::-1]):
        fused = inner(rewriter, node, value, "_FusedConv2D", "_FusedMatMul")
        if fused is None or not is_on_cpu(node, value) or fused.device != node.device:
            continue
        whole = shape(value)
        if fused.attributes.get("fused_ops") != (b"BiasAdd",) or not same_shape(whole, shape(other)):
            continue
        held: Attributes = {"fused_ops": (b"BiasAdd", b"Add"), "num_args": 2}
        if fused.op == "_FusedConv2D":
            held["TArgs"] = (data_type(value.type),) * 2
        attributes = known_attributes(fused.op, fused.attributes, held)
        return rewriter.put_in_place(node, fused.op, (*fused.operands, other), attributes, fused)
    return False


@rule(*_ADDS, needs=(*_ONEDNN, "shapes"), keeps_bits=False, source=_SOURCE)
def fuse_scaled_product(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A batch of products times a constant number, and a tensor added that does not stretch it.

    Given:  p = BatchMatMulV2(a, b); s = Mul(p, 0.125); y = AddV2(s, m)
    Result: y = _MklFusedBatchMatMulV2(a, b, 0.125, m) {fused_ops = ["Mul", "Add"]}
    """
    for value, addend in (node.operands, node.operands[::-1]):
        scaled = inner(rewriter, node, value, "Mul")
        for product, scale in () if scaled is None else (scaled.operands, scaled.operands[::-1]):
            batch = inner(rewriter, node, product, "BatchMatMulV2")
            held = known_array(scale)
            if (
                scaled is None
                or batch is None
                or held is None
                or held.size != 1
                or not is_on_cpu(node, product)
            ):
                continue
            if not _broadcasts_into(shape(addend), shape(product)):
                continue
            more: Attributes = {"fused_ops": (b"Mul", b"Add"), "num_args": 2}
            attributes = known_attributes("_MklFusedBatchMatMulV2", batch.attributes, more)
            operands = (*batch.operands, scale, addend)
            return rewriter.put_in_place(node, "_MklFusedBatchMatMulV2", operands, attributes, scaled, batch)
    return False


def _broadcasts_into(addend: tuple[int, ...] | None, whole: tuple[int, ...] | None) -> bool:
    """Whether a tensor of four axes stays as large as it is when another one is added."""
    if addend is None or whole is None or len(addend) != 4 or len(whole) != 4:
        return False
    return all(one == 1 or one == other for one, other in zip(addend, whole, strict=True))


@rule("StringToHashBucketFast", source=_SOURCE)
def fuse_hash_of_numbers(rewriter: OptimizingRewriter, node: Node) -> bool:
    """The hash of whole numbers as they are written, in the plain format.

    Given:  s = AsString(x); y = StringToHashBucketFast(s)
    Result: y = _TensorToHashBucketFast(x)
    """
    text = inner(rewriter, node, node.operands[0], "AsString")
    if text is None or element(text.operands[0]) not in INTEGERS or not device_of(node):
        return False
    plain = {"precision": -1, "width": -1, "scientific": False, "shortest": False, "fill": b""}
    if any(text.attributes.get(name, value) != value for name, value in plain.items()):
        return False
    x = text.operands[0]
    attributes: Attributes = {"T": data_type(x.type), "num_buckets": node.attributes.get("num_buckets", 1)}
    return become(rewriter, node, "_TensorToHashBucketFast", [x], attributes)


@rule(*_ADDS, needs=(*_ONEDNN, "shapes"), keeps_bits=False, source=_SOURCE)
def fuse_instance_norm(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A normalization over the axes between batch and channels, written out.

    Given:  m = Mean(x); v = Mean(SquaredDifference(x, m)); s = Rsqrt(v + epsilon) * gamma
            y = x * s + (beta - m * s)
    Result: y = _MklFusedInstanceNorm(x, gamma, beta)
    """
    for value, rest in (node.operands, node.operands[::-1]):
        product, difference = source(value, ("Mul",)), source(rest, ("Sub",))
        shifted = None if difference is None else source(difference.operands[1], ("Mul",))
        if product is None or difference is None or shifted is None or not is_on_cpu(node, value):
            continue
        found = _scale_and_mean(product, shifted)
        if found is None:
            continue
        x, gamma, epsilon, axes = found
        if rank_of(x) not in (4, 5) or axes != list(range(1, (rank_of(x) or 0) - 1)):
            continue
        attributes: Attributes = {"T": data_type(x.type), "epsilon": epsilon, "reduction_axes": tuple(axes)}
        attributes |= {"fused_ops": (), "leakyrelu_alpha": 0.2}
        return become(rewriter, node, "_MklFusedInstanceNorm", [x, gamma, difference.operands[0]], attributes)
    return False


def _scale_and_mean(product: Node, shifted: Node) -> tuple[Value, Value, float, list[int]] | None:
    """x, gamma, epsilon and the axes of x * s and m * s, where s is what an instance norm multiplies by."""
    for x, scale in (product.operands, product.operands[::-1]):
        other = [value for value in shifted.operands if value is not scale]
        mean = source(other[0], ("Mean",)) if len(other) == 1 else None
        whole = source(scale, ("Mul",))
        if mean is None or whole is None or mean.operands[0] is not x or not mean.attributes.get("keep_dims"):
            continue
        for root, gamma in (whole.operands, whole.operands[::-1]):
            inverse = source(root, ("Rsqrt",))
            sum = None if inverse is None else source(inverse.operands[0], _ADDS)
            for variance, small in () if sum is None else (sum.operands, sum.operands[::-1]):
                epsilon, axes = known_array(small), _axes_of_variance(variance, x, mean)
                if epsilon is not None and epsilon.size == 1 and axes is not None:
                    return x, gamma, float(epsilon.reshape(-1)[0]), axes
    return None


def _axes_of_variance(value: Value, x: Value, mean: Node) -> list[int] | None:
    """The axes over which a value is the variance of x, as its mean is taken."""
    variance = source(value, ("Mean",))
    square = None if variance is None else source(variance.operands[0], ("SquaredDifference",))
    if variance is None or square is None or set(square.operands) != {x, mean.results[0]}:
        return None
    axes = [known_integers(each.operands[1]) for each in (mean, variance)]
    keeps = variance.attributes.get("keep_dims")
    return axes[0] if keeps and axes[0] is not None and axes[0] == axes[1] else None


def is_on_cpu(node: Node, value: Value) -> bool:
    return device_of(node) == "cpu" and element(value) in _FLOATS
