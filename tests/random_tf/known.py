"""Differences from TensorFlow that have a reason, by the kinds of cases where they are met."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.random_tf import without
from tests.random_tf.trial import Trial


@dataclass(frozen=True)
class Known:
    """A difference: the kinds that have it (all where there are none), a pattern of its text, and why.

    Floats are apart by most of the largest one. without makes the trial one in which there is no such reason,
    and so nothing may differ.
    """

    kinds: tuple[str, ...]
    pattern: str
    why: str
    most: float = float("inf")
    without: Callable[[Trial], Trial] | None = None


KNOWN = (
    Known((), r"^differs: LiteRT, run \d: [^#]*IsPowerOfTwo", "LiteRT has spectra of powers of two only"),
    Known(
        (), r"^differs: LiteRT, run \d: [^#]*segment_sum.cc", "LiteRT's SEGMENT_SUM takes ids without gaps"
    ),
    Known(
        (),
        r"^differs: LiteRT, run \d: (ValueError: Invalid tensor size\. \||ValueError: array is too big|"
        r"RuntimeError: [^#]*BytesRequired number of|n:0: must be \w+ \([^)]*\b0\b)",
        "what LiteRT does with empty tensors hangs on its memory",
    ),
    Known(
        (),
        r"^differs: LiteRT, run \d: ValueError: Invalid data-type for array \|",
        "LiteRT's Python interface has no arrays of bfloat16",
    ),
    Known(
        (),
        r"^differs: run_graph: [^#]*the range must ascend and be finite",
        "such a range stands for nothing",
    ),
    Known(
        (),
        r"^differs: run_graph: [^#]*is out of bounds of",
        "some of TensorFlow's sparse ops do not look whether indices lie in the shape",
    ),
    Known(
        (
            *("AvgPoolGrad", "AvgPool3DGrad", "FractionalAvgPoolGrad", "BatchNormWithGlobalNormalization"),
            *("BatchNormWithGlobalNormalizationGrad", "RaggedBincount", "RaggedTensorToTensor"),
            *("SparseBincount", "SparseCountSparseOutput", "LSTMBlockCell"),
        ),
        r"^differs: run_graph: [^#]*must (be|have|ascend|rise|fit)",
        "TensorFlow does not look whether these sizes go together, and reads what lies there",
    ),
    Known(
        ("CholeskyGrad", "BatchCholeskyGrad"),
        r"np\.float(32|64)\(nan\), not np\.float(32|64)\(-?inf\)",
        "a triangle that cannot be inverted leaves no number, which one hangs on the order of terms",
    ),
    Known(
        ("DepthwiseConv2dNative",),
        r"^differs: conversion: ModelError[^#]*filter channels must be[^#]* and w [\dx]*x0 ",
        "filters of no results are refused",
    ),
    Known(
        ("DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNativeBackpropInput"),
        r"\| .*dilations=",
        "TensorFlow's CPU kernels leave out the dilations",
    ),
    Known(
        (
            *("AvgPool", "MaxPoolWithArgmax", "MaxPoolGradWithArgmax", "QuantizedMaxPool"),
            *("DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNativeBackpropInput"),
        ),
        r"(strides|dilations) must be 1 at batch and channels",
        "TensorFlow does not look at the stride or dilation of channels, and takes it for 1",
    ),
    Known(
        (),
        r"^differs: run_graph: [^#]*key must be \[1\] and counter \[2\], got \[1\] and \[1\]",
        "TensorFlow reads a counter's second half where there is none",
    ),
    Known(
        ("BroadcastArgs", "LogSoftmax", "ReverseSequence", "ReverseV2"),
        r"^differs: LiteRT, run \d: died \|",
        "LiteRT dies of empty tensors",
    ),
    Known(
        (),
        r"^differs: LiteRT, run \d: RuntimeError: XNNPack delegate failed to reshape.*sizes {.*\b0[,}]",
        "XNNPACK refuses empty images and matrices",
    ),
    Known(
        (
            *("Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv3D"),
            *("Conv3DBackpropFilter", "Conv3DBackpropFilterV2"),
            *("Conv3DBackpropInput", "Conv3DBackpropInputV2"),
            *("DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropFilter"),
            "DepthwiseConv2dNativeBackpropInput",
        ),
        r"n:0: \d+ of \d+ differ[^#]*(##.*)?\|.*T=type: DT_BFLOAT16",
        "TensorFlow rounds sums of bfloat16 on the way",
        most=0.1,
    ),
    Known(
        ("Cast",),
        r"^differs: (run_graph|numlite|LiteRT), run \d: n:0: \d+ of \d+ differ, at [^:]*: np\.u?int\d+\(",
        "floats out of a type's range are undefined in C++: LiteRT's operator gives another number",
        without=without.within_few_bits,
    ),
    Known(
        ("Equal", "NotEqual"),
        r"^differs: (numlite|LiteRT), run \d: [^#]*(broadcast|be bool \(\)).*\|.*shape_error=b: false",
        "the builtin operator has no scalar for operands that do not fit: open sizes that do not are refused",
    ),
    Known(
        ("Equal", "NotEqual"),
        r"^differs: LiteRT, run \d: [^#]*\|.*T=type: DT_STRING",
        "LiteRT compares other texts of an operand that is broadcast",
    ),
    Known(
        ("FusedResizeAndPadConv2D",),
        r"^differs: run_graph, run \d: n:0: \d+ of \d+ differ, at \([1-9]",
        "TensorFlow's kernel keeps resized rows of the image before",
    ),
    Known(
        ("RequantizePerChannel", "RequantizationRangePerChannel"),
        r"^differs: run_graph: [^#]*must have an element for each channel",
        "TensorFlow does not look at the channels, and takes a range for each so many elements",
    ),
    Known(
        ("AudioSpectrogram",),
        r"np\.float32\((inf|nan)\), not np\.float32\((inf|nan)\)",
        "what a transform makes of an infinity hangs on the order of its terms",
    ),
    Known(
        ("RFFT", "RFFT2D"),
        r"^differs: (numlite|LiteRT), run \d: n:0: \d+ of \d+ differ[^#]*(inf|nan)",
        "LiteRT's transform makes something else of an infinity, and so does a product with sines",
        without=without.finite,
    ),
    Known(
        ("RFFT", "RFFT2D"),
        r"^differs: numlite, run \d: InvokeError: [^#]*lengths must be at least 1, got",
        "no operator transforms nothing",
    ),
    Known(
        ("RFFT", "RFFT2D"),
        r"^differs: LiteRT, run \d: n:0: \d+ of \d+ differ[^#]*\+0j\)[^#]*sizes {[^}]*: 1\b",
        "LiteRT's transform of one sample has it as the imaginary part, too",
    ),
    Known(
        ("SparseAdd",),
        r"\|(.*T=type: DT_(U?INT)(\d+); Treal=type: DT_(?!\2\3)|(?!.*Treal=).*T=type: DT_U?INT)",
        "TensorFlow reads a thresh of another type than the values as one of theirs",
    ),
    Known(
        (
            *("MaxPoolGradV2", "MaxPoolV2", "MaxPoolGradGradV2", "DepthwiseConv2dNative", "Dilation2D"),
            *("Dilation2DBackpropFilter", "Dilation2DBackpropInput", "ScaleAndTranslateGrad"),
        ),
        r"^differs: run_graph: [^#]*(window|output) sizes must be positive",
        "what has no extent is refused",
    ),
    Known(
        ("Conv2D",),
        r"^differs: LiteRT, run \d: RuntimeError: tflite/kernels/conv\.cc:\d+ input->dims->data\[\d\] > 0",
        "LiteRT refuses images without extent",
    ),
    Known(
        ("Conv2D", "Conv3D", "Conv2DBackpropFilter", "Conv3DBackpropFilterV2"),
        r"^differs: run_graph: [^#]*filter must have input channels[^#]*(input \[.*\b0\] |filter \[.*\b0\b)",
        "what has no extent is refused",
    ),
    Known(
        ("QuantizedInstanceNorm",),
        r"float32\(nan\), not .*\|.*variance_epsilon=f: -",
        "the root of a variance below zero is no number, which the least and the largest pass over or not",
    ),
    Known(
        ("ImageProjectiveTransformV2", "ImageProjectiveTransformV3"),
        r"^differs: run_graph, run \d: n:0: \d+ of \d+ differ",
        "a place that is no number is an undefined index in C++",
        without=without.finite,
    ),
    Known(
        ("QuantizedAdd", "QuantizedMul"),
        r"^differs: run_graph, run \d: n:0: \d+ of \d+ differ",
        "TensorFlow takes a column for a row where it broadcasts",
        without=without.without_columns,
    ),
    Known(
        ("TridiagonalSolve", "CholeskyGrad", "BatchCholeskyGrad"),
        r"^differs: run_graph, run \d: n:0: \d+ of \d+ differ[^#]*nan",
        "what a system with an infinity gives hangs on the order of its pivots",
        without=without.finite,
    ),
    Known(
        ("Log", "Log1p", "Xlogy", "Xlog1py"),
        r"^differs: LiteRT, run \d: n:0: \d+ of \d+ differ",
        "XNNPACK's logarithm of an infinity is that of the largest number where there is no AVX-512",
        without=without.finite,
    ),
    Known(
        ("Rsqrt",),
        r"^differs: LiteRT, run \d: n:0: [^#]*float32\(nan\), not np\.float32\(-?inf\)",
        "XNNPACK's reciprocal root of 0 is no number where there is no AVX-512",
        without=without.zeros,
    ),
    Known(
        ("Softplus",),
        r"^differs: (numlite|LiteRT), run \d: n:0: \d+ of \d+ differ",
        "the logarithm of 1 and a power has no end where the power has none, in TensorFlow's models, too",
        without=without.of_modest_size,
    ),
    Known(
        ("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "QuantizeAndDequantizeV2"),
        r"^differs: (numlite|LiteRT), run \d: n:0: \d+ of \d+ differ",
        "LiteRT's operator rounds the middle between two steps the other way",
        without=without.aside,
    ),
    Known(
        ("Conv2DBackpropInput",),
        r"^differs: numlite, run \d: n:0: [^#]*float32\(nan\), not",
        "weights that are no numbers are multiplied with the padding's zeros",
        without=without.finite,
    ),
    Known(
        ("Conv2DBackpropInput",),
        r"^differs: (numlite|LiteRT), run \d: InvokeError: [^#]*TRANSPOSE_CONV: [^#]*and output \d+x\d+ ",
        "open sizes that are all four in the graph may not be two, height and width, in a model",
    ),
    Known(
        ("CTCLoss",),
        r"^differs: run_graph, run \d: n:0: \d+ of \d+ differ",
        "of labels that are all blank TensorFlow takes the last step for another",
        without=without.of_classes,
    ),
    Known(
        ("TopKV2",),
        r"^differs: (numlite|LiteRT), run \d: [^#]*(##.*)?\|.*sorted=b: false",
        "in an order that TensorFlow does not say; TOPK_V2 has the largest first",
    ),
    Known(
        ("TensorScatterUpdate",),
        r"^differs: (numlite|LiteRT), run \d: n:0: \d+ of \d+ differ",
        "of updates of one index TensorFlow does not say which counts; SCATTER_ND, of indices that are not "
        "constant, adds them up, in TensorFlow's conversions, too",
        without=without.without_repeats,
    ),
    Known(
        ("ResizeBicubicGrad",),
        r"^differs: run_graph, run \d: n:0: \d+ of \d+ differ[^#]*(##.*)?\|.*T=type: DT_DOUBLE",
        "TensorFlow multiplies in float32, whatever the image's type",
        most=1e-5,
    ),
    Known(
        (),
        r"^differs: (numlite|LiteRT), run \d: [^#]*the filter must fit the input under VALID padding",
        "an error where TensorFlow's result is empty, and LiteRT's operator makes up another",
    ),
    Known(
        (),
        r"^differs: run_graph: [^#]*filter must have input ch[^#]*, got input \[0, [^#]*filter \[[^]]*\b0,",
        "filters of no extent are refused, though there be no images",
    ),
    Known(
        ("Atan2",),
        r"^differs: conversion: [^#]*BROADCAST_TO does not take float64",
        "LiteRT's ATAN2 reads behind operands that broadcast, and does not stretch float64",
    ),
    Known(
        (
            *("Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv3D", "Conv3DBackpropFilter"),
            *("Conv3DBackpropFilterV2", "Conv3DBackpropInput", "Conv3DBackpropInputV2"),
            *("BlockLSTM", "BlockLSTMV2", "LRNGrad", "FusedPadConv2D", "FusedResizeAndPadConv2D"),
        ),
        r"n:\d: \d+ of \d+ differ, at [^:]*: np\.float16\(",
        "TensorFlow rounds sums of halves on the way",
        most=0.03,
    ),
    Known(
        ("Conv3DBackpropFilter", "Conv3DBackpropFilterV2"),
        r"^differs: run_graph, run \d: n:0: \d+ of \d+ differ[^#]*np\.float(16|32|64)\(nan\)",
        "TensorFlow multiplies inputs that no window holds with the zeros that it pads the gradient by",
        without=without.finite,
    ),
    Known(
        ("Conv3D",),
        r"^differs: conversion: ModelError[^#]*window must fit",
        "TensorFlow's shape of a Conv3D leaves out the dilations; its result has no elements",
    ),
    Known(
        ("Conv2D", "Conv2DBackpropInput", "Conv3D", "DepthwiseConv2dNative"),
        r"^differs: (numlite|LiteRT), run \d: [^#]*float32\(-?3\.4028235e\+38\), not np\.float32\(-?inf\)",
        "LiteRT's own kernels bound infinities",
    ),
    Known(
        ("Conv3D", "Conv3DBackpropInputV2"),
        r"^differs: (numlite|LiteRT), run \d: [^#]*np\.float32\(-?3\.4028235e\+38\), not",
        "LiteRT's operators end at the largest number",
        without=without.finite,
    ),
    Known(
        ("Conv3D",),
        r"^differs: (numlite|LiteRT), run \d: [^#]*not np\.float(16|32)\(nan\)",
        "TensorFlow multiplies weights without number with the zeros that it pads by",
        without=without.finite,
    ),
    Known(
        ("MatrixLogarithm", "MatrixSquareRoot"),
        r"^differs: (run_graph|numlite with select ops), run \d: n:0: \d+ of \d+ differ",
        "a matrix without an inverse has no logarithm, seldom a root: what comes of it hangs on last bits",
        without=without.invertible,
    ),
    Known(
        ("AvgPool", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "Softplus"),
        r"^differs: (numlite|LiteRT), run \d: [^#]*not np\.float32\(nan\)",
        "of what is no number LiteRT's operators make the least",
        without=without.finite,
    ),
    Known(
        ("MaxPool",),
        r"^differs: (numlite|LiteRT), run \d: n:0: \d+ of \d+ differ",
        "which is the larger of a number and of what is none hangs on their order",
        without=without.finite,
    ),
    Known(
        ("BesselY1",),
        r"^differs: (run_graph|numlite with select ops), run \d: .*, not np\.float(16|32)\(nan\)",
        "Eigen's function is no number at 0, where it falls without bound",
        without=without.zeros,
    ),
    Known(
        ("AdjustContrast",),
        r"^differs: (run_graph|numlite with select ops), run \d: [^#]*float32\(nan\)",
        "which of a number and of a bound that is none is the less hangs on the processor in Eigen",
        without=without.finite,
    ),
    Known(
        (
            "MatrixInverse",
            "BatchMatrixInverse",
            "MatrixSolve",
            "BatchMatrixSolve",
            "MatrixSolveLs",
            "BatchMatrixSolveLs",
        ),
        r"^differs: (run_graph|numlite with select ops), run \d: n:0: [^#]*\((nan|-?inf)\)",
        "what infinities leave of a matrix hangs on the order in which its rows are taken",
        without=without.finite,
    ),
    Known(
        ("Gather", "GatherNd", "GatherV2"),
        r"^differs: LiteRT, run \d: RuntimeError: gather(_nd)? index out of bounds",
        "LiteRT refuses rows of no indices, which name the whole, and places in rows of nothing",
    ),
    Known(
        ("SparseToDense",),
        r"^differs: LiteRT, run \d: RuntimeError: tflite/kernels/sparse_to_dense\.cc:\d+ true_dimensions",
        "LiteRT has at most four axes",
    ),
    Known(
        ("Unique",),
        r"^differs: LiteRT, run \d: n:0: must be",
        "LiteRT takes what is no number for what it saw before",
        without=without.finite,
    ),
    Known(
        ("Conv3D",),
        r"^differs: (numlite|LiteRT), run \d: .*(must agree in channels|conv3d\.cc:\d+ input->dims)",
        "CONV_3D has no groups: an open number of channels must be the filter's, in TensorFlow's models, too",
    ),
    Known(
        ("Gather", "GatherV2"),
        r"^differs: LiteRT, run \d: RuntimeError: tflite/kernels/gather\.cc:\d+ NumDimensions\(input\) != 1",
        "LiteRT takes texts of one dimension only",
    ),
    Known(
        ("Fill",),
        r"^differs: LiteRT, run \d: n:0: \d+ of \d+ differ.*T=type: DT_STRING",
        "of many texts LiteRT's FILL has what lies where the one was",
    ),
    Known(
        ("Erf",),
        r"^differs: [^#]*not np\.float64\(nan\)",
        "Eigen's function of doubles is no number of infinities, where it is 1 and -1",
        without=without.finite,
    ),
    Known(
        ("FusedResizeAndPadConv2D",),
        r"^differs: run_graph, run \d: [^#]*not np\.float(16|32|64)\(nan\)",
        "TensorFlow multiplies weights without number with the zeros that it pads by",
        without=without.finite,
    ),
    Known(
        ("FusedPadConv2D",),
        r"^differs: run_graph, run \d: n:0: \d+ of \d+ differ, at \([1-9]",
        "TensorFlow computes all images of a batch from the first one",
        without=without.other_images,
    ),
    Known(
        ("Div", "FloorDiv", "FloorMod", "Mod", "Roll", "TruncateDiv", "TruncateMod"),
        r"^differs: (numlite|LiteRT), run \d: [^#]*Division by 0",
        "LiteRT refuses a 0 by which floats are divided, or nothing is",
    ),
    Known(
        ("LRN",),
        r"^differs: (numlite|LiteRT), run \d: [^#]*not np\.float32\(nan\).*\|.*(alpha|bias)=f: (-|0$)",
        "LiteRT's operator has powers of negative numbers where they exist, TensorFlow's has none",
    ),
    Known(
        ("LRN",),
        r"^differs: (numlite|LiteRT), run \d: [^#]*not np\.float32\(nan\)",
        "LiteRT's operator adds up each window for itself",
        without=without.finite,
    ),
    Known(
        ("Round",),
        r"^differs: run_graph, run \d: n:0: .*, not np\.int\d+\(0\)[^#]*(##.*)?\|.*T=type: DT_INT",
        "TensorFlow 2.21's kernel rounds every integer to 0; tf.round leaves them as they are",
    ),
    Known(
        ("CombinedNonMaxSuppression",),
        r"^differs: run_graph, run \d: n:0: \d+ of \d+ differ",
        "TensorFlow sorts the boxes of all classes by std::sort: which of equal scores is first hangs on it",
        without=without.without_ties,
    ),
    Known(
        ("branches",),
        r"^differs: conversion[^#]*\(Placeholder\) of function [^#]*_grad_[^#]*: the outputs depend on it",
        "TensorFlow's gradients of branches name placeholders that nothing feeds, and it only misses the "
        "value of one in the branch that is taken",
    ),
    Known(
        ("NonMaxSuppressionV3", "NonMaxSuppressionV4", "NonMaxSuppressionV5"),
        r"^differs: (numlite|LiteRT), run \d: n:\d: (\d+ of \d+ differ|must be)",
        "LiteRT's operators know a box that was taken by its overlap with itself, so one without an area is "
        "taken again; they leave out what overlaps by the very threshold; which of equal scores is first "
        "hangs on their heap; what overlaps by no number scores 0 in TensorFlow",
        without=without.of_different_boxes,
    ),
    Known(
        ("CTCBeamSearchDecoder",),
        r"^differs: run_graph, run \d: n:\d",
        "which of sequences of one probability stays in the beam hangs on TensorFlow's heap",
        without=without.without_equal_classes,
    ),
    Known(
        ("RandomIndexShuffle",),
        r"^differs: run_graph: [^#]*rounds must be even and 4 or more, got \d*[13579] ",
        "TensorFlow reads a key of odd rounds behind the last",
    ),
    Known(
        ("InvGrad", "ReciprocalGrad", "RsqrtGrad", "SigmoidGrad", "SqrtGrad", "TanhGrad"),
        r"^differs: (numlite|LiteRT), run \d: (n:0: must be|PrepareError: [^#]*MUL: operands must)",
        "TensorFlow takes a gradient of another shape that has as many elements",
    ),
    Known(
        ("RsqrtGrad", "SigmoidGrad", "SqrtGrad", "TanhGrad"),
        r"^differs: conversion: TensorFlow has one: [^#]*not built for complex64",
        "TensorFlow's model leaves out the conjugate",
    ),
    Known(
        ("NearestNeighbors",),
        r"^differs: run_graph, run \d: .*not np\.float32\(nan\)",
        "TensorFlow's heap of the nearest takes distances that are no numbers for less than others by turns",
        without=without.finite,
    ),
    Known(
        ("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4"),
        r"^differs: run_graph, run \d: n:0: \d+ of \d+ differ",
        "whether what is no number hides a range's end hangs on how many elements TensorFlow takes at once",
        without=without.finite,
    ),
    Known(
        ("SparseMatMul",),
        r"^differs: (numlite|LiteRT), run \d: n:0: \d+ of \d+ differ",
        "zeros of a sparse matrix do not count in TensorFlow, and times an infinity they do in BATCH_MATMUL",
        without=without.finite,
    ),
    Known(
        ("ResizeBilinear",),
        r"^differs: (numlite|LiteRT), run \d: n:0: [^#]*float32\(nan\), not",
        "LiteRT's operator multiplies with weights of 0, also what is no number",
        without=without.finite,
    ),
    Known(
        ("NthElement", "ApproxTopK", "TopKV2"),
        r"^differs: (run_graph|numlite|LiteRT)[^,]*, run \d: n:\d: \d+ of \d+ differ",
        "std::nth_element and a heap have no order for what is no number",
        without=without.finite,
    ),
    Known(
        ("QuantizeV2", "UniformQuantize"),
        r"^differs: (run_graph|numlite|LiteRT)[^,]*, run \d: n:0: \d+ of \d+ differ, at [^:]*: np\.u?int",
        "what is no number is an undefined integer in C++: the least of vectors, another of the rest",
        without=without.finite,
    ),
    Known(("NoOp",), "it has no outputs", "a graph without outputs is no model"),
)


def why_known(kind: str, ending: str) -> Known | None:
    """The first that fits how a case ended, None where it has no reason."""
    ending = " ".join(ending.split())
    if not ending.startswith("differs"):
        return None
    apart = max(map(float, re.findall(r"apart by ([\d.e+-]+|inf)", ending)), default=0.0)
    for known in KNOWN:
        fits = (not known.kinds or kind in known.kinds) and apart <= known.most
        if fits and re.search(known.pattern, ending):
            return known
    return None
