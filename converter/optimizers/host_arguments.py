"""Inputs and outputs that lie in the host's memory, also where the node is on another device.

Source: the HostMemory arguments of the kernels that TensorFlow 2.21 registers for every device.
"""

from __future__ import annotations

# Whatever the types are.
ALWAYS: dict[str, tuple[str, ...]] = {
    "Assert": ("condition", "data"),
    "BroadcastArgs": ("s0", "s1", "r0"),
    "BroadcastGradientArgs": ("s0", "s1", "r0", "r1"),
    "Case": ("branch_index",),
    "ConcatOffset": ("concat_dim", "shape", "offset"),
    "DataFormatDimMap": ("x", "y"),
    "DataFormatVecPermute": ("x", "y"),
    "DeviceIndex": ("index",),
    "EmptyTensorList": ("element_shape", "max_num_elements"),
    "ExpandDims": ("dim",),
    "HostConst": ("output",),
    "If": ("cond",),
    "IsVariableInitialized": ("is_initialized",),
    "LinSpace": ("start", "stop", "num", "output"),
    "LoopCond": ("input", "output"),
    "ParallelDynamicStitch": ("indices", "data", "merged"),
    "Range": ("start", "limit", "delta", "output"),
    "Rank": ("output",),
    "Reshape": ("shape",),
    "Shape": ("output",),
    "ShapeN": ("output",),
    "Size": ("output",),
    "StatelessCase": ("branch_index",),
    "StatelessIf": ("cond",),
    "TensorListElementShape": ("element_shape",),
    "TensorListFromTensor": ("element_shape",),
    "TensorListGather": ("indices", "element_shape"),
    "TensorListGetItem": ("index", "element_shape"),
    "TensorListLength": ("length",),
    "TensorListPopBack": ("element_shape",),
    "TensorListReserve": ("element_shape", "num_elements"),
    "TensorListResize": ("size",),
    "TensorListScatter": ("indices", "element_shape"),
    "TensorListScatterV2": ("indices", "element_shape", "num_elements"),
    "TensorListSetItem": ("index",),
    "TensorListStack": ("element_shape",),
    "VariableShape": ("input", "output"),
    "Where": ("input", "index"),
}
_BINARY = ("x", "y", "z")
_UNARY = ("x", "y")
# Of int32.
FOR_INTEGERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            *("Add", "AddV2", "Div", "Equal", "FloorDiv", "FloorMod", "Greater", "GreaterEqual", "Less"),
            *("LessEqual", "Maximum", "Minimum", "Mod", "Mul", "NotEqual", "SquaredDifference", "Sub"),
            "TruncateMod",
        ),
        _BINARY,
    ),
    **dict.fromkeys(("Abs", "InvertPermutation", "Neg", "Sign", "Square"), _UNARY),
    **dict.fromkeys(
        ("EnsureShape", "Identity", "PlaceholderWithDefault", "Squeeze", "StopGradient"), ("input", "output")
    ),
    "AddN": ("inputs", "sum"),
    "Concat": ("concat_dim", "values", "output"),
    "ConcatV2": ("values", "axis", "output"),
    "Const": ("output",),
    "ExpandDims": ("input", "output"),
    "Fill": ("dims", "value", "output"),
    "Max": ("input", "reduction_indices", "output"),
    "Min": ("input", "reduction_indices", "output"),
    "OnesLike": ("y",),
    "Rank": ("input",),
    "Reshape": ("tensor", "output"),
    "Shape": ("input",),
    "ShapeN": ("input",),
    "Size": ("input",),
    "Slice": ("input", "begin", "size", "output"),
    "Unique": ("x", "y", "idx"),
    "Unpack": ("value", "output"),
    "ZerosLike": ("y",),
}
