"""The TensorFlow ops that have lowering rules, and the family module that each comes from."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from ...lite.families import Families

if TYPE_CHECKING:
    from .lowering import Lowering, Rule

_OPERATIONS: dict[str, tuple[str, ...]] = {
    "activations": ("Elu", "LeakyRelu", "Relu", "Relu6", "Selu", "Sigmoid", "Softplus", "Softsign", "Tanh"),
    "add_n": ("AccumulateNV2", "AddN"),
    "arg_min_max": ("ArgMax", "ArgMin"),
    "batch_matmul": ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"),
    "batch_norm": ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"),
    "binary": (
        *("Add", "AddV2", "Atan2", "BiasAdd", "BitwiseXor", "Div", "DivNoNan", "Equal", "FloorDiv"),
        *("FloorMod", "Greater", "GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalOr", "Maximum"),
        *("Minimum", "Mul", "MulNoNan", "NotEqual", "Pow", "RealDiv", "RightShift", "SquaredDifference"),
        *("Sub", "TruncateDiv", "Xdivy", "Xlog1py", "Xlogy"),
    ),
    "bucketize": ("Bucketize",),
    "cast": ("Bitcast", "Cast"),
    "complex_parts": ("ComplexAbs", "Imag", "Real"),
    "concatenation": ("Concat", "ConcatV2"),
    "conv": ("Conv2D",),
    "conv_3d": ("Conv3D", "Conv3DBackpropInputV2"),
    "cross_entropy": ("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"),
    "cumsum": ("Cumsum",),
    "depthwise_conv": ("DepthwiseConv2dNative",),
    "einsum": ("Einsum",),
    "elementwise": (
        *("Abs", "Ceil", "Cos", "Exp", "Expm1", "Floor", "IsFinite", "IsInf", "IsNan", "L2Loss", "Log"),
        *("Log1p", "Neg", "Reciprocal", "Inv", "Rint", "Round", "Rsqrt", "Sign", "Sin", "Sqrt", "Square"),
    ),
    "fill": ("Fill", "OneHot", "OnesLike", "ZerosLike"),
    "fully_connected": ("MatMul",),
    "gather": ("Gather", "GatherV2"),
    "gather_nd": ("GatherNd",),
    "hashtable": (
        *("HashTable", "HashTableV2", "InitializeTable", "InitializeTableV2", "LookupTableFind"),
        *("LookupTableFindV2", "LookupTableImport", "LookupTableImportV2", "LookupTableSize"),
        *("LookupTableSizeV2",),
    ),
    "logical": ("LogicalNot",),
    "matrix_diag": (
        *("MatrixBandPart", "MatrixDiag", "MatrixDiagV2", "MatrixDiagV3", "MatrixSetDiag"),
        *("MatrixSetDiagV2", "MatrixSetDiagV3"),
    ),
    "mirror_pad": ("MirrorPad",),
    "non_max_suppression": ("NonMaxSuppressionV3", "NonMaxSuppressionV4", "NonMaxSuppressionV5"),
    "normalization": ("LRN",),
    "pad": ("Pad", "PadV2"),
    "pool": ("MaxPool", "AvgPool"),
    "quantize": (
        *("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel"),
        *("QuantizeAndDequantizeV2",),
    ),
    "range": ("Range",),
    "reduce": ("All", "Any", "Max", "Mean", "Min", "Prod", "Sum"),
    "reshape": ("ExpandDims", "Reshape", "Squeeze"),
    "resize": ("ResizeBilinear", "ResizeNearestNeighbor"),
    "resource": (
        *("AssignAddVariableOp", "AssignSubVariableOp", "AssignVariableOp", "ReadVariableOp"),
        *("VarHandleOp",),
    ),
    "reverse": ("ReverseSequence", "ReverseV2", "Roll"),
    "rfft2d": ("RFFT", "RFFT2D"),
    "scatter": (
        *("InvertPermutation", "ScatterNd", "SparseToDense", "TensorScatterAdd", "TensorScatterSub"),
        *("TensorScatterUpdate",),
    ),
    "segment": (
        *("SegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd"),
        *("UnsortedSegmentSum",),
    ),
    "select": ("Select", "SelectV2"),
    "shape": ("BroadcastArgs", "Rank", "Shape", "ShapeN", "Size"),
    "slice": ("Slice", "StridedSlice"),
    "softmax": ("LogSoftmax", "Softmax"),
    "space_batch": ("BatchToSpaceND", "SpaceToBatchND"),
    "space_depth": ("DepthToSpace", "SpaceToDepth"),
    "special": ("Lgamma",),
    "split": ("Pack", "Split", "SplitV", "Unpack"),
    "tensor_list": (
        *("EmptyTensorList", "TensorListConcat", "TensorListConcatV2", "TensorListFromTensor"),
        *("TensorListGather", "TensorListGetItem", "TensorListLength"),
        *("TensorListPopBack", "TensorListPushBack"),
        *("TensorListReserve", "TensorListSetItem", "TensorListStack"),
    ),
    "tile": ("BroadcastTo", "Tile"),
    "top_k": ("TopKV2",),
    "transpose": ("Transpose",),
    "transpose_conv": ("Conv2DBackpropInput",),
    "where": ("Unique", "Where"),
}
# Families of ops that make up the graph itself: never flex or custom operators, never folded.
_STRUCTURE: dict[str, tuple[str, ...]] = {
    "call": ("PartitionedCall", "StatefulPartitionedCall"),
    "constant": (
        *("Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "Const", "Identity", "IdentityN", "NoOp"),
        *("StopGradient", "PreventGradient", "Snapshot", "EnsureShape", "CheckNumerics"),
    ),
    "control_flow": ("If", "StatelessIf", "While", "StatelessWhile", "Case", "StatelessCase"),
}

FAMILIES: Families[dict[str, Rule]] = Families(__package__, _OPERATIONS | _STRUCTURE)
_STRUCTURAL = frozenset(FAMILIES.names(*_STRUCTURE))
# Ops on lists of tensors, with rules and without.
_LIST_OPS = re.compile("(Empty)?TensorList")


def is_structural(op: str) -> bool:
    """Whether the op makes up the graph itself."""
    return op in _STRUCTURAL


def may_be_of_lists(op: str) -> bool:
    """Whether the op may fail for what a list of tensors has become."""
    return _LIST_OPS.match(op) is not None or op in _STRUCTURAL


@lru_cache(None)
def _rule(op: str) -> Rule | None:
    family = next(iter(FAMILIES.modules_of(op)), None)
    return None if family is None else FAMILIES.registrations(family)[op]


def rule_of(op: str, lowering: Lowering) -> Rule | None:
    """The op's rule under the conversion's settings, None when there is none.

    An op that is the name of a function is a call of it.
    """
    if op in lowering.program.functions and op not in FAMILIES:
        return _rule("PartitionedCall")
    if not lowering.program.settings.builtins and op not in _STRUCTURAL:
        return None
    if lowering.program.keeps_lists and _LIST_OPS.match(op):
        return None
    return _rule(op)
