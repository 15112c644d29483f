"""What is given, and what a rule makes of it: arithmetic, constants, patterns, loops and branches."""

from __future__ import annotations

from numlite.converter.operator_rules import (
    activations,
    arithmetic,
    channel_slices,
    constants,
    control_flow,
    inverses,
    lstm,
    rnn,
    variables,
)
from numlite.converter.operator_rules.equal_operators import drop_unused, share_equal

_LOOP = (
    "graph test\ni: scalar\nx: 300\nm = 3\nb: scalar bool = LESS(i, m)\nreturn b\n"
    "graph step\ni: scalar\nx: 300\no = 1\nj = ADD(i, o)\nz = SIN(x)\nreturn j, z\n"
    "graph main\ni: scalar\n"
)
_VARIABLE = "v: scalar resource = VAR_HANDLE()\na: 2 float32 = READ_VARIABLE(v)\n"

# An LSTM of one number, whose weights of x and of its state are 1 to 4 and 5 to 8.
_LSTM = (
    "graph test\ni: scalar int32\nh: 1x1\nc: 1x1\ny: 2x1x1\nx: 2x1x1\nm = int32 2\n"
    "b: scalar bool = LESS(i, m)\nreturn b\n"
    "graph step\ni: scalar int32\nh: 1x1\nc: 1x1\ny: 2x1x1\nx: 2x1x1\no = int32 1\nn = int32 0\n"
    "k = [[1], [2], [3], [4]]\nr = [[5], [6], [7], [8]]\na: 1x1 float32 = GATHER(x, i)\n"
    "p: 1x4 = FULLY_CONNECTED(a, k, none)\nq: 1x4 = FULLY_CONNECTED(h, r, none)\nz = ADD(p, q)\n"
    "d: 1x1 float32, e: 1x1 float32, f: 1x1 float32, g: 1x1 float32 = SPLIT(o, z)\n"
    "s = LOGISTIC(d)\nt = LOGISTIC(e)\nu = TANH(f)\nv = LOGISTIC(g)\n"
    "kept = MUL(t, c)\nadded = MUL(s, u)\nl = ADD(kept, added)\nw = TANH(l)\nhh = MUL(v, w)\n"
    "row: 1x1x1 = RESHAPE(hh, n)\nat: 3 int32 = PACK(i, n, n)\n"
    "yy = DYNAMIC_UPDATE_SLICE(y, row, at)\nj = ADD(i, o)\nreturn j, hh, l, yy, x\n"
    "graph main\nx: 2x1x1\ni = int32 0\ns = [[0]]\ny = [[[0]], [[0]]]\n"
    "a: scalar int32, h: 1x1 float32, c: 1x1 float32, z: 2x1x1 float32, e: 2x1x1 float32"
    " = WHILE(i, s, s, y, x) @test @step\n"
)

# A simple recurrent cell of one number, whose weights are 1 and 5.
_RNN = (
    "graph test\ni: scalar int32\nh: 1x1\ny: 2x1x1\nx: 2x1x1\nm = int32 2\n"
    "b: scalar bool = LESS(i, m)\nreturn b\n"
    "graph step\ni: scalar int32\nh: 1x1\ny: 2x1x1\nx: 2x1x1\no = int32 1\nn = int32 0\n"
    "k = [[1]]\nr = [[5]]\na: 1x1 float32 = GATHER(x, i)\n"
    "p: 1x1 = FULLY_CONNECTED(a, k, none)\nq: 1x1 = FULLY_CONNECTED(h, r, none)\nz = ADD(p, q)\n"
    "hh = %s(z)\nrow: 1x1x1 = RESHAPE(hh, n)\nat: 3 int32 = PACK(i, n, n)\n"
    "yy = DYNAMIC_UPDATE_SLICE(y, row, at)\nj = ADD(i, o)\nreturn j, hh, yy, x\n"
    "graph main\nx: 2x1x1\ni = int32 0\ns = [[0]]\ny = [[[0]], [[0]]]\n"
    "a: scalar int32, h: 1x1 float32, z: 2x1x1 float32, e: 2x1x1 float32"
    " = WHILE(i, s, y, x) @test @step\n"
)

