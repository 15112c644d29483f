"""The TensorFlow ops that run without TensorFlow, and the family module that each comes from."""

from __future__ import annotations

from functools import lru_cache
from threading import RLock

from ...lite.families import Families
from .registry import KernelRegistration, KernelRegistry

# By family module; several may have kernels for one op, each for other types.
_OPS: dict[str, tuple[str, ...]] = {
    "activation": (
        *("Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Softsign", "ReluGrad", "Relu6Grad"),
        *("LeakyReluGrad", "EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad", "SigmoidGrad"),
        *("TanhGrad",),
    ),
    "add_n": ("AddN",),
    "arg_min_max": ("ArgMax", "ArgMin"),
    "assertion": ("Assert", "CheckNumerics", "CheckNumericsV2", "Print", "PrintV2"),
    "audio": ("DecodeWav", "EncodeWav", "AudioSpectrogram", "Mfcc"),
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
    "bounding_boxes": ("DrawBoundingBoxes", "DrawBoundingBoxesV2"),
    "cast": ("Cast",),
    "color": ("RGBToHSV", "HSVToRGB", "AdjustHue", "AdjustSaturation", "AdjustContrastv2", "AdjustContrast"),
    "comparison": (
        *("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "ApproximateEqual"),
        *("LogicalAnd", "LogicalOr"),
    ),
    "concatenation": (
        *("Concat", "ConcatV2", "ConcatOffset", "Pack", "ParallelConcat", "Unpack", "Split", "SplitV"),
    ),
    "constant": ("Const", "HostConst", "Placeholder", "PlaceholderV2", "PlaceholderWithDefault"),
    "control_flow": (
        *("PartitionedCall", "StatefulPartitionedCall", "RemoteCall", "If", "StatelessIf", "Case"),
        *("StatelessCase", "While", "StatelessWhile", "For", "MapDefun", "SymbolicGradient"),
    ),
    "conv": (
        *("Conv2D", "Conv", "Conv3D", "Conv2DBackpropInput", "Conv2DBackpropInputV2"),
        *("Conv2DBackpropFilter", "Conv2DBackpropFilterV2", "Conv3DBackpropInput", "Conv3DBackpropInputV2"),
        *("Conv3DBackpropFilter", "Conv3DBackpropFilterV2"),
    ),
    "crop_and_resize": ("CropAndResize", "CropAndResizeGradImage", "CropAndResizeGradBoxes"),
    "ctc_decoder": ("CTCGreedyDecoder", "CTCBeamSearchDecoder"),
    "ctc_loss": ("CTCLoss",),
    "cumsum": ("Cumsum", "Cumprod", "CumulativeLogsumexp"),
    "dataset": (
        *("RangeDataset", "TensorDataset", "TensorSliceDataset", "MapDataset", "FlatMapDataset"),
        *("FilterDataset", "BatchDatasetV2", "RepeatDataset", "TakeDataset", "SkipDataset", "ShardDataset"),
        *("ZipDataset", "ConcatenateDataset", "ModelDataset", "OptionsDataset", "PrefetchDataset"),
        *("RewriteDataset", "ReduceDataset", "TakeWhileDataset", "CacheDataset", "ParallelMapDatasetV2"),
        *("MapAndBatchDataset", "FinalizeDataset", "WrapDatasetVariant", "UnwrapDatasetVariant"),
        *("OptimizeDatasetV2",),
    ),
    "decode": (
        *("DecodeRaw", "DecodePaddedRaw", "EncodeBase64", "DecodeBase64", "DecodeCompressed"),
        *("ParseTensor", "SerializeTensor", "DecodeCSV"),
    ),
    "depthwise_conv": (
        *("DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput"),
        *("DepthwiseConv2dNativeBackpropFilter",),
    ),
    "dilation": ("Dilation2D", "Dilation2DBackpropInput", "Dilation2DBackpropFilter"),
    "distance": ("EditDistance", "NearestNeighbors", "IsotonicRegression"),
    "dynamic_partition": ("DynamicPartition", "DynamicStitch", "ParallelDynamicStitch"),
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
    "file": ("ReadFile", "WriteFile", "SaveV2", "RestoreV2"),
    "fill": ("Fill", "Range", "LinSpace", "OneHot"),
    "fractional_pool": (
        *("FractionalMaxPool", "FractionalAvgPool", "FractionalMaxPoolGrad", "FractionalAvgPoolGrad"),
    ),
    "fused_conv": (
        *("_FusedConv2D", "_FusedConv3D", "_FusedDepthwiseConv2dNative", "_FusedBatchNormEx"),
        *("_FusedMatMul", "FusedPadConv2D", "FusedResizeAndPadConv2D"),
    ),
    "gather": ("Gather", "GatherV2", "GatherNd"),
    "glimpse": ("ExtractGlimpse", "ExtractGlimpseV2"),
    "gru_block": ("GRUBlockCell", "GRUBlockCellGrad"),
    "histogram": (
        *("Bincount", "DenseBincount", "HistogramFixedWidth", "Bucketize", "LowerBound", "UpperBound"),
    ),
    "identity": (
        *("Identity", "IdentityN", "StopGradient", "PreventGradient", "Snapshot", "NoOp", "Empty"),
        *("DeepCopy", "DebugGradientIdentity"),
    ),
    "image_codec": (
        *("DecodePng", "DecodeJpeg", "DecodeAndCropJpeg", "ExtractJpegShape", "DecodeBmp", "DecodeGif"),
        *("DecodeImage", "EncodePng", "EncodeJpeg", "EncodeJpegVariableQuality"),
    ),
    "incomplete_gamma": ("Igamma", "Igammac", "IgammaGradA", "RandomGammaGrad", "Betainc"),
    "iterator": (
        *("Iterator", "IteratorV2", "OneShotIterator", "AnonymousIteratorV3", "MakeIterator"),
        *("IteratorGetNext",),
    ),
    "layout": ("DataFormatDimMap", "DataFormatVecPermute"),
    "linear_algebra": (
        *("Cholesky", "BatchCholesky", "CholeskyGrad", "BatchCholeskyGrad", "MatrixDeterminant"),
        *("BatchMatrixDeterminant", "LogMatrixDeterminant", "MatrixInverse", "BatchMatrixInverse"),
        *("MatrixSolve", "BatchMatrixSolve", "MatrixSolveLs", "BatchMatrixSolveLs"),
        *("MatrixTriangularSolve", "BatchMatrixTriangularSolve", "BandedTriangularSolve", "Qr", "Svd"),
        *("BatchSvd", "SelfAdjointEig", "BatchSelfAdjointEig", "SelfAdjointEigV2", "BatchSelfAdjointEigV2"),
        *("Eig", "Lu"),
    ),
    "local_response_normalization": ("LRN", "LRNGrad"),
    "lookup_table": (
        *("HashTable", "HashTableV2", "AnonymousHashTable", "MutableHashTable", "MutableHashTableV2"),
        *("AnonymousMutableHashTable", "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2"),
        *("AnonymousMutableHashTableOfTensors", "MutableDenseHashTable", "MutableDenseHashTableV2"),
        *("AnonymousMutableDenseHashTable", "LookupTableFind", "LookupTableFindV2", "LookupTableInsert"),
        *("LookupTableInsertV2", "LookupTableImport", "LookupTableImportV2", "LookupTableExport"),
        *("LookupTableExportV2", "LookupTableSize", "LookupTableSizeV2", "InitializeTable"),
        *("InitializeTableV2", "LookupTableRemoveV2"),
    ),
    "lstm_block": ("LSTMBlockCell", "BlockLSTM", "BlockLSTMV2"),
    "lstm_block_gradient": ("LSTMBlockCellGrad", "BlockLSTMGrad", "BlockLSTMGradV2"),
    "matmul": ("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "SparseMatMul", "Cross"),
    "matrix_diag": (
        *("Diag", "DiagPart", "MatrixDiag", "BatchMatrixDiag", "MatrixDiagPart", "BatchMatrixDiagPart"),
        *("MatrixSetDiag", "BatchMatrixSetDiag", "MatrixBandPart", "BatchMatrixBandPart"),
        *("MatrixDiagPartV2", "MatrixDiagPartV3", "MatrixSetDiagV2", "MatrixSetDiagV3", "MatrixDiagV2"),
        *("MatrixDiagV3",),
    ),
    "matrix_function": (
        *("MatrixExponential", "MatrixSquareRoot", "MatrixLogarithm", "TridiagonalMatMul"),
        *("TridiagonalSolve",),
    ),
    "non_max_suppression": (
        *("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionV4"),
        *("NonMaxSuppressionV5", "NonMaxSuppressionWithOverlaps", "CombinedNonMaxSuppression"),
    ),
    "numeric_summary": ("DebugNumericSummaryV2",),
    "optimizer": (
        *("ApplyAdaMax", "ApplyAdadelta", "ApplyAdagrad", "ApplyAdagradDA", "ApplyAdagradV2", "ApplyAdam"),
        *("ApplyAddSign", "ApplyCenteredRMSProp", "ApplyFtrl", "ApplyFtrlV2", "ApplyGradientDescent"),
        *("ApplyMomentum", "ApplyPowerSign", "ApplyProximalAdagrad", "ApplyProximalGradientDescent"),
        *("ApplyRMSProp", "ResourceApplyAdaMax", "ResourceApplyAdadelta", "ResourceApplyAdagrad"),
        *("ResourceApplyAdagradDA", "ResourceApplyAdagradV2", "ResourceApplyAdam", "ResourceApplyAddSign"),
        *("ResourceApplyCenteredRMSProp", "ResourceApplyFtrl", "ResourceApplyFtrlV2"),
        *("ResourceApplyGradientDescent", "ResourceApplyMomentum", "ResourceApplyPowerSign"),
        *("ResourceApplyProximalAdagrad", "ResourceApplyProximalGradientDescent", "ResourceApplyRMSProp"),
        *("ResourceApplyAdamWithAmsgrad", "ResourceApplyKerasMomentum", "SparseApplyAdadelta"),
        *("SparseApplyAdagrad", "SparseApplyAdagradDA", "SparseApplyAdagradV2"),
        *("SparseApplyCenteredRMSProp", "SparseApplyFtrl", "SparseApplyFtrlV2", "SparseApplyMomentum"),
        *("SparseApplyProximalAdagrad", "SparseApplyProximalGradientDescent", "SparseApplyRMSProp"),
        *("ResourceSparseApplyAdadelta", "ResourceSparseApplyAdagrad", "ResourceSparseApplyAdagradDA"),
        *("ResourceSparseApplyAdagradV2", "ResourceSparseApplyCenteredRMSProp", "ResourceSparseApplyFtrl"),
        *("ResourceSparseApplyFtrlV2", "ResourceSparseApplyMomentum", "ResourceSparseApplyProximalAdagrad"),
        *("ResourceSparseApplyProximalGradientDescent", "ResourceSparseApplyRMSProp"),
        *("ResourceSparseApplyKerasMomentum",),
    ),
    "optional": (
        *("OptionalFromValue", "OptionalNone", "OptionalHasValue", "OptionalGetValue", "CompressElement"),
        *("UncompressElement",),
    ),
    "pad": ("Pad", "PadV2", "MirrorPad", "MirrorPadGrad"),
    "parse_example": (
        *("ParseExample", "ParseExampleV2", "ParseSingleExample", "ParseSingleSequenceExample"),
        *("DecodeJSONExample",),
    ),
    "patches": ("ExtractImagePatches", "ExtractVolumePatches"),
    "pool": ("MaxPool", "MaxPoolV2", "MaxPool3D", "AvgPool", "AvgPool3D", "MaxPoolWithArgmax"),
    "pool_gradient": (
        *("MaxPoolGrad", "MaxPoolGradV2", "MaxPool3DGrad", "MaxPoolGradGrad", "MaxPoolGradGradV2"),
        *("MaxPool3DGradGrad", "MaxPoolGradWithArgmax", "MaxPoolGradGradWithArgmax", "AvgPoolGrad"),
        *("AvgPool3DGrad",),
    ),
    "projective_transform": ("ImageProjectiveTransformV2", "ImageProjectiveTransformV3"),
    "quantize": (
        *("QuantizeV2", "Dequantize", "QuantizeAndDequantize", "QuantizeAndDequantizeV2"),
        *("QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4", "QuantizeAndDequantizeV4Grad"),
    ),
    "quantized_arithmetic": (
        *("QuantizedAdd", "QuantizedBiasAdd", "QuantizedMul", "QuantizedMatMul", "QuantizedConv2D"),
        *("QuantizedRelu", "QuantizedRelu6", "QuantizedReshape", "QuantizedMaxPool", "QuantizedAvgPool"),
        *("QuantizedConcat", "QuantizedInstanceNorm", "QuantizedResizeBilinear"),
    ),
    "quantized_batch_norm": ("QuantizedBatchNormWithGlobalNormalization",),
    "queue": (
        *("FIFOQueue", "FIFOQueueV2", "PaddingFIFOQueue", "PaddingFIFOQueueV2", "PriorityQueue"),
        *("PriorityQueueV2", "QueueEnqueue", "QueueEnqueueV2", "QueueEnqueueMany", "QueueEnqueueManyV2"),
        *("QueueDequeue", "QueueDequeueV2", "QueueDequeueMany", "QueueDequeueManyV2", "QueueDequeueUpTo"),
        *("QueueDequeueUpToV2", "QueueClose", "QueueCloseV2", "QueueIsClosed", "QueueIsClosedV2"),
        *("QueueSize", "QueueSizeV2"),
    ),
    "ragged": (
        *("RaggedRange", "RaggedGather", "RaggedTensorToSparse", "RaggedTensorToTensor"),
        *("RaggedFillEmptyRows", "RaggedFillEmptyRowsGrad"),
    ),
    "ragged_variant": (
        *("RaggedTensorToVariant", "RaggedTensorFromVariant", "RaggedTensorToVariantGradient"),
    ),
    "random": (
        *("RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt", "RandomShuffle"),
        *("Multinomial",),
    ),
    "random_index_shuffle": ("RandomIndexShuffle",),
    "random_distributions": (
        *("RandomPoisson", "RandomPoissonV2", "RandomGamma", "StatelessRandomPoisson"),
        *("StatelessRandomGammaV2", "StatelessRandomGammaV3", "StatelessRandomBinomial"),
    ),
    "reduce": ("Sum", "Prod", "Mean", "Max", "Min", "EuclideanNorm", "All", "Any"),
    "ref_variable": (
        *("VariableV2", "Variable", "TemporaryVariable", "DestroyTemporaryVariable", "Assign", "AssignAdd"),
        *("AssignSub", "IsVariableInitialized", "CountUpTo", "RefIdentity", "DebugGradientRefIdentity"),
        *("RefSelect",),
    ),
    "regex": ("RegexReplace", "StaticRegexReplace", "RegexFullMatch", "StaticRegexFullMatch"),
    "requantize": (
        *("Requantize", "RequantizationRange", "QuantizeDownAndShrinkRange", "RequantizePerChannel"),
        *("RequantizationRangePerChannel",),
    ),
    "resize": (
        *("ResizeBilinear", "ResizeBicubic", "ResizeArea", "ResizeNearestNeighbor"),
        *("ResizeNearestNeighborGrad", "ResizeBilinearGrad", "ResizeBicubicGrad"),
    ),
    "resource_variable": (
        *("VarHandleOp", "_VarHandlesOp", "ReadVariableOp", "_ReadVariablesOp", "AssignVariableOp"),
        *("AssignAddVariableOp", "AssignSubVariableOp", "VarIsInitializedOp", "VariableShape"),
        *("DestroyResourceOp", "ResourceCountUpTo"),
    ),
    "reverse": ("Reverse", "ReverseV2", "ReverseSequence", "Roll", "Tile"),
    "sample_box": (
        *("StatelessSampleDistortedBoundingBox", "SampleDistortedBoundingBox"),
        "SampleDistortedBoundingBoxV2",
    ),
    "scale_and_translate": ("ScaleAndTranslate", "ScaleAndTranslateGrad"),
    "scatter": (
        *("ScatterNd", "ScatterNdNonAliasingAdd", "TensorScatterUpdate", "TensorScatterAdd"),
        *("TensorScatterSub", "TensorScatterMax", "TensorScatterMin", "InplaceUpdate", "InplaceAdd"),
        *("InplaceSub",),
    ),
    "segment": (
        *("SegmentSum", "SegmentProd", "SegmentMax", "SegmentMin", "SegmentMean", "UnsortedSegmentSum"),
        *("UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin"),
    ),
    "select": ("Select", "SelectV2"),
    "sets": (
        *("DenseToDenseSetOperation", "DenseToSparseSetOperation", "SparseToSparseSetOperation", "SetSize"),
        *("ComputeAccidentalHits",),
    ),
    "shape": (
        *("Shape", "ShapeN", "Size", "Rank", "Reshape", "EnsureShape", "ExpandDims", "Squeeze"),
        *("Transpose", "ConjugateTranspose", "InvertPermutation", "Bitcast", "BroadcastTo"),
        *("BroadcastArgs", "BroadcastGradientArgs"),
    ),
    "slice": ("Slice", "StridedSlice", "StridedSliceGrad", "TensorStridedSliceUpdate"),
    "softmax": (
        *("Softmax", "LogSoftmax", "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"),
        *("L2Loss",),
    ),
    "space_batch": (
        *("SpaceToBatchND", "BatchToSpaceND", "SpaceToBatch", "BatchToSpace", "SpaceToDepth"),
        *("DepthToSpace",),
    ),
    "sparse": (
        *("SparseToDense", "SparseReshape", "SparseReorder", "SparseFillEmptyRows"),
        *("SparseFillEmptyRowsGrad", "SparseConcat", "SparseSlice", "SparseSliceGrad", "SparseSplit"),
        *("SparseTensorDenseMatMul", "SparseTensorDenseAdd"),
    ),
    "sparse_arithmetic": (
        *("SparseAdd", "SparseAddGrad", "SparseSparseMaximum", "SparseSparseMinimum"),
        *("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv", "SparseSoftmax"),
        *("SparseReduceSum", "SparseReduceMax", "SparseReduceSumSparse", "SparseReduceMaxSparse"),
    ),
    "sparse_cross": ("SparseCross", "SparseCrossHashed", "SparseCrossV2"),
    "sparse_segment": (
        *("SparseSegmentSum", "SparseSegmentSumWithNumSegments", "SparseSegmentSumGrad"),
        *("SparseSegmentSumGradV2", "SparseSegmentMean", "SparseSegmentMeanWithNumSegments"),
        *("SparseSegmentMeanGrad", "SparseSegmentMeanGradV2", "SparseSegmentSqrtN"),
        *("SparseSegmentSqrtNWithNumSegments", "SparseSegmentSqrtNGrad", "SparseSegmentSqrtNGradV2"),
    ),
    "sparse_serialized": (
        *("SerializeSparse", "SerializeManySparse", "DeserializeSparse", "DeserializeManySparse"),
    ),
    "special": (
        *("Erf", "Erfc", "Erfinv", "Ndtri", "Lgamma", "Digamma", "Zeta", "Polygamma", "Spence", "Dawsn"),
        *("Expint", "FresnelSin", "FresnelCos"),
    ),
    "stack": (
        *("Stack", "StackPush", "StackPop", "StackClose"),
        *("StackV2", "StackPushV2", "StackPopV2", "StackCloseV2"),
    ),
    "stateless_random": (
        *("StatelessRandomUniform", "StatelessRandomUniformV2", "StatelessRandomNormal"),
        *("StatelessRandomNormalV2", "StatelessTruncatedNormal", "StatelessTruncatedNormalV2"),
        *("StatelessRandomUniformFullInt", "StatelessRandomUniformFullIntV2", "StatelessRandomUniformInt"),
        *("StatelessRandomUniformIntV2", "StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg"),
        *("StatelessRandomGetAlg", "StatelessMultinomial", "StatelessShuffle"),
    ),
    "string": (
        *("StringJoin", "StringLower", "StringUpper", "StringStrip", "StringLength", "Substr"),
        *("StringSplit", "StringSplitV2", "ReduceJoin", "UnsortedSegmentJoin", "StringNGrams"),
        *("ShardedFilename", "ShardedFilespec", "StringToNumber"),
    ),
    "string_format": ("AsString", "StringFormat"),
    "string_hash": (
        *("StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong", "Fingerprint"),
    ),
    "summary": ("HistogramSummary", "ScalarSummary", "MergeSummary"),
    "tensor_array": (
        *("TensorArrayV3", "TensorArrayGradV3", "TensorArrayGradWithShape", "TensorArrayWriteV3"),
        *("TensorArrayReadV3", "TensorArrayGatherV3", "TensorArrayScatterV3", "TensorArraySizeV3"),
        *("TensorArrayConcatV3", "TensorArraySplitV3", "TensorArrayCloseV3", "TensorArrayV2"),
        *("TensorArrayGradV2", "TensorArrayWriteV2", "TensorArrayReadV2", "TensorArrayGatherV2"),
        *("TensorArrayScatterV2", "TensorArraySizeV2", "TensorArrayConcatV2", "TensorArraySplitV2"),
        *("TensorArrayCloseV2", "TensorArray", "TensorArrayGrad", "TensorArrayWrite", "TensorArrayRead"),
        *("TensorArrayGather", "TensorArrayScatter", "TensorArraySize", "TensorArrayConcat"),
        *("TensorArraySplit", "TensorArrayClose"),
    ),
    "tensor_list": (
        *("EmptyTensorList", "TensorListReserve", "TensorListGetItem", "TensorListSetItem"),
        *("TensorListPushBack", "TensorListPushBackBatch", "TensorListPopBack", "TensorListLength"),
        *("TensorListElementShape", "TensorListResize", "TensorListConcatLists"),
    ),
    "tensor_list_stack": (
        *("TensorListStack", "TensorListGather", "TensorListFromTensor", "TensorListScatter"),
        *("TensorListScatterV2", "TensorListScatterIntoExistingList", "TensorListSplit"),
        *("TensorListConcat", "TensorListConcatV2"),
    ),
    "tensor_map": (
        *("EmptyTensorMap", "TensorMapInsert", "TensorMapLookup", "TensorMapErase", "TensorMapHasKey"),
        *("TensorMapSize", "TensorMapStackKeys"),
    ),
    "text_table": ("InitializeTableFromTextFile", "InitializeTableFromTextFileV2"),
    "top_k": ("TopK", "TopKV2", "ApproxTopK", "NthElement", "InTopK", "InTopKV2"),
    "unary_ops_composition": ("_UnaryOpsComposition",),
    "unicode": ("UnicodeDecode", "UnicodeDecodeWithOffsets", "UnicodeEncode", "UnicodeTranscode"),
    "uniform_quantize": (
        *("UniformQuantize", "UniformDequantize", "UniformRequantize", "UniformQuantizedAdd"),
        *("UniformQuantizedClipByValue", "UniformQuantizedDot"),
    ),
    "unique": ("Unique", "UniqueWithCounts", "UniqueV2", "UniqueWithCountsV2"),
    "value_counts": (
        *("SparseBincount", "RaggedBincount", "DenseCountSparseOutput", "SparseCountSparseOutput"),
        *("RaggedCountSparseOutput",),
    ),
    "variable_scatter": (
        *("ScatterUpdate", "ResourceScatterUpdate", "ScatterAdd", "ResourceScatterAdd", "ScatterSub"),
        *("ResourceScatterSub", "ScatterMul", "ResourceScatterMul", "ScatterDiv", "ResourceScatterDiv"),
        *("ScatterMax", "ResourceScatterMax", "ScatterMin", "ResourceScatterMin", "ScatterNdUpdate"),
        *("ResourceScatterNdUpdate", "ScatterNdAdd", "ResourceScatterNdAdd", "ScatterNdSub"),
        *("ResourceScatterNdSub", "ScatterNdMax", "ResourceScatterNdMax", "ScatterNdMin"),
        *("ResourceScatterNdMin", "ResourceGather", "ResourceGatherNd", "StridedSliceAssign"),
        *("ResourceStridedSliceAssign",),
    ),
    "variant_math": ("AddN", "ZerosLike"),
    "where": ("Where", "UnravelIndex", "ListDiff"),
}

FAMILIES: Families[tuple[KernelRegistration, ...]] = Families(__package__, _OPS)


class FallbackKernels(KernelRegistry):
    """Knows every op of the table, behind what a user has registered. Safe from several threads."""

    def __init__(self) -> None:
        super().__init__()
        self._imported: set[str] = set()
        self._lock = RLock()

    def registrations(self, op: str) -> list[KernelRegistration]:
        # Looked at before the lock is taken: nearly always all is there.
        if not self._imported.issuperset(FAMILIES.modules_of(op)):
            with self._lock:
                self._import(op)
        return super().registrations(op)

    def _import(self, op: str) -> None:
        for family in FAMILIES.modules_of(op):
            if family not in self._imported:
                for registration in FAMILIES.registrations(family):
                    self._kernels.setdefault(registration.op, []).append(registration)
                self._imported.add(family)

    def ops(self) -> list[str]:
        return sorted({*FAMILIES.names(), *self._kernels})


@lru_cache(1)
def fallback_kernels() -> FallbackKernels:
    """The registry that everything uses unless another is given."""
    return FallbackKernels()
