"""Cases of float16 and bfloat16 tensors in operators whose arithmetic is float32's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numlite.kernels.compiled.language.host import host_words
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.schema.tflite import BuiltinOperator, TensorType

from ..model_builder import ModelBuilder
from .case import EXACT, Case, Close, Differs, Quanta, Refuses, Relation
from .single_op import Kind

_SHAPE = (3, 40)
_NO_TYPE = Refuses(
    "Didn't find op|supported|supports|failed to prepare|input->type|lhs_data->type|output->quantization.type"
)
_NEAREST = Close(1e-3, 1e-6)
# XNNPACK rounds to float16 within the operator too; where the processor computes halves, all is of halves.
_OF_HALVES = "avx512_fp16" in host_words()
_IN_HALF = Close(4e-3, 1e-3 if _OF_HALVES else 2e-4)
_SUMS_OF_HALVES = Close(4e-3, 4e-3) if _OF_HALVES else None


class _Operator(NamedTuple):
    """An operator of one or two inputs and perhaps constants; its function of float32 arrays."""

    function: Callable[..., np.ndarray]
    options: TableT | None = None
    inputs: Sequence[tuple[int, ...]] = (_SHAPE,)
    constants: Sequence[np.ndarray] = ()
    positive: bool = False
    near: bool = False  # XNNPACK's result, not the same
    exact: bool = False  # its results are numbers of its inputs' type, but for overflow
    reference: bool = False  # LiteRT's reference has it


# As XNNPACK computes LOGISTIC of bfloat16.
_ROUNDS_WITHIN = Differs("XNNPACK rounds to 16 bits within the operator", 0.004)
_SUMS = ("BATCH_MATMUL",)
# What LiteRT computes of bfloat16 tensors.
_BFLOAT16_BY_LITERT = frozenset(("NEG", "FLOOR", "LOGISTIC", "TANH", "MAXIMUM", "MINIMUM"))


def _softmax(x: np.ndarray) -> np.ndarray:
    raised = np.exp(x - x.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


_PAIR = (_SHAPE, (1, 40))
_AXIS = (np.array([1], np.int32),)
_POOL = tflite.Pool2DOptionsT(
    padding=tflite.Padding.VALID, stride_w=2, stride_h=2, filter_width=2, filter_height=2
)

_OPERATORS = {
    "ABS": _Operator(np.abs, exact=True),
    "NEG": _Operator(np.negative, exact=True, reference=True),
    "EXP": _Operator(np.exp, near=True),
    "LOG": _Operator(np.log, positive=True, near=True),
    "SQRT": _Operator(np.sqrt, positive=True, near=True),
    "RSQRT": _Operator(lambda x: 1 / np.sqrt(x), positive=True, near=True),
    "SIN": _Operator(np.sin, near=True, reference=True),
    "COS": _Operator(np.cos, near=True, reference=True),
    "SQUARE": _Operator(np.square),
    "FLOOR": _Operator(np.floor, exact=True, reference=True),
    "CEIL": _Operator(np.ceil, exact=True),
    "ROUND": _Operator(np.rint, exact=True),
    "RELU": _Operator(lambda x: np.maximum(x, 0), exact=True),
    "RELU6": _Operator(lambda x: np.clip(x, 0, 6), exact=True),
    "RELU_N1_TO_1": _Operator(lambda x: np.clip(x, -1, 1), exact=True),
    "LEAKY_RELU": _Operator(lambda x: np.where(x < 0, x / 2, x), tflite.LeakyReluOptionsT(alpha=0.5)),
    "LOGISTIC": _Operator(lambda x: 1 / (1 + np.exp(-x)), near=True, reference=True),
    "TANH": _Operator(np.tanh, near=True, reference=True),
    "ELU": _Operator(lambda x: np.where(x < 0, np.expm1(x), x), near=True),
    "HARD_SWISH": _Operator(lambda x: x * np.clip(x + 3, 0, 6) / 6, near=True),
    "SOFTMAX": _Operator(_softmax, tflite.SoftmaxOptionsT(beta=1.0), near=True, reference=True),
    "SUB": _Operator(np.subtract, tflite.SubOptionsT(), _PAIR),
    "DIV": _Operator(np.divide, tflite.DivOptionsT(), _PAIR),
    "SQUARED_DIFFERENCE": _Operator(lambda a, b: np.square(a - b), None, _PAIR, near=True),
    "SUM": _Operator(lambda x, axis: x.sum(1), tflite.ReducerOptionsT(), constants=_AXIS),
    "MEAN": _Operator(lambda x, axis: x.mean(1), tflite.ReducerOptionsT(), constants=_AXIS),
    "REDUCE_MAX": _Operator(lambda x, axis: x.max(1), tflite.ReducerOptionsT(), constants=_AXIS, exact=True),
    "REDUCE_MIN": _Operator(lambda x, axis: x.min(1), tflite.ReducerOptionsT(), constants=_AXIS, exact=True),
    "AVERAGE_POOL_2D": _Operator(lambda x: x.reshape(1, 2, 2, 2, 2, 3).mean((2, 4)), _POOL, ((1, 4, 4, 3),)),
    "BATCH_MATMUL": _Operator(np.matmul, tflite.BatchMatMulOptionsT(), ((4, 16), (16, 5))),
}
# Operators that LiteRT takes no half-precision inputs of at all.
_BEYOND = {
    "MAX_POOL_2D": _Operator(
        lambda x: x.reshape(1, 2, 2, 2, 2, 3).max((2, 4)), _POOL, ((1, 4, 4, 3),), exact=True
    ),
    "LOG_SOFTMAX": _Operator(lambda x: np.log(_softmax(x))),
    "PRELU": _Operator(lambda x, slope: np.where(x < 0, x * slope, x), None, _PAIR),
    "SIGN": _Operator(np.sign, exact=True),
    "FULLY_CONNECTED": _Operator(lambda x, w: x @ w.T, tflite.FullyConnectedOptionsT(), ((4, 16), (5, 16))),
}


def _values(id: str, operator: _Operator) -> list[np.ndarray]:
    arrays = [Kind(shape).random(f"{id}{k}", 2.0) for k, shape in enumerate(operator.inputs)]
    return [np.abs(x) + np.float32(0.25) for x in arrays] if operator.positive else arrays


def _model(name: str, operator: _Operator, type_: TensorType, out: Sequence[int]) -> bytes:
    """Inputs of float32 (for bfloat16) or float16, and outputs of that type."""
    model, is_wide = ModelBuilder(), type_ != TensorType.FLOAT16
    inputs = [model.tensor(shape, np.float32 if is_wide else type_) for shape in operator.inputs]
    halves = [model.tensor(shape, type_) for shape in operator.inputs] if is_wide else inputs
    y = model.tensor(out, type_)
    if is_wide:
        for x, half in zip(inputs, halves, strict=True):
            model.op(BuiltinOperator.CAST, [x], [half], version=9)
    constants = [model.constant(value) for value in operator.constants]
    model.op(BuiltinOperator[name], [*halves, *constants], [y], operator.options)
    if not is_wide:
        return model.build(inputs, [y])
    result = model.tensor(out)
    model.op(BuiltinOperator.CAST, [y], [result], version=9)
    return model.build(inputs, [result])


def _float16_case(name: str, operator: _Operator, litert: Relation | None = None) -> Case:
    id = f"{name}-float16-rounded"
    inputs = [x.astype(np.float16) for x in _values(id, operator)]

    def oracle(*inputs: np.ndarray) -> np.ndarray:
        wide = [x.astype(np.float32) for x in inputs]
        return operator.function(*wide, *operator.constants).astype(np.float16)

    out = oracle(*inputs).shape
    reference = None if operator.reference else _NO_TYPE
    return Case(
        id,
        lambda: _model(name, operator, TensorType.FLOAT16, out),
        inputs,
        oracle,
        closeness=EXACT if operator.exact else _NEAREST,
        litert_default=litert or (_IN_HALF if operator.near else _SUMS_OF_HALVES if name in _SUMS else None),
        litert_reference=litert or reference,
    )


def bfloat16(x: np.ndarray) -> np.ndarray:
    """The nearest values of 8 significant bits, as float32."""
    mantissa, exponent = np.frexp(x.astype(np.float64))
    return np.ldexp(np.rint(mantissa * 256), exponent - 8).astype(np.float32)


def _bfloat16_case(name: str, operator: _Operator) -> Case:
    id = f"{name}-bfloat16-rounded"
    inputs = _values(id, operator)

    def oracle(*inputs: np.ndarray) -> np.ndarray:
        halves = [bfloat16(x) for x in inputs]
        return bfloat16(operator.function(*halves, *operator.constants))

    default = None if name in _BFLOAT16_BY_LITERT | {"ROUND"} else _NO_TYPE
    out = oracle(*inputs).shape
    return Case(
        id,
        lambda: _model(name, operator, TensorType.BFLOAT16, out),
        inputs,
        oracle,
        closeness=EXACT if operator.exact else Close(8e-3, 1e-6),
        litert_default=_ROUNDS_WITHIN if name == "LOGISTIC" else default,
        litert_reference=None if name in _BFLOAT16_BY_LITERT else _NO_TYPE,
    )


_PLAIN = {
    "ADD": _Operator(np.add, tflite.AddOptionsT(), _PAIR),
    "MUL": _Operator(np.multiply, tflite.MulOptionsT(), _PAIR),
}
_EXTREMA = {
    "MAXIMUM": _Operator(np.maximum, None, _PAIR, exact=True),
    "MINIMUM": _Operator(np.minimum, None, _PAIR, exact=True),
}


def _quantize_case(target: TensorType, dtype: type, litert: Relation | None) -> Case:
    """QUANTIZE of float16 to a type of its own scale, or to float32 without one."""
    x = Kind(_SHAPE).random("quantize", 2.0).astype(np.float16)
    scale = None if target == TensorType.FLOAT32 else 0.05

    def make() -> bytes:
        model = ModelBuilder()
        source, y = model.tensor(_SHAPE, TensorType.FLOAT16), model.tensor(_SHAPE, target, scale=scale)
        model.op(BuiltinOperator.QUANTIZE, [source], [y], tflite.QuantizeOptionsT())
        return model.build([source], [y])

    def oracle(x: np.ndarray) -> np.ndarray:
        if scale is None:
            return x.astype(dtype)
        return np.clip(np.rint(x.astype(np.float64) / scale), -128, 127).astype(dtype)

    id = f"QUANTIZE-float16-{np.dtype(dtype).name}"
    return Case(id, make, [x], oracle, Quanta(1) if scale else EXACT, litert, _NO_TYPE)


CASES = [
    _quantize_case(TensorType.INT8, np.int8, None),
    _quantize_case(TensorType.FLOAT32, np.float32, None),
    *(_float16_case(name, operator) for name, operator in _OPERATORS.items()),
    *(_float16_case(name, operator, _NO_TYPE) for name, operator in _BEYOND.items()),
    *(_bfloat16_case(name, operator) for name, operator in {**_OPERATORS, **_BEYOND, **_PLAIN}.items()),
    *(_bfloat16_case(name, operator) for name, operator in _EXTREMA.items()),
]
