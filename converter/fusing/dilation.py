"""Dilated convolutions that are written as convolutions of blocks."""

from __future__ import annotations

import numpy as np

from ...schema.tflite import BuiltinOperator, Conv2DOptionsT, DepthwiseConv2DOptionsT, Padding
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from ..partial_shape import is_known
from .padding import pads_as_same
from .pattern import Fused, activation_of


class UseDilation:
    """Makes a dilated convolution of one that is put on blocks of the image.

    Given:  y = BATCH_TO_SPACE_ND(CONV_2D(SPACE_TO_BATCH_ND(x, [d, d], p), w, b), [d, d], c)
    Result: y = CONV_2D(x, w, b) dilated by d

    Also for DEPTHWISE_CONV_2D. The convolution must have padding VALID and strides of 1, and the paddings
    less the crops must be none, or what SAME pads.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        fused = Fused(graph)
        gone: list[LiteOperator] = []
        for last in graph.operators:
            if last.code != BuiltinOperator.BATCH_TO_SPACE_ND:
                continue
            middle = fused.only_user_of(last.inputs[0])
            options = None if middle is None else middle.options
            if middle is None or not isinstance(options, Conv2DOptionsT | DepthwiseConv2DOptionsT):
                continue
            first = fused.only_user_of(middle.inputs[0])
            if first is None or first.code != BuiltinOperator.SPACE_TO_BATCH_ND or activation_of(middle):
                continue
            padding = _padding(first, middle, last, options)
            if padding is None:
                continue
            options.padding = padding
            block = first.inputs[1]
            assert block is not None and block.data is not None
            options.dilation_h_factor, options.dilation_w_factor = (int(n) for n in block.data)
            middle.inputs[0], middle.outputs = first.inputs[0], last.outputs
            middle.sources += (*first.sources, *last.sources)
            gone += [first, last]
        graph.remove(gone)
        return len(gone)


def _padding(
    first: LiteOperator,
    middle: LiteOperator,
    last: LiteOperator,
    options: Conv2DOptionsT | DepthwiseConv2DOptionsT,
) -> int | None:
    """The padding of the dilated convolution, None where it would not be the same."""
    if (options.stride_h, options.stride_w, options.padding) != (1, 1, Padding.VALID):
        return None
    if (options.dilation_h_factor, options.dilation_w_factor) != (1, 1):
        return None
    blocks, margins = _constants(first.inputs[1], last.inputs[1]), _constants(first.inputs[2], last.inputs[2])
    x, y, weights = first.inputs[0], last.outputs[0], middle.inputs[1]
    if blocks is None or margins is None or x is None or weights is None or weights.shape is None:
        return None
    if (
        not np.array_equal(blocks[0], blocks[1])
        or blocks[0].size != 2
        or not is_known(x.shape)
        or not is_known(y.shape)
    ):
        return None
    reach = [(size - 1) * int(d) for size, d in zip(weights.shape[1:3], blocks[0], strict=True)]
    paddings, crops = margins
    # Crops take the end of what the blocks were padded to, so the beginning is what counts.
    before = [int(n) for n in paddings[:, 0]]
    if np.any(crops[:, 0]) or x.shape is None or y.shape is None:
        return None
    if y.shape[1:3] == x.shape[1:3] and pads_as_same(before, reach):
        return int(Padding.SAME)
    valid = tuple(size - r for size, r in zip(x.shape[1:3], reach, strict=True))
    return int(Padding.VALID) if y.shape[1:3] == valid and not any(before) else None


def _constants(*tensors: LiteTensor | None) -> list[np.ndarray] | None:
    found = [tensor.data for tensor in tensors if tensor is not None and tensor.data is not None]
    return found if len(found) == len(tensors) else None