# Rule, given, result: "" where it stays.
PAIRS = [
    (drop_unused, "x: 2x3\na = SIN(x)\nb = MUL(a, a)\nreturn a", "x: 2x3\na = SIN(x)\nreturn a"),
    (drop_unused, "x: 2\na = SIN(x)\nb = EXP(a)\nreturn x", "x: 2\nreturn x"),
    (
        share_equal,
        "x: 2\na = EXP(x)\nb = EXP(x)\ny = ADD(a, b)\nreturn y",
        "x: 2\na = EXP(x)\ny = ADD(a, a)\nreturn y",
    ),
    (
        share_equal,
        "x: 2\nz: 2\na = MUL(x, z)\nb = MUL(z, x)\ny = ADD(a, b)\nreturn y",
        "x: 2\nz: 2\na = MUL(x, z)\ny = ADD(a, a)\nreturn y",
    ),
    (share_equal, "x: 2\nz: 2\na = SUB(x, z)\nb = SUB(z, x)\ny = ADD(a, b)\nreturn y", ""),
    (share_equal, "x: 2\na = EXP(x)\nb = EXP(x)\nreturn a, b", ""),
    (
        constants.fold_constants,
        "a = [1, 2]\nb = [3, 4]\ny = ADD(a, b)\nz = SIN(y)\nreturn z",
        "c = [4, 6]\nz = SIN(c)\nreturn z",
    ),
    (
        constants.skip_zero_products,
        "x: 2\nc = [0, 0]\na = MUL(x, c)\nz = SIN(a)\nreturn z",
        "x: 2\nc = [0, 0]\nz = SIN(c)\nreturn z",
    ),
    (
        constants.store_numbers_once,
        "x: 2x2\nc = [[3, 3], [3, 3]]\ny = ADD(x, c)\nreturn y",
        "x: 2x2\nc = 3\ny = ADD(x, c)\nreturn y",
    ),
    (constants.store_numbers_once, "c = [3, 3]\nx: 1\ny: 2 = ADD(x, c)\nreturn y", ""),
    (
        arithmetic.remove_neutral_arithmetic,
        "x: 2\nc = [0, 0]\na = ADD(x, c) {fused_activation_function=1}\ny = SIN(a)\nreturn y",
        "x: 2\na = RELU(x)\ny = SIN(a)\nreturn y",
    ),
    (
        arithmetic.remove_neutral_arithmetic,
        "x: 2\nc = [0, 0]\na = ADD(x, c)\ny = SIN(a)\nreturn y",
        "x: 2\ny = SIN(x)\nreturn y",
    ),
    (
        arithmetic.remove_neutral_arithmetic,
        "x: 2\nc = 1\na = DIV(x, c)\ny = SIN(a)\nreturn y",
        "x: 2\ny = SIN(x)\nreturn y",
    ),
    (arithmetic.remove_neutral_arithmetic, "x: 2\nc = 0\na = SUB(c, x)\nreturn a", ""),
    (arithmetic.remove_neutral_arithmetic, "x: 2\nc = [[0, 0]]\na: 1x2 = ADD(x, c)\nreturn a", ""),
    (
        arithmetic.use_squared_difference,
        "a: 2\nb: 2\nd = SUB(a, b)\ny = SQUARE(d)\nreturn y",
        "a: 2\nb: 2\ny = SQUARED_DIFFERENCE(a, b)\nreturn y",
    ),
    (arithmetic.use_squared_difference, "a: 2\nb: 2\nd = SUB(a, b)\ny = SQUARE(d)\nreturn y, d", ""),
    (
        arithmetic.use_cut_offs,
        "x: 2\na = MINIMUM(x, c)\ny = MAXIMUM(a, d)\nreturn y",
        "x: 2\ny = RELU_N1_TO_1(x)\nreturn y",
    ),
    (arithmetic.simplify_powers, "x: 2\ny = POW(x, c)\nreturn y", "x: 2\ny = MUL(x, x)\nreturn y"),
    (
        arithmetic.use_subtraction,
        "x: 2\nz: 2\nn = NEG(x)\ny = ADD(n, z)\nreturn y",
        "x: 2\nz: 2\ny = SUB(z, x)\nreturn y",
    ),
    (
        channel_slices.slice_weights,
        "x: 5x2\nw = [[1, 2], [3, 4], [5, 6]]\nn = [7, 8, 9]\na: 5x3 = FULLY_CONNECTED(x, w, n)\n"
        "p = int32 [0, 1]\nq = int32 [0, 0]\nr = int32 [1, 1]\n"
        "y: 5x2 = STRIDED_SLICE(a, p, q, r) {begin_mask=1, end_mask=3}\nreturn y",
        "x: 5x2\nw = [[3, 4], [5, 6]]\nn = [8, 9]\ny: 5x2 = FULLY_CONNECTED(x, w, n)\nreturn y",
    ),
    (
        channel_slices.slice_weights,
        "x: 5x2\nw = [[1, 2], [3, 4], [5, 6]]\nn = [7, 8, 9]\na: 5x3 = FULLY_CONNECTED(x, w, n)\n"
        "p = int32 [1, 1]\nq = int32 [0, 0]\nr = int32 [1, 1]\n"
        "y: 4x2 = STRIDED_SLICE(a, p, q, r) {end_mask=3}\nreturn y",
        "",
    ),
    (
        inverses.remove_involution,
        "x: 2\na = NEG(x)\nb = NEG(a)\ny = SIN(b)\nreturn y",
        "x: 2\ny = SIN(x)\nreturn y",
    ),
    (
        inverses.remove_cast_back,
        "x: 2\na: 2 float64 = CAST(x)\nb: 2 float32 = CAST(a)\ny = SIN(b)\nreturn y",
        "x: 2\ny = SIN(x)\nreturn y",
    ),
    (
        inverses.remove_cast_back,
        "x: 2\na: 2 int64 = CAST(x)\nb: 2 float32 = CAST(a)\ny = SIN(b)\nreturn y",
        "",
    ),
    (
        inverses.remove_logical_not,
        "a: 2\nb: 2\nc: 2 bool = EQUAL(a, b)\ny = LOGICAL_NOT(c)\nreturn y",
        "a: 2\nb: 2\ny: 2 bool = NOT_EQUAL(a, b)\nreturn y",
    ),
    (inverses.remove_logical_not, "a: 2\nb: 2\nc: 2 bool = LESS(a, b)\ny = LOGICAL_NOT(c)\nreturn y", ""),
    (
        inverses.use_inverse_root,
        "x: 2\nr = SQRT(x)\ny: 2 = DIV(c, r)\nreturn y",
        "x: 2\ny = RSQRT(x)\nreturn y",
    ),
    (activations.use_rectifiers, "x: 2\ny = MAXIMUM(x, c)\nreturn y", "x: 2\ny = RELU(x)\nreturn y"),
    (
        activations.use_l2_normalization,
        "x: 2x3\ns = SQUARE(x)\nt: 2x1 = SUM(s, n) {keep_dims=True}\ne = MAXIMUM(t, c)\nr = RSQRT(e)\n"
        "y = MUL(x, r)\nreturn y",
        "x: 2x3\ny = L2_NORMALIZATION(x)\nreturn y",
    ),
    (
        activations.use_l2_normalization,
        "x: 2x3\ns = SQUARE(x)\nt: 2 = SUM(s, n)\nr = RSQRT(t)\ny: 2x3 = MUL(x, r)\nreturn y",
        "",
    ),
    (
        activations.use_softmax,
        "x: 2x3\nm: 2x1 = REDUCE_MAX(x, n) {keep_dims=True}\nd = SUB(x, m)\ne = EXP(d)\n"
        "s: 2x1 = SUM(e, n) {keep_dims=True}\ny = DIV(e, s)\nreturn y",
        "x: 2x3\ny = SOFTMAX(x) {beta=1.0}\nreturn y",
    ),
    (
        activations.use_softmax,
        "x: 2x3\ne = EXP(x)\ns: 2x1 = SUM(e, n) {keep_dims=True}\ny = DIV(e, s)\nreturn y",
        "",
    ),
    (
        activations.fuse_gelu,
        "x: 2\ns = MUL(x, k)\ne = Erf(s)\ng = ADD(e, o)\na = MUL(x, g)\ny = MUL(a, h)\nreturn y",
        "x: 2\ny = GELU(x)\nreturn y",
    ),
    (
        activations.fuse_gelu,
        "x: 2\nu = POW(x, t)\nv = MUL(u, q)\nw = ADD(x, v)\ns = MUL(w, p)\ne = TANH(s)\ng = ADD(e, o)\n"
        "a = MUL(x, h)\ny = MUL(a, g)\nreturn y",
        "x: 2\ny = GELU(x) {approximate=True}\nreturn y",
    ),
    (
        activations.fuse_gelu,
        "x: 2\ns = MUL(x, h)\ne = Erf(s)\ng = ADD(e, o)\na = MUL(x, g)\ny = MUL(a, h)\nreturn y",
        "",
    ),
    (
        activations.fuse_hard_swish,
        "x: 2\na = ADD(x, t)\nr = RELU6(a)\nm = MUL(x, r)\ny = DIV(m, s)\nreturn y",
        "x: 2\ny = HARD_SWISH(x)\nreturn y",
    ),
    (
        activations.fuse_hard_swish,
        "x: 2\na = ADD(x, t)\nr = RELU(a)\nm = MUL(x, r)\ny = DIV(m, s)\nreturn y",
        "",
    ),
    (
        activations.use_prelu,
        "x: 3x2\np = RELU(x)\nn = NEG(x)\nr = RELU(n)\nq = MUL(m, r)\nz: 3x2 = ADD(p, q)\nreturn z",
        "x: 3x2\na = [0.5, 0.25]\ny = PRELU(x, a)\nreturn y",
    ),
    (
        activations.use_prelu,
        "x: 3x2\np = RELU(x)\no = [[0]]\nn = MINIMUM(x, o)\nb = [[0.5, 0.25]]\nq = MUL(n, b)\n"
        "z: 3x2 = ADD(p, q)\nreturn z",
        "x: 3x2\na = [0.5, 0.25]\ny = PRELU(x, a)\nreturn y",
    ),
    (
        arithmetic.skip_broadcasts,
        "x: 3\nz: 2x3\ns = int32 [2, 3]\nb: 2x3 = BROADCAST_TO(x, s)\ny = MUL(b, z)\nreturn y",
        "x: 3\nz: 2x3\ny: 2x3 = MUL(x, z)\nreturn y",
    ),
    (
        arithmetic.skip_broadcasts,
        "x: 3\nz: 3\ns = int32 [2, 3]\nb: 2x3 = BROADCAST_TO(x, s)\ny = MUL(b, z)\nreturn y",
        "",
    ),
    (
        arithmetic.skip_leading_ones,
        "x: 2x3\nz: 3\ns = int32 [1, 3]\nr: 1x3 = RESHAPE(z, s)\ny: 2x3 = MUL(x, r)\nreturn y",
        "x: 2x3\nz: 3\ny: 2x3 = MUL(x, z)\nreturn y",
    ),
    (
        arithmetic.skip_leading_ones,
        "x: 2x3\nz: 2\ns = int32 [2, 1]\nr: 2x1 = RESHAPE(z, s)\ny: 2x3 = MUL(x, r)\nreturn y",
        "",
    ),
    (
        constants.skip_empty_results,
        "x: 2x3\ne: 2x0 = SLICE(x, a, b)\ny: 2x3 = CONCATENATION(x, e) {axis=1}\nreturn y",
        "x: 2x3\ne = [[], []]\ny: 2x3 = CONCATENATION(x, e) {axis=1}\nreturn y",
    ),
    (
        constants.share_constants,
        "x: 2\na = [1, 2]\nb = [1, 2]\np = MUL(x, a)\nq = DIV(p, b)\nreturn q",
        "x: 2\na = [1, 2]\np = MUL(x, a)\nq = DIV(p, a)\nreturn q",
    ),
    (
        constants.share_constants,
        "x: 2\na = [1, 2]\nb = int32 [1, 2]\np = MUL(x, a)\nq = POW(p, b)\nreturn q",
        "",
    ),
    (
        control_flow.drop_loop_variables,
        "graph test\ni: scalar\nn: scalar\nl = 9\nb: scalar bool = LESS(i, l)\nreturn b\n"
        "graph step\ni: scalar\nn: scalar\no = 1\nj = ADD(i, o)\nm = ADD(n, o)\nreturn j, m\n"
        "graph main\ni: scalar\nn: scalar\np: scalar, q: scalar = WHILE(i, n) @test @step\nreturn p",
        "graph test\ni: scalar\nl = 9\nb: scalar bool = LESS(i, l)\nreturn b\n"
        "graph step\ni: scalar\no = 1\nj = ADD(i, o)\nreturn j\n"
        "graph main\ni: scalar\nn: scalar\np: scalar = WHILE(i) @test @step\nreturn p",
    ),
    (
        control_flow.drop_loop_variables,
        "graph test\ni: scalar\nn: scalar\nb: scalar bool = LESS(i, n)\nreturn b\n"
        "graph step\ni: scalar\nn: scalar\no = 1\nj = ADD(i, o)\nm = SIN(n)\nreturn j, m\n"
        "graph main\ni: scalar\nn: scalar\np: scalar, q: scalar = WHILE(i, n) @test @step\nreturn p",
        "",
    ),
    (
        control_flow.drop_branch_results,
        "graph then\nx: 2\nz: 2\no = 1\na = ADD(x, o)\nb = MUL(x, z)\nreturn a, b\n"
        "graph else\nx: 2\nz: 2\na = SIN(x)\nreturn a, z\n"
        "graph main\nc: scalar bool\nx: 2\nz: 2\n"
        "p: 2 float32, q: 2 float32 = IF(c, x, z) @then @else\nreturn p",
        "graph then\nx: 2\no = 1\na = ADD(x, o)\nreturn a\n"
        "graph else\nx: 2\na = SIN(x)\nreturn a\n"
        "graph main\nc: scalar bool\nx: 2\nz: 2\np: 2 float32 = IF(c, x) @then @else\nreturn p",
    ),
    (
        control_flow.share_with_loops,
        "graph test\ni: scalar\nn: scalar\no = 1\nm = ADD(n, o)\nb: scalar bool = LESS(i, m)\nreturn b\n"
        "graph step\ni: scalar\nn: scalar\no = 1\nj = ADD(i, o)\nreturn j, n\n"
        "graph main\ni: scalar\nn: scalar\no = 1\nm = ADD(n, o)\n"
        "p: scalar, q: scalar = WHILE(i, n) @test @step\n"
        "return p, m",
        "graph test\ni: scalar\nn: scalar\ntest_m: scalar\nb: scalar bool = LESS(i, test_m)\nreturn b\n"
        "graph step\ni: scalar\nn: scalar\nstep_m: scalar\no = 1\nj = ADD(i, o)\nreturn j, n, step_m\n"
        "graph main\ni: scalar\nn: scalar\no = 1\nm = ADD(n, o)\n"
        "p: scalar, q: scalar, r: scalar = WHILE(i, n, m) @test @step\nreturn p, m",
    ),
    (
        lstm.use_lstm,
        f"{_LSTM}return z",
        "x: 2x1x1\ns = [[[0]], [[0]]]\nb = [0]\n"
        + "".join(f"w{n} = [[{n}]]\n" for n in range(1, 9))
        + "h: 1x1, c: 1x1 = UNPACK(s) {num=2}\n"
        "y: 2x1x1 = UNIDIRECTIONAL_SEQUENCE_LSTM(x, w1, w2, w3, w4, w5, w6, w7, w8, none, none, none, "
        "b, b, b, b, none, none, h, c, none, none, none, none)"
        " {fused_activation_function=4, time_major=True}\nreturn y",
    ),
    (lstm.use_lstm, f"{_LSTM}return z, c", ""),
    (
        rnn.use_rnn,
        f"{_RNN % 'TANH'}return z",
        "x: 2x1x1\ns = [[[0]]]\nb = [0]\nw = [[1]]\nr = [[5]]\nh: 1x1 = UNPACK(s) {num=1}\n"
        "y: 2x1x1 = UNIDIRECTIONAL_SEQUENCE_RNN(x, w, r, b, h)"
        " {fused_activation_function=4, time_major=True}\nreturn y",
    ),
    (rnn.use_rnn, f"{_RNN % 'LOGISTIC'}return z", ""),
    (
        activations.simplify_mish,
        "x: 2\nr = RELU(x)\na = ABS(x)\ns = LOGISTIC(a)\nl = LOG(s)\np = SUB(r, l)\nt = TANH(p)\n"
        "y = MUL(x, t)\nreturn y",
        "x: 2\nn = NEG(x)\ns = LOGISTIC(n)\nl = LOG(s)\nt = TANH(l)\ny = MUL(n, t)\nreturn y",
    ),
    (
        activations.simplify_mish,
        "x: 2\nz: 2\nr = RELU(x)\na = ABS(x)\ns = LOGISTIC(a)\nl = LOG(s)\np = SUB(r, l)\nt = TANH(p)\n"
        "y = MUL(z, t)\nreturn y",
        "",
    ),
    (
        constants.fill_uniform_operands,
        f"{_LOOP}z = {[0] * 300}\np: scalar, q: 300 = WHILE(i, z) @test @step\nreturn p, q",
        f"{_LOOP}n = int32 [300]\no = 0\nz: 300 float32 = FILL(n, o)\n"
        "p: scalar, q: 300 = WHILE(i, z) @test @step\nreturn p, q",
    ),
    (
        constants.fill_uniform_operands,
        f"{_LOOP}z = {[0] * 299 + [1]}\np: scalar, q: 300 = WHILE(i, z) @test @step\nreturn p, q",
        "",
    ),
    (
        variables.read_what_is_known,
        f"{_VARIABLE}b: 2 float32 = READ_VARIABLE(v)\ny = SUB(a, b)\nreturn y",
        f"{_VARIABLE}y = SUB(a, a)\nreturn y",
    ),
    (
        variables.read_what_is_known,
        f"{_VARIABLE}b: 1 float32 = READ_VARIABLE(v)\ny = SUB(a, b)\nreturn y",
        "",
    ),
    (
        variables.assign_at_once,
        f"{_VARIABLE}b = ADD(a, a)\ny = SIN(b)\nASSIGN_VARIABLE(v, b)\nreturn y",
        f"{_VARIABLE}b = ADD(a, a)\nASSIGN_VARIABLE(v, b)\ny = SIN(b)\nreturn y",
    ),
    (
        variables.assign_at_once,
        f"{_VARIABLE}b = ADD(a, a)\nASSIGN_VARIABLE(v, b)\ny = SIN(b)\nreturn y",
        "",
    ),
    (
        variables.assign_at_once,
        f"{_VARIABLE}b = ADD(a, a)\nc: 2 float32 = READ_VARIABLE(v)\ny = SUB(c, b)\nASSIGN_VARIABLE(v, b)\n"
        "return y",
        f"{_VARIABLE}b = ADD(a, a)\nc: 2 float32 = READ_VARIABLE(v)\nASSIGN_VARIABLE(v, b)\ny = SUB(c, b)\n"
        "return y",
    ),
]
# Constants that several pairs have, by the names above.
GIVEN = {
    arithmetic.use_cut_offs: "c = 1\nd = -1",
    arithmetic.simplify_powers: "c = 2",
    inverses.use_inverse_root: "c = 1",
    activations.use_rectifiers: "c = 0",
    activations.use_l2_normalization: "n = int32 [1]\nc = 1e-12",
    activations.use_softmax: "n = int32 [1]",
    activations.fuse_gelu: "h = 0.5\no = 1\nk = 0.70710678\nq = 0.044715\np = 0.79788456\nt = 3",
    activations.fuse_hard_swish: "t = 3\ns = 6",
    activations.use_prelu: "m = [-0.5, -0.25]",
    constants.skip_empty_results: "a = int32 [0, 0]\nb = int32 [2, 0]",
}
