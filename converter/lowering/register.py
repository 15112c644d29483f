"""The TensorFlow ops that have lowering rules, and the family module that each comes from."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .lowering import Lowering, Rule

# Family module: the ops in its RULES. A module is imported only for a graph that has one of its ops.
FAMILIES: dict[str, tuple[str, ...]] = {
    "activations": (
        "Elu",
        "LeakyRelu",
        "Relu",
        "Relu6",
        "Selu",
        "Sigmoid",
        "Softplus",
        "Softsign",
        "Tanh",
    ),
    "arg_min_max": (
        "ArgMax",
        "ArgMin",
    ),
    "batch_matmul": (
        "BatchMatMul",
        "BatchMatMulV2",
        "BatchMatMulV3",
    ),
    "batch_norm": (
        "FusedBatchNorm",
        "FusedBatchNormV2",
        "FusedBatchNormV3",
    ),
    "binary": (
        "Add",
        "AddV2",
        "Atan2",
        "BiasAdd",
        "BitwiseXor",
        "Div",
        "Equal",
        "FloorDiv",
        "FloorMod",
        "Greater",
        "GreaterEqual",
        "Less",
        "LessEqual",
        "LogicalAnd",
        "LogicalOr",
        "Maximum",
        "Minimum",
        "Mul",
        "NotEqual",
        "Pow",
        "RealDiv",
        "RightShift",
        "SquaredDifference",
        "Sub",
    ),
    "cast": (
        "Bitcast",
        "Cast",
    ),
    "concatenation": (
        "Concat",
        "ConcatV2",
    ),
    "conv": ("Conv2D",),
    "depthwise_conv": ("DepthwiseConv2dNative",),
    "elementwise": (
        "Abs",
        "Ceil",
        "Cos",
        "Exp",
        "Expm1",
        "Floor",
        "IsFinite",
        "IsInf",
        "IsNan",
        "L2Loss",
        "Log",
        "Log1p",
        "Neg",
        "Reciprocal",
        "Inv",
        "Rint",
        "Round",
        "Rsqrt",
        "Sign",
        "Sin",
        "Sqrt",
        "Square",
    ),
    "fill": (
        "Fill",
        "OneHot",
        "OnesLike",
        "ZerosLike",
    ),
    "fully_connected": ("MatMul",),
    "gather": (
        "Gather",
        "GatherV2",
    ),
    "gather_nd": ("GatherNd",),
    "logical": ("LogicalNot",),
    "pad": ("Pad",),
    "pool": (
        "MaxPool",
        "AvgPool",
    ),
    "range": ("Range",),
    "reduce": (
        "All",
        "Any",
        "Max",
        "Mean",
        "Min",
        "Prod",
        "Sum",
    ),
    "reshape": (
        "ExpandDims",
        "Reshape",
        "Squeeze",
    ),
    "select": (
        "Select",
        "SelectV2",
    ),
    "shape": (
        "BroadcastArgs",
        "Rank",
        "Shape",
        "ShapeN",
        "Size",
    ),
    "slice": (
        "Slice",
        "StridedSlice",
    ),
    "softmax": (
        "LogSoftmax",
        "Softmax",
    ),
    "split": (
        "Pack",
        "Split",
        "SplitV",
        "Unpack",
    ),
    "tile": (
        "BroadcastTo",
        "Tile",
    ),
    "transpose": ("Transpose",),
}
# Families of ops that make up the graph itself: never flex or custom operators, never folded.
STRUCTURAL: dict[str, tuple[str, ...]] = {
    "call": ("PartitionedCall", "StatefulPartitionedCall"),
    "constant": (
        "Placeholder",
        "PlaceholderV2",
        "PlaceholderWithDefault",
        "Const",
        "Identity",
        "NoOp",
        "IdentityN",
        "StopGradient",
        "PreventGradient",
        "Snapshot",
        "EnsureShape",
        "CheckNumerics",
    ),
    "control_flow": ("If", "StatelessIf", "While", "StatelessWhile", "Case", "StatelessCase"),
}

_FAMILY_OF = {op: family for table in (FAMILIES, STRUCTURAL) for family, ops in table.items() for op in ops}
_STRUCTURAL = frozenset(op for ops in STRUCTURAL.values() for op in ops)


def is_structural(op: str) -> bool:
    """Whether the op makes up the graph itself."""
    return op in _STRUCTURAL


def rules(family: str) -> dict[str, Rule]:
    """The rules of a family module."""
    found: dict[str, Rule] = import_module(f".{family}", __package__).RULES
    return found


@lru_cache(None)
def _rule(op: str) -> Rule | None:
    return rules(_FAMILY_OF[op])[op] if op in _FAMILY_OF else None


def rule_of(op: str, lowering: Lowering) -> Rule | None:
    """The op's rule under the conversion's settings, None when there is none.

    An op that is the name of a function is a call of it.
    """
    if op in lowering.program.functions and op not in _FAMILY_OF:
        return rules("call")["PartitionedCall"]
    if not lowering.program.settings.builtins and op not in _STRUCTURAL:
        return None
    return _rule(op)
