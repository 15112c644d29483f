"""The classes of layers that are read, and the family module that each comes from."""

from __future__ import annotations

from functools import lru_cache

from ...lite.families import Families
from .kind import Kind

_CLASSES: dict[str, tuple[str, ...]] = {
    "activation_layers": ("Activation", "ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax", "ThresholdedReLU"),
    "attention": (
        *("AdditiveAttention", "Attention", "GroupQueryAttention"),
        *("MultiHeadAttention",),
    ),
    "categories": (
        *("CategoryEncoding", "Discretization", "HashedCrossing", "Hashing", "IntegerLookup"),
        *("Normalization", "StringLookup"),
    ),
    "cudnn": ("CuDNNGRU", "CuDNNLSTM"),
    "images": (
        *("AugMix", "CenterCrop", "CutMix", "MixUp", "RandAugment", "RandomBrightness"),
        *("RandomColorDegeneration", "RandomColorJitter", "RandomContrast", "RandomCrop"),
        *("RandomElasticTransform", "RandomErasing", "RandomFlip", "RandomGaussianBlur"),
        *("RandomGrayscale", "RandomHeight", "RandomHue", "RandomInvert", "RandomPerspective"),
        *("RandomPosterization", "RandomRotation", "RandomSaturation", "RandomSharpness"),
        *("RandomShear", "RandomTranslation", "RandomWidth", "RandomZoom", "Rescaling", "Resizing"),
    ),
    "conv": (
        *("Conv1D", "Conv2D", "Conv3D", "DepthwiseConv1D", "DepthwiseConv2D", "SeparableConv1D"),
        *("SeparableConv2D",),
    ),
    "conv_transpose": ("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"),
    "core": (
        *("ActivityRegularization", "AlphaDropout", "Dense", "Dropout", "EinsumDense", "Embedding"),
        *(
            "GaussianDropout",
            "GaussianNoise",
            "Identity",
            "InputLayer",
            "LayerScale",
            "Masking",
            "ReversibleEmbedding",
        ),
        *(
            "SpatialDropout1D",
            "SpatialDropout2D",
            "SpatialDropout3D",
            "SpectralNormalization",
            "StochasticDepth",
        ),
    ),
    "locally_connected": ("LocallyConnected1D", "LocallyConnected2D"),
    "merge": ("Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract"),
    "normalization": (
        *("BatchNormalization", "GroupNormalization", "LayerNormalization", "RMSNormalization"),
        *("SyncBatchNormalization", "UnitNormalization"),
    ),
    "ops_arrays": (
        *("ops.All", "ops.Amax", "ops.Amin", "ops.Any", "ops.Argmax", "ops.Argmin", "ops.BroadcastTo"),
        *("ops.Concatenate", "ops.Cumsum", "ops.Einsum", "ops.ExpandDims", "ops.Flip", "ops.FullLike"),
        *("ops.GetItem", "ops.Logsumexp", "ops.Matmul", "ops.Max", "ops.Mean", "ops.Min"),
        *("ops.Moveaxis", "ops.Normalize", "ops.OneHot", "ops.OnesLike", "ops.Pad", "ops.Prod"),
        *("ops.Repeat", "ops.Reshape", "ops.Softmax", "ops.Split", "ops.Squeeze", "ops.Stack"),
        *("ops.Std", "ops.Sum", "ops.Swapaxes", "ops.Take", "ops.Tile", "ops.TopK", "ops.Transpose"),
        *("ops.Unstack", "ops.Var", "ops.ZerosLike"),
    ),
    "ops_bits": (
        *("ops.Angle", "ops.BitwiseAnd", "ops.BitwiseInvert", "ops.BitwiseLeftShift", "ops.BitwiseNot"),
        *("ops.BitwiseOr", "ops.BitwiseRightShift", "ops.BitwiseXor", "ops.Conj", "ops.Conjugate"),
        *("ops.EmptyLike", "ops.Erfinv", "ops.I0", "ops.Imag", "ops.Isreal", "ops.Ldexp", "ops.LeftShift"),
        *("ops.Logaddexp2", "ops.Real", "ops.RightShift", "ops.SaturateCast", "ops.Signbit"),
    ),
    "ops_elementwise": (
        *("ops.Abs", "ops.Absolute", "ops.Add", "ops.Arccos", "ops.Arccosh", "ops.Arcsin"),
        *("ops.Arcsinh", "ops.Arctan", "ops.Arctan2", "ops.Arctanh", "ops.Cast", "ops.Ceil"),
        *("ops.Clip", "ops.Copy", "ops.Cos", "ops.Cosh", "ops.Divide", "ops.Equal", "ops.Erf"),
        *("ops.Exp", "ops.Expm1", "ops.Floor", "ops.FloorDivide", "ops.Greater", "ops.GreaterEqual"),
        *("ops.Identity", "ops.Isfinite", "ops.Isnan", "ops.Less", "ops.LessEqual", "ops.Log"),
        *("ops.Log10", "ops.Log1p", "ops.Log2", "ops.Logaddexp", "ops.LogicalAnd", "ops.LogicalNot"),
        *("ops.LogicalOr", "ops.LogicalXor", "ops.Maximum", "ops.Minimum", "ops.Mod", "ops.Multiply"),
        *("ops.Negative", "ops.NotEqual", "ops.Power", "ops.Reciprocal", "ops.Round", "ops.Rsqrt"),
        *("ops.Sign", "ops.Sin", "ops.Sinh", "ops.Sqrt", "ops.Square", "ops.SquaredDifference"),
        *("ops.StopGradient", "ops.Subtract", "ops.Tan", "ops.Tanh", "ops.TrueDivide", "ops.Where"),
        *("ops.Cbrt", "ops.ConvertToTensor", "ops.Deg2rad", "ops.DivideNoNan", "ops.Erfc", "ops.Exp2"),
        *("ops.Fabs", "ops.Fmax", "ops.Fmin", "ops.Fmod", "ops.Heaviside", "ops.Hypot", "ops.Isclose"),
        *("ops.Isinf", "ops.Isneginf", "ops.Isposinf", "ops.NanToNum", "ops.Rad2deg", "ops.Sinc"),
        *("ops.Threshold", "ops.Trunc"),
    ),
    "ops_images": (
        *("ops.AveragePool", "ops.CropImages", "ops.DepthToSpace", "ops.MaxPool", "ops.PadImages"),
        *("ops.RGBToGrayscale", "ops.Resize", "ops.SpaceToDepth"),
    ),
    "ops_layers": (
        *("ops.Conv", "ops.DepthwiseConv", "ops.DotProductAttention"),
        "ops.SeparableConv",
    ),
    "ops_matrices": (
        *("ops.Cholesky", "ops.CholeskyInverse", "ops.Det", "ops.FFT", "ops.FFT2", "ops.IFFT2", "ops.IRFFT"),
        *("ops.Inv", "ops.Logdet", "ops.RFFT", "ops.Slogdet", "ops.Solve", "ops.SolveTriangular"),
    ),
    "ops_measures": (
        *("ops.AllClose", "ops.BinaryCrossentropy", "ops.CDist", "ops.CategoricalCrossentropy"),
        *("ops.Corrcoef", "ops.Correlate", "ops.PSNR", "ops.SparseCategoricalCrossentropy"),
    ),
    "ops_movement": (
        *("ops.Append", "ops.Diagonal", "ops.Diff", "ops.Fliplr", "ops.Flipud", "ops.Hstack"),
        *("ops.Meshgrid", "ops.Ravel", "ops.Roll", "ops.Rot90", "ops.Select", "ops.Trace", "ops.Tril"),
        *("ops.Triu", "ops.Vstack"),
    ),
    "ops_nan": (
        *("ops.Nanargmax", "ops.Nanargmin", "ops.Nancumsum", "ops.Nanmax", "ops.Nanmean", "ops.Nanmin"),
        *("ops.Nanprod", "ops.Nanstd", "ops.Nansum", "ops.Nanvar"),
    ),
    "ops_nn": (
        *("ops.Celu", "ops.Elu", "ops.Gelu", "ops.Glu", "ops.HardShrink", "ops.HardSigmoid"),
        *("ops.HardSilu", "ops.HardTanh", "ops.LeakyRelu", "ops.LogSigmoid", "ops.LogSoftmax"),
        *("ops.Relu", "ops.Relu6", "ops.Selu", "ops.Sigmoid", "ops.Silu", "ops.SoftShrink"),
        *("ops.Softplus", "ops.Softsign", "ops.SparsePlus", "ops.SparseSigmoid", "ops.Sparsemax"),
        *("ops.Squareplus", "ops.TanhShrink", "ops.BatchNorm", "ops.LayerNorm", "ops.RMSNorm"),
    ),
    "ops_order": ("ops.Argsort", "ops.Median", "ops.Sort", "ops.TakeAlongAxis"),
    "ops_parts": (
        *("ops.ArraySplit", "ops.Cross", "ops.Diag", "ops.Diagflat", "ops.Dsplit", "ops.Dstack"),
        *(
            "ops.ExtractPatches",
            "ops.ExtractSequences",
            "ops.Full",
            "ops.Geomspace",
            "ops.Hsplit",
            "ops.Kron",
        ),
        *(
            "ops.Linspace",
            "ops.Logspace",
            "ops.Ndim",
            "ops.Scatter",
            "ops.ScatterUpdate",
            "ops.Size",
            "ops.Slice",
        ),
        *("ops.SliceUpdate", "ops.UnravelIndex", "ops.Vander", "ops.Vsplit"),
    ),
    "ops_pixels": (
        *("ops.Fold", "ops.GaussianBlur"),
        *("ops.HSVToRGB", "ops.RGBToHSV", "ops.SSIM", "ops.SobelEdges", "ops.Unfold"),
    ),
    "ops_search": (
        *("ops.Digitize", "ops.InTopK", "ops.IsIn", "ops.MultiHot", "ops.Percentile", "ops.Quantile"),
        *("ops.SearchSorted", "ops.SegmentMax", "ops.SegmentMin", "ops.SegmentProd", "ops.SegmentSum"),
    ),
    "ops_sums": (
        *(
            "ops.Average",
            "ops.CountNonzero",
            "ops.Cumprod",
            "ops.Nancumprod",
            "ops.Dot",
            "ops.Inner",
            "ops.Moments",
            "ops.Norm",
        ),
        *("ops.Outer", "ops.Ptp", "ops.Tensordot", "ops.Trapezoid", "ops.Vdot"),
    ),
    "pool": (
        *("AdaptiveAveragePooling1D", "AdaptiveAveragePooling2D", "AdaptiveAveragePooling3D"),
        *("AdaptiveMaxPooling1D", "AdaptiveMaxPooling2D", "AdaptiveMaxPooling3D", "AveragePooling1D"),
        *("AveragePooling2D", "AveragePooling3D", "GlobalAveragePooling1D", "GlobalAveragePooling2D"),
        *("GlobalAveragePooling3D", "GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D"),
        *("MaxPooling1D", "MaxPooling2D", "MaxPooling3D"),
    ),
    "reshape": (
        *("Cropping1D", "Cropping2D", "Cropping3D", "Flatten", "Permute", "RepeatVector", "Reshape"),
        *("UpSampling1D", "UpSampling2D", "UpSampling3D", "ZeroPadding1D", "ZeroPadding2D"),
        *("ZeroPadding3D",),
    ),
    "rnn": ("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "GRU", "LSTM", "RNN", "SimpleRNN"),
    "rnn_cells": (
        *("ConvLSTMCell1D", "ConvLSTMCell2D", "ConvLSTMCell3D", "GRUCell", "LSTMCell", "SimpleRNNCell"),
        *("StackedRNNCells",),
    ),
    "text": ("TextVectorization",),
    "tf_functions": ("SlicingOpLambda", "TFOpLambda"),
    "wrappers": ("Bidirectional", "TimeDistributed"),
}

FAMILIES: Families[dict[str, Kind]] = Families(__package__, _CLASSES)


@lru_cache(None)
def kind_of(name: str) -> Kind | None:
    """What is known of a class, None of one that is not."""
    family = next(iter(FAMILIES.modules_of(name)), None)
    return None if family is None else FAMILIES.registrations(family)[name]
