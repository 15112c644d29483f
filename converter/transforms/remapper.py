"""Remapper: several nodes become one of TensorFlow's fused ops."""

from __future__ import annotations

from functools import partial

from ..ir.module import Module
from .bodies import typed_bodies
from .remapping.batch_norm import fuse_batch_norm
from .remapping.contraction import fuse_activation, fuse_bias
from .remapping.fused_node import FusingRewriter
from .remapping.gated_activation import fuse_mish, fuse_swish
from .remapping.hash_bucket import fuse_hash_bucket
from .toposort import topological_order

RULES = (fuse_bias, fuse_activation, fuse_batch_norm, fuse_swish, fuse_mish, fuse_hash_bucket)
# The rules that TensorFlow writes as declarative patterns.
_DECLARATIVE = (fuse_swish,)


def remap(
    module: Module, enable_onednn_patterns: bool = False, verify_pdll_patterns_only: bool = False
) -> None:
    """Fuse contractions with bias and activation, and what else the rules in remapping/ know.

    Given:  c = MatMul(x, w); d = BiasAdd(c, b); y = Relu(d)
    Result: c = ..; d = ..; y = _FusedMatMul(x, w, b) {fused_ops = ["BiasAdd", "Relu"]}

    Devices say which fusions there are: a node without one is not fused. enable_onednn_patterns adds
    those of CPUs with oneDNN. Fused nodes that nothing needs any more stay: canonicalize drops them.
    Source: TensorFlow core/transforms/remapper.
    """
    onednn = enable_onednn_patterns or verify_pdll_patterns_only
    rules = _DECLARATIVE if verify_pdll_patterns_only else RULES
    chosen = [rule for rule in rules if onednn or "onednn" not in rule.needs]
    for body in typed_bodies(module):
        rewriter = FusingRewriter(body.body, [chosen], order=partial(topological_order, body.body))
        rewriter.onednn = onednn
        rewriter.run()
