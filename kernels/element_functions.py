"""Functions of single elements: what each computes, for which types, and where it is compiled.

One description serves the prepare hooks, which find the kernel and its argument block here, and
kernels/compiled, which makes the kernel: a loop over one operand, or over two or three that broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from ..schema.named_tuple import NamedTuple
from .element_expressions import (
    ZERO,
    division_i32,
    division_i64,
    fake_quant,
    floor_div,
    floor_div_i64,
    floor_mod,
    floor_mod_i64,
    hard_swish,
    power_i32,
    prelu,
    product_of_equals,
    sign_f32,
)

BROADCAST_RANK = 8

# Element types by the ends of kernels' names, as blocks store them.
TYPES: dict[str, type] = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "bf16": np.uint16,
    "i8": np.int8,
    "u8": np.uint8,
    "i16": np.int16,
    "u16": np.uint16,
    "i32": np.int32,
    "i64": np.int64,
    "bool": np.uint8,
}
# Statuses of kernels that look at their second operand first.
DIVISION_BY_ZERO = 1
NEGATIVE_EXPONENT = 2

# What one element of a row meets all bytes with: 256 words that tell which tables are made, and the tables.
REMEMBERED_BYTES = 8 * 256 + 256 * 256


class Form(NamedTuple):
    """A function in some types: the kernel of each is named for both, as add_f32.

    compute(x, y) or compute(x), with the fields' values behind them where there are any, is plain Python on
    scalars that Numba compiles; its result is cut to `result`, or to the operands' type. It is None where
    kernels/compiled has an expression of its own. unit is the unit of compiled kernels, "{}" the type.
    fields are those of the block besides the operands: types, "x" for the operands', and names. With
    clamps, results are kept within two more of them, low and high. refuses is the status of a kernel that
    first looks for second operands that the function has no result for.
    """

    unit: str
    types: str
    compute: Callable[..., Any] | None = None
    fields: tuple[tuple[str, str], ...] = ()
    clamps: bool = False
    result: str = ""
    refuses: int = 0

    def parameters(self) -> dict[str, str]:
        """Types of the block's fields besides the operands, by name."""
        fields = (*self.fields, ("x", "low high")) if self.clamps else self.fields
        return {name: kind for kind, names in fields for name in names.split()}


Forms = tuple[Form, ...]


def _arithmetic(compute: Callable[..., Any]) -> Forms:
    """Integers wrap around at their width."""
    return (
        Form("binary_f32", "f32", compute, clamps=True),
        Form("binary_int", "i8 i16 i32 i64", compute, clamps=True),
        Form("binary_{}", "f16 f64", compute),
    )


def _extremum(compute: Callable[..., Any]) -> Forms:
    """The second operand where the two do not compare."""
    return (
        Form("binary_{}", "f32 f64", compute),
        Form("binary_int", "i8 u8 i16 i32 i64", compute),
        Form("binary_f16", "f16"),  # by the halves' bits, which are kept
    )


def _shift_right(width: Any, read: Any) -> Callable[..., Any]:
    """x >> y of elements that are stored as one NumPy type and mean another; y is kept in [0, its bits)."""
    none, most = read(0), read(np.iinfo(width).bits - 1)
    return lambda x, y: width(read(x) >> max(none, min(read(y), most)))


def _shift_left(width: Any) -> Callable[..., Any]:
    """x << y in a NumPy type; 0 where y is not in [0, its bits)."""
    most = np.iinfo(width).bits - 1
    return lambda x, y: width(x << (y & width(most))) if (y >= 0) & (y <= most) else width(0)


# Bytes, and int16 of scales, are compared by what they stand for: tables of int32.
_TABLES = (("i64", "a_table b_table"),)


def _comparison(compute: Callable[..., Any]) -> Forms:
    return (
        Form("comparison_{}", "f32 i32 i64 i16 f16", compute, result="bool"),
        Form("comparison_8", "8", compute, _TABLES, result="bool"),
    )


def _scaled(compute: Callable[..., Any]) -> Forms:
    return (*_comparison(compute), Form("comparison_i16", "scaled_i16", compute, _TABLES, result="bool"))


_SIGNED = "i8 i16 i32 i64"
_UNSIGNED = {np.int8: np.uint8, np.int16: np.uint16, np.int32: np.uint32, np.int64: np.uint64}


def _of_bits(compute: Callable[[Any], Callable[..., Any]]) -> Forms:
    return tuple(Form("bitwise", suffix, compute(TYPES[suffix])) for suffix in _SIGNED.split())


_MULTIPLIED = "multiplier shift zero low high"
# Each operand less its zero point is shifted left by left_shift and scaled to a common scale;
# the sum a + b_sign * b, or the square of the difference, is scaled to the output's.
_AT_COMMON_SCALE = (
    ("i32", f"left_shift a_zero a_multiplier a_shift b_zero b_multiplier b_shift b_sign {_MULTIPLIED}"),
)
_ZEROS = "a_zero b_zero zero"
_OF_QUOTIENT = (("i32", f"{_ZEROS} multiplier shift low high"),)
# Inputs of at least zero are scaled by the first multiplier, products with the slope by the second.
_OF_PRELU = (("i32", f"{_ZEROS} multiplier shift slope_multiplier slope_shift"),)

