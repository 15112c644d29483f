"""Stages about values that are repeated, and about looking up."""

from __future__ import annotations

from math import prod

import numpy as np

from ...graph.rule import rule
from ...ir.attributes import Attributes
from ...ir.node import Node, Value
from ...ir.types import ElementType, TensorType
from ...shapes.dimensions import ANY, is_known
from ...transforms.folding.tensors import known_integers
from ...transforms.node_rewriter import data_type
from ..rewriter import OptimizingRewriter
from .nodes import NUMBERS, SOURCE, all_equal_to, become, before, element, inner, number, shape, source


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


@rule("Reshape", source=SOURCE)
def reduce_upsampling_dims(rewriter: OptimizingRewriter, node: Node) -> bool:
    """Pixels that are repeated over six axes are so over four.

    Given:  r = Reshape(x, [n, h, 1, w, 1, c]); t = Tile(r, [1, 1, a, 1, b, 1]); y = Reshape(t, s)
    Result: r = Reshape(x, [n, h, w, c]); t = Tile(r, [1, 1, a, b]); y = Reshape(t, s)
    """
    tile = inner(rewriter, node, node.operands[0], "Tile")
    reshape = None if tile is None else inner(rewriter, tile, tile.operands[0], "Reshape")
    if tile is None or reshape is None:
        return False
    sizes, counts = known_integers(reshape.operands[1]), known_integers(tile.operands[1])
    if sizes is None or counts is None or len(sizes) != 6 or len(counts) != 6:
        return False
    if sizes[2] != 1 or sizes[4] != 1 or any(counts[i] != 1 for i in (0, 1, 3, 5)):
        return False
    x, four = reshape.operands[0], [sizes[i] for i in (0, 1, 3, 5)]
    flat = _reshaped(rewriter, node, "ReduceUpsamplingDims", x, four)
    tiled = _tiled(rewriter, node, "ReduceUpsamplingDims", flat, [1, 1, counts[2], counts[4]])
    rewriter.set_operand(node, 0, tiled)
    rewriter.erase(tile)
    rewriter.erase(reshape)
    return True


@rule("Pack", needs=("shapes",), source=SOURCE)
def replace_pack_with_tile_reshape(rewriter: OptimizingRewriter, node: Node) -> bool:
    """One value that is packed with itself, along several axes one after another, is repeated.

    Given:  p = Pack(x: 2x3x4, x) {axis = 2}; y = Pack(p, p) {axis = 1}
    Result: y = Reshape(Tile(x, [1, 2, 2]), [2, 2, 3, 2, 4])
    """
    if _is_packed_again(rewriter, node):
        return False
    packs, counts = _nested_packs(rewriter, node)
    x = packs[-1].operands[0] if packs else node.operands[0]
    whole, result = shape(x), shape(node.results[0])
    if not counts or whole is None or result is None or not is_known(whole) or not is_known(result):
        return False
    if any(axis >= len(whole) for axis, _ in counts):
        return False
    repeats = [prod(count for axis, count in counts if axis == i) for i in range(len(whole))]
    tiled = _tiled(rewriter, node, "ReplacePackWithTileReshape", x, repeats)
    held = number(rewriter, node, "ReplacePackWithTileReshape", np.array(result, np.int32), "i32")
    if held is None:
        return False
    attributes: Attributes = {"T": data_type(x.type), "Tshape": ElementType("i32")}
    become(rewriter, node, "Reshape", (tiled, held), attributes)
    for pack in packs[1:]:
        rewriter.erase(pack)
    return True


def _nested_packs(rewriter: OptimizingRewriter, node: Node) -> tuple[list[Node], list[tuple[int, int]]]:
    """The Packs of one value from a node on down, and of each its axis and how often it takes the value."""
    packs: list[Node] = []
    counts: list[tuple[int, int]] = []
    each: Node | None = node
    while each is not None and len(each.operands) > 1 and len(set(each.operands)) == 1:
        axis = _pack_axis(each)
        if axis is None or (counts and axis < counts[-1][0]):
            break
        counts.append((axis, len(each.operands)))
        packs.append(each)
        each = _packed_for(rewriter, each)
    return packs, counts


def _pack_axis(node: Node) -> int | None:
    axis, rank = node.attributes.get("axis", 0), len(shape(node.results[0]) or ())
    return axis % rank if isinstance(axis, int) and rank else None


def _is_packed_again(rewriter: OptimizingRewriter, node: Node) -> bool:
    """Whether another Pack takes the node's result alone, which then is replaced with it."""
    user = next(iter(node.results[0].users), None)
    if user is None or user.op != "Pack" or _packed_for(rewriter, user) is not node:
        return False
    return node in _nested_packs(rewriter, user)[0]


def _packed_for(rewriter: OptimizingRewriter, node: Node) -> Node | None:
    """The Pack that gives what a node packs with itself, if that is for this node alone."""
    found = source(node.operands[0], "Pack")
    if found is None or any(user is not node for user in found.results[0].users):
        return None
    is_free = not found.controls and not found.control.users and not rewriter.is_named(found)
    return found if is_free and found.device == node.device else None


def _reshaped(rewriter: OptimizingRewriter, node: Node, stage: str, x: Value, sizes: list[int]) -> Value:
    held = number(rewriter, node, f"{stage}_Shape", np.array(sizes, np.int32), "i32")
    assert held is not None
    attributes: Attributes = {"T": data_type(x.type), "Tshape": ElementType("i32")}
    type = TensorType(data_type(x.type), tuple(sizes))
    return before(rewriter, node, f"{stage}_Reshape", "Reshape", (x, held), attributes, type)


def _tiled(rewriter: OptimizingRewriter, node: Node, stage: str, x: Value, counts: list[int]) -> Value:
    held = number(rewriter, node, f"{stage}_Multiples", np.array(counts, np.int32), "i32")
    assert held is not None
    sizes = [a * b if a >= 0 else ANY for a, b in zip(shape(x) or (), counts, strict=True)]
    attributes: Attributes = {"T": data_type(x.type), "Tmultiples": ElementType("i32")}
    type = TensorType(data_type(x.type), tuple(sizes))
    return before(rewriter, node, f"{stage}_Tile", "Tile", (x, held), attributes, type)
