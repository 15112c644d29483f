"""Differences from LiteRT that are known, most of which docs/operators.md tells of."""

from __future__ import annotations

import re

from .entry import Known
from .one_op import Trial

_CURVES = "LOG|EXP|SIN|COS|R?SQRT|GELU|LOGISTIC|TANH|ELU|HARD_SWISH|LOCAL_RESPONSE_NORMALIZATION|SOFTMAX"
_SUMS = (
    "CONV.*|DEPTHWISE.*|TRANSPOSE_CONV|FULLY_CONNECTED|BATCH_MATMUL|SUM|MEAN|CUMSUM|.*POOL_2D|RFFT2D|LOG_SOFTMAX"
    "|L2_NORMALIZATION|REDUCE_PROD|RESIZE_BILINEAR|.*SEGMENT.*|ADD_N|.*REDUCE_WINDOW|EMBEDDING_LOOKUP_SPARSE"
)
_WRONG = "LiteRT moves elements of the wrong size"

KNOWN: tuple[Known, ...] = (
    Known(_CURVES, "with extremes", "XNNPACK's approximations serve a narrower range", "AUTO"),
    Known("GELU|SOFTMAX", "with extremes", "NaN of infinities in another order"),
    Known(".*", "float16.* with extremes", "numlite computes in float32 and rounds once"),
    Known(_SUMS, "with extremes", "sums overflow in another order"),
    Known(
        ".*",
        "(LiteRT|[(]) *np.float64[(]-?3.4028234663852886e[+]38",
        "LiteRT's own kernels bound infinities",
        "AUTO",
    ),
    Known(
        "DIV|SUB",
        r"^(const )?float16.*[(]nan[)], LiteRT",
        "XNNPACK's clamp of halves gives numbers for NaN, float32's do not",
        "AUTO",
    ),
    Known("ARG_M.*", "with extremes", "LiteRT's vectors along the last axis lose numbers beside NaN"),
    Known(
        "SUM|REDUCE_PROD",
        r"(^|given )u?int(8|16)[^\[]*\[(\d+, )*0[\],]",
        "LiteRT leaves sums of nothing unwritten",
    ),
    Known("REDUCE_PROD", "input's scale must be under", "LiteRT shifts by less than nothing"),
    Known("QUANTIZE", "with (extremes|NaN)", "floats beyond int32: undefined in C++"),
    Known("UNIQUE", "with (extremes|NaN)", "LiteRT's map puts NaN anywhere"),
    Known("EXP|LOG", r"with NaN.*[(]nan[)], LiteRT", "XNNPACK's have numbers without AVX-512", "AUTO"),
    Known("MAX_POOL_2D|M(IN|AX)IMUM|REDUCE_M.*", "with NaN", "which is larger than NaN hangs on the order"),
    Known("LOCAL_RESPONSE_NORMALIZATION", "with NaN", "LiteRT's sum of a window is the one before, changed"),
    Known(
        "FULLY_CONNECTED|.*CONV.*|BATCH_MATMUL",
        r"float32.* const u?int[248]\b.*with NaN",
        "what the largest of a row is hangs on the order of its numbers beside NaN",
    ),
    Known("cases .*|blockwise", "with NaN", "rows beside NaN, which integers have no form for"),
    Known(
        "BATCH_MATMUL",
        r"float32\[.*\] int8.*LiteRT np.float64\(-?0.0\)",
        "LiteRT's default gives zeros for int8 that is no constant",
        "AUTO",
    ),
    Known(
        "DEPTHWISE_CONV_2D",
        r"^float32\[[^\]]*\] (const )?int8\(\d[.e\d-]*,",
        "LiteRT reads behind the one scale, which may also be there by chance",
    ),
    Known("MATRIX_(SET_)?DIAG", "bool|float16|float64|complex64|uint16|uint64", _WRONG),
    Known(
        "RSQRT",
        r"float64[(]-?inf[)], LiteRT np.float64[(]nan[)]",
        "XNNPACK gives NaN for the root of 0",
        "AUTO",
    ),
    Known(
        "BATCH_MATMUL",
        r"^(const )?float32\[(\d+, ){3,}.*int8.*-> float32",
        "LiteRT's reference repeats the first matrices' factors where batches broadcast",
        "BUILTIN_REF",
    ),
    Known(
        "STRIDED_SLICE",
        r"odd offset|offset=True.* \| run [12]",
        "LiteRT reads and writes outside where sizes do not fit",
    ),
    Known("STRIDED_SLICE", "shrunk backwards", "LiteRT leaves the result unwritten"),
    Known("READ_VARIABLE", "run [12], output 0: [a-z]", "LiteRT keeps the size that the variable had"),
    Known("MUL", "uint32.*RELU_N1_TO_1", "LiteRT takes -1 for the largest number"),
    Known(
        "ADD|SUB|MUL",
        r"^u?int8.*np.u?int8\((-128|0)\), LiteRT np.u?int8\((127|255)\)|"
        r"^u?int8.*np.u?int8\((127|255)\), LiteRT np.u?int8\((-128|0)\)|"
        r"^u?int8.*RELU.*LiteRT np.u?int8\((-128|0|127|255)\)|"
        r"^u?int8.*-> u?int8\([^,]*,(-?\d+)\).*RELU.*LiteRT np.u?int8\(\6\)",
        "LiteRT's vector code wraps around at 16 bits where XNNPACK does not take the node",
        "AUTO",
    ),
    Known("GELU", "float16.*approximate=True", "XNNPACK rounds the hyperbolic tangent to float16", "AUTO"),
    Known("REVERSE_SEQUENCE", "lengths must be", "LiteRT reads outside of the input"),
    Known("ATAN2", ".*", "operands that broadcast: LiteRT reads behind the smaller one"),
    Known(
        "LOCAL_RESPONSE_NORMALIZATION", ".*", "LiteRT's reference leaves out the last element", "BUILTIN_REF"
    ),
    Known("SUM", "int8|int16", "LiteRT's reference returns one constant for all", "BUILTIN_REF"),
    Known(
        "FULLY_CONNECTED",
        r"^float32\[[^]]*\] int8.*asymmetric_quantize_inputs=True.*run [12]",
        "LiteRT keeps the sums of the first run's rows",
    ),
    Known(
        "CONV_2D",
        r"^float32\[[^]]*\] int8\([^)]*\).*\| run [12]",
        "LiteRT keeps the sums of the first run's filters",
        "AUTO",
    ),
    Known("EMBEDDING_LOOKUP", r"must be in \[0, 0\)", "LiteRT reads behind a table of no rows"),
    Known("GATHER|EMBEDDING_LOOKUP", "int[24]", "packed rows that are no whole bytes"),
    Known(
        "BATCH_MATMUL",
        r"^float32\[[^]]*\] int8.*asymmetric_quantize_inputs=True.*run [12]",
        "LiteRT keeps the sums of the first run's rows",
        "BUILTIN_REF",
    ),
    Known(
        ".*CONV.*|FULLY_CONNECTED",
        r"int16.* np.int16\((-?)(\d+)\), LiteRT np.int16\((?!\1\d)-?(\2|32768|32767)\)",
        "LiteRT's results beyond int32 wrap around",
    ),
    Known(
        "ADD|SUB|MUL",
        r"const u?int8\([^)]*\)\[1(, 1)*\]=.*RELU.*int8\[[\d, ]*\], LiteRT u?int8\[",
        "XNNPACK drops the leading ones of one constant element under a clamp",
        "AUTO",
    ),
    Known(
        ".*CONV.*|FULLY_CONNECTED",
        r"^int16.*RELU.* np.int16\(32767\), LiteRT np.int16\(0\)",
        "LiteRT's results beyond int32 wrap around, under 0",
    ),
    Known(
        "FULLY_CONNECTED",
        "filter of float32 inputs must have zero point 0",
        "LiteRT's reference leaves out the zero point",
        "BUILTIN_REF",
    ),
    Known("RFFT2D", r"complex64\[(\d+, )*1\] differ", "width 1: LiteRT transforms no columns"),
    Known(
        "BIDIRECTIONAL_SEQUENCE_LSTM",
        "merge_outputs=True, time_major=False",
        "LiteRT writes merged outputs of a batch-major sequence to wrong places",
    ),
    Known(".*LSTM int8", "peepholes behind the weights", "LiteRT reads behind the peephole weights"),
    Known("DEPTHWISE_CONV_2D", "int16.* int4", "LiteRT reads packed weights as int8"),
    Known(
        "BIDIRECTIONAL_SEQUENCE_RNN",
        "auxiliary depth",
        "LiteRT steps through the auxiliary input by the input's depth",
    ),
    Known("STABLEHLO_SHIFT_LEFT", ".*", "shifts by the width and more are the processor's in LiteRT"),
    Known(".*POOL.*|.*CONV.*", "the filter must fit the input", "an error where LiteRT's result is empty"),
    Known("FULLY_CONNECTED", "must be a multiple of the depth", "LiteRT drops what is left over"),
    Known("MATRIX_SET_DIAG", "one element a row or column", "LiteRT reads behind a short diagonal"),
    Known("TRANSPOSE_CONV", "must shrink to the input", "LiteRT does not compare the sizes"),
    Known("LSH_PROJECTION", "type string", "LiteRT hashes the header of the string buffer"),
    Known("STRIDED_SLICE", "axes can be sliced|begin of a shrunk axis", "LiteRT reads outside of the input"),
    Known("SLICE", "must stay inside axis", "LiteRT reads outside of the input"),
    Known(
        "STABLEHLO_GATHER|STABLEHLO_SCATTER",
        "window sizes must fit|updates must have the shape",
        "LiteRT reads outside of the input",
    ),
    Known("QUANTIZE|DEQUANTIZE", "one scale for each index", "LiteRT reads outside of the scales"),
    Known("TRANSPOSE_CONV", "must agree", "LiteRT does not compare the batches"),
    Known("NOT_EQUAL", r"int16\[", "LiteRT reads scales that are not there"),
    Known(
        "RESIZE_.*", "heights and widths must be at least 1", "an error where LiteRT gives nothing of nothing"
    ),
    Known("TRANSPOSE", r"\[\](=\S+)? (const )?int32\[0\]", "LiteRT leaves scalars unwritten"),
    Known("MUL|DIV|REDUCE_M.*|CEIL|cases .*", "with extremes", "infinities and NaN in another order"),
    Known("cases packed_movement", "RESHAPE-int4-given", "LiteRT keeps the first run's shape"),
    Known("cases packed_weights|blockwise", "with extremes", "floats of which each row is quantized"),
    Known(
        "STRIDED_SLICE",
        "ellipsis_mask=",
        "LiteRT gives an ellipsis that stands for no axis one, and drops an entry",
    ),
    Known(
        "FULLY_CONNECTED",
        r"^float32.*const int4.*(?<!const )float32\[\d+\] ->",
        "LiteRT's vector code loses the sign of the lowest weight",
        "AUTO",
    ),
    Known("blockwise", "", "LiteRT's reference reads one scale", "BUILTIN_REF"),
    Known("FAKE_QUANT", "min must be under max", "LiteRT divides by 0"),
    Known("Mfcc", "coefficients must be at least 1", "LiteRT looks at these only when there is a frame"),
)


def why_known(operator: str, trial: Trial, resolver: str, text: str) -> str | None:
    """The reason of the first entry that fits."""
    for known in KNOWN:
        fits = known.resolver in ("", resolver) and re.fullmatch(known.operators, operator)
        if fits and re.search(known.told, f"{trial.told} | {text} | {_given(trial, text)}"):
            return known.why
    return None


def _given(trial: Trial, text: str) -> str:
    """What the run of a difference was given, of which later runs change sizes."""
    run = re.match(r"run (\d+)", text)
    arrays = trial.runs[int(run[1])] if run else ()
    return " ".join(f"given {x.dtype}{list(x.shape)}" for x in arrays)
