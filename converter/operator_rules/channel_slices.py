"""Slices of channels: a product computes no more of them than are read."""

from __future__ import annotations

import numpy as np

from ...schema.tflite import BuiltinOperator as Op
from ..graph.rule import rule
from ..lite_graph import LiteOperator
from .rewriter import OperatorRewriter
from .weight_order import take_channels


@rule(Op.STRIDED_SLICE)
def slice_weights(rewriter: OperatorRewriter, cut: LiteOperator) -> bool:
    """Takes the channels that are read out of the weights.

    Given:  y = STRIDED_SLICE(FULLY_CONNECTED(x, w, b), .., begin:end:step)      the last axis alone is cut
    Result: y = FULLY_CONNECTED(x, w[begin:end:step], b[begin:end:step])

    Also for CONV_2D without groups. Weights and bias must be float constants; no other may use the product.
    """
    product, channels = cut.sole_producer(0), _channels(cut)
    if product is None or channels is None or not take_channels(rewriter, product, "part", channels):
        return False
    return rewriter.join(product, cut)


def _channels(cut: LiteOperator) -> slice | None:
    """What a slice takes of the last axis; None where it takes nothing, or cuts or moves another axis."""
    x, y, options = cut.operand(0), cut.result, cut.options
    bounds = [cut.constant(i) for i in (1, 2, 3)]
    if x.shape is None or y.shape is None or len(x.shape) != len(y.shape) or y.shape[-1] < 1:
        return None
    begin, end, step = (None if each is None else each.reshape(-1) for each in bounds)
    if begin is None or end is None or step is None or x.shape[-1] < 0:
        return None
    masks = [
        getattr(options, f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    ]
    last, whole = len(begin) - 1, (1 << max(0, len(begin) - 1)) - 1
    if masks[3] or masks[4] or not _keeps_others(masks, step, len(x.shape), last, whole):
        return None
    first = None if masks[0] >> last & 1 else int(begin[last])
    return slice(first, None if masks[1] >> last & 1 else int(end[last]), int(step[last]))


def _keeps_others(masks: list[int], step: np.ndarray, rank: int, last: int, whole: int) -> bool:
    """Whether all axes but the last stay as they are."""
    if masks[2]:
        return masks[2] == 1 and last == 1
    return last == rank - 1 and masks[0] & masks[1] & whole == whole and bool((step[:last] == 1).all())
