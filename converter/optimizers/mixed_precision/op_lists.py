"""Which ops gain by 16 bits, which follow their neighbours, and which must not: lists, as data.

Source: TensorFlow core/grappler/optimizers/auto_mixed_precision_lists.h.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

# Convolutions and products of matrices: always narrow.
_ALLOW = (
    *("Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "Einsum", "MatMul"),
    *("BatchMatMul", "BatchMatMulV2"),
    *("Conv3D", "Conv3DBackpropFilterV2", "Conv3DBackpropInputV2", "DepthwiseConv2dNative"),
    *("DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNativeBackpropInput"),
)
_ALLOW_HALF = (
    *("BlockLSTM", "BlockLSTMGrad", "BlockLSTMGradV2", "BlockLSTMV2", "Conv3DBackpropFilter"),
    *("Conv3DBackpropInput", "CudnnRNN", "CudnnRNNBackprop", "CudnnRNNBackpropV2", "CudnnRNNBackpropV3"),
    *("CudnnRNNV2", "CudnnRNNV3", "FastUnsortedSegmentMax", "FusedConv2DBiasActivation"),
    *("FusedSparseConvGpuV2", "GRUBlockCell", "GRUBlockCellGrad", "LSTMBlockCell", "LSTMBlockCellGrad"),
    *("Mha", "MhaV2", "Pmlp", "Tmlp", "TmlpV2", "TmlpV3", "VoxelMax"),
)
# Narrow between narrow ones, unless something of the deny list comes before.
_INFER = (
    *("Add", "AddN", "AddV2", "AvgPool", "AvgPool3D", "AvgPool3DGrad", "AvgPoolGrad", "BiasAdd"),
    *("BiasAddGrad", "BiasAddV1", "Elu", "EluGrad", "Erf", "Erfc", "FloorDiv", "FusedBatchNormGradV2"),
    *("FusedBatchNormGradV3", "FusedBatchNormV2", "FusedBatchNormV3", "Inv", "LeakyRelu", "LeakyReluGrad"),
    *("Log", "Log1p", "LogSoftmax", "Mul", "Prod", "RealDiv", "Reciprocal", "Selu", "SeluGrad"),
    *("Sigmoid", "SigmoidGrad", "Softmax", "Softplus", "SoftplusGrad", "Softsign", "SoftsignGrad", "Sqrt"),
    *("Sub", "Tanh", "TanhGrad", "_FusedBatchNormEx"),
)
# Never narrow, and what follows is not either.
_DENY = (
    *("Exp", "Expm1", "L2Loss", "Pow", "SaveV2", "SoftmaxCrossEntropyWithLogits"),
    "SparseSoftmaxCrossEntropyWithLogits",
)
# Numbers go through as they are: narrow where their neighbours are.
_CLEAR = (
    *("Abs", "ArgMax", "ArgMin", "BatchToSpace", "BatchToSpaceND", "BroadcastTo", "Ceil", "CheckNumerics"),
    *("ClipByValue", "Concat", "ConcatV2", "DepthToSpace", "DynamicPartition", "DynamicStitch"),
    *("EnsureShape", "Enter", "Equal", "Exit", "ExpandDims", "Fill", "Floor", "Gather", "GatherNd"),
    *("GatherV2", "Greater", "GreaterEqual", "Identity", "IdentityN", "IsFinite", "IsInf", "IsNan"),
    *("Less", "LessEqual", "Max", "MaxPool", "MaxPool3D", "MaxPool3DGrad", "MaxPoolGrad"),
    *("MaxPoolGradGrad", "MaxPoolGradGradV2", "MaxPoolGradV2", "MaxPoolV2", "Maximum", "Merge", "Min"),
    *("Minimum", "MirrorPad", "MirrorPadGrad", "Neg", "NextIteration", "NotEqual", "OnesLike", "Pack"),
    *("Pad", "PadV2", "PreventGradient", "Rank", "Relu", "Relu6", "Relu6Grad", "ReluGrad", "Reshape"),
    *("ResizeNearestNeighbor", "ResizeNearestNeighborGrad", "Reverse", "ReverseSequence", "ReverseV2"),
    *("Round", "Select", "SelectV2", "Shape", "ShapeN", "Sign", "Slice", "Snapshot", "SpaceToBatch"),
    *("SpaceToBatchND", "SpaceToDepth", "Split", "SplitV", "Squeeze", "StopGradient", "StridedSlice"),
    *("StridedSliceGrad", "Switch", "Tile", "TopK", "TopKV2", "Transpose", "Unpack", "Where", "ZerosLike"),
)
# Ops whose lists have one type throughout.
TENSOR_LISTS = (
    *("TensorListConcat", "TensorListConcatLists", "TensorListConcatV2", "TensorListGather"),
    *("TensorListGetItem", "TensorListPopBack", "TensorListPushBack", "TensorListPushBackBatch"),
    *(
        "TensorListFromTensor",
        "TensorListScatter",
        "TensorListScatterV2",
        "TensorListScatterIntoExistingList",
    ),
    *("TensorListSetItem", "TensorListSplit", "TensorListStack"),
)
# Have no kernel for float16 on the CPU.
_NOT_HALF_ON_CPU = frozenset(
    (
        *("AvgPool3D", "AvgPool3DGrad", "MaxPool3D", "MaxPool3DGrad", "MaxPool3DGradGrad"),
        "_FusedBatchNormEx",
    )
)
_VARIABLE = "TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_"


@dataclass(frozen=True)
class OpLists:
    """Ops by what 16 bits do to them."""

    allow: frozenset[str]
    infer: frozenset[str]
    deny: frozenset[str]
    clear: frozenset[str]

    def changed_by(self, environment: Mapping[str, str]) -> OpLists:
        """The lists as TensorFlow's variables (.._ALLOWLIST_ADD, .._ALLOWLIST_REMOVE ..) change them."""

        def changed(name: str, ops: frozenset[str]) -> frozenset[str]:
            added, removed = (
                environment.get(f"{_VARIABLE}{name}LIST_{what}", "").split(",") for what in ("ADD", "REMOVE")
            )
            return (ops | set(filter(None, added))) - set(removed)

        return OpLists(
            changed("ALLOW", self.allow),
            changed("INFER", self.infer),
            changed("DENY", self.deny),
            changed("CLEAR", self.clear),
        )


