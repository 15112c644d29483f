"""Ops whose results have the shape of an input."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction


def unchanged(c: ShapeContext) -> Results:
    """Every result is as the first input."""
    return [c.shape_of(0)] * max(len(c.given), 1)


def each_unchanged(c: ShapeContext) -> Results:
    """Every result is as the input in its place."""
    return list(c.inputs)


def all_equal(c: ShapeContext) -> Results:
    """All inputs have one shape, which is the result's, too."""
    return [c.alike(*range(len(c)))] * max(len(c.given), 1)


_UNARY = (
    *("Abs", "Acos", "Acosh", "Angle", "Asin", "Asinh", "Atan", "Atanh", "BesselI0", "BesselI0e"),
    *("BesselI1", "BesselI1e", "BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e"),
    *("BesselY0", "BesselY1", "Ceil", "CheckNumerics", "CheckNumericsV2", "ComplexAbs", "Conj", "Cos"),
    *("Cosh", "Cast", "Dawsn", "DeepCopy", "Digamma", "Elu", "Erf", "Erfc", "Erfinv", "Exp", "Expint"),
    *("Expm1", "Floor", "FresnelCos", "FresnelSin", "HSVToRGB", "Identity", "Imag", "Inv", "Invert"),
    *("IsFinite", "IsInf", "IsNan", "LeakyRelu", "Lgamma", "Log", "Log1p", "LogicalNot", "LogSoftmax"),
    *("Ndtri", "Neg", "OnesLike", "PopulationCount", "PreventGradient", "RGBToHSV", "RandomShuffle", "Real"),
    *("Reciprocal", "RefIdentity", "Relu", "Relu6", "Rint", "Round", "Rsqrt", "Selu", "Sigmoid", "Sign"),
    *("Sin", "Sinh", "Snapshot", "Softmax", "Softplus", "Softsign", "Spence", "Sqrt", "Square"),
    *("StopGradient", "Tan", "Tanh", "ZerosLike", "Cumsum", "Cumprod", "CumulativeLogsumexp"),
    *("InvertPermutation", "ReverseV2", "Reverse", "ReverseSequence", "Roll", "MatrixBandPart"),
    *("AdjustContrastv2", "AdjustHue", "AdjustSaturation", "BatchCholesky", "BatchMatrixBandPart"),
    *("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel"),
    *("QuantizeAndDequantize", "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "Bucketize", "LRN"),
    *("QuantizeAndDequantizeV4", "AsString", "StringLower", "StringUpper", "StringStrip", "StringLength"),
    *("StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong", "StringToNumber"),
    *("_TensorToHashBucketFast", "_MklSwish", "_MklFusedMish", "_MklFusedInstanceNorm", "_MklLayerNorm"),
    *("_CopyFromGpuToHost", "_CopyFromHostToGpu", "CollectiveReduce"),
    *("RegexReplace", "StaticRegexReplace", "RegexFullMatch", "StaticRegexFullMatch"),
    *("DecodeBase64", "EncodeBase64", "UnicodeScript", "UnicodeTranscode", "ReadFile"),
    *("TensorScatterAdd", "TensorScatterMax", "TensorScatterMin", "TensorScatterSub", "TensorScatterUpdate"),
    *("ScatterNdNonAliasingAdd", "MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3", "MatrixInverse"),
    *("BatchMatrixInverse", "BatchMatrixSetDiag", "MatrixSquareRoot", "MatrixExponential", "MatrixLogarithm"),
    *("FFT", "IFFT", "FFT2D", "IFFT2D", "FFT3D", "IFFT3D", "BatchFFT", "BatchIFFT", "BatchFFT2D"),
    *("BatchIFFT2D", "BatchFFT3D", "BatchIFFT3D", "ClipByValue"),
    *("DebugIdentity", "DebugIdentityV2", "Print"),
    *("InplaceAdd", "InplaceSub", "InplaceUpdate", "StatelessShuffle", "Copy"),
    *("CopyHost", "TensorStridedSliceUpdate", "Enter", "RefEnter", "Exit", "RefExit", "LoopCond"),
    *("NextIteration", "RefNextIteration", "DataFormatDimMap"),
    *("DataFormatVecPermute", "Cholesky", "AdjustContrast", "DebugGradientIdentity", "IsotonicRegression"),
    *("BatchNormWithGlobalNormalization", "UniformQuantize", "UniformDequantize", "UniformRequantize"),
    *("UniformQuantizedClipByValue", "BatchCholeskyGrad"),
)
_ALL_EQUAL = (
    *("AddN", "EluGrad", "LeakyReluGrad", "ReluGrad", "Relu6Grad", "SeluGrad", "SoftplusGrad"),
    *("SoftsignGrad", "FakeQuantWithMinMaxArgsGradient", "CholeskyGrad"),
)
REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(_UNARY, unchanged),
    **dict.fromkeys(_ALL_EQUAL, all_equal),
    "IdentityN": each_unchanged,
}
