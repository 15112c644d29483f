"""StableHLO's elementwise operators, by the kernels of the builtin ones where those have the type."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from .add_n import arithmetic_calls
from .array_function import ArrayFunction, invoke_function
from .binary import BINARY, BINARY_F32
from .binary_math import math_calls
from .broadcast import collapse, fill_loops
from .cast import REGISTRATIONS as CAST_REGISTRATIONS
from .comparison import compare_calls
from .elementwise import UNARY, same_shape, unary_call
from .index_vector import check_counts
from .logical import INTEGER_TYPES, flat_calls, logical_calls
from .operators import registration
from .parallel import chunk_count
from .select import select_calls

_FLOATS = (TensorType.FLOAT16, TensorType.FLOAT32, TensorType.FLOAT64)
_COMPLEX = (TensorType.COMPLEX64, TensorType.COMPLEX128)
_BOOL = (TensorType.BOOL,)
_ORDERED = (*_FLOATS, *INTEGER_TYPES, *_BOOL)
_NUMBERS = (*_ORDERED, *_COMPLEX)

# The kernels of these operators take whole tensors of these types; NumPy serves the others.
_OTHER_FLOATS = {TensorType.FLOAT16: "f16", TensorType.FLOAT64: "f64"}
_ARITHMETIC_TYPES = (TensorType.FLOAT32, TensorType.INT32, TensorType.INT64)
_SMALL_INTEGERS = (TensorType.INT8, TensorType.UINT8, TensorType.INT16)
_EXTREMUM_SUFFIXES = {
    TensorType.INT8: "i8",
    TensorType.UINT8: "u8",
    TensorType.BOOL: "u8",
    TensorType.INT16: "i16",
    TensorType.INT32: "i32",
    TensorType.INT64: "i64",
}

Calls = Callable[[Context, Tensor, Tensor, Tensor], "list[KernelCall] | None"]


def _check_types(operator: str, x: Tensor, types: Sequence[TensorType]) -> None:
    if x.type not in types:
        names = ", ".join(t.name.lower() for t in types)
        raise UnsupportedError(f"{operator}: types built are {names}, got {x.type_name}")


def _operands(context: Context, node: Node, operator: str) -> tuple[Tensor, Tensor, Tensor]:
    """Two operands of one shape and type, and the output, which is given it."""
    check_counts(operator, node, 2)
    a, b, out = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if a.shape != b.shape or a.type != b.type:
        raise PrepareError(f"{operator}: operands must have one shape and type, got {a!r} and {b!r}")
    context.resize_tensor(out, a.shape)
    return a, b, out


# --- two operands


def _other_float_calls(
    context: Context, function: str, a: Tensor, b: Tensor, out: Tensor
) -> list[KernelCall]:
    suffix = _OTHER_FLOATS[TensorType(out.type)]
    tensors = {"a": a, "b": b, "out": out}
    return flat_calls(context, f"binary_{suffix}", f"{function}_{suffix}", out.size, tensors)


def _arithmetic(function: str) -> Calls:
    def calls(context: Context, a: Tensor, b: Tensor, out: Tensor) -> list[KernelCall] | None:
        if out.type in _OTHER_FLOATS:
            return _other_float_calls(context, function, a, b, out)
        is_small = out.type in _SMALL_INTEGERS and function != "div"
        if out.type not in _ARITHMETIC_TYPES and not is_small:
            return None
        return arithmetic_calls(context, f"STABLEHLO {function}", function, a, b, out)

    return calls


def extremum_calls(context: Context, kernel: str, a: Tensor, b: Tensor, out: Tensor) -> list[KernelCall]:
    """The first operand, or the second where that one is beyond it: NaN is never beyond."""
    if out.type in _OTHER_FLOATS:
        return _other_float_calls(context, kernel, b, a, out)
    if out.size == 0:
        return []
    is_float = out.type == TensorType.FLOAT32
    args = np.zeros(1, BINARY_F32 if is_float else BINARY)
    # The kernels take their own second operand where the two do not compare.
    fill_loops(args, collapse(kernel, b.shape, a.shape))
    suffix = "f32" if is_float else _EXTREMUM_SUFFIXES[TensorType(out.type)]
    family = "binary_f32" if is_float else "binary_int"
    tensors = {"a": b, "b": a, "out": out}
    return [KernelCall(family, f"{kernel}_{suffix}", args, tensors, chunk_count(context, 0.2 * out.size))]


def has_extremum(x: Tensor) -> bool:
    return x.type in (*_FLOATS, *_EXTREMUM_SUFFIXES)


def _extremum(kernel: str) -> Calls:
    def calls(context: Context, a: Tensor, b: Tensor, out: Tensor) -> list[KernelCall] | None:
        return extremum_calls(context, kernel, a, b, out) if has_extremum(out) else None

    return calls


def _bitwise(kernel: str) -> Calls:
    def calls(context: Context, a: Tensor, b: Tensor, out: Tensor) -> list[KernelCall]:
        if out.type == TensorType.BOOL:
            return logical_calls(context, f"logical_{kernel}", a, b, out)
        return flat_calls(context, "bitwise", f"bits_{kernel}", out.nbytes, {"a": a, "b": b, "out": out})

    return calls


def _shift_left_calls(context: Context, a: Tensor, b: Tensor, out: Tensor) -> list[KernelCall]:
    """0 where b is not in [0, bits of the type), which LiteRT leaves to the processor for int32.

    Source: the StableHLO specification, shift_left.
    """
    kernel = f"shift_left_{out.dtype.itemsize}"
    return flat_calls(context, "bitwise", kernel, out.size, {"a": a, "b": b, "out": out})


def _power_calls(context: Context, a: Tensor, b: Tensor, out: Tensor) -> list[KernelCall] | None:
    return math_calls(context, "POW", a, b, out) if out.type == TensorType.FLOAT32 else None


def _in_python(context: Context, a: Tensor, b: Tensor, out: Tensor) -> None:
    return None


def maximum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(a < b, b, a)


def minimum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(b < a, b, a)


def _check_divisor(b: np.ndarray) -> None:
    if b.dtype.kind in "iu" and not b.all():
        raise InvokeError("Division by 0: the divisor must have no zero element")


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The quotient; of integers, cut towards zero."""
    _check_divisor(b)
    if a.dtype.kind not in "iu":
        return a / b
    quotient = np.floor_divide(a, b)
    return quotient + ((quotient < 0) & (quotient * b != a)).astype(a.dtype)


