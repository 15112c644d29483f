"""The patterns of the remapper, in the order in which a node is tried."""

from __future__ import annotations

from ...graph.algebra import unused_rule
from ...transforms.purity import is_pure
from ...transforms.remapping.batch_norm import fuse_batch_norm
from ...transforms.remapping.contraction import fuse_activation, fuse_bias
from ..constant_controls import drop_needless_controls
from ..turn import Turn
from .activation import fuse_gpu_activation, leaky_relu_of_max
from .gelu import fuse_gelu, fuse_gelu_by_tanh
from .layer_norm import fuse_layer_norm
from .normalization import fuse_contraction_norm, fuse_norm_without_device, split_batch_norm
from .onednn import (
    fuse_added_tensor,
    fuse_added_vector,
    fuse_bias_behind_squeeze,
    fuse_hash_of_numbers,
    fuse_instance_norm,
    fuse_mish,
    fuse_scaled_product,
    fuse_swish,
)
from .training import fuse_norm_gradient, fuse_norm_in_training

# Ops that start with "_" are TensorFlow's own: graphs of target "portable" have none.
PRIVATE = (
    fuse_gpu_activation,
    fuse_contraction_norm,
    fuse_bias,
    fuse_activation,
    fuse_batch_norm,
    fuse_norm_without_device,
    fuse_norm_in_training,
    fuse_norm_gradient,
    fuse_layer_norm,
    fuse_bias_behind_squeeze,
    fuse_added_vector,
    fuse_added_tensor,
    # Behind those that make the convolutions and products with bias that they look for.
    fuse_swish,
    fuse_mish,
    fuse_gelu,
    fuse_gelu_by_tanh,
    fuse_scaled_product,
    fuse_instance_norm,
    fuse_hash_of_numbers,
)
PUBLIC = (leaky_relu_of_max, split_batch_norm)


def fuse(turn: Turn) -> None:
    """Fuse contractions with what follows; batch norms that are left become products and sums.

    The nodes' devices say which fusions there are. Every op that is made has a kernel here.
    Source: TensorFlow core/grappler/optimizers/remapper.cc.
    """
    cleaning = (unused_rule(is_pure),) if turn.item.fetches or turn.item.function else ()
    chosen = [rule for rule in PRIVATE if turn.config.onednn or "onednn" not in rule.needs]
    if turn.config.target != "portable":
        turn.rewrite((*cleaning, *chosen), shapes=True)
    turn.rewrite((*cleaning, drop_needless_controls, *PUBLIC), shapes=True)
