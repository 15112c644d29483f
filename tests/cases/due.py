"""How close to its definition an operator has to be: what computes nothing new is exact, in every type."""

from __future__ import annotations

from numlite.kernels.operators import OPERATORS

# Families that only move elements, find them, compare them or tell their number.
_MOVES = frozenset(
    (
        "arg_min_max",
        "bucketize",
        "cast",
        "comparison",
        "concatenation",
        "densify",
        "dynamic_update_slice",
        "fill",
        "gather",
        "gather_nd",
        "interior_pad",
        "matrix_diag",
        "mirror_pad",
        "pad",
        "reshape",
        "reverse",
        "select",
        "shape",
        "slice",
        "space_batch",
        "space_depth",
        "split",
        "stablehlo_gather",
        "stablehlo_movement",
        "stablehlo_sort",
        "tile",
        "top_k",
        "transpose",
        "where",
    )
)
_EXTREMA = "MAXIMUM MINIMUM REDUCE_MAX REDUCE_MIN MAX_POOL_2D STABLEHLO_MAXIMUM STABLEHLO_MINIMUM"
_CLAMPS = "RELU RELU6 RELU_N1_TO_1 RELU_0_TO_1 STABLEHLO_CLAMP"
_SIGNS = "ABS NEG SIGN LOGICAL_NOT STABLEHLO_ABS STABLEHLO_NEGATE"
_WHOLE = "FLOOR CEIL ROUND STABLEHLO_FLOOR STABLEHLO_CONVERT STABLEHLO_COMPARE STABLEHLO_SELECT"
_PARTS = "REAL IMAG REDUCE_ALL REDUCE_ANY RESIZE_NEAREST_NEIGHBOR NON_MAX_SUPPRESSION_V4"

EXACT_OPERATORS = frozenset(
    (
        *(name for name, facts in OPERATORS.items() if facts.family in _MOVES),
        *" ".join((_EXTREMA, _CLAMPS, _SIGNS, _WHOLE, _PARTS)).split(),
    )
)
