"""Stages about values that are repeated, and about looking up."""

from __future__ import annotations

import numpy as np

from ...graph.rule import rule
from ...ir.attributes import Attributes
from ...ir.node import Node
from ...ir.types import ElementType
from ...shapes.dimensions import is_known
from ...transforms.folding.tensors import known_integers
from ...transforms.node_rewriter import data_type
from ..rewriter import OptimizingRewriter
from .nodes import NUMBERS, SOURCE, all_equal_to, become, element, number, shape, source


@rule("Mul", needs=("shapes",), source=SOURCE)
def replace_mul_with_tile(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A product with ones that only repeats.

    Given:  y = Mul(x: 2x1x3, ones: 2x4x3)
    Result: y = Tile(x, [1, 4, 1])
    """
    if element(node.results[0]) not in NUMBERS:
        return False
    for x, ones in (node.operands, node.operands[::-1]):
        whole, wide = shape(x), shape(ones)
        if whole is None or wide is None or not is_known(whole) or not is_known(wide):
            continue
        padded = (1,) * (len(whole) - len(wide)) + wide
        if len(wide) > len(whole) or not all_equal_to(ones, 1):
            continue
        counts = [b if a == 1 else 1 for a, b in zip(whole, padded, strict=True)]
        if all(count == 1 for count in counts) or any(
            b not in (1, a) for a, b in zip(whole, padded, strict=True) if a != 1
        ):
            continue
        held = number(rewriter, node, "MulToTile", np.array(counts, np.int32), "i32")
        if held is None:
            return False
        attributes: Attributes = {"T": data_type(x.type), "Tmultiples": ElementType("i32")}
        return become(rewriter, node, "Tile", (x, held), attributes)
    return False


@rule("GatherV2", source=SOURCE)
def simplify_embedding_lookup(rewriter: OptimizingRewriter, node: Node) -> bool:
    """Rows for unique ids, put back to where the ids were.

    Given:  u, i = Unique(ids); g = GatherV2(p, u, 0); y = GatherV2(g, i, 0)
    Result: y = GatherV2(p, ids, 0)
    """
    first = source(node.operands[0], "GatherV2")
    if first is None or first.controls or first.attributes.get("batch_dims", 0) != 0:
        return False
    unique = first.operands[1].owner
    if not isinstance(unique, Node) or unique.op != "Unique" or first.operands[1].index != 0:
        return False
    if node.operands[1].owner is not unique or node.operands[1].index != 1 or unique.controls:
        return False
    axes = [known_integers(each.operands[2]) for each in (first, node)]
    if axes != [[0], [0]] or node.attributes.get("batch_dims", 0) != 0:
        return False
    node.attributes["Tindices"] = data_type(unique.operands[0].type)
    rewriter.set_operands(node, (first.operands[0], unique.operands[0], node.operands[2]))
    return True


_SEGMENTS = tuple(
    f"{kind}Segment{op}" for kind in ("", "Unsorted") for op in ("Sum", "Prod", "Max", "Min", "Mean")
)


@rule(*_SEGMENTS, source=SOURCE)
def remove_cast_into_segment_reduction(rewriter: OptimizingRewriter, node: Node) -> bool:
    """Ids of segments need no Cast between the types that ids may have.

    Given:  i = Cast(ids: i64) {DstT = i32}; y = SegmentSum(x, i)
    Result: y = SegmentSum(x, ids)
    """
    cast = source(node.operands[1], "Cast")
    if (
        cast is None
        or cast.controls
        or {element(cast.operands[0]), element(cast.results[0])} != {"i32", "i64"}
    ):
        return False
    node.attributes["Tindices"] = data_type(cast.operands[0].type)
    rewriter.set_operand(node, 1, cast.operands[0])
    return True
