"""StableHLO's elementwise operators: the builtin ones' functions where those have the type, else NumPy's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from .array_function import ArrayFunction, invoke_function
from .binary import ADDED, BIT_SUFFIXES, INTEGER_TYPES, arithmetic_calls, in_numpy
from .broadcast import binary_call, same_shape, unary_call
from .cast import REGISTRATIONS as CAST_REGISTRATIONS
from .comparison import FUNCTIONS as COMPARISONS
from .comparison import compare_calls
from .index_vector import check_counts
from .lookup import TABLE_TYPES
from .operator_facts import SUFFIXES
from .operators import registration
from .quantized_binary import Operands
from .select import select_calls

_FLOATS = (TensorType.FLOAT16, TensorType.FLOAT32, TensorType.FLOAT64)
_COMPLEX = (TensorType.COMPLEX64, TensorType.COMPLEX128)
_BOOL = (TensorType.BOOL,)
_ORDERED = (*_FLOATS, *INTEGER_TYPES, *_BOOL)
_NUMBERS = (*_ORDERED, *_COMPLEX)
_FIELD = (*_FLOATS, *INTEGER_TYPES, *_COMPLEX)
_SMOOTH = (*_FLOATS, *_COMPLEX)


def _kernels(function: str, suffixes: Mapping[int, str], of_bools: str = "") -> dict[int, tuple[str, str]]:
    """Function and its type, by the operands'; bools may have a function of their own."""
    bools: dict[int, tuple[str, str]] = {TensorType.BOOL: (of_bools, "bool")} if of_bools else {}
    return {**{type: (function, suffix) for type, suffix in suffixes.items()}, **bools}


_FLOAT_SUFFIXES: dict[int, str] = {type: SUFFIXES[type] for type in _FLOATS}
_ADDED = _FLOAT_SUFFIXES | ADDED
_DIVIDED = {type: suffix for type, suffix in _ADDED.items() if type not in TABLE_TYPES}
# Bools are compared as bytes.
_COMPARED = _ADDED | {TensorType.UINT8: "u8", TensorType.BOOL: "u8"}


def _check_types(operator: str, x: Tensor, types: Sequence[TensorType]) -> None:
    if x.type not in types:
        names = ", ".join(t.name.lower() for t in types)
        raise UnsupportedError(f"{operator}: types built are {names}, got {x.type_name}")


def _operands(context: Context, node: Node, operator: str) -> Operands:
    """Two operands of one shape and type, and the output, which is given it."""
    check_counts(operator, node, 2)
    a, b, out = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if a.shape != b.shape or a.type != b.type:
        raise PrepareError(f"{operator}: operands must have one shape and type, got {a!r} and {b!r}")
    context.resize_tensor(out, a.shape)
    return a, b, out


def _extremum_calls(context: Context, function: str, a: Tensor, b: Tensor, out: Tensor) -> list[KernelCall]:
    """The first operand, or the second where that one is beyond it: NaN is never beyond."""
    # The kernels take their own second operand where the two do not compare.
    return binary_call(context, function, (function, _COMPARED[TensorType(out.type)]), (b, a, out))


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
    name: str,
    function: ArrayFunction | None,
    types: Sequence[TensorType],
    kernels: Mapping[int, tuple[str, str]],
    element_ns: float = 0.2,
) -> Registration:
    """function serves the types for which there are no kernels."""
    operator = f"STABLEHLO_{name}"

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        a, b, out = _operands(context, node, operator)
        if a.type != out.type:
            raise PrepareError(f"{operator}: operands and output must have one type, got {a!r} and {out!r}")
        _check_types(operator, a, types)
        if out.type not in kernels:
            return None
        kernel = kernels[out.type]
        if kernel[0] in ("maximum", "minimum"):
            return _extremum_calls(context, kernel[0], a, b, out)
        return arithmetic_calls(context, operator, kernel, (a, b, out), element_ns=element_ns)

    return registration(operator, prepare, None if function is None else in_numpy(operator, function))