# Of two operands, which broadcast.
BINARY: dict[str, Forms] = {
    "add": _arithmetic(lambda x, y: x + y),
    "sub": _arithmetic(lambda x, y: x - y),
    "mul": _arithmetic(lambda x, y: x * y),
    "div": (
        Form("binary_f32", "f32", lambda x, y: x / y, clamps=True),
        Form("binary_int", "i32", division_i32, clamps=True, refuses=DIVISION_BY_ZERO),
        Form("binary_int", "i64", division_i64, clamps=True, refuses=DIVISION_BY_ZERO),
        Form("binary_{}", "f16 f64", lambda x, y: x / y),
        Form("quantized_div", "i8 u8 i16", fields=_OF_QUOTIENT, refuses=DIVISION_BY_ZERO),
    ),
    "squared_difference": (
        Form("binary_f32", "f32", lambda x, y: (x - y) * (x - y)),
        Form("binary_int", "i32 i64", lambda x, y: (x - y) * (x - y)),
    ),
    "maximum": _extremum(lambda x, y: x if x > y else y),
    "minimum": _extremum(lambda x, y: x if x < y else y),
    # clamp(zero + ((bias + a * a_multiplier + b * b_multiplier) >> shift)), and of int16 as sum_reference
    "sum": (
        Form("binary_q8", "i8 u8", fields=(("i32", "a_multiplier b_multiplier bias shift zero low high"),)),
        Form("binary_q16", "i16", fields=_AT_COMMON_SCALE),
    ),
    # clamp(zero + round((a - a_zero) * (b - b_zero) * scale))
    "product": (Form("binary_q8", "i8 u8", fields=(("i32", f"{_ZEROS} low high"), ("f32", "scale"))),),
    "sum_reference": (Form("binary_q8_reference", "i8 u8 i16", fields=_AT_COMMON_SCALE),),
    # memory, where it is not 0, is for REMEMBERED_BYTES
    "squared_difference_reference": (
        Form("binary_q8_reference", "i8 u8", fields=(*_AT_COMMON_SCALE, ("i64", "memory"))),
        Form("binary_q8_reference", "i16", fields=_AT_COMMON_SCALE),
    ),
    "product_reference": (
        Form("binary_q8_reference", "i8 u8 i16", fields=(("i32", f"a_zero b_zero {_MULTIPLIED}"),)),
    ),
    # a is the input, b the slope.
    "prelu": (Form("prelu", "f32", prelu), Form("prelu", "i8 u8 i16", fields=_OF_PRELU)),
    "pow": (
        Form("binary_math", "f32"),
        Form("binary_math", "i32", power_i32, refuses=NEGATIVE_EXPONENT),
    ),
    "pow_by_squares": (Form("binary_math", "i32", product_of_equals, refuses=NEGATIVE_EXPONENT),),
    "atan2": (Form("binary_math", "f32"),),
    "floor_div": (
        Form("binary_math", "f32", lambda x, y: np.floor(x / y), refuses=DIVISION_BY_ZERO),
        Form("binary_math", "i32", floor_div, refuses=DIVISION_BY_ZERO),
        Form("binary_math", "i64", floor_div_i64, refuses=DIVISION_BY_ZERO),
        Form("binary_math_small", "i8 i16", floor_div, refuses=DIVISION_BY_ZERO),
    ),
    "floor_mod": (
        Form("binary_math", "f32"),
        Form("binary_math", "i32", floor_mod, refuses=DIVISION_BY_ZERO),
        Form("binary_math", "i64", floor_mod_i64, refuses=DIVISION_BY_ZERO),
        Form("binary_math_small", "i8 i16", floor_mod, refuses=DIVISION_BY_ZERO),
    ),
    "equal": _scaled(lambda x, y: x == y),
    "not_equal": _scaled(lambda x, y: x != y),
    "less": _comparison(lambda x, y: x < y),
    "less_equal": _comparison(lambda x, y: x <= y),
    "logical_and": (Form("logical", "bool", lambda x, y: (x != 0) & (y != 0)),),
    "logical_or": (Form("logical", "bool", lambda x, y: (x | y) != 0),),
    "bits_and": (Form("bitwise", _SIGNED, lambda x, y: x & y),),
    "bits_or": (Form("bitwise", _SIGNED, lambda x, y: x | y),),
    "bitwise_xor": (Form("bitwise", _SIGNED, lambda x, y: x ^ y),),
    "shift_left": _of_bits(_shift_left),
    "right_shift": _of_bits(lambda width: _shift_right(width, width)),
    "right_shift_unsigned": _of_bits(lambda width: _shift_right(width, _UNSIGNED[width])),
}

# Of a condition, which is a byte, and two operands: all broadcast. Types are those of as many bytes.
TERNARY: dict[str, Forms] = {"select": (Form("select", "i8 i16 i32 i64"),)}

