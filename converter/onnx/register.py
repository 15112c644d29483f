"""The ONNX operators that are read, and the family module that each comes from."""

from __future__ import annotations

from functools import lru_cache

from ...lite.families import Families
from .call import Rule

# Operators of other domains than ONNX's own have the domain before them.
_OPERATORS: dict[str, tuple[str, ...]] = {
    "activations": (
        *("Celu", "Elu", "Gelu", "HardSigmoid", "HardSwish", "Hardmax", "LeakyRelu", "LogSoftmax", "Mish"),
        *("PRelu", "Relu", "Selu", "Shrink", "Softmax", "Softplus", "SwiGLU", "Swish", "ThresholdedRelu"),
    ),
    "attention": ("Attention", "RotaryEmbedding", "ai.onnx.preview.FlexAttention"),
    "binary": (
        *("Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Clip", "Div", "Equal"),
        *("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Or"),
        *("Pow", "Sub", "Sum", "Where", "Xor"),
    ),
    "caches": ("CausalConvWithState", "LinearAttention", "TensorScatter"),
    "cast": ("BitCast", "Cast", "CastLike"),
    "control_flow": ("If", "Loop", "Scan"),
    "conv": ("Conv", "ConvTranspose"),
    "elementwise": (
        *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Ceil", "Cos", "Cosh"),
        *("Dropout", "Erf", "Exp", "Floor", "IsInf", "IsNaN", "Log", "Neg", "Not", "Reciprocal", "Round"),
        *("Sigmoid", "Sign", "Sin", "Sinh", "Softsign", "Sqrt", "Tan", "Tanh"),
    ),
    "gather": (
        *("Compress", "Gather", "GatherElements", "GatherND", "NonZero", "OneHot", "Scatter"),
        *("ScatterElements", "ScatterND", "ai.onnx.ml.ArrayFeatureExtractor"),
    ),
    "labels": (
        *("ai.onnx.ml.Binarizer", "ai.onnx.ml.FeatureVectorizer", "ai.onnx.ml.Imputer"),
        *("ai.onnx.ml.LabelEncoder", "ai.onnx.ml.LinearClassifier", "ai.onnx.ml.LinearRegressor"),
        *("ai.onnx.ml.Normalizer", "ai.onnx.ml.OneHotEncoder", "ai.onnx.ml.Scaler", "ai.onnx.ml.ZipMap"),
    ),
    "loss": ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"),
    "matmul": ("Det", "Einsum", "Gemm", "MatMul"),
    "movement": (
        *("CenterCropPad", "Concat", "DepthToSpace", "Pad", "ReverseSequence", "Slice", "SpaceToDepth"),
        *("Split", "Tile", "Transpose"),
    ),
    "ngrams": ("TfIdfVectorizer",),
    "normalization": (
        *("BatchNormalization", "CumSum", "GroupNormalization", "InstanceNormalization", "LRN"),
        *("LayerNormalization", "LpNormalization", "MeanVarianceNormalization", "RMSNormalization"),
    ),
    "pool": ("AveragePool", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "LpPool", "MaxPool"),
    "quantized": (
        *("ConvInteger", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger", "QLinearConv"),
        *("QLinearMatMul", "QuantizeLinear"),
    ),
    "random": (
        *("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform"),
        *("RandomUniformLike",),
    ),
    "reduce": (
        *("ArgMax", "ArgMin", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax"),
        *("ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "TopK"),
    ),
    "regions": ("AffineGrid", "Col2Im", "DeformConv", "GridSample", "MaxUnpool", "RoiAlign"),
    "resize": ("Resize", "Upsample"),
    "rnn": ("GRU", "LSTM", "RNN"),
    "sampling": (*("BlackmanWindow", "CumProd", "HammingWindow", "HannWindow", "NonMaxSuppression"),),
    "sequence": (
        *("ConcatFromSequence", "Optional", "OptionalGetElement", "OptionalHasElement", "SequenceAt"),
        *("SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength"),
        *("SequenceMap", "SplitToSequence"),
    ),
    "shape": (
        *("Constant", "ConstantOfShape", "Expand", "EyeLike", "Flatten", "Identity", "Range", "Reshape"),
        *("Shape", "Size", "Squeeze", "Trilu", "Unsqueeze"),
    ),
    "signal": ("DFT", "MelWeightMatrix", "STFT"),
    "svm": ("ai.onnx.ml.SVMClassifier", "ai.onnx.ml.SVMRegressor"),
    "text": ("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"),
    "training": (
        *("ai.onnx.preview.training.Adagrad", "ai.onnx.preview.training.Adam"),
        *("ai.onnx.preview.training.Momentum",),
    ),
    "trees": (
        *("ai.onnx.ml.TreeEnsemble", "ai.onnx.ml.TreeEnsembleClassifier"),
        *("ai.onnx.ml.TreeEnsembleRegressor",),
    ),
    "unique": ("Unique",),
}

# What helps where there is no rule.
NOT_BUILT = {
    "ImageDecoder": "no operator decodes images: decode them before the model, and feed their pixels"
}

FAMILIES: Families[dict[str, Rule]] = Families(__package__, _OPERATORS)


def domain_of(domain: str) -> str:
    """A domain by its one name: ONNX's own is "" and "ai.onnx"."""
    return "" if domain == "ai.onnx" else domain


@lru_cache(None)
def rule_of(domain: str, op: str) -> Rule | None:
    """The operator's rule, None where there is none."""
    name = f"{domain}.{op}" if domain else op
    family = next(iter(FAMILIES.modules_of(name)), None)
    return None if family is None else FAMILIES.registrations(family)[name]
