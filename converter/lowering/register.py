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
    "batch_norm": (
        *("BatchNormWithGlobalNormalization", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"),
    ),
    "binary": (
        *(
            "Add",
            "AddV2",
            "BiasAdd",
            "BiasAddV1",
            "BitwiseXor",
            "Div",
            "DivNoNan",
            "Equal",
            "FloorDiv",
        ),
        *("FloorMod", "Greater", "GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalOr"),
        *("Maximum", "Minimum", "Mul", "MulNoNan", "NotEqual", "Pow", "RealDiv", "RightShift"),
        *("SquaredDifference", "Sub", "Xdivy", "Xlog1py", "Xlogy", "AccumulateNV2", "AddN"),
    ),
    "cast": ("Bitcast", "Cast"),
    "concatenation": ("Concat", "ConcatV2", "DynamicStitch", "ParallelDynamicStitch"),
    "conv": ("Conv2D",),
    "conv_3d": ("Conv3D", "Conv3DBackpropInputV2"),
    "cross_entropy": ("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"),
    "depthwise_conv": ("DepthwiseConv2dNative",),
    "direct": (
        *(
            "ArgMax",
            "ArgMin",
            "BatchToSpace",
            "BatchToSpaceND",
            "Bucketize",
            "ComplexAbs",
            "Cumsum",
            "DepthToSpace",
        ),
        *("Gather", "GatherNd", "LRN", "LogSoftmax", "LogicalNot", "MirrorPad", "Range"),
        *("ResizeBilinear", "ResizeNearestNeighbor", "SegmentSum", "Softmax"),
        *("SpaceToBatch", "SpaceToBatchND", "SpaceToDepth", "UnsortedSegmentMax", "UnsortedSegmentMin"),
        *("UnsortedSegmentProd", "UnsortedSegmentSum"),
    ),
    "einsum": ("Einsum",),
    "elementwise": (
        *("Abs", "Ceil", "Cos", "Exp", "Expm1", "Floor", "IsFinite", "IsInf", "IsNan", "L2Loss"),
        *("Log", "Log1p", "Neg", "Reciprocal", "Inv", "Rint", "Round", "Rsqrt", "Sign", "Sin"),
        *("Sqrt", "Square"),
    ),
    "fill": ("Fill", "OneHot", "OnesLike", "ZerosLike"),
    "matmul": ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "MatMul", "SparseMatMul"),
    "gather": ("GatherV2",),
    "gradients": ("BiasAddGrad", "RsqrtGrad", "SeluGrad", "SigmoidGrad", "SqrtGrad", "TanhGrad"),
    "hashtable": (
        *("HashTable", "HashTableV2", "InitializeTable", "InitializeTableV2", "LookupTableFind"),
        *("LookupTableFindV2", "LookupTableImport", "LookupTableImportV2", "LookupTableSize"),
        *("LookupTableSizeV2",),
    ),
    "matrix_diag": (
        *("MatrixBandPart", "MatrixDiag", "MatrixDiagV2", "MatrixDiagV3", "MatrixSetDiag"),
        *("MatrixSetDiagV2", "MatrixSetDiagV3"),
    ),
    "movement": ("BroadcastTo", "Tile", "Transpose"),
    "non_max_suppression": ("NonMaxSuppressionV3", "NonMaxSuppressionV4", "NonMaxSuppressionV5"),
    "pad": ("Pad", "PadV2"),
    "pool": ("MaxPool", "AvgPool"),
    "quantize": (
        *("Dequantize",),
        *("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel"),
        *("QuantizeAndDequantizeV2",),
    ),
    "random": ("Multinomial", "RandomStandardNormal", "RandomUniform"),
    "reduce": ("All", "Any", "Max", "Mean", "Min", "Prod", "Sum"),
    "reshape": ("ExpandDims", "Reshape", "Squeeze"),
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
    "select": ("Select", "SelectV2"),
    "selection": ("ApproxTopK", "Unique", "Where", "TopKV2"),
    "shape": ("BroadcastArgs", "Rank", "Shape", "ShapeN", "Size", "ToBool"),
    "slice": ("Slice", "StridedSlice", "XlaDynamicUpdateSlice"),
    "special": ("Lgamma", "TruncateDiv"),
    "spectrum": ("Imag", "Real"),
    "split": ("Pack", "Split", "SplitV", "Unpack"),
    "spread_operands": ("Atan2",),
    "tensor_list": (
        *("EmptyTensorList", "TensorListConcat", "TensorListConcatV2", "TensorListFromTensor"),
        *("TensorListGather", "TensorListGetItem", "TensorListLength", "TensorListPopBack"),
        *("TensorListPushBack", "TensorListReserve", "TensorListResize", "TensorListSetItem"),
        *("TensorListStack",),
    ),
    "transpose_conv": ("Conv2DBackpropInput",),
    "uniform_quantize": ("UniformDequantize", "UniformQuantize"),
}
# Families of ops that make up the graph itself: never flex or custom operators, never folded.
_STRUCTURE: dict[str, tuple[str, ...]] = {
    "constant": (
        *("Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "Const", "Identity", "IdentityN", "NoOp"),
        *("StopGradient", "PreventGradient", "Snapshot", "EnsureShape", "CheckNumerics"),
    ),
    "control_flow": (
        *("If", "StatelessIf", "While", "StatelessWhile", "Case", "StatelessCase"),
        *("PartitionedCall", "StatefulPartitionedCall"),
    ),
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
