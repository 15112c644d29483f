"""Operators of one operand: their types, and the functions and tables that serve them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from .array_function import ArrayFunction, invoke_function
from .broadcast import same_shape, unary_call
from .fused_activation import RELU, RELU6, RELU_N1_TO_1, float_activation_range
from .lookup import TABLE_TYPES, at_least_call, lookup_call
from .operator_facts import SUFFIXES
from .operators import check_type, registration
from .requantize import quantization_of
from .unary_tables import (
    Table,
    Unary,
    abs_table,
    gelu_table,
    hard_swish_table,
    leaky_relu_table,
    log_table,
    logistic_table,
    neg_table,
    relu_table,
    rsqrt_table,
    sqrt_table,
    table_of,
    tanh_table,
)

_MAX_BITS = 16

# Parameters of a function that stand in the node's options, by field of the block.
Parameters = Callable[[Node], Mapping[str, float]]


def _no_parameters(node: Node) -> Mapping[str, float]:
    return {}


def _operator(
    name: str,
    element_ns: float = 0.2,
    *,
    table: Table | None = None,
    not_negative: bool = False,
    function: str | Callable[[Node], str] = "",
    parameters: Parameters = _no_parameters,
    in_python: tuple[TensorType, ArrayFunction] | None = None,
) -> Registration:
    """An operator: a table serves its types of 8 and 16 bits, its function's kernels the others.

    With not_negative, quantized values below the zero point fail. function is the operator's own where
    none is named. in_python is a type that a NumPy function serves.
    """

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        x, y = same_shape(context, node, name)
        check_type(name, x)
        if table is not None and x.type in TABLE_TYPES:
            results = table(Unary(name, x, y, node.options, context.numerics))
            checks = _not_negative(context, name, x) if not_negative else []
            return [*checks, *lookup_call(context, x, y, results)]
        if in_python is not None and x.type == in_python[0]:
            return None
        own = function(node) if callable(function) else function or name.lower()
        return unary_call(context, own, SUFFIXES[x.type], x, y, element_ns, **parameters(node))

    if in_python is None:
        return registration(name, prepare)
    compute = in_python[1]
    return registration(name, prepare, lambda context, node: invoke_function(name, compute, context, node))


def _not_negative(context: Context, name: str, x: Tensor) -> list[KernelCall]:
    zero_point = quantization_of(name, x).zero_point
    message = f"{name}: values must not be negative, got one below the zero point {zero_point}"
    return at_least_call(context, x, zero_point, message)


def _relu(name: str, fused: int | None) -> Registration:
    """A clamp; fused is the like fused activation, None for RELU_0_TO_1."""
    low, high = (0.0, 1.0) if fused is None else float_activation_range(name, fused)
    limits = {"low": low, "high": high}
    return _operator(name, 0.1, table=relu_table(fused), function="clamp", parameters=lambda _: limits)


def _grid(node: Node) -> Mapping[str, float]:
    """FAKE_QUANT's parameters. Source: LiteRT tflite/kernels/internal/quantization_util.cc,
    NudgeQuantizationRange.
    """
    options = node.options
    if (
        options is None
        or not 1 <= options.num_bits <= _MAX_BITS
        or not -np.inf < options.min < options.max < np.inf
    ):
        given = options and (options.min, options.max, options.num_bits)
        raise PrepareError(
            f"FAKE_QUANT: min must be under max, both finite, and num_bits in [1, {_MAX_BITS}], got {given}"
        )
    low_level, high_level = int(bool(options.narrow_range)), (1 << options.num_bits) - 1
    low, high = np.float32(options.min), np.float32(options.max)
    scale = (high - low) / np.float32(high_level - low_level)
    real_zero = np.float32(low_level) - low / scale
    zero = np.float32(min(max(math.floor(real_zero + 0.5), low_level), high_level))
    values = {
        "low": (np.float32(low_level) - zero) * scale,
        "high": (np.float32(high_level) - zero) * scale,
        "scale": scale,
        "inverse_scale": np.float32(1) / scale,
    }
    return {name: float(value) for name, value in values.items()}


def _alpha(node: Node) -> Mapping[str, float]:
    return {"alpha": 0.0 if node.options is None else node.options.alpha}


def _gelu(node: Node) -> str:
    return "gelu_approximate" if node.options is not None and node.options.approximate else "gelu"


def _prepare_not(context: Context, node: Node) -> Sequence[KernelCall]:
    x, y = same_shape(context, node, "LOGICAL_NOT")
    if x.type != TensorType.BOOL:
        raise PrepareError(f"LOGICAL_NOT: operand must be bool, got {x!r}")
    return unary_call(context, "logical_not", "bool", x, y, 0.1)


_ELU = table_of(lambda x: np.where(x < 0, np.expm1(x), x), half_even=True)

REGISTRATIONS = (
    _operator("SIN", 5),
    _operator("COS", 5),
    _operator("EXP", table=table_of(np.exp)),
    _operator("LOG", 3, table=log_table),
    _operator("SQRT", table=sqrt_table, not_negative=True),
    _operator("RSQRT", table=rsqrt_table, not_negative=True),
    _operator("SQUARE"),
    _operator("NEG", table=neg_table),
    _operator("ABS", table=abs_table),
    _operator("FLOOR"),
    _operator("CEIL"),
    _operator("ROUND"),
    _operator("SIGN", 0.1, in_python=(TensorType.FLOAT64, np.sign)),
    _operator("GELU", 1, table=gelu_table, function=_gelu),
    _operator("FAKE_QUANT", 0.3, parameters=_grid),
    _operator("LOGISTIC", 0.5, table=logistic_table),
    _operator("TANH", 0.5, table=tanh_table),
    _operator("ELU", 0.5, table=_ELU),
    _operator("LEAKY_RELU", 0.1, table=leaky_relu_table, parameters=_alpha),
    _operator("HARD_SWISH", 0.1, table=hard_swish_table),
    _relu("RELU", RELU),
    _relu("RELU6", RELU6),
    _relu("RELU_N1_TO_1", RELU_N1_TO_1),
    _relu("RELU_0_TO_1", None),
    registration("LOGICAL_NOT", _prepare_not),
)
