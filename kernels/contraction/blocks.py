"""What prepare and the compiled contractions both know: argument blocks, and how packed weights lie.

Fields named after tensors hold addresses. Blocks of a float product end with low and high, its clamp.
"""

from __future__ import annotations

import numpy as np

from ...lite.kernel_call import argument_block
from .geometry import ConvGeometry

# Packed weights are panels (compiled/language/panel_columns.py). A panel is a header, some rows of one
# 32-bit value for each column, and then what is multiplied: in float32 a row for each element of the
# depth, in 8 bits a row of words for each four, the depth padded with zeros. Columns past the last output
# are zeros.

# Work is cut into chunks and blocks at multiples of this many rows, which whole tiles fill.
TILE_ROWS = 28

# Matrix products: y [rows, columns] = x [rows, depth] times packed w.
# Panels of float32 have a header of one row, the biases. Rows of x begin x_stride elements apart.
_PRODUCT = "x w y rows columns depth x_stride block_rows split_columns"
GEMM_F32 = argument_block(_PRODUCT, "low high")

# Panels of 8 bits, rounded: BIAS_ROW (int32) and SCALE_ROW (float32), or for fixed point the rows from
# MULTIPLIER_ROW on; the sign row is all ones where ties go away from zero. Hybrid ones, whose x is
# quantized by rows: sums of the weights (int32), scales and biases (float32).
BIAS_ROW, SCALE_ROW = range(2)
MULTIPLIER_ROW, LEFT_ROW, HALF_ROW, RIGHT_ROW, SIGN_ROW = range(1, 6)
FLOAT_HEADER, FIXED_HEADER = 2, 6
WEIGHT_SUM_ROW, HYBRID_SCALE_ROW, HYBRID_BIAS_ROW, HYBRID_HEADER = range(4)
# Where dot_forms.tiles_are_short, one more follows in panels: what sums are short of (int32), which the
# bias of those that are rounded holds.
MISSING_ROW = HYBRID_HEADER
# x_stride is in bytes. sums, where the kernel reads them, are int32 [rows], computed by the kernel as
# sum_factor times each row's sum; for hybrid operators, [rows] of ROW_QUANTIZATION.
GEMM_Q8 = argument_block(_PRODUCT + " output sums sum_factor")

# The block at `output`: vectors that are the same for all channels, at these byte offsets.
FLIP = 0  # 64 bytes of what makes stored bytes those that the target multiplies, by xor: 128 or 0
ZERO_POINT_16, LOW_16, HIGH_16 = 64, 128, 192  # 32 int16 each
ZERO_POINT_32, LOW_32, HIGH_32 = 256, 320, 384  # 16 int32; low and high less the zero point
LOW_FLOAT, HIGH_FLOAT = 448, 512  # 16 float32, less the zero point
ZEROS = 576
# The same for outputs as signed bytes: what turns them into stored ones by xor, and bounds.
UNFLIP, SIGNED_ZERO_POINT_16, SIGNED_LOW_8, SIGNED_HIGH_8 = 640, 704, 768, 832
FORM = 896  # the number of the dot products' form (dot_forms.py), in bytes
OUTPUT_BYTES = 960

# How a row was quantized: x = (q - zero_point) * scale, with q in 0..255.
ROW_QUANTIZATION = np.dtype([("zero_point", np.int32), ("scale", np.float32)])
# q [rows, stride] = x [rows, depth] quantized row by row, and how into `quantization` [rows].
# Where padding is not 0, padding_bytes bytes of each row's zero point go there, row after row. Threads cut
# rows into parts, whose ranges (float32 [rows, parts, 2]) row_ranges finds before; else parts is 1.
QUANTIZE_ROWS = argument_block(
    "x q quantization padding ranges rows parts depth stride padding_bytes symmetric"
)

# y [rows, columns] = clamp(bias + row scale * sum over blocks of scale * (x - zero point) * w). x are
# bytes, x_stride from row to row; w is int8 [columns, depth], scales float32 [columns, blocks],
# weight_sums float32 [columns]: sums of scale * w.
BLOCKWISE = argument_block(
    "x w bias y quantization scales weight_sums rows columns depth block_size x_stride", "low high"
)
# 4-bit weights are packed in panels of INT4_COLUMNS columns: a row of weight sums, then for each block a
# row of scales and one row for each eight elements of its depth, the first four in the low halves of the
# bytes. Every row has 4 bytes for each column; scales are bfloat16, and have 2, where they are for a single
# row of x, which waits for memory, and rounded. Rows of a pair of panels lie side by side; for a single row
# those of INT4_GROUP panels, which are read as one stream, but for a last pair. With one scale a column the
# weights of a single row have 8 added, so that none has a sign.
INT4_COLUMNS, INT4_PAIR, INT4_GROUP = 16, 2, 4
INT4_ROW_BYTES = 4 * INT4_COLUMNS
# The same from such panels w; bias is float32 [columns], and steps rows of weights are a block.
INT4_PANELS = argument_block(
    "x w bias y quantization rows columns blocks steps column_bytes x_stride block_rows", "low high"
)

