"""The StableHLO operations that are read, and the family module that each comes from."""

from __future__ import annotations

from functools import lru_cache

from ...lite.families import Families
from .step import Rule

_OPERATIONS: dict[str, tuple[str, ...]] = {
    "batch_norm": ("batch_norm_grad", "batch_norm_inference", "batch_norm_training"),
    "bits": (
        *("and", "count_leading_zeros", "not", "or", "popcnt", "shift_left", "shift_right_arithmetic"),
        *("shift_right_logical", "xor"),
    ),
    "calls": ("call", "composite", "custom_call", "optimization_barrier"),
    "chlo": (
        *("chlo.acos", "chlo.acosh", "chlo.asin", "chlo.asinh", "chlo.atan", "chlo.atanh", "chlo.constant"),
        *("chlo.constant_like", "chlo.cosh", "chlo.digamma", "chlo.erf", "chlo.erf_inv", "chlo.erfc"),
        *("chlo.is_inf", "chlo.is_neg_inf", "chlo.is_pos_inf", "chlo.lgamma", "chlo.sinh", "chlo.square"),
        *("chlo.tan", "chlo.top_k"),
    ),
    "collectives": (
        *("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute"),
        *("partition_id", "reduce_scatter", "replica_id"),
    ),
    "control_flow": ("case", "if", "while"),
    "conv": ("convolution", "dynamic_conv"),
    "dot": ("dot", "dot_general"),
    "elementwise": (
        *(
            "abs",
            "add",
            "atan2",
            "bitcast_convert",
            "cbrt",
            "ceil",
            "clamp",
            "compare",
            "convert",
            "cosine",
        ),
        *("divide", "exponential", "exponential_minus_one", "floor", "is_finite", "log", "log_plus_one"),
        *("logistic", "maximum", "minimum", "multiply", "negate", "power", "reduce_precision", "remainder"),
        *("round_nearest_afz", "round_nearest_even", "rsqrt", "select", "sign", "sine", "sqrt", "subtract"),
        *("tan", "tanh"),
    ),
    "fourier": ("fft",),
    "gather": ("dynamic_gather", "gather", "torch_index_select"),
    "linear_algebra": ("cholesky", "triangular_solve"),
    "map": ("map",),
    "movement": ("concatenate", "dynamic_pad", "pad", "reverse", "transpose"),
    "reduce": ("reduce",),
    "random": ("rng", "rng_bit_generator"),
    "scatter": ("scatter",),
    "select_and_scatter": ("select_and_scatter",),
    "shape": (
        *("broadcast", "broadcast_in_dim", "constant", "dynamic_broadcast_in_dim", "dynamic_iota"),
        *("dynamic_reshape", "get_dimension_size", "iota", "reshape"),
    ),
    "slice": ("dynamic_slice", "dynamic_update_slice", "real_dynamic_slice", "slice"),
    "sort": ("sort",),
    "window": ("reduce_window",),
}
# What is computed of each element by itself.
OF_ELEMENTS = frozenset((*_OPERATIONS["bits"], *_OPERATIONS["elementwise"]))
FAMILIES: Families[dict[str, Rule]] = Families(__package__, _OPERATIONS)


@lru_cache(None)
def rule_of(operation: str) -> Rule | None:
    """The operation's rule, None where there is none."""
    family = next(iter(FAMILIES.modules_of(operation)), None)
    return None if family is None else FAMILIES.registrations(family)[operation]
