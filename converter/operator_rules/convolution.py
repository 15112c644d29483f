"""Convolutions that pad or dilate themselves, and products that are look-ups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...kernels.contraction.geometry import ConvGeometry, conv_geometry, depthwise_geometry
from ...lite.tensor import Shape, TensorType
from ...schema.tflite import BuiltinOperator as Op
from ...schema.tflite import Conv2DOptionsT, DepthwiseConv2DOptionsT, OneHotOptionsT, Padding
from ..graph.rule import rule
from ..lite_graph import LiteOperator, LiteTensor
from ..partial_shape import is_known
from .pattern import activation_of, bias_of, scalar_of
from .rewriter import OperatorRewriter, sources_of

_Convolution = Conv2DOptionsT | DepthwiseConv2DOptionsT


@rule(Op.CONV_2D, Op.DEPTHWISE_CONV_2D, needs=("shapes",))
def fuse_padding(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Turns a PAD before a convolution into SAME padding, where both pad alike.

    Given:  y = CONV_2D(PAD(x, p), w, b) with padding VALID
    Result: y = CONV_2D(x, w, b) with padding SAME

    Also for DEPTHWISE_CONV_2D. x's images must have a known size, and p must be what SAME pads.
    """
    options, before = operator.options, operator.producer(0)
    if not isinstance(options, _Convolution) or before is None or before.code != Op.PAD:
        return False
    if options.padding != Padding.VALID or not _same_pads_alike(operator, options, before):
        return False
    options.padding = Padding.SAME
    operator.sources += before.sources
    rewriter.set_operand(operator, 0, before.operands[0])
    return True


def _same_pads_alike(operator: LiteOperator, options: _Convolution, before: LiteOperator) -> bool:
    """Whether SAME on the PAD's input gives the same window positions."""
    x, paddings, weights = before.operand(0).shape, before.constant(1), operator.operand(1).shape
    if x is None or not is_known(x[1:]) or paddings is None or weights is None or np.any(paddings[[0, 3]]):
        return False
    (top, bottom), (left, right) = paddings[1:3].tolist()
    # How many images there are does not matter.
    same = _same_geometry(options, (1, *x[1:]), weights)
    rows = (same.out_height - 1) * same.stride_h + (same.filter_height - 1) * same.dilation_h + 1
    columns = (same.out_width - 1) * same.stride_w + (same.filter_width - 1) * same.dilation_w + 1
    # The last window may end before the padded input does, so only what comes before must be equal, and
    # the number of windows.
    before_is_same = (same.pad_top, same.pad_left) == (top, left)
    fits = rows <= top + same.in_height + bottom and columns <= left + same.in_width + right
    y = operator.result.shape
    return before_is_same and fits and y is not None and y[1:] == same.output_shape[1:]


def _same_geometry(options: _Convolution, x: Shape, weights: Shape) -> ConvGeometry:
    valid = options.padding
    options.padding = Padding.SAME
    try:
        if isinstance(options, Conv2DOptionsT):
            return conv_geometry(options, x, weights)
        return depthwise_geometry(options, x, weights)
    finally:
        options.padding = valid


@rule(Op.BATCH_TO_SPACE_ND, needs=("shapes",))
def use_dilation(rewriter: OperatorRewriter, last: LiteOperator) -> bool:
    """Makes a dilated convolution of one that is put on blocks of the image.

    Given:  y = BATCH_TO_SPACE_ND(CONV_2D(SPACE_TO_BATCH_ND(x, [d, d], p), w, b), [d, d], c)
    Result: y = CONV_2D(x, w, b) dilated by d

    Also for DEPTHWISE_CONV_2D. The convolution must have padding VALID and strides of 1, and the paddings
    less the crops must be none, or what SAME pads.
    """
    middle = last.sole_producer(0)
    first = None if middle is None else middle.sole_producer(0)
    if middle is None or first is None or first.code != Op.SPACE_TO_BATCH_ND or activation_of(middle):
        return False
    options, block = middle.options, first.constant(1)
    if not isinstance(options, _Convolution) or block is None:
        return False
    padding = _dilated_padding(first, middle, last, options)
    if padding is None:
        return False
    options.padding = padding
    options.dilation_h_factor, options.dilation_w_factor = (int(n) for n in block)
    middle.sources += first.sources
    rewriter.set_operand(middle, 0, first.operands[0])
    return rewriter.join(middle, last)


