"""Which operands and results of each op lie in a data format: the tables of the layout optimizer, as data.

Source: TensorFlow core/grappler/optimizers/generic_layout_optimizer_transposer.cc, by what it makes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

T = TypeVar("T")
# Places in a list of operands or results: numbers, or a slice of them.
Places = tuple[int, ...] | slice
ALL = slice(None)


@dataclass(frozen=True)
class Form:
    """What of a node changes with the order of axes.

    tensors and results are transposed. vectors and result_vectors have an entry (or row) for each axis,
    axes hold numbers of axes. lists are attributes with a number for each axis, masks those with a bit.
    """

    tensors: Places = (0,)
    results: Places = (0,)
    vectors: Places = ()
    axes: Places = ()
    result_vectors: Places = ()
    lists: tuple[str, ...] = ()
    masks: tuple[str, ...] = ()

    def with_results(self, results: Places) -> Form:
        return replace(self, results=results)

    def with_tensors(self, tensors: Places) -> Form:
        return replace(self, tensors=tensors)


def at(values: Sequence[T], places: Places) -> list[T]:
    """What stands in the places."""
    return list(values[places]) if isinstance(places, slice) else [values[place] for place in places]


def numbers(places: Places, count: int) -> list[int]:
    """The places among so many, from 0 on."""
    return list(range(count))[places] if isinstance(places, slice) else [place % count for place in places]


_LISTS = ("strides", "ksize", "dilations")
_SENSITIVE = Form(lists=_LISTS)
_FILTER_GRADIENT = Form(tensors=(0, 2), results=(), lists=_LISTS)
_INPUT_GRADIENT = Form(tensors=(2,), vectors=(0,), lists=_LISTS)
_NORM_GRADIENT = Form(tensors=(0, 1))
_POOL_GRADIENT = Form(tensors=(0, 1, 2), lists=_LISTS)

# Ops with an attribute data_format.
SENSITIVE: dict[str, Form] = {
    **dict.fromkeys(
        (
            *("AvgPool", "AvgPool3D", "BiasAdd", "Conv2D", "Conv3D", "DepthwiseConv2dNative", "MaxPool"),
            *("MaxPool3D", "DepthToSpace", "SpaceToDepth"),
            *("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "_FusedBatchNormEx"),
            *("_FusedConv2DBiasActivation", "FusedConv2DBiasActivation"),
        ),
        _SENSITIVE,
    ),
    "AvgPoolGrad": Form(tensors=(1,), vectors=(0,), lists=_LISTS),
    "BiasAddGrad": Form(results=()),
    **dict.fromkeys(
        (
            *("Conv2DBackpropFilter", "Conv3DBackpropFilter", "Conv3DBackpropFilterV2"),
            "DepthwiseConv2dNativeBackpropFilter",
        ),
        _FILTER_GRADIENT,
    ),
    **dict.fromkeys(
        ("Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput"),
        _INPUT_GRADIENT,
    ),
    **dict.fromkeys(
        ("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"),
        _NORM_GRADIENT,
    ),
    "MaxPoolV2": Form(vectors=(1, 2)),
    **dict.fromkeys(("MaxPoolGrad", "MaxPoolGradGrad", "MaxPool3DGrad", "MaxPool3DGradGrad"), _POOL_GRADIENT),
    "MaxPoolGradV2": Form(tensors=(0, 1, 2), vectors=(3, 4)),
    "MaxPoolGradGradV2": Form(tensors=(0, 1, 2), vectors=(3, 4)),
}

_UNARY = (
    *("Abs", "Acos", "Acosh", "Angle", "Asin", "Asinh", "Atan", "Atanh", "Bitcast", "Cast", "Ceil"),
    *("CheckNumerics", "ComplexAbs", "Conj", "Cos", "Cosh", "Digamma", "Elu", "Enter", "Erf", "Erfc", "Exit"),
    *("Exp", "Expm1", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs", "Floor", "GuaranteeConst"),
    *("Identity", "Imag", "Inv", "IsFinite", "IsInf", "IsNan", "LeakyRelu", "Lgamma", "Log", "LogicalNot"),
    *("Log1p", "Neg", "NextIteration", "OnesLike", "PreventGradient", "QuantizeAndDequantizeV2"),
    *(
        "QuantizeAndDequantizeV3",
        "QuantizeAndDequantizeV4",
        "Real",
        "Reciprocal",
        "Relu",
        "Relu6",
        "Rint",
        "Round",
    ),
    *("Rsqrt", "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "Snapshot", "Softplus", "Sqrt", "Square"),
    *("StopGradient", "Tan", "Tanh", "ZerosLike"),
)
BINARY = frozenset(
    (
        *("Add", "AddV2", "ApproximateEqual", "Atan2", "Complex", "Div", "DivNoNan", "Equal", "FloorDiv"),
        *("FloorMod", "Greater", "GreaterEqual", "Igamma", "Igammac", "Less", "LessEqual", "LogicalAnd"),
        *("LogicalOr", "Maximum", "Minimum", "Mod", "Mul", "MulNoNan", "NotEqual", "Polygamma", "Pow"),
        *("RealDiv", "SquaredDifference", "Sub", "TruncateDiv", "TruncateMod", "Xdivy", "Xlogy", "Zeta"),
    )
)
_UNARY_GRADIENTS = (
    *("EluGrad", "FakeQuantWithMinMaxArgsGradient", "FakeQuantWithMinMaxVarsGradient", "InvGrad"),
    *("LeakyReluGrad", "ReciprocalGrad", "Relu6Grad", "ReluGrad", "RsqrtGrad", "SeluGrad", "SigmoidGrad"),
    *("SoftplusGrad", "SoftsignGrad", "SqrtGrad", "TanhGrad"),
)
REDUCTIONS = frozenset(("All", "Any", "Max", "Mean", "Min", "Prod", "Sum", "EuclideanNorm"))

# Ops that can be computed in any order of axes.
AGNOSTIC: dict[str, Form] = {
    **dict.fromkeys(_UNARY, Form()),
    **dict.fromkeys(BINARY, Form(tensors=(0, 1))),
    **dict.fromkeys(_UNARY_GRADIENTS, Form(tensors=(0, 1))),
    **dict.fromkeys(REDUCTIONS, Form(axes=(1,))),
    **dict.fromkeys(("AddN", "Merge"), Form(tensors=ALL)),
    "Betainc": Form(tensors=ALL),
    "Concat": Form(tensors=slice(1, None), axes=(0,)),
    "ConcatV2": Form(tensors=slice(0, -1), axes=(-1,)),
    "Fill": Form(tensors=(), vectors=(0,)),
    "IdentityN": Form(tensors=ALL, results=ALL),
    **dict.fromkeys(("MirrorPad", "MirrorPadGrad", "Pad", "PadV2"), Form(vectors=(1,))),
    "ReverseV2": Form(axes=(1,)),
    "Select": Form(tensors=(0, 1, 2)),
    "SelectV2": Form(tensors=(0, 1, 2)),
    "Shape": Form(results=(), result_vectors=(0,)),
    "ShapeN": Form(tensors=ALL, results=(), result_vectors=ALL),
    "Slice": Form(vectors=(1, 2)),
    "Split": Form(tensors=(1,), axes=(0,), results=ALL),
    "SplitV": Form(axes=(2,), results=ALL),
    "Squeeze": Form(results=()),
    "StridedSlice": Form(vectors=(1, 2, 3), masks=("begin_mask", "end_mask")),
    "Switch": Form(results=ALL),
    "Tile": Form(vectors=(1,)),
}
