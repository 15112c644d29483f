"""Rules alone: what is given, and what each makes of it; what is alike and must stay is given back."""

from __future__ import annotations

import pytest
from numlite.converter.operator_rules import (
    activations,
    arithmetic,
    constants,
    inverses,
    reshape,
    transpose,
    weights,
)
from numlite.converter.operator_rules.equal_operators import drop_unused, share_equal

from ..written_operators import parsed, rewritten, written

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
        inverses.remove_involution,
        "x: 2\na = NEG(x)\nb = NEG(a)\ny = SIN(b)\nreturn y",
        "x: 2\ny = SIN(x)\nreturn y",
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
    (transpose.use_reshape, "x: 2x?\ny: ?x2 = TRANSPOSE(x, p)\nreturn y", ""),
    (
        weights.fuse_activation,
        "a: 2\nb: 2\ns = ADD(a, b)\ny = RELU(s)\nreturn y",
        "a: 2\nb: 2\ny = ADD(a, b) {fused_activation_function=1}\nreturn y",
    ),
    (weights.fuse_activation, "a: 2\nb: 2\ns = ADD(a, b)\ny = RELU(s)\nreturn y, s", ""),
]
# Constants that several pairs have, by the names above.
GIVEN = {
    arithmetic.use_cut_offs: "c = 1\nd = -1",
    arithmetic.simplify_powers: "c = 2",
    inverses.use_inverse_root: "c = 1",
    activations.use_rectifiers: "c = 0",
    reshape.merge_reshapes: "s = int32 [2, 2]",
    transpose.merge_transposes: "p = int32 [1, 0]",
    transpose.use_reshape: "p = int32 [1, 0]",
}


@pytest.mark.parametrize(
    ("rule", "given", "result"), PAIRS, ids=[f"{p[0].name}-{i}" for i, p in enumerate(PAIRS)]
)
def test_pair(rule, given: str, result: str) -> None:  # type: ignore[no-untyped-def]
    shared = GIVEN.get(rule, "")
    made, trace = rewritten(f"{shared}\n{given}", rule, drop_unused)
    assert made == written(parsed(f"{shared}\n{result or given}"))
    assert trace.count == sum(fired.count for fired in trace.fired.values())
    assert (trace.count > 0) is bool(result)
