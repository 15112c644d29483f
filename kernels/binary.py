"""Operators of two operands that broadcast: types, activations, and which function serves them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import NUMPY_DTYPES, TensorType
from . import row_chain
from .broadcast import Loops, binary_call, broadcast_operands, loops_of
from .element_functions import DIVISION_BY_ZERO, NEGATIVE_EXPONENT, REMEMBERED_BYTES, TYPES, form_of
from .fused_activation import NONE, float_activation_range
from .index_vector import quantization_pair
from .lookup import TABLE_TYPES
from .operator_facts import SUFFIXES
from .operators import OPERATORS, check_type, registration
from .quantized_binary import Operands, quantized_arithmetic, quantized_quotient
from .xnnpack_nodes import takes_shapes

if TYPE_CHECKING:
    from .array_function import ArrayFunction

_F16, _F32, _F64 = TensorType.FLOAT16, TensorType.FLOAT32, TensorType.FLOAT64
_I8, _I16, _I32, _I64 = TensorType.INT8, TensorType.INT16, TensorType.INT32, TensorType.INT64

INTEGER_TYPES = (
    TensorType.INT8,
    TensorType.UINT8,
    TensorType.INT16,
    TensorType.UINT16,
    TensorType.INT32,
    TensorType.UINT32,
    TensorType.INT64,
    TensorType.UINT64,
)
# Kernels of bits: integers of one width have one, signed or not.
BIT_SUFFIXES: dict[int, str] = {type: f"i{NUMPY_DTYPES[type].itemsize * 8}" for type in INTEGER_TYPES}
# Sums, differences and products of uint8 have the bytes of int8's.
ADDED: dict[int, str] = {TensorType.UINT8: "i8"}
ADDED |= {type: SUFFIXES[type] for type in (_F32, _I8, _I16, _I32, _I64)}
_LARGE, _LONG_ROW = 1 << 13, 32  # elements of a result and of its rows
_DIVISION = {DIVISION_BY_ZERO: "the divisor must have no zero element, got one"}


def _ends(suffix: str) -> tuple[float, float]:
    """The least and the greatest number of an integer type."""
    limits = np.iinfo(TYPES[suffix])
    return int(limits.min), int(limits.max)


def arithmetic_calls(
    context: Context,
    operator: str,
    kernel: tuple[str, str],
    operands: Operands,
    limits: tuple[float, float] = (-np.inf, np.inf),
    messages: Mapping[int, str] = {},
    element_ns: float = 0.2,
) -> list[KernelCall]:
    """The call of a function of numbers without quantization in a type, its results kept within limits."""
    parameters: dict[str, float] = {}
    if form_of(*kernel).clamps:
        ends = (-np.inf, np.inf) if kernel[1] == "f32" else _ends(kernel[1])
        parameters = {"low": max(limits[0], ends[0]), "high": min(limits[1], ends[1])}
    return binary_call(context, operator, kernel, operands, element_ns, parameters, messages)


def _quantized_calls(context: Context, name: str, fused: int, operands: Operands) -> list[KernelCall]:
    function = "div"
    if name == "DIV":
        parameters = quantized_quotient(fused, operands)
    else:
        function, parameters = quantized_arithmetic(context, name, fused, operands)
    kernel = function, SUFFIXES[operands[2].type]
    keep = []
    if "memory" in form_of(*kernel).parameters() and _remembers(name, operands):
        keep = [np.zeros(REMEMBERED_BYTES, np.uint8)]
        parameters["memory"] = keep[0].ctypes.data
    return binary_call(context, name, kernel, operands, 0.2, parameters, _DIVISION, keep)


def _remembers(name: str, operands: Operands) -> bool:
    """Whether tables of what one element and any other give are worth their memory."""
    loops = loops_of(name, operands)
    return operands[2].size >= _LARGE and loops.shape[-1] >= _LONG_ROW and 0 in loops.strides[-1]


def _multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a * b; complex products rounded at every step, which NumPy's are not."""
    if a.dtype != np.complex64:
        return a * b
    real, imaginary = a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real
    product = np.empty(real.shape, np.complex64)
    product.real, product.imag = real, imaginary
    return product