def _dilated_padding(
    first: LiteOperator, middle: LiteOperator, last: LiteOperator, options: _Convolution
) -> int | None:
    """The padding of the dilated convolution, None where it would not be the same."""
    if (options.stride_h, options.stride_w, options.padding) != (1, 1, Padding.VALID):
        return None
    if (options.dilation_h_factor, options.dilation_w_factor) != (1, 1):
        return None
    blocks, margins = _both(first, last, 1), _both(first, last, 2)
    x, y, weights = first.operand(0).shape, last.result.shape, middle.operand(1).shape
    if blocks is None or margins is None or weights is None or x is None or y is None:
        return None
    if not np.array_equal(*blocks) or blocks[0].size != 2 or not is_known(x) or not is_known(y):
        return None
    reach = [(size - 1) * int(d) for size, d in zip(weights[1:3], blocks[0], strict=True)]
    paddings, crops = margins
    # Crops take the end of what the blocks were padded to, so the beginning is what counts.
    before = [int(n) for n in paddings[:, 0]]
    if np.any(crops[:, 0]):
        return None
    if y[1:3] == x[1:3] and _pads_as_same(before, reach):
        return int(Padding.SAME)
    valid = tuple(size - r for size, r in zip(x[1:3], reach, strict=True))
    return int(Padding.VALID) if y[1:3] == valid and not any(before) else None


def _both(first: LiteOperator, last: LiteOperator, place: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The constants that both have as an operand."""
    one, other = first.constant(place), last.constant(place)
    return None if one is None or other is None else (one, other)


def _pads_as_same(before: Sequence[int], reach: Sequence[int]) -> bool:
    """Whether this is what SAME pads before an image, for filters that reach so far and strides of 1."""
    return all(n == r // 2 for n, r in zip(before, reach, strict=True))


@rule(Op.FULLY_CONNECTED)
def use_embedding_lookup(rewriter: OperatorRewriter, second: LiteOperator) -> bool:
    """Picks rows of a table instead of multiplying it by vectors with a single 1.

    Given:  y = FULLY_CONNECTED(ONE_HOT(i, n, 1, 0), w, b)      i a vector, w and b constant
    Result: y = EMBEDDING_LOOKUP(i, transposed w + b)

    As in TensorFlow's converter, indices count as valid: one outside of the table is an error then, where
    ONE_HOT gives zeros.
    """
    first = second.sole_producer(0)
    if first is None or activation_of(second) or not _picks_one(first):
        return False
    table = _table(first, second)
    if table is None:
        return False
    sources = sources_of(second, first)
    rewriter.become(first, Op.EMBEDDING_LOOKUP, [first.operands[0], table])
    first.sources = sources
    return rewriter.join(first, second)


def _picks_one(operator: LiteOperator) -> bool:
    """Whether the operator makes rows with a 1 at the places that a vector names, and zeros elsewhere."""
    options = operator.options
    if operator.code != Op.ONE_HOT or not isinstance(options, OneHotOptionsT):
        return False
    places, _, on, off = operator.operands
    if places is None or places.type != TensorType.INT32 or places.shape is None or len(places.shape) != 1:
        return False
    return options.axis in (-1, 1) and scalar_of(on) == 1 and scalar_of(off) == 0


def _table(one_hot: LiteOperator, product: LiteOperator) -> LiteTensor | None:
    """The rows to pick, [n, units]; None where they are not constant or not n."""
    count, weights, bias = one_hot.constant(1), product.constant(1), bias_of(product)
    if count is None or weights is None or (bias is not None and bias.data is None):
        return None
    if weights.dtype != np.float32 or weights.ndim != 2 or int(count) != weights.shape[1]:
        return None
    rows = np.ascontiguousarray(weights.T)
    if bias is not None and bias.data is not None:
        rows = rows + bias.data
    old = product.operand(1)
    return LiteTensor(f"{old.name}/rows", old.type, rows.shape, rows)
