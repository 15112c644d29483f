"""Which op family lowers which operator: the list that new families are added to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ...kernels.operators import OPERATORS
from . import (
    activations,
    arg_min_max,
    batch_matmul,
    binary,
    cast,
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
    mirror_pad,
    movement,
    normalization,
    pad,
    plain_binary,
    pool,
    prelu,
    quantize,
    reduce,
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


_FAMILIES: dict[str, Family] = {
    "activations": Family(activations.lower, takes_halves=True),
    "arg_min_max": Family(arg_min_max.lower),
    "batch_matmul": Family(batch_matmul.lower),
    "binary": Family(binary.lower, takes_halves=True),
    "binary_math": Family(plain_binary.lower_math, takes_halves=True),
    "cast": Family(cast.lower),
    "comparison": Family(plain_binary.lower_comparison, takes_halves=True),
    "conv": Family(conv.lower, _CHAIN),
    "cumsum": Family(cumsum.lower, takes_halves=True),
    "depthwise_conv": Family(depthwise_conv.lower, _WINDOW),
    "dynamic_update_slice": Family(dynamic_update_slice.lower),
    "elementwise": Family(elementwise.lower, takes_halves=True),
    "embedding": Family(embedding.lower),
    "fill": Family(fill.lower),
    "fully_connected": Family(fully_connected.lower, _AFTER),
    "gather": Family(gather.lower),
    "gather_nd": Family(gather_nd.lower),
    "logical": Family(plain_binary.lower_logical),
    "mirror_pad": Family(mirror_pad.lower),
    "movement": Family(movement.lower),
    "normalization": Family(normalization.lower, takes_halves=True),
    "pad": Family(pad.lower),
    "pool": Family(pool.lower, takes_halves=True),
    "prelu": Family(prelu.lower, takes_halves=True),
    "quantize": Family(quantize.lower, takes_halves=True),
    "reduce": Family(reduce.lower, takes_halves=True),
    "reshape": Family(movement.lower_reshape),
    "resize": Family(resize.lower, takes_halves=True),
    "select": Family(select.lower),
    "softmax": Family(softmax.lower, takes_halves=True),
    "space_batch": Family(space_batch.lower),
    "top_k": Family(top_k.lower),
    "transpose_conv": Family(transpose_conv.lower),
}
# By operator.
FAMILIES = {name: _FAMILIES[facts.gpu] for name, facts in OPERATORS.items() if facts.gpu}


def lower(b: Lowering, step: Step) -> None:
    """Add the launches of a step."""
    family = FAMILIES[step.node.registration.name]
    b.begin(step, family.takes_halves)
    family.lower(b, step)