def _fused(node: Node) -> int:
    return getattr(node.options, "fused_activation_function", NONE)


def _arithmetic(name: str, function: ArrayFunction | None = None) -> Registration:
    """Types too rare for kernels of their own run in NumPy, by function."""

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        operands = broadcast_operands(context, node, name)
        out = operands[2]
        loops_of(name, operands)  # for its error
        check_type(name, out)
        plain = name in ("ADD", "SUB", "MUL") and out.type == _I16 and quantization_pair(out)[0] == 0
        if out.type in (_F32, _I32, _I64) or plain:
            limits = float_activation_range(name, _fused(node), context.numerics is Numerics.REFERENCE)
            return arithmetic_calls(
                context, name, (name.lower(), SUFFIXES[out.type]), operands, limits, _DIVISION
            )
        if out.type in TABLE_TYPES:
            return _quantized_calls(context, name, _fused(node), operands)
        return None

    def invoke(context: Context, node: Node) -> None:
        assert function is not None
        limits = float_activation_range(name, _fused(node))
        in_numpy(name, _clamped(function, limits, context.numerics))(context, node)

    ends_chains = row_chain.fuse if OPERATORS[name].fuses else None
    return registration(name, prepare, invoke if function else None, ends_chains)


def _clamped(function: ArrayFunction, limits: tuple[float, float], numerics: Numerics) -> ArrayFunction:
    """The function with its float16 and uint32 results kept within limits.

    What is no number becomes the low limit, where there are limits, as in XNNPACK; the reference leaves it.
    """
    low, high = limits

    def clamped(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        values = function(a, b)
        if a.dtype == np.float16 and limits != (-np.inf, np.inf):
            if numerics is Numerics.REFERENCE:
                return np.clip(values, np.float16(low), np.float16(high))
            return np.fmin(np.fmax(values, np.float16(low)), np.float16(high))
        if a.dtype == np.uint32:
            return np.clip(values, 0, None if high == np.inf else np.uint32(high))
        return values

    return clamped


def _prepare_sum(context: Context, node: Node) -> Sequence[KernelCall]:
    if len(node.inputs) < 2 or len(node.outputs) != 1:
        raise PrepareError(
            f"ADD_N: must have two inputs or more and one output, "
            f"got {len(node.inputs)} and {len(node.outputs)}"
        )
    first, *rest = (context.input(node, i) for i in range(len(node.inputs)))
    out = context.output(node, 0)
    for x in (first, *rest):
        if (x.shape, x.type) != (first.shape, out.type):
            raise PrepareError(
                f"ADD_N: operands must have one shape and the output's type, got {first!r}, {x!r} and {out!r}"
            )
    context.resize_tensor(out, first.shape)
    if out.size == 0:
        return []
    check_type("ADD_N", out)
    pairs = zip([first, *[out] * len(rest)], rest, strict=False)
    kernel = "add", ADDED[out.type]
    return [call for a, x in pairs for call in arithmetic_calls(context, "ADD_N", kernel, (a, x, out))]


def _prepared(
    name: str, choose: Callable[[Operands], str | None], element_ns: float, messages: Mapping[int, str] = {}
) -> Callable[[Context, Node], Sequence[KernelCall] | None]:
    """The prepare hook of the function of an operator's name; choose gives its type, None for NumPy."""

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        operands = broadcast_operands(context, node, name)
        suffix = choose(operands)
        if suffix is None:
            return None
        kernel = name.lower(), suffix
        return binary_call(context, name, kernel, operands, element_ns, messages=messages)

    return prepare


def _extremum(name: str, function: ArrayFunction) -> Registration:
    """Stored values are compared, whatever their scale."""

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        a, b, out = operands = broadcast_operands(context, node, name)
        check_type(name, a)
        loops = loops_of(name, operands)
        if a.type == _F16:
            return None
        if context.numerics is not Numerics.REFERENCE and _are_swapped(operands, loops):
            operands = b, a, out
        return binary_call(context, name, (name.lower(), SUFFIXES[a.type]), operands)

    return registration(name, prepare, in_numpy(name, function))


def _are_swapped(operands: Operands, loops: Loops) -> bool:
    """Whether XNNPACK takes floats the other way round, which zeros of two signs and NaN show: b's are given.

    A constant of one element is a bound of what is as large as the result. Else an element that is repeated
    comes last.
    """
    a, b, out = operands
    if a.type != TensorType.FLOAT32 or not takes_shapes(a, b):
        return False
    for constant, other in ((a, b), (b, a)):
        if constant.is_constant and constant.size == 1 and other.size == out.size and not other.is_constant:
            return constant is b
    return a.size == 1 or loops.strides[-1][0] == 0


def in_numpy(name: str, function: ArrayFunction) -> Callable[[Context, Node], None]:
    """The invoke hook of an operator that a NumPy function computes."""

    def invoke(context: Context, node: Node) -> None:
        from .array_function import invoke_function  # which most models do without

        invoke_function(name, function, context, node)

    return invoke


# The C library's function, whose last bit NumPy's own may miss.
_c_atan2 = np.frompyfunc(math.atan2, 2, 1)


def _atan2(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.asarray(_c_atan2(y.astype(np.float64), x.astype(np.float64))).astype(y.dtype)


def power_messages(name: str) -> dict[int, str]:
    return {
        DIVISION_BY_ZERO: f"{name}: Division by 0: the divisor must have no zero element",
        NEGATIVE_EXPONENT: f"{name}: exponents of integers must not be negative",
    }


def _mathematical(
    name: str, in_python: tuple[TensorType, ...] = (), function: ArrayFunction | None = None
) -> Registration:
    """An operator with compiled kernels for all types but those that a NumPy function serves."""

    def suffix(operands: Operands) -> str | None:
        x = operands[0]
        check_type(name, x)
        return None if x.type in in_python else SUFFIXES[x.type]

    invoke = None if function is None else in_numpy(name, function)
    return registration(name, _prepared(name, suffix, 5, power_messages(name)), invoke)


def _prepare_power(context: Context, node: Node) -> Sequence[KernelCall] | None:
    """Integers of one exponent, which all share, are multiplied: what does not fit wraps around.

    Source: LiteRT tflite/kernels/internal/optimized/optimized_ops.h, BroadcastPow4D.
    """
    operands = broadcast_operands(context, node, "POW")
    x, exponent, _ = operands
    check_type("POW", x)
    shared = x.type == _I32 and exponent.size == 1 and exponent.shape != x.shape
    kernel = "pow_by_squares" if shared else "pow", SUFFIXES[x.type]
    return binary_call(context, "POW", kernel, operands, 5, messages=power_messages("POW"))


def _logical(name: str) -> Registration:
    def suffix(operands: Operands) -> str:
        if operands[0].type != TensorType.BOOL:
            raise PrepareError(f"{name}: operands must be bool, got {operands[0]!r}")
        return "bool"

    return registration(name, _prepared(name, suffix, 0.1))


def _bitwise(name: str, of_unsigned: str = "") -> Registration:
    """of_unsigned is the function of unsigned types where they have another."""

    def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
        operands = broadcast_operands(context, node, name)
        x = operands[0]
        if x.type not in INTEGER_TYPES:
            raise PrepareError(f"{name}: operands must be integers, got {x!r}")
        function = of_unsigned if of_unsigned and x.dtype.kind == "u" else name.lower()
        return binary_call(context, name, (function, BIT_SUFFIXES[x.type]), operands, 0.1)

    return registration(name, prepare)


REGISTRATIONS = (
    _arithmetic("ADD", np.add),
    _arithmetic("SUB"),
    _arithmetic("MUL", _multiply),
    _arithmetic("DIV"),
    _arithmetic("SQUARED_DIFFERENCE"),
    registration("ADD_N", _prepare_sum),
    _extremum("MAXIMUM", np.maximum),
    _extremum("MINIMUM", np.minimum),
    registration("POW", _prepare_power),
    _mathematical("FLOOR_DIV"),
    _mathematical("FLOOR_MOD"),
    _mathematical("ATAN2", (_F16, _F64), _atan2),
    _logical("LOGICAL_OR"),
    _logical("LOGICAL_AND"),
    _bitwise("BITWISE_XOR"),
    _bitwise("RIGHT_SHIFT", "right_shift_unsigned"),
)