def half_lists(on_cpu: bool) -> OpLists:
    """For float16, by CUDA or emulated on the CPU."""
    without = _NOT_HALF_ON_CPU if on_cpu else frozenset()
    return OpLists(
        frozenset((*_ALLOW, *_ALLOW_HALF)),
        frozenset(_INFER) - without,
        frozenset((*_DENY, "Mean", "Sum")),
        frozenset((*_CLEAR, *TENSOR_LISTS, "MaxPool3DGradGrad", "OneHot", "Size")) - without,
    )


def bfloat16_lists() -> OpLists:
    """For bfloat16 by oneDNN."""
    return OpLists(
        frozenset((*_ALLOW, "FusedPadConv2D")),
        frozenset((*_INFER, "Mean", "Rsqrt", "Square", "SquaredDifference", "Sum")),
        frozenset(_DENY),
        frozenset((*_CLEAR, *TENSOR_LISTS, "ResizeBilinear", "ScatterNd", "StatelessWhile", "While")),
    )


def rewrite_level() -> str:
    """TensorFlow's variable of the level: "", TENSOR_CORES_ONLY, UNSAFE_FORCE_ALL or TREAT_INFER_AS_DENY."""
    return os.environ.get(f"{_VARIABLE}LEVEL", "").upper()


def ignores_performance() -> bool:
    """Whether GPUs that gain nothing by it are to compute in half precision, too."""
    return os.environ.get(f"{_VARIABLE}IGNORE_PERFORMANCE", "").lower() in ("1", "true")
