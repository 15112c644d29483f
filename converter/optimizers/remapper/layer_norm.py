"""Layer norms as Keras writes them for CPUs and GPUs: by the normalization of a batch."""

from __future__ import annotations

from ...graph.rule import rule
from ...ir.node import Node, Value
from ...shapes.dimensions import ANY
from ...transforms.folding.tensors import known_integers
from ...transforms.node_rewriter import data_type
from ...transforms.remapping.fused_node import device_of, element, source
from ..arithmetic.nodes import all_equal_to, become, inner, shape
from ..rewriter import OptimizingRewriter
from .gelu import ADDS

_SOURCE = "TensorFlow core/grappler/optimizers/remapper.cc, FindLayerNorm"


@rule(*ADDS, needs=("devices", "onednn", "shapes"), keeps_bits=False, source=_SOURCE)
def fuse_layer_norm(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A normalization over the last axis, of rows that stand for a batch's channels.

    Given:  r = Reshape(x, [1, rows, n, 1]); b = FusedBatchNormV3(r, ones, zeros, [], []) {NCHW, is_training};
            y = AddV2(Mul(Reshape(b, shape of x), scale), offset)
    Result: y = _MklLayerNorm(x, scale, offset)
    """
    for value, offset in (node.operands, node.operands[::-1]):
        product = inner(rewriter, node, value, "Mul")
        for part, scale in () if product is None else (product.operands, product.operands[::-1]):
            back = inner(rewriter, node, part, "Reshape")
            norm = None if back is None else inner(rewriter, node, back.operands[0], "FusedBatchNormV3")
            x = None if norm is None else _rows(rewriter, norm)
            if norm is None or x is None or not _fits(node, x, scale, offset):
                continue
            attributes = {"T": data_type(x.type), "epsilon": norm.attributes.get("epsilon", 1e-4)}
            return become(rewriter, node, "_MklLayerNorm", [x, scale, offset], attributes)
    return False


def _rows(rewriter: OptimizingRewriter, norm: Node) -> Value | None:
    """What is normalized row by row, None if it is something else."""
    held = norm.attributes
    reshape = inner(rewriter, norm, norm.operands[0], "Reshape")
    if reshape is None or held.get("is_training", True) is not True or held.get("data_format") != b"NCHW":
        return None
    if not _all(norm.operands[1], 1) or not _all(norm.operands[2], 0):
        return None
    x, rows = reshape.operands[0], shape(reshape.results[0])
    sizes = shape(x)
    if not sizes or rows is None or len(rows) != 4 or (rows[0], rows[3]) != (1, 1):
        return None
    listed = known_integers(reshape.operands[1])
    last = rows[2] if rows[2] >= 0 or listed is None else listed[2]
    return x if last > 0 and sizes[-1] == last else None


def _all(value: Value, number: float) -> bool:
    """Whether all elements are the number."""
    fill = source(value, "Fill")
    return all_equal_to(value if fill is None else fill.operands[1], number)


def _fits(node: Node, x: Value, scale: Value, offset: Value) -> bool:
    sizes, result = shape(x), shape(node.results[0])
    if device_of(node) != "cpu" or element(x) not in ("f32", "bf16") or sizes is None or result is None:
        return False
    if len(result) != len(sizes) or not shape(scale) == shape(offset) == (sizes[-1],):
        return False
    unknown = sum(a == b == ANY for a, b in zip(sizes, result, strict=True))
    return unknown <= 1 and all(a == b for a, b in zip(sizes, result, strict=True))
