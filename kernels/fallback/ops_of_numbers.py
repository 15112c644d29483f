"""Ops that compute numbers, by family module: arithmetic, layers, linear algebra, quantized and random."""

from __future__ import annotations

NUMBERS: dict[str, tuple[str, ...]] = {
    "activation": (
        *("Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Softsign", "ReluGrad", "Relu6Grad"),
        *("LeakyReluGrad", "EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad", "SigmoidGrad"),
        *("TanhGrad",),
    ),
    "add_n": ("AddN",),
    "batch_norm": (
        *("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "FusedBatchNormGrad"),
        *("FusedBatchNormGradV2", "FusedBatchNormGradV3", "BatchNormWithGlobalNormalization"),
        *("BatchNormWithGlobalNormalizationGrad",),
    ),
    "bessel": (
        *("BesselI0", "BesselI0e", "BesselK0", "BesselK0e", "BesselJ0", "BesselY0", "BesselI1"),
        *("BesselI1e", "BesselK1", "BesselK1e", "BesselJ1", "BesselY1"),
    ),
    "bias": ("BiasAdd", "BiasAddV1", "BiasAddGrad"),
    "binary": (
        *("Add", "AddV2", "Sub", "Mul", "Div", "SquaredDifference", "RealDiv", "DivNoNan", "MulNoNan"),
        *("Xdivy", "Xlogy", "Xlog1py", "TruncateDiv", "FloorDiv", "FloorMod", "Mod", "TruncateMod"),
        *("Maximum", "Minimum", "Pow", "Atan2", "NextAfter", "ClipByValue", "LeftShift", "RightShift"),
        *("BitwiseAnd", "BitwiseOr", "BitwiseXor"),
    ),
    "cast": ("Cast",),
    "comparison": (
        *("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "ApproximateEqual"),
        *("LogicalAnd", "LogicalOr"),
    ),
    "conv": (
        *("Conv2D", "Conv", "Conv3D", "Conv2DBackpropInput", "Conv2DBackpropInputV2"),
        *("Conv2DBackpropFilter", "Conv2DBackpropFilterV2", "Conv3DBackpropInput", "Conv3DBackpropInputV2"),
        *("Conv3DBackpropFilter", "Conv3DBackpropFilterV2"),
    ),
    "cumsum": ("Cumsum", "Cumprod", "CumulativeLogsumexp"),
    "depthwise_conv": (
        *("DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput"),
        *("DepthwiseConv2dNativeBackpropFilter",),
    ),
    "dilation": ("Dilation2D", "Dilation2DBackpropInput", "Dilation2DBackpropFilter"),
    "einsum": ("Einsum",),
    "elementwise": (
        *("Asin", "Acos", "Atan", "Asinh", "Acosh", "Atanh", "Sinh", "Cosh", "Tan", "Tanh", "Sin", "Cos"),
        *("Exp", "Expm1", "Log", "Log1p", "Sqrt", "Rsqrt", "Sigmoid", "Inv", "Reciprocal", "Ceil", "Floor"),
        *("Rint", "IsNan", "IsInf", "IsFinite", "LogicalNot", "Abs", "Neg", "Round", "Sign", "Square"),
        *("Invert", "PopulationCount", "Complex", "ComplexAbs", "Angle", "Real", "Imag", "Conj"),
        *("SqrtGrad", "RsqrtGrad", "InvGrad", "ReciprocalGrad", "ZerosLike", "OnesLike", "ToBool"),
    ),
    "fake_quant": (
        *("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxArgsGradient", "FakeQuantWithMinMaxVars"),
        *("FakeQuantWithMinMaxVarsGradient", "FakeQuantWithMinMaxVarsPerChannel"),
        *("FakeQuantWithMinMaxVarsPerChannelGradient",),
    ),
    "fft": (
        *("FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D", "RFFT", "RFFT2D", "RFFT3D", "IRFFT"),
        *("IRFFT2D", "IRFFT3D"),
    ),
    "fused_conv": (
        *("_FusedConv2D", "_FusedConv3D", "_FusedDepthwiseConv2dNative", "_FusedBatchNormEx"),
        *("_FusedBatchNormGradEx", "_FusedMatMul", "FusedPadConv2D", "FusedResizeAndPadConv2D"),
    ),
    "gru_block": ("GRUBlockCell", "GRUBlockCellGrad"),
    "histogram": (
        *("Bincount", "DenseBincount", "HistogramFixedWidth", "Bucketize", "LowerBound", "UpperBound"),
    ),
    "incomplete_gamma": ("Igamma", "Igammac", "IgammaGradA", "RandomGammaGrad", "Betainc"),
    "linear_algebra": (
        *("Cholesky", "BatchCholesky", "CholeskyGrad", "BatchCholeskyGrad", "MatrixDeterminant"),
        *("BatchMatrixDeterminant", "LogMatrixDeterminant", "MatrixInverse", "BatchMatrixInverse"),
        *("MatrixSolve", "BatchMatrixSolve", "MatrixSolveLs", "BatchMatrixSolveLs"),
        *("MatrixTriangularSolve", "BatchMatrixTriangularSolve", "BandedTriangularSolve", "Qr", "Svd"),
        *("BatchSvd", "SelfAdjointEig", "BatchSelfAdjointEig", "SelfAdjointEigV2", "BatchSelfAdjointEigV2"),
        *("Eig", "Lu"),
    ),
    "local_response_normalization": ("LRN", "LRNGrad"),
    "lstm_block": ("LSTMBlockCell", "BlockLSTM", "BlockLSTMV2"),
    "lstm_block_gradient": ("LSTMBlockCellGrad", "BlockLSTMGrad", "BlockLSTMGradV2"),
    "matmul": ("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "SparseMatMul", "Cross"),
    "matrix_function": (
        *("MatrixExponential", "MatrixSquareRoot", "MatrixLogarithm", "TridiagonalMatMul"),
        *("TridiagonalSolve",),
    ),
    "numeric_summary": ("DebugNumericSummaryV2",),
    "pool": ("MaxPool", "MaxPoolV2", "MaxPool3D", "AvgPool", "AvgPool3D", "MaxPoolWithArgmax"),
    "pool_gradient": (
        *("MaxPoolGrad", "MaxPoolGradV2", "MaxPool3DGrad", "MaxPoolGradGrad", "MaxPoolGradGradV2"),
        *("MaxPool3DGradGrad", "MaxPoolGradWithArgmax", "MaxPoolGradGradWithArgmax", "AvgPoolGrad"),
        *("AvgPool3DGrad",),
    ),
    "quantize": (
        *("QuantizeV2", "Dequantize", "QuantizeAndDequantize", "QuantizeAndDequantizeV2"),
        *("QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4", "QuantizeAndDequantizeV4Grad"),
    ),
    "onednn": (
        "_MklSwish",
        "_MklFusedMish",
        "_MklFusedBatchMatMulV2",
        "_MklFusedInstanceNorm",
        "_MklLayerNorm",
    ),
    "quantized_arithmetic": (
        *("QuantizedAdd", "QuantizedBiasAdd", "QuantizedMul", "QuantizedMatMul", "QuantizedConv2D"),
        *("QuantizedRelu", "QuantizedRelu6", "QuantizedReshape", "QuantizedMaxPool", "QuantizedAvgPool"),
        *("QuantizedConcat", "QuantizedInstanceNorm", "QuantizedResizeBilinear"),
    ),
    "quantized_batch_norm": ("QuantizedBatchNormWithGlobalNormalization",),
    "random_distributions": (
        *("RandomPoisson", "RandomPoissonV2", "RandomGamma", "StatelessRandomPoisson"),
        *("StatelessRandomGammaV2", "StatelessRandomGammaV3", "StatelessRandomBinomial"),
    ),
    "random_index_shuffle": ("RandomIndexShuffle",),
    "reduce": ("Sum", "Prod", "Mean", "Max", "Min", "EuclideanNorm", "All", "Any"),
    "requantize": (
        *("Requantize", "RequantizationRange", "QuantizeDownAndShrinkRange", "RequantizePerChannel"),
        *("RequantizationRangePerChannel",),
    ),
    "sobol": ("SobolSample",),
    "softmax": (
        *("Softmax", "LogSoftmax", "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"),
        *("L2Loss",),
    ),
    "special": (
        *("Erf", "Erfc", "Erfinv", "Ndtri", "Lgamma", "Digamma", "Zeta", "Polygamma", "Spence", "Dawsn"),
        *("Expint", "FresnelSin", "FresnelCos"),
    ),
    "stateless_random": (
        *("StatelessRandomUniform", "StatelessRandomUniformV2", "StatelessRandomNormal"),
        *("StatelessRandomNormalV2", "StatelessTruncatedNormal", "StatelessTruncatedNormalV2"),
        *("StatelessRandomUniformFullInt", "StatelessRandomUniformFullIntV2", "StatelessRandomUniformInt"),
        *("StatelessRandomUniformIntV2", "StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg"),
        *("StatelessRandomGetAlg", "StatelessMultinomial", "StatelessShuffle"),
    ),
    "truncated_normal": ("ParameterizedTruncatedNormal", "StatelessParameterizedTruncatedNormal"),
    "unary_ops_composition": ("_UnaryOpsComposition",),
    "uniform_quantize": (
        *("UniformQuantize", "UniformDequantize", "UniformRequantize", "UniformQuantizedAdd"),
        *("UniformQuantizedClipByValue", "UniformQuantizedDot", "UniformQuantizedDotHybrid"),
    ),
}
