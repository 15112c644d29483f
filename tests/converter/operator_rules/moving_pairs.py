"""What is given, and what a rule makes of it: what only moves data, and what weights take in."""

from __future__ import annotations

from numlite.converter.operator_rules import (
    convolution,
    reshape,
    transpose,
    transpose_chain,
    weight_order,
    weighted_parts,
    weights,
)

_STEPS = "stride_h=1, stride_w=1, dilation_h_factor=1, dilation_w_factor=1"

_PARTS = "a: 1x2x2x2 = CONV_2D(x, w, none)\nb: 1x2x2x2 = CONV_2D(x, v, none)\n"
_JOINED = f"{_PARTS}j: 1x2x2x4 = CONCATENATION(a, b)"

# Rule, given, result: "" where it stays.
MOVING_PAIRS = [
    (
        reshape.reshape_single,
        "x: 1x2x3\nb = int32 [0]\ns = int32 [1]\n"
        "y: 2x3 = STRIDED_SLICE(x, b, s, s) {shrink_axis_mask=1}\nreturn y",
        "x: 1x2x3\ns = int32 [2, 3]\ny: 2x3 = RESHAPE(x, s)\nreturn y",
    ),
    (
        reshape.reshape_single,
        "x: 2x3\nb = int32 [0]\ns = int32 [1]\n"
        "y: 3 = STRIDED_SLICE(x, b, s, s) {shrink_axis_mask=1}\nreturn y",
        "",
    ),
    (
        reshape.reshape_packed,
        "x: ?x3\ny: ?x1x3 = PACK(x) {axis=1}\nreturn y",
        "x: ?x3\ns = int32 [-1, 1, 3]\ny: ?x1x3 = RESHAPE(x, s)\nreturn y",
    ),
    (reshape.reshape_packed, "x: 2x3\nz: 2x3\ny: 2x2x3 = PACK(x, z) {axis=1}\nreturn y", ""),
    (reshape.reshape_packed, "x: ?x?\ny: ?x1x? = PACK(x) {axis=1}\nreturn y", ""),
    (
        weight_order.fold_gathered_channels,
        "x: ?x2\nw = [[1, 2], [3, 4], [5, 6]]\nb = [7, 8, 9]\np = int32 [2, 0]\n"
        "a: ?x3 = FULLY_CONNECTED(x, w, b)\ny: ?x2 = GATHER(a, p) {axis=1}\nreturn y",
        "x: ?x2\nw = [[5, 6], [1, 2]]\nb = [9, 7]\ny: ?x2 = FULLY_CONNECTED(x, w, b)\nreturn y",
    ),
    (
        # Rows, not channels.
        weight_order.fold_gathered_channels,
        "x: 3x2\nw = [[1, 2], [3, 4], [5, 6]]\np = int32 [2, 0]\n"
        "a: 3x3 = FULLY_CONNECTED(x, w, none)\ny: 2x3 = GATHER(a, p) {axis=0}\nreturn y",
        "",
    ),
    (
        weight_order.fold_flattened_order,
        "x: ?x2x2\np = int32 [0, 2, 1]\ns = int32 [-1, 4]\nw = [[1, 2, 3, 4]]\n"
        "t: ?x2x2 = TRANSPOSE(x, p)\nr: ?x4 = RESHAPE(t, s)\n"
        "y: ?x1 = FULLY_CONNECTED(r, w, none)\nreturn y",
        "x: ?x2x2\ns = int32 [-1, 4]\nw = [[1, 3, 2, 4]]\nr: ?x4 = RESHAPE(x, s)\n"
        "y: ?x1 = FULLY_CONNECTED(r, w, none)\nreturn y",
    ),
    (
        weight_order.fold_unflattened_order,
        "x: ?x1\np = int32 [0, 2, 1]\ns = int32 [-1, 2, 2]\nw = [[1], [2], [3], [4]]\nb = [5, 6, 7, 8]\n"
        "d: ?x4 = FULLY_CONNECTED(x, w, b)\nr: ?x2x2 = RESHAPE(d, s)\ny: ?x2x2 = TRANSPOSE(r, p)\nreturn y",
        "x: ?x1\ns = int32 [-1, 2, 2]\nw = [[1], [3], [2], [4]]\nb = [5, 7, 6, 8]\n"
        "d: ?x4 = FULLY_CONNECTED(x, w, b)\ny: ?x2x2 = RESHAPE(d, s)\nreturn y",
    ),
    (
        # The result before the reshape is used.
        weight_order.fold_unflattened_order,
        "x: ?x1\np = int32 [0, 2, 1]\ns = int32 [-1, 2, 2]\nw = [[1], [2], [3], [4]]\nb = [5, 6, 7, 8]\n"
        "d: ?x4 = FULLY_CONNECTED(x, w, b)\nr: ?x2x2 = RESHAPE(d, s)\ny: ?x2x2 = TRANSPOSE(r, p)\n"
        "return y, d",
        "",
    ),
    (
        reshape.merge_reshapes,
        "x: 4\nr: 2x2 = RESHAPE(x, s)\nt: 4x1 = RESHAPE(r, s)\nreturn t",
        "x: 4\nt: 4x1 = RESHAPE(x, s)\nreturn t",
    ),
    (
        transpose.merge_transposes,
        "x: 2x3\na: 3x2 = TRANSPOSE(x, p)\nb: 2x3 = TRANSPOSE(a, p)\ny = SIN(b)\nreturn y",
        "x: 2x3\ny = SIN(x)\nreturn y",
    ),
    (
        transpose.use_reshape,
        "x: 2x1\ny: 1x2 = TRANSPOSE(x, p)\nreturn y",
        "x: 2x1\ns = int32 [1, 2]\ny: 1x2 = RESHAPE(x, s)\nreturn y",
    ),
    (
        transpose_chain.merge_moves,
        "x: ?x2x3x5\np = int32 [0, 1, 3, 2]\ns = int32 [-1, 10, 3]\nq = int32 [0, 2, 1]\n"
        "a: ?x2x5x3 = TRANSPOSE(x, p)\nb: ?x10x3 = RESHAPE(a, s)\ny: ?x3x10 = TRANSPOSE(b, q)\nreturn y",
        "x: ?x2x3x5\np = int32 [0, 2, 1, 3]\ns = int32 [-1, 3, 10]\n"
        "a: ?x3x2x5 = TRANSPOSE(x, p)\ny: ?x3x10 = RESHAPE(a, s)\nreturn y",
    ),
    (
        # The reshape goes across axes.
        transpose_chain.merge_moves,
        "x: 2x3x4\np = int32 [0, 2, 1]\ns = int32 [3, 4, 2]\n"
        "a: 2x4x3 = TRANSPOSE(x, p)\nb: 3x4x2 = RESHAPE(a, s)\ny: 3x2x4 = TRANSPOSE(b, p)\nreturn y",
        "",
    ),
    (
        # What is between is used.
        transpose_chain.merge_moves,
        "x: 2x3\np = int32 [1, 0]\na: 3x2 = TRANSPOSE(x, p)\ny: 2x3 = TRANSPOSE(a, p)\nreturn y, a",
        "",
    ),
    (transpose.use_reshape, "x: 2x?\ny: ?x2 = TRANSPOSE(x, p)\nreturn y", ""),
    (
        weights.fuse_activation,
        "a: 2\nb: 2\ns = ADD(a, b)\ny = RELU(s)\nreturn y",
        "a: 2\nb: 2\ny = ADD(a, b) {fused_activation_function=1}\nreturn y",
    ),
    (weights.fuse_activation, "a: 2\nb: 2\ns = ADD(a, b)\ny = RELU(s)\nreturn y, s", ""),
    (
        weights.fold_batch_norm,
        "x: 1x2x2x1\nb = [1, 2]\nm = [3, 4]\nc: 1x2x2x2 = CONV_2D(x, w, b)\ny = MUL(c, m)\nreturn y",
        "x: 1x2x2x1\nv = [[[[3]]], [[[8]]]]\nb = [3, 8]\ny: 1x2x2x2 = CONV_2D(x, v, b)\nreturn y",
    ),
    (
        weights.fold_batch_norm,
        "x: 1x2x2x1\nb = [1, 2]\nm = [3, 4]\nc: 1x2x2x2 = CONV_2D(x, w, b)\ny = MUL(c, m)\nreturn y, c",
        "",
    ),
    (
        weights.fuse_bias,
        "x: 1x2x2x1\nb = [1, 2]\nm = [3, 4]\nc: 1x2x2x2 = CONV_2D(x, w, b)\ny = ADD(c, m)\nreturn y",
        "x: 1x2x2x1\nb = [4, 6]\ny: 1x2x2x2 = CONV_2D(x, w, b)\nreturn y",
    ),
    (
        weights.fuse_bias,
        "x: 1x2x2x1\nb = [1, 2]\nm: 2\nc: 1x2x2x2 = CONV_2D(x, w, b)\ny = ADD(c, m)\nreturn y",
        "",
    ),
    (
        weights.fold_scale_before,
        "x: 1x2\nm = [2, 3]\na = MUL(x, m)\nw = [[1, 10]]\ny: 1x1 = FULLY_CONNECTED(a, w, none)\nreturn y",
        "x: 1x2\nw = [[2, 30]]\ny: 1x1 = FULLY_CONNECTED(x, w, none)\nreturn y",
    ),
    (
        weights.fold_offset_before,
        "x: 1x2\nm = [2, 3]\na = ADD(x, m)\nw = [[1, 10]]\nb = [1]\n"
        "y: 1x1 = FULLY_CONNECTED(a, w, b)\nreturn y",
        "x: 1x2\nw = [[1, 10]]\nb = [33]\ny: 1x1 = FULLY_CONNECTED(x, w, b)\nreturn y",
    ),
    (
        convolution.fuse_padding,
        f"x: 1x4x4x1\na: 1x6x6x1 = PAD(x, p)\n"
        f"y: 1x4x4x1 = CONV_2D(a, w, none) {{padding=1, {_STEPS}}}\nreturn y",
        f"x: 1x4x4x1\ny: 1x4x4x1 = CONV_2D(x, w, none) {{{_STEPS}}}\nreturn y",
    ),
    (
        convolution.fuse_padding,
        f"x: 1x4x4x1\na: 1x6x6x1 = PAD(x, p)\ny: 1x6x6x1 = CONV_2D(a, w, none) {{{_STEPS}}}\nreturn y",
        "",
    ),
    (
        convolution.use_dilation,
        "x: 1x4x4x1\na: 4x2x2x1 = SPACE_TO_BATCH_ND(x, d, p)\n"
        f"c: 4x2x2x1 = CONV_2D(a, w, none) {{padding=1, {_STEPS}}}\n"
        "y: 1x4x4x1 = BATCH_TO_SPACE_ND(c, d, p)\nreturn y",
        "x: 1x4x4x1\n"
        "y: 1x4x4x1 = CONV_2D(x, w, none) "
        "{stride_w=1, stride_h=1, dilation_w_factor=2, dilation_h_factor=2}\nreturn y",
    ),
    (
        convolution.use_embedding_lookup,
        "i: 3 int32\nh: 3x2 float32 = ONE_HOT(i, n, on, off) {axis=-1}\n"
        "y: 3x1 = FULLY_CONNECTED(h, w, none)\nreturn y",
        "i: 3 int32\nt = [[5], [6]]\ny: 3x1 float32 = EMBEDDING_LOOKUP(i, t)\nreturn y",
    ),
    (
        convolution.use_embedding_lookup,
        "i: 3 int32\nh: 2x3 float32 = ONE_HOT(i, n, on, off)\ny: 3x1 = FULLY_CONNECTED(h, w, none)\nreturn y",
        "",
    ),
    (
        reshape.merge_reshapes_around,
        "x: 4\nr: 2x2 = RESHAPE(x, s)\na = RELU(r)\ny: 4x1 = RESHAPE(a, s)\nreturn y",
        "x: 4\na = RELU(x)\ny: 4x1 = RESHAPE(a, s)\nreturn y",
    ),
    (
        reshape.merge_reshapes_around,
        "x: 4\no = 1\nr: 2x2 = RESHAPE(x, s)\np = ADD(r, o)\na = RSQRT(p)\ny: 4x1 = RESHAPE(a, s)\nreturn y",
        "x: 4\no = 1\np = ADD(x, o)\na = RSQRT(p)\ny: 4x1 = RESHAPE(a, s)\nreturn y",
    ),
    (
        reshape.merge_reshapes_around,
        "x: 4\nr: 2x2 = RESHAPE(x, s)\na = RELU(r)\ny: 4x1 = RESHAPE(a, s)\nreturn y, a",
        "",
    ),
    (
        reshape.join_reshapes,
        "a: 4\nb: 4\nr: 2x2 = RESHAPE(a, s)\nq: 2x2 = RESHAPE(b, s)\nt = TANH(r)\ny = MUL(t, q)\nreturn y",
        "a: 4\nb: 4\nt = TANH(a)\nm = MUL(t, b)\ny: 2x2 = RESHAPE(m, s)\nreturn y",
    ),
    (
        reshape.move_before_reshape,
        "x: 1x2x2x1\nc: 1x2x2x2 = CONV_2D(x, w, none)\nr: 4x2 = RESHAPE(c, s)\ny = ADD(r, m)\nreturn y",
        "x: 1x2x2x1\nc: 1x2x2x2 = CONV_2D(x, w, none)\na = ADD(c, m)\ny: 4x2 = RESHAPE(a, s)\nreturn y",
    ),
    (
        reshape.move_before_reshape,
        "x: 1x2x2x2\nc = SIN(x)\nr: 4x2 = RESHAPE(c, s)\ny = ADD(r, m)\nreturn y",
        "",
    ),
    (
        reshape.move_before_reshape,
        "x: 4x1\nc = MUL(x, x)\nr: 2x2 = RESHAPE(c, s)\ny = RELU(r)\nreturn y",
        "x: 4x1\nc = MUL(x, x)\na = RELU(c)\ny: 2x2 = RESHAPE(a, s)\nreturn y",
    ),
    (
        weighted_parts.move_before_slice,
        "x: 1x2x2x1\nc: 1x2x2x2 = CONV_2D(x, w, none)\nr: 1x1x1x2 = SLICE(c, b, e)\ny = ADD(r, m)\nreturn y",
        "x: 1x2x2x1\nc: 1x2x2x2 = CONV_2D(x, w, none)\na = ADD(c, m)\ny: 1x1x1x2 = SLICE(a, b, e)\nreturn y",
    ),
    (
        weighted_parts.move_before_slice,
        "x: 1x2x2x1\nc: 1x2x2x2 = CONV_2D(x, w, none)\nr: 1x1x1x2 = SLICE(c, b, e)\n"
        "y: 1x1x1x2 float32 = SUB(m, r)\nreturn y",
        "",
    ),
    (
        weighted_parts.move_before_slice,
        "x: 1x2x2x1\nc: 1x2x2x2 = CONV_2D(x, w, none)\nr: 1x1x1x1 = SLICE(c, b, k)\ny = RELU(r)\nreturn y",
        "",
    ),
    (
        weighted_parts.move_before_concatenation,
        f"x: 1x2x2x1\n{_JOINED} {{axis=3}}\ny: 1x2x2x4 float32 = ADD(m, j)\nreturn y",
        f"x: 1x2x2x1\n{_PARTS}n = [3, 4]\no = [5, 6]\np = ADD(a, n)\nq = ADD(b, o)\n"
        "y: 1x2x2x4 = CONCATENATION(p, q) {axis=3}\nreturn y",
    ),
    (
        weighted_parts.move_before_concatenation,
        f"x: 1x2x2x1\n{_JOINED} {{axis=-1}}\ny = RELU(j)\nreturn y",
        f"x: 1x2x2x1\n{_PARTS}p = RELU(a)\nq = RELU(b)\n"
        "y: 1x2x2x4 = CONCATENATION(p, q) {axis=-1}\nreturn y",
    ),
    (
        weighted_parts.move_before_concatenation,
        f"x: 1x2x2x1\n{_JOINED} {{axis=3}}\ny: 1x2x2x4 float32 = ADD(m, j)\nreturn y, a",
        "",
    ),
    (
        weighted_parts.move_before_concatenation,
        f"x: 1x2x2x1\n{_PARTS}j: 1x2x4x2 = CONCATENATION(a, b) {{axis=2}}\ny = RELU(j)\nreturn y",
        "",
    ),
    (
        reshape.keep_dimensions,
        "x: 2x3x4\nr: 6x4 = RESHAPE(x, s)\nf: 6x1 = FULLY_CONNECTED(r, w, none)\n"
        "y: 2x3x1 = RESHAPE(f, s)\nreturn y",
        "x: 2x3x4\ny: 2x3x1 = FULLY_CONNECTED(x, w, none) {keep_num_dims=True}\nreturn y",
    ),
    (
        reshape.skip_flattening,
        "x: 2x3x4\nr: 6x4 = RESHAPE(x, s)\ny: 6x1 = FULLY_CONNECTED(r, w, none)\nreturn y",
        "x: 2x3x4\ny: 6x1 = FULLY_CONNECTED(x, w, none)\nreturn y",
    ),
    (
        reshape.skip_flattening,
        "x: 2x6x2\nr: 6x4 = RESHAPE(x, s)\ny: 6x1 = FULLY_CONNECTED(r, w, none)\nreturn y",
        "",
    ),
    (
        transpose.sink_transposes,
        "x: 2x3\na: 3x2 = TRANSPOSE(x, p)\nb = RELU(a)\ny: 2x3 = TRANSPOSE(b, p)\nreturn y",
        "x: 2x3\na = RELU(x)\nb: 3x2 = TRANSPOSE(a, p)\ny: 2x3 = TRANSPOSE(b, p)\nreturn y",
    ),
    (transpose.sink_transposes, "x: 2x3\na: 3x2 = TRANSPOSE(x, p)\nb = RELU(a)\nreturn b", ""),
    (
        transpose.fuse_matmul_transposes,
        "a: 3x2\nb: 3x4\nt: 2x3 = TRANSPOSE(a, p)\ny: 2x4 = BATCH_MATMUL(t, b)\nreturn y",
        "a: 3x2\nb: 3x4\ny: 2x4 = BATCH_MATMUL(a, b) {adj_x=True}\nreturn y",
    ),
    (
        transpose.reduce_transposed,
        "x: 2x3x4\np = int32 [0, 2, 1]\nn = int32 [2]\nt: 2x4x3 = TRANSPOSE(x, p)\n"
        "y: 2x4 = MEAN(t, n)\nreturn y",
        "x: 2x3x4\nn = int32 [1]\ny: 2x4 = MEAN(x, n)\nreturn y",
    ),
    (
        transpose.reduce_transposed,
        "x: 2x3x4\np = int32 [1, 0, 2]\nn = int32 [2]\nt: 3x2x4 = TRANSPOSE(x, p)\n"
        "y: 3x2 = MEAN(t, n)\nreturn y",
        "",
    ),
    (
        transpose.reduce_transposed,
        "x: 2x3x4\np = int32 [0, 2, 1]\nn = int32 1\nt: 2x4x3 = TRANSPOSE(x, p)\n"
        "y: 2x3 int32 = ARG_MAX(t, n)\nreturn y",
        "x: 2x3x4\nn = int32 2\ny: 2x3 int32 = ARG_MAX(x, n)\nreturn y",
    ),
    (
        transpose.keep_reduced_axes,
        "x: 2x3\nm: 2 = MEAN(x, n)\ny: 2x1 = RESHAPE(m, s)\nreturn y",
        "x: 2x3\ny: 2x1 = MEAN(x, n) {keep_dims=True}\nreturn y",
    ),
    (transpose.keep_reduced_axes, "x: 2x3\nm: 2 = MEAN(x, n)\ny: 1x2 = RESHAPE(m, s)\nreturn y", ""),
]
_WEIGHTS = "w = [[[[1]]], [[[2]]]]"
# Constants that several pairs have, by the names above.
MOVING_GIVEN = {
    weights.fold_batch_norm: _WEIGHTS,
    weights.fuse_bias: _WEIGHTS,
    convolution.fuse_padding: "w = [[[[1], [2], [3]], [[1], [2], [3]], [[1], [2], [3]]]]\n"
    "p = int32 [[0, 0], [1, 1], [1, 1], [0, 0]]",
    convolution.use_dilation: "w = [[[[2]]]]\nd = int32 [2, 2]\np = int32 [[0, 0], [0, 0]]",
    convolution.use_embedding_lookup: "w = [[5, 6]]\nn = int32 2\non = 1\noff = 0",
    reshape.merge_reshapes: "s = int32 [2, 2]",
    reshape.merge_reshapes_around: "s = int32 [2, 2]",
    reshape.join_reshapes: "s = int32 [2, 2]",
    reshape.move_before_reshape: f"{_WEIGHTS}\ns = int32 [4, 2]\nm = [3, 4]",
    weighted_parts.move_before_slice: f"{_WEIGHTS}\nm = [3, 4]\nb = int32 [0, 0, 0, 0]\n"
    "e = int32 [1, 1, 1, 2]\nk = int32 [1, 1, 1, 1]",
    weighted_parts.move_before_concatenation: f"{_WEIGHTS}\nv = [[[[3]]], [[[4]]]]\nm = [3, 4, 5, 6]",
    reshape.keep_dimensions: "s = int32 [6, 4]\nw = [[1, 2, 3, 4]]",
    reshape.skip_flattening: "s = int32 [6, 4]\nw = [[1, 2, 3, 4]]",
    transpose.merge_transposes: "p = int32 [1, 0]",
    transpose.use_reshape: "p = int32 [1, 0]",
    transpose.sink_transposes: "p = int32 [1, 0]",
    transpose.fuse_matmul_transposes: "p = int32 [1, 0]",
    transpose.keep_reduced_axes: "n = int32 [1]\ns = int32 [2, 1]",
}