def _unary(name: str, function: ArrayFunction, builtin: str, types: Sequence[TensorType]) -> Registration:
    """builtin is the function that serves float32, if there is one."""
    operator = f"STABLEHLO_{name}"

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        x, y = same_shape(context, node, operator)
        _check_types(operator, x, types)
        if x.type != TensorType.FLOAT32 or not builtin:
            return None
        return unary_call(context, builtin, "f32", x, y, 3)

    return registration(operator, prepare, in_numpy(operator, function))


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _rsqrt(x: np.ndarray) -> np.ndarray:
    return 1 / np.sqrt(x)


# By StablehloComparisonDirection.
_DIRECTIONS = ("EQUAL", "NOT_EQUAL", "GREATER_EQUAL", "GREATER", "LESS_EQUAL", "LESS")
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
    function: ArrayFunction = COMPARISONS[_DIRECTIONS[_direction(node)]]
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
    if x.type not in _COMPARED:
        return None
    return [
        *_extremum_calls(context, "maximum", x, low, out),
        *_extremum_calls(context, "minimum", out, high, out),
    ]


def _clamp(low: np.ndarray, x: np.ndarray, high: np.ndarray) -> np.ndarray:
    return minimum(maximum(x, low), high)


# CONVERT is CAST by another name.
_CAST = next(entry for entry in CAST_REGISTRATIONS if entry.name == "CAST")

REGISTRATIONS = (
    _binary("ADD", np.add, _NUMBERS, _kernels("add", _ADDED)),
    _binary("SUBTRACT", np.subtract, _FIELD, _kernels("sub", _ADDED)),
    _binary("MULTIPLY", np.multiply, _NUMBERS, _kernels("mul", _ADDED)),
    _binary("DIVIDE", _divide, _FIELD, _kernels("div", _DIVIDED)),
    _binary("MAXIMUM", maximum, _ORDERED, _kernels("maximum", _COMPARED)),
    _binary("MINIMUM", minimum, _ORDERED, _kernels("minimum", _COMPARED)),
    _binary("POWER", _power, _FIELD, {TensorType.FLOAT32: ("pow", "f32")}, 5),
    _binary("REMAINDER", _remainder, (*_FLOATS, *INTEGER_TYPES), {}),
    _binary(
        "AND",
        None,
        (*INTEGER_TYPES, *_BOOL),
        _kernels("bits_and", BIT_SUFFIXES, "logical_and"),
    ),
    _binary(
        "OR",
        None,
        (*INTEGER_TYPES, *_BOOL),
        _kernels("bits_or", BIT_SUFFIXES, "logical_or"),
    ),
    _binary("SHIFT_LEFT", None, INTEGER_TYPES, _kernels("shift_left", BIT_SUFFIXES)),
    _unary("LOGISTIC", _logistic, "logistic", _SMOOTH),
    _unary("TANH", np.tanh, "tanh", _SMOOTH),
    _unary("COSINE", np.cos, "cos", _SMOOTH),
    _unary("EXPONENTIAL", np.exp, "exp", _SMOOTH),
    _unary("LOG", np.log, "log", _SMOOTH),
    _unary("RSQRT", _rsqrt, "rsqrt", _SMOOTH),
    _unary("CBRT", np.cbrt, "", _FLOATS),
    _unary("FLOOR", np.floor, "floor", _FLOATS),
    _unary("NEGATE", np.negative, "neg", _FIELD),
    _unary("ABS", np.abs, "abs", (*_FLOATS, *INTEGER_TYPES)),
    registration("STABLEHLO_CONVERT", _CAST.prepare, _CAST.invoke),
    registration("STABLEHLO_COMPARE", _prepare_compare, _invoke_compare),
    registration("STABLEHLO_SELECT", _prepare_select, in_numpy("STABLEHLO_SELECT", np.where)),
    registration("STABLEHLO_CLAMP", _prepare_clamp, in_numpy("STABLEHLO_CLAMP", _clamp)),
)