# Pairs of matrices: y[b] = x[x_index[b]] times w[w_index[b]]; the indices are int64 [batches].
_PAIRS = "x w y x_index w_index batches"
# w are panels, w_bytes bytes for each matrix.
BATCH_MATMUL_F32 = argument_block(_PAIRS + " rows columns depth w_bytes block_rows")
# One GEMM_Q8 for each pair. blocks is room for one for each chunk, filled but for the addresses of x, w,
# y and sums, which are those of the first matrix plus the pair's indices times these bytes. Chunks are of
# each pair's rows if split_rows, else of the pairs.
BATCH_MATMUL_Q8 = argument_block(_PAIRS + " sums blocks x_bytes w_bytes y_bytes sums_bytes split_rows")
# The same of a few rows, with w as it lies: [matrices, columns, depth] if by_columns, else [matrices, depth,
# columns] ...
BATCH_MATMUL_ROWS_F32 = argument_block(_PAIRS + " rows columns depth by_columns")
# ... and of bytes. Scratch for each chunk: two rows, in whole vectors, then a sum (int32) for each column.
BATCH_MATMUL_ROWS_Q8 = argument_block(
    _PAIRS + " rows columns depth by_columns x_offset w_zero_point y_zero_point rounding multipliers shifts "
    "float_scales scratch scratch_bytes"
)
# w is [matrices, columns, depth], zero points are taken off. multipliers and shifts have one element
# per column, or 0 as address: then sums are not scaled.
BATCH_MATMUL_PLAIN = argument_block(
    _PAIRS + " rows columns depth x_zero_point w_zero_point y_zero_point multipliers shifts"
)
# The same for rows x_stride bytes apart, quantized on the fly: row r of pair b as number
# quantization_index[b] + r says. scales are float32 [matrices of w, columns].
BATCH_MATMUL_PLAIN_HYBRID = argument_block(
    _PAIRS + " rows columns depth x_stride quantization quantization_index scales"
)

# Panels of w [groups, columns, depth] with biases [groups, columns] (0 for none) ...
PACK_PANELS_F32 = argument_block("w bias packed groups columns depth")
# ... and of w [matrices, depth, columns], with zeros in the biases' place.
PACK_MATRICES_F32 = argument_block("w packed matrices columns depth")
# w is [matrices, columns, depth] if by_columns, else [matrices, depth, columns]. A column's header is
# -x_offset times the sum of what its weights are above their zero point, and below it what lies at
# rounding_rows: header_rows - 1 rows of 32 bits, in panels.
PACK_MATRICES_Q8 = argument_block(
    "w packed rounding_rows header_rows matrices columns depth by_columns x_offset w_zero_point"
)

# Convolutions through a table of offsets: for each group, y pixel m = the sum over taps of
# x[table[m, tap]] @ w[tap]. The table, int32 [pixels, taps], gives elements into one image, or -1
# for padding.

_INDIRECT = "x w y table images pixels taps depth groups columns block_pixels split_columns"
INDIRECT_F32 = argument_block(_INDIRECT + " zeros image_size", "low high")
# The padding lies padding_step bytes further on for each image. Where matrices are multiplied, windows are
# copied, block_pixels of them at a time, to copied, copied_bytes for each chunk; else these are 0.
INDIRECT_Q8 = argument_block(
    _INDIRECT + " output sums sum_factor padding padding_step image_bytes copied copied_bytes"
)
# padded [images, padded_height, padded_width * depth] = x with padding around it; value is eight times
# the padding's byte.
PAD_IMAGE_Q8 = argument_block(
    "x padded value images height row_bytes top left_bytes padded_height padded_row_bytes"
)
# Winograd's tiles of 4x4 inputs and 2x2 outputs, numbered over all images. In scratch, for each chunk:
# transformed inputs [16, block_tiles, padded_depth], then products [16, block_tiles, padded_columns].
WINOGRAD_F32 = argument_block(
    "x w y bias zeros scratch scratch_bytes images in_height in_width depth padded_depth out_height "
    "out_width columns padded_columns pad_top pad_left block_tiles",
    "low high",
)

# Plain loops, which serve every case, if slowly: they read weights and bias (0 for none) as the
# model has them

_GEOMETRY = " ".join(ConvGeometry._fields)
# int8 and uint8 are both read as bytes: byte ^ flip, less the offset, is the value less its zero point
# (flip is 128 for int8, 0 for uint8).
PLAIN_Q8 = argument_block(
    "x w bias y multipliers shifts float_scales real_scales rounding upward_channels flip x_offset w_offset "
    "y_zero_point lowest highest " + _GEOMETRY
)
# x is quantized by images. channel_first: a sum is multiplied with its channel's scale and then with
# its image's; otherwise with the product of both.
PLAIN_HYBRID = argument_block(
    "q w bias y quantization scales channel_first image_bytes " + _GEOMETRY, "low high"
)
# int16: scratch has scratch_bytes bytes for each chunk; bias is int32 or (bias_is_wide) int64. reads_x:
# what an output pixel needs is a row of x of w's size, and these lie one after the other.
PLAIN_Q16 = argument_block(
    "x w bias y scratch scratch_bytes multipliers shifts real_scales rounding bias_is_wide "
    "w_zero_point lowest highest reads_x " + _GEOMETRY
)
TILE_PIXELS = 4  # whose windows are copied side by side

