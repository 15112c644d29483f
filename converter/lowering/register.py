"""The lowering rules of all ops."""

from __future__ import annotations

from . import (
    batch_norm,
    binary,
    constant,
    conv,
    depthwise_conv,
    fully_connected,
    pad,
    pool,
    reduce,
    reshape,
    unary,
)
from .lowering import Rule

RULES: dict[str, Rule] = {
    **constant.RULES,
    **binary.RULES,
    **unary.RULES,
    **conv.RULES,
    **depthwise_conv.RULES,
    **fully_connected.RULES,
    **batch_norm.RULES,
    **pool.RULES,
    **reduce.RULES,
    **pad.RULES,
    **reshape.RULES,
}