# From the first type to the second.
_CASTS = (
    "f32_i32 f32_i64 f32_u8 f32_i8 f32_bool f32_i16 f32_f64 f32_f16 f32_bf16 i32_f32 i64_f32 u8_f32 i8_f32 "
    "bool_f32 i16_f32 f64_f32 f16_f32 bf16_f32 i32_i64 i64_i32 i32_bool i64_bool bool_i32 u8_i32 i8_i32 "
    "i16_i32 i32_u8 i32_i8 i32_i16"
)

# Of one operand.
UNARY: dict[str, Forms] = {
    **{name: (Form("elementwise", "f32"),) for name in ("sin", "cos", "exp", "log", "rsqrt")},
    "sqrt": (Form("elementwise", "f32", lambda x: np.sqrt(x)),),
    "square": (Form("elementwise", "f32", lambda x: x * x),),
    "neg": (Form("elementwise", "f32 i32 i64", lambda x: -x),),
    "abs": (Form("elementwise", "f32 i32 i64", lambda x: abs(x)),),
    "floor": (Form("elementwise", "f32", lambda x: np.floor(x)),),
    "ceil": (Form("elementwise", "f32", lambda x: np.ceil(x)),),
    "round": (Form("elementwise", "f32", lambda x: np.rint(x)),),
    "sign": (
        Form("unary_math", "f32", sign_f32),
        Form("unary_math", "i32", lambda x: (1 if x > 0 else 0) - (1 if x < 0 else 0)),
    ),
    "gelu": (Form("unary_math", "f32"),),
    "gelu_approximate": (Form("unary_math", "f32"),),
    "complex_abs": (Form("unary_math", "f32"),),
    # round((clamp(x, low, high) - low) * inverse_scale) * scale + low
    "fake_quant": (Form("unary_math", "f32", fake_quant, (("f32", "low high scale inverse_scale"),)),),
    **{name: (Form("activations", "f32"),) for name in ("logistic", "tanh", "elu", "sign_bit")},
    "clamp": (Form("activations", "f32", lambda x: x, clamps=True),),
    "leaky_relu": (
        Form("activations", "f32", lambda x, alpha: x * alpha if x < ZERO else x, (("f32", "alpha"),)),
    ),
    "hard_swish": (Form("activations", "f32", hard_swish),),
    "cast": (Form("cast", _CASTS),),
    "requantize": (
        Form(
            "quantize_int",
            "i8_i16 u8_i16 i16_i8 i16_i16 i16_i32 i32_i8 i32_i16",
            fields=(("i32", "x_zero multiplier shift y_zero"),),
        ),
    ),
    "logical_not": (Form("logical", "bool", lambda x: x == 0),),
}

# Types that are compared by tables are read as unsigned.
_READ = {"8": "u8", "scaled_i16": "u16"}


def form_of(function: str, suffix: str) -> Form:
    """The form whose kernel is `<function>_<suffix>`; KeyError where there is none."""
    for form in BINARY.get(function) or TERNARY.get(function) or UNARY[function]:
        if suffix in form.types.split():
            return form
    raise KeyError(f"{function}_{suffix}")


def types_of(form: Form, suffix: str) -> tuple[str, str]:
    """How a kernel reads its operands and writes its results."""
    read, _, write = _READ.get(suffix, suffix).partition("_")
    return read, form.result or write or read


def item_bytes(suffix: str) -> int:
    """Bytes of an element."""
    return np.dtype(TYPES[suffix]).itemsize


def operands_of(function: str) -> tuple[str, ...]:
    """Names of what broadcasts in a function's block; none for a function of one operand."""
    if function in TERNARY:
        return ("condition", "a", "b")
    return ("a", "b") if function in BINARY else ()


def loop_fields(*operands: str) -> list[tuple[Any, ...]]:
    """Fields of a block with the loops of operands that broadcast: sizes, and each one's strides."""
    names = ("shape", *(f"{name}_strides" for name in operands))
    return [(name, np.int64, (BROADCAST_RANK,)) for name in names]


@cache
def block_of(function: str, suffix: str) -> np.dtype:
    """A kernel's argument block: addresses of its operands, then the loops or the size, then parameters.

    Loops are out[i0, ..., i7] = f(a[i . a_strides], b[i . b_strides]), strides counted in elements, the
    last dimension innermost.
    """
    form = form_of(function, suffix)
    x = types_of(form, suffix)[0]
    fields: list[tuple[Any, ...]] = [(name, np.int64) for name in ("x", "y", "size")]
    if operands := operands_of(function):
        fields = [*((name, np.int64) for name in (*operands, "out")), *loop_fields(*operands)]
    parameters = ((name, TYPES[x if kind == "x" else kind]) for name, kind in form.parameters().items())
    return np.dtype([*fields, *parameters], align=True)


def kernels() -> Iterator[tuple[str, str, Form]]:
    """Function, type and form of every kernel, named `<function>_<type>`."""
    for function, forms in (BINARY | TERNARY | UNARY).items():
        for form in forms:
            for suffix in form.types.split():
                yield function, suffix, form


def units() -> dict[str, list[str]]:
    """The kernels that are compiled together, by unit."""
    found: dict[str, list[str]] = {}
    for function, suffix, form in kernels():
        found.setdefault(form.unit.format(suffix), []).append(f"{function}_{suffix}")
    return found