def _remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    _check_divisor(b)
    return np.fmod(a, b)


def _power(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The power; of integers, 1 / a ** -b cut towards zero where the exponent is negative."""
    if a.dtype.kind not in "iu" or not (b < 0).any():
        return np.power(a, b)
    inverse = np.where(a == 1, 1, np.where(a == -1, np.where(b & 1, -1, 1), 0))
    return np.where(b < 0, inverse, np.power(a, np.maximum(b, 0)))


def _binary(
    name: str, function: ArrayFunction | None, calls: Calls, types: Sequence[TensorType]
) -> Registration:
    """function serves the types for which there are no calls."""
    operator = f"STABLEHLO_{name}"

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        a, b, out = _operands(context, node, operator)
        if a.type != out.type:
            raise PrepareError(f"{operator}: operands and output must have one type, got {a!r} and {out!r}")
        _check_types(operator, a, types)
        return calls(context, a, b, out)

    if function is None:
        return registration(operator, prepare)
    return registration(
        operator, prepare, lambda context, node: invoke_function(operator, function, context, node)
    )


# --- one operand


def _unary(name: str, function: ArrayFunction, kernel: str, types: Sequence[TensorType]) -> Registration:
    """kernel is the family and the kernel's name for float32, or nothing."""
    operator = f"STABLEHLO_{name}"

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        x, y = same_shape(context, node, operator)
        _check_types(operator, x, types)
        if x.type != TensorType.FLOAT32 or not kernel:
            return None
        family, name = kernel.split(".")
        return unary_call(context, family, name, x, y, np.zeros(1, UNARY), 3)

    return registration(
        operator, prepare, lambda context, node: invoke_function(operator, function, context, node)
    )


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _rsqrt(x: np.ndarray) -> np.ndarray:
    return 1 / np.sqrt(x)


# --- COMPARE, SELECT and CLAMP

# By StablehloComparisonDirection.
_DIRECTIONS = ("EQUAL", "NOT_EQUAL", "GREATER_EQUAL", "GREATER", "LESS_EQUAL", "LESS")
_COMPARISONS = (np.equal, np.not_equal, np.greater_equal, np.greater, np.less_equal, np.less)
_TOTAL_ORDER = 2  # a StablehloComparisonType


def _direction(node: Node) -> int:
    direction = 0 if node.options is None else int(node.options.comparison_direction)
    if not 0 <= direction < len(_DIRECTIONS):
        raise PrepareError(f"STABLEHLO_COMPARE: the direction must be in [0, 6), got {direction}")
    return direction


def _totally_ordered(node: Node, x: Tensor) -> bool:
    return node.options is not None and node.options.compare_type == _TOTAL_ORDER and x.type in _FLOATS


def _prepare_compare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    a, b, out = _operands(context, node, "STABLEHLO_COMPARE")
    direction = _direction(node)
    _check_types("STABLEHLO_COMPARE", a, _ORDERED if direction > 1 else _NUMBERS)
    if out.type != TensorType.BOOL:
        raise PrepareError(f"STABLEHLO_COMPARE: output must be bool, got {out!r}")
    if _totally_ordered(node, a):
        return None
    return compare_calls(context, _DIRECTIONS[direction], a, b, out)


def _order(x: np.ndarray) -> np.ndarray:
    """Integers in the total order of floats: -NaN, -infinity, ..., -0, 0, ..., infinity, NaN."""
    bits = x.view(f"i{x.dtype.itemsize}")
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def _invoke_compare(context: Context, node: Node) -> None:
    function: ArrayFunction = _COMPARISONS[_direction(node)]
    if _totally_ordered(node, context.input(node, 0)):
        compare = function

        def function(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return np.asarray(compare(_order(a), _order(b)))

    invoke_function("STABLEHLO_COMPARE", function, context, node)


def _prepare_select(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("STABLEHLO_SELECT", node, 3)
    condition, a, b = (context.input(node, i) for i in range(3))
    out = context.output(node, 0)
    if condition.type != TensorType.BOOL or condition.shape not in ((), a.shape):
        raise PrepareError(
            f"STABLEHLO_SELECT: the condition must be bool, a scalar or of the operands' shape, "
            f"got {condition!r} and {a!r}"
        )
    if a.shape != b.shape or not a.type == b.type == out.type:
        raise PrepareError(
            f"STABLEHLO_SELECT: operands must have one shape and type, got {a!r}, {b!r} and {out!r}"
        )
    context.resize_tensor(out, a.shape)
    return select_calls(context, "STABLEHLO_SELECT", condition, a, b, out, condition.shape)


def _prepare_clamp(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("STABLEHLO_CLAMP", node, 3)
    low, x, high = (context.input(node, i) for i in range(3))
    out = context.output(node, 0)
    for limit in (low, high):
        if limit.shape not in ((), x.shape) or not limit.type == x.type == out.type:
            raise PrepareError(
                f"STABLEHLO_CLAMP: limits must have the operand's type and its shape or be scalars, "
                f"got {limit!r} and {x!r}"
            )
    _check_types("STABLEHLO_CLAMP", x, _ORDERED)
    context.resize_tensor(out, x.shape)
    if not has_extremum(x) or (x.type in _OTHER_FLOATS and not low.shape == high.shape == x.shape):
        return None
    return [
        *extremum_calls(context, "maximum", x, low, out),
        *extremum_calls(context, "minimum", out, high, out),
    ]


def _clamp(low: np.ndarray, x: np.ndarray, high: np.ndarray) -> np.ndarray:
    return minimum(maximum(x, low), high)


def _invoke_select(context: Context, node: Node) -> None:
    invoke_function("STABLEHLO_SELECT", np.where, context, node)


def _invoke_clamp(context: Context, node: Node) -> None:
    invoke_function("STABLEHLO_CLAMP", _clamp, context, node)


# CONVERT is CAST by another name.
_CAST = next(registration for registration in CAST_REGISTRATIONS if registration.name == "CAST")

_BITWISE = (*INTEGER_TYPES, *_BOOL)
_SMOOTH = (*_FLOATS, *_COMPLEX)

REGISTRATIONS = (
    _binary("ADD", np.add, _arithmetic("add"), _NUMBERS),
    _binary("SUBTRACT", np.subtract, _arithmetic("sub"), (*_FLOATS, *INTEGER_TYPES, *_COMPLEX)),
    _binary("MULTIPLY", np.multiply, _arithmetic("mul"), _NUMBERS),
    _binary("DIVIDE", _divide, _arithmetic("div"), (*_FLOATS, *INTEGER_TYPES, *_COMPLEX)),
    _binary("MAXIMUM", maximum, _extremum("maximum"), _ORDERED),
    _binary("MINIMUM", minimum, _extremum("minimum"), _ORDERED),
    _binary("POWER", _power, _power_calls, (*_FLOATS, *INTEGER_TYPES, *_COMPLEX)),
    _binary("REMAINDER", _remainder, _in_python, (*_FLOATS, *INTEGER_TYPES)),
    _binary("AND", None, _bitwise("and"), _BITWISE),
    _binary("OR", None, _bitwise("or"), _BITWISE),
    _binary("SHIFT_LEFT", None, _shift_left_calls, INTEGER_TYPES),
    _unary("LOGISTIC", _logistic, "activations.logistic_f32", _SMOOTH),
    _unary("TANH", np.tanh, "activations.tanh_f32", _SMOOTH),
    _unary("COSINE", np.cos, "elementwise.cos_f32", _SMOOTH),
    _unary("EXPONENTIAL", np.exp, "elementwise.exp_f32", _SMOOTH),
    _unary("LOG", np.log, "elementwise.log_f32", _SMOOTH),
    _unary("RSQRT", _rsqrt, "elementwise.rsqrt_f32", _SMOOTH),
    _unary("CBRT", np.cbrt, "", _FLOATS),
    _unary("FLOOR", np.floor, "elementwise.floor_f32", _FLOATS),
    _unary("NEGATE", np.negative, "elementwise.neg_f32", (*_FLOATS, *INTEGER_TYPES, *_COMPLEX)),
    _unary("ABS", np.abs, "elementwise.abs_f32", (*_FLOATS, *INTEGER_TYPES)),
    registration("STABLEHLO_CONVERT", _CAST.prepare, _CAST.invoke),
    registration("STABLEHLO_COMPARE", _prepare_compare, _invoke_compare),
    registration("STABLEHLO_SELECT", _prepare_select, _invoke_select),
    registration("STABLEHLO_CLAMP", _prepare_clamp, _invoke_clamp),
)
