"""Nodes that give an operand as it is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....lite.errors import ModelError
from ...graph.rule import rule
from ...ir.node import Node
from ...shapes.dimensions import broadcast
from ..node_rewriter import NodeRewriter, shape_of
from .tensors import known_array, known_integers


def _reshape(node: Node) -> int | None:
    shape, sizes = shape_of(node.operands[0]), known_integers(node.operands[1])
    if shape is None or sizes is None or len(sizes) != len(shape) or sizes.count(-1) > 1:
        return None
    return 0 if all(a in (-1, b) for a, b in zip(sizes, shape, strict=True)) else None


def _slice(node: Node) -> int | None:
    shape, begin, size = shape_of(node.operands[0]), *(known_integers(v) for v in node.operands[1:])
    if shape is None or begin is None or size is None or any(begin) or len(size) != len(shape):
        return None
    return 0 if all(a in (-1, b) for a, b in zip(size, shape, strict=True)) else None


def _strided_slice(node: Node) -> int | None:
    shape = shape_of(node.operands[0])
    begin, end, strides = (known_integers(v) for v in node.operands[1:])
    if shape is None or begin is None or end is None or strides is None or len(begin) > len(shape):
        return None
    if any(node.attributes.get(f"{name}_mask") for name in ("ellipsis", "new_axis", "shrink_axis")):
        return None
    masks = [_mask(node, "begin_mask"), _mask(node, "end_mask")]
    for i, size in enumerate(shape[: len(begin)]):
        first = begin[i] == 0 or begin[i] <= -size or masks[0] >> i & 1
        last = end[i] >= size or masks[1] >> i & 1
        if strides[i] != 1 or not first or not last:
            return None
    return 0


def _mask(node: Node, name: str) -> int:
    held = node.attributes.get(name)
    return held if isinstance(held, int) else 0


def _tile(node: Node) -> int | None:
    counts = known_integers(node.operands[1])
    return 0 if counts is not None and all(count == 1 for count in counts) else None


def _pad(node: Node) -> int | None:
    paddings = known_array(node.operands[1])
    return 0 if paddings is not None and not paddings.any() else None


def _squeeze(node: Node) -> int | None:
    shape = shape_of(node.operands[0])
    return 0 if shape is not None and 1 not in shape else None


def _transpose(node: Node) -> int | None:
    """Only axes of size 1 move."""
    shape, order = shape_of(node.operands[0]), known_integers(node.operands[1])
    if shape is None or order is None or sorted(order) != list(range(len(shape))):
        return None
    moved = [axis for axis in order if shape[axis] != 1]
    return 0 if moved == sorted(moved) and tuple(shape[axis] for axis in order) == shape else None


def _reverse(node: Node) -> int | None:
    shape, axes = shape_of(node.operands[0]), known_integers(node.operands[1])
    if shape is None or axes is None:
        return None
    return 0 if all(shape[axis] == 1 for axis in axes) else None


def _split(node: Node) -> int | None:
    if len(node.results) != 1:
        return None
    return 1 if node.op == "Split" else 0


def _shuffle(node: Node) -> int | None:
    shape = shape_of(node.operands[0])
    return 0 if shape is not None and (not shape or shape[0] == 1) else None


def _select(node: Node) -> int | None:
    """A condition that is all true, or all false."""
    chosen = known_array(node.operands[0])
    if chosen is None or chosen.dtype != np.bool_ or not chosen.size:
        return None
    if not (chosen.all() or not chosen.any()):
        return None
    index = 1 if chosen.all() else 2
    shapes = {shape_of(value) for value in node.operands[1:]}
    if len(shapes) != 1 or None in shapes:
        return None
    kept = shape_of(node.operands[index])
    if node.op == "SelectV2" and (kept is None or broadcast(chosen.shape, kept) != kept):
        # The operands stretch to the condition's shape.
        return None
    return index


_CHECKS: dict[str, Callable[[Node], int | None]] = {
    "Reshape": _reshape,
    "Slice": _slice,
    "StridedSlice": _strided_slice,
    "Tile": _tile,
    "Pad": _pad,
    "PadV2": _pad,
    "MirrorPad": _pad,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
    "ReverseV2": _reverse,
    "Split": _split,
    "SplitV": _split,
    "RandomShuffle": _shuffle,
    "Select": _select,
    "SelectV2": _select,
}


@rule(*_CHECKS, needs=("shapes",))
def keep_operand(rewriter: NodeRewriter, node: Node) -> bool:
    """An op that, for these shapes and constants, changes nothing.

    Given:  x: 2x3; s = Const [2, 3]; y = Reshape(x, s)
    Result: y = Identity(x) [s]

    So do Slice, StridedSlice, Tile, Pad, Squeeze, Transpose, Reverse, Split, Select and RandomShuffle.
    """
    if rewriter.is_kept(node):
        return False
    try:
        index = _CHECKS[node.op](node)
    except (ModelError, IndexError, ValueError):
        # A node that lacks what its op needs is not for here to complain of.
        return False
    if index is None:
        return False
    rewriter.replace_with_operand(node, index)
    return True
