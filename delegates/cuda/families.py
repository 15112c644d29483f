"""Which op family lowers which operator: the list that new families are added to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from . import (
    activations,
    arg_min_max,
    batch_matmul,
    binary,
    binary_math,
    cast,
    comparison,
    conv,
    cumsum,
    depthwise_conv,
    dynamic_update_slice,
    elementwise,
    embedding,
    fill,
    fully_connected,
    gather,
    gather_nd,
    logical,
    mirror_pad,
    movement,
    normalization,
    pad,
    pool,
    prelu,
    quantize,
    reduce,
    reshape,
    resize,
    select,
    softmax,
    space_batch,
    top_k,
    transpose_conv,
)

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering

_CHAIN = frozenset({"pad", "clamp", "add"})
_WINDOW = frozenset({"pad", "clamp"})
_AFTER = frozenset({"clamp", "add"})


class Family(NamedTuple):
    """How an operator becomes launches.

    lower adds them, and gives outputs their shapes; it raises UnsupportedError or PrepareError with the
    reason for what it does not take. absorbs says what may be fused into it: "pad", "clamp", "add".
    takes_halves says whether float16 and bfloat16 tensors may stand where the CPU's calls have float32 ones.
    """

    lower: Callable[[Lowering, Step], None]
    absorbs: frozenset[str] = frozenset()
    takes_halves: bool = False


FAMILIES: dict[str, Family] = {
    **dict.fromkeys(activations.OPERATORS, Family(activations.lower, takes_halves=True)),
    **dict.fromkeys(arg_min_max.OPERATORS, Family(arg_min_max.lower)),
    **dict.fromkeys(binary.OPERATORS, Family(binary.lower, takes_halves=True)),
    **dict.fromkeys(binary_math.OPERATORS, Family(binary_math.lower, takes_halves=True)),
    **dict.fromkeys(cast.OPERATORS, Family(cast.lower)),
    **dict.fromkeys(comparison.OPERATORS, Family(comparison.lower, takes_halves=True)),
    **dict.fromkeys(cumsum.OPERATORS, Family(cumsum.lower, takes_halves=True)),
    **dict.fromkeys(dynamic_update_slice.OPERATORS, Family(dynamic_update_slice.lower)),
    **dict.fromkeys(elementwise.OPERATORS, Family(elementwise.lower, takes_halves=True)),
    **dict.fromkeys(embedding.OPERATORS, Family(embedding.lower)),
    **dict.fromkeys(fill.OPERATORS, Family(fill.lower)),
    **dict.fromkeys(gather.OPERATORS, Family(gather.lower)),
    **dict.fromkeys(gather_nd.OPERATORS, Family(gather_nd.lower)),
    **dict.fromkeys(logical.OPERATORS, Family(logical.lower)),
    **dict.fromkeys(mirror_pad.OPERATORS, Family(mirror_pad.lower)),
    **dict.fromkeys(movement.OPERATORS, Family(movement.lower)),
    **dict.fromkeys(normalization.OPERATORS, Family(normalization.lower, takes_halves=True)),
    **dict.fromkeys(pad.OPERATORS, Family(pad.lower)),
    **dict.fromkeys(pool.OPERATORS, Family(pool.lower, takes_halves=True)),
    **dict.fromkeys(quantize.OPERATORS, Family(quantize.lower, takes_halves=True)),
    **dict.fromkeys(reduce.OPERATORS, Family(reduce.lower, takes_halves=True)),
    **dict.fromkeys(reshape.OPERATORS, Family(reshape.lower)),
    **dict.fromkeys(resize.OPERATORS, Family(resize.lower, takes_halves=True)),
    **dict.fromkeys(select.OPERATORS, Family(select.lower)),
    **dict.fromkeys(softmax.OPERATORS, Family(softmax.lower, takes_halves=True)),
    **dict.fromkeys(space_batch.OPERATORS, Family(space_batch.lower)),
    **dict.fromkeys(top_k.OPERATORS, Family(top_k.lower)),
    "BATCH_MATMUL": Family(batch_matmul.lower),
    "CONV_2D": Family(conv.lower, _CHAIN),
    "DEPTHWISE_CONV_2D": Family(depthwise_conv.lower, _WINDOW),
    "PRELU": Family(prelu.lower, takes_halves=True),
    "TRANSPOSE_CONV": Family(transpose_conv.lower),
    "FULLY_CONNECTED": Family(fully_connected.lower, _AFTER),
}