# Panels like those of 8 bits, but with a header of two rows of float64, what sums are multiplied with and
# what is added (see packed_q16), and then a row of pairs of int8 for each two elements of the depth.
# An int32 holds the sum of part_steps pairs of rows, and there are `parts` of them. Rows of x are read in
# place (reads_x), or copied, block_rows of them at a time, to scratch, row_bytes apart.
PAIR_HEADER_BYTES = 16  # for each column
_Q16 = "x w y lowest highest "
GEMM_Q16 = argument_block(
    _Q16 + "scratch scratch_bytes row_bytes rows columns depth parts part_steps block_rows split_columns "
    "reads_x " + _GEOMETRY
)
# The same header for each block of DEPTHWISE_COLUMNS channels, then a row of pairs of int16 for each two
# taps, the last perhaps with zeros. Taps outside the image read a row of zeros; chunks have room for an
# address of each tap.
DEPTHWISE_COLUMNS = 32
DEPTHWISE_Q16 = argument_block(_Q16 + "scratch scratch_bytes pairs zeros " + _GEOMETRY)

# Transposed: under UPWARD_ROUNDING only the first upward_elements and the first upward_channels are
# rounded so, and the others as under DOUBLE_ROUNDING. Wide sums are int64.
TRANSPOSE_CONV_PLAIN = argument_block(
    "x w bias y multipliers shifts float_scales rounding upward_elements upward_channels bias_is_wide "
    "sums_are_wide x_zero_point w_zero_point y_zero_point lowest highest " + _GEOMETRY
)
_SIZES_3D = ("in_size", "out_size", "filter_size", "stride", "dilation", "pad")
# Sizes are [depth, height, width]; w is [filter sizes, in channels, out channels]. The transposed kernel
# has no w: its x is [points, filter sizes, out channels], the products with the weights, and an output
# point gathers those that belong to it.
CONV_3D = np.dtype(
    [
        *((name, np.int64) for name in ["x", "w", "bias", "y", "batch", "in_channels", "out_channels"]),
        *((name, np.int64, (3,)) for name in _SIZES_3D),
        *((name, np.float32) for name in ("low", "high")),
    ],
    align=True,
)

# Weights are packed by blocks of BLOCK_CHANNELS channels, the same on every processor: a row of biases,
# then one row per tap. Channels past the last are zeros.
BLOCK_CHANNELS = 16
PIXELS = 7  # outputs of a row that are computed together
# Kinds of kernels; others are made for a filter's width and stride, 10 * width + stride.
ANY_FILTER, ONE_CHANNEL = 0, 1
# Input channels are output channels here: a multiplier above 1 is spread out beforehand, unless the kind
# is ONE_CHANNEL and all of them read the only one.
DEPTHWISE_F32 = argument_block(
    "x w y zeros images kind channels in_height in_width out_height out_width filter_height filter_width "
    "stride_h stride_w dilation_h dilation_w pad_top pad_left",
    "low high",
)
# y [rows, left + pixels + right, channels * multiplier]: each channel of x [rows, pixels, channels],
# multiplier times, with zeros at the sides.
SPREAD_ROWS_F32 = argument_block("x y rows pixels left right channels multiplier")
# packed = blocks of w [taps, channels] and bias [channels], 0 for none.
PACK_BLOCKS_F32 = argument_block("w bias packed taps channels")

# 8-bit weights are packed in blocks of BLOCK channels: a header like a matrix panel's, then groups of
# four taps. A row of the header and a group both hold 4 bytes for each channel of the block.
BLOCK = 32
BLOCK_ROW_BYTES = TAPS_BYTES = 4 * BLOCK
# Rows of x are read in place, or, where they need padding at the sides or each channel several times,
# from copies in a ring of slots. A copy has its columns phase after phase, phase_bytes each: those
# `phases` apart are neighbours. The filter's columns lie at tap_offsets, int64 [filter_width], from a
# row's start. Each chunk has scratch_bytes of scratch: addresses first, then a row that outputs beyond
# the last row go to, then the ring. Hybrid operators have a row of padding for each image, padding_step
# bytes apart, and each image's quantization.
DEPTHWISE_Q8 = argument_block(
    "x w y output padding padding_step quantization scratch scratch_bytes spare_at ring_at slots "
    "slot_bytes copies images in_height in_width in_depth in_row_bytes image_bytes left phases "
    "phase_bytes padding_value multiplier out_height out_row_bytes filter_height filter_width stride_h "
    "dilation_h pad_top out_width channels block_bytes step tap_offsets sets groups"
)
