"""Ops that move, find and decode, by family module: arrays, images, strings, sparse and ragged tensors."""

from __future__ import annotations

DATA: dict[str, tuple[str, ...]] = {
    "arg_min_max": ("ArgMax", "ArgMin"),
    "audio": ("DecodeWav", "EncodeWav", "AudioSpectrogram", "Mfcc"),
    "bounding_boxes": ("DrawBoundingBoxes", "DrawBoundingBoxesV2"),
    "color": ("RGBToHSV", "HSVToRGB", "AdjustHue", "AdjustSaturation", "AdjustContrastv2", "AdjustContrast"),
    "concatenation": (
        *("Concat", "ConcatV2", "ConcatOffset", "Pack", "ParallelConcat", "Unpack", "Split", "SplitV"),
    ),
    "crop_and_resize": ("CropAndResize", "CropAndResizeGradImage", "CropAndResizeGradBoxes"),
    "ctc_decoder": ("CTCGreedyDecoder", "CTCBeamSearchDecoder"),
    "ctc_loss": ("CTCLoss",),
    "decode": (
        *("DecodeRaw", "DecodePaddedRaw", "EncodeBase64", "DecodeBase64", "DecodeCompressed"),
        *("ParseTensor", "SerializeTensor", "DecodeCSV"),
    ),
    "distance": ("EditDistance", "NearestNeighbors", "IsotonicRegression"),
    "dynamic_partition": ("DynamicPartition", "DynamicStitch", "ParallelDynamicStitch"),
    "fill": ("Fill", "Range", "LinSpace", "OneHot"),
    "fractional_pool": (
        *("FractionalMaxPool", "FractionalAvgPool", "FractionalMaxPoolGrad", "FractionalAvgPoolGrad"),
    ),
    "gather": ("Gather", "GatherV2", "GatherNd"),
    "glimpse": ("ExtractGlimpse", "ExtractGlimpseV2"),
    "image_codec": (
        *("DecodePng", "DecodeJpeg", "DecodeAndCropJpeg", "ExtractJpegShape", "DecodeBmp", "DecodeGif"),
        *("DecodeImage", "EncodePng", "EncodeJpeg", "EncodeJpegVariableQuality"),
    ),
    "layout": ("DataFormatDimMap", "DataFormatVecPermute"),
    "matrix_diag": (
        *("Diag", "DiagPart", "MatrixDiag", "BatchMatrixDiag", "MatrixDiagPart", "BatchMatrixDiagPart"),
        *("MatrixSetDiag", "BatchMatrixSetDiag", "MatrixBandPart", "BatchMatrixBandPart"),
        *("MatrixDiagPartV2", "MatrixDiagPartV3", "MatrixSetDiagV2", "MatrixSetDiagV3", "MatrixDiagV2"),
        *("MatrixDiagV3",),
    ),
    "non_max_suppression": (
        *("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionV4"),
        *("NonMaxSuppressionV5", "NonMaxSuppressionWithOverlaps", "CombinedNonMaxSuppression"),
    ),
    "pad": ("Pad", "PadV2", "MirrorPad", "MirrorPadGrad"),
    "parse_example": (
        *("ParseExample", "ParseExampleV2", "ParseSingleExample", "ParseSingleSequenceExample"),
        *("DecodeJSONExample",),
    ),
    "parse_sequence": ("ParseSequenceExample", "ParseSequenceExampleV2"),
    "patches": ("ExtractImagePatches", "ExtractVolumePatches"),
    "projective_transform": ("ImageProjectiveTransformV2", "ImageProjectiveTransformV3"),
    "ragged": (
        *("RaggedRange", "RaggedGather", "RaggedTensorToSparse", "RaggedTensorToTensor"),
        *("RaggedFillEmptyRows", "RaggedFillEmptyRowsGrad"),
    ),
    "ragged_cross": ("RaggedCross",),
    "ragged_variant": (
        *("RaggedTensorToVariant", "RaggedTensorFromVariant", "RaggedTensorToVariantGradient"),
    ),
    "regex": ("RegexReplace", "StaticRegexReplace", "RegexFullMatch", "StaticRegexFullMatch"),
    "resize": (
        *("ResizeBilinear", "ResizeBicubic", "ResizeArea", "ResizeNearestNeighbor"),
        *("ResizeNearestNeighborGrad", "ResizeBilinearGrad", "ResizeBicubicGrad"),
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
    "slice": (
        *("Slice", "StridedSlice", "StridedSliceGrad", "TensorStridedSliceUpdate", "XlaDynamicUpdateSlice"),
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
    "sparse_matrix": (
        *("SparseTensorToCSRSparseMatrix", "DenseToCSRSparseMatrix", "CSRSparseMatrixToSparseTensor"),
        *("CSRSparseMatrixToDense", "CSRSparseMatrixComponents", "SparseMatrixNNZ", "SparseMatrixTranspose"),
        *("SparseMatrixMatMul", "SparseMatrixSparseMatMul"),
    ),
    "sparse_segment": (
        *("SparseSegmentSum", "SparseSegmentSumWithNumSegments", "SparseSegmentSumGrad"),
        *("SparseSegmentSumGradV2", "SparseSegmentMean", "SparseSegmentMeanWithNumSegments"),
        *("SparseSegmentMeanGrad", "SparseSegmentMeanGradV2", "SparseSegmentSqrtN"),
        *("SparseSegmentSqrtNWithNumSegments", "SparseSegmentSqrtNGrad", "SparseSegmentSqrtNGradV2"),
    ),
    "sparse_serialized": (
        *("SerializeSparse", "SerializeManySparse", "DeserializeSparse", "DeserializeManySparse"),
    ),
    "string": (
        *("StringJoin", "StringLower", "StringUpper", "StringStrip", "StringLength", "Substr"),
        *("StringSplit", "StringSplitV2", "ReduceJoin", "UnsortedSegmentJoin", "StringNGrams"),
        *("ShardedFilename", "ShardedFilespec", "StringToNumber"),
    ),
    "string_format": ("AsString", "StringFormat"),
    "string_hash": (
        *("StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong", "Fingerprint"),
        "_TensorToHashBucketFast",
    ),
    "top_k": ("TopK", "TopKV2", "ApproxTopK", "NthElement", "InTopK", "InTopKV2"),
    "unicode": (
        "UnicodeDecode",
        "UnicodeDecodeWithOffsets",
        "UnicodeEncode",
        "UnicodeTranscode",
        "UnicodeScript",
    ),
    "unique": ("Unique", "UniqueWithCounts", "UniqueV2", "UniqueWithCountsV2"),
    "value_counts": (
        *("SparseBincount", "RaggedBincount", "DenseCountSparseOutput", "SparseCountSparseOutput"),
        *("RaggedCountSparseOutput",),
    ),
    "where": ("Where", "UnravelIndex", "ListDiff"),
}
