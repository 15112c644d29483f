"""Random cases of operators that compute each element from those at its place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numlite.schema import tflite
from numlite.schema.objects import TableT

from .draw import Draw, Kind, Shape
from .entry import Entry, Make
from .one_op import OneOp, activation

FLOATS = ("float32", "float32", "float16")
WIDE = ("int32", "int64")
INTEGERS = ("int8!", "uint8!", "int16!", "int32", "int64", "uint16", "uint32", "uint64")
ALL = (*FLOATS, *INTEGERS, "bool", "float64", "complex64", "int8", "uint8", "int16")

Options = Callable[[Draw], TableT | None]


def _nothing(draw: Draw) -> None:
    return None


def unary(*types: str, options: Options = _nothing, values: Callable[..., np.ndarray] | None = None) -> Make:
    """Result of the operand's type, seldom of another quantization."""

    def make(draw: Draw, op: OneOp) -> None:
        kind = draw.kind(*types)
        chosen = (lambda shape: values(draw, kind, shape)) if values and draw.chance(0.8) else None
        x = op.input(draw.shape(0, 5), kind, chosen, constant=0.03)
        op.output(draw.like(kind))
        op.op([x], options(draw))

    return make


def fixed_result(*types: str, scale: float, zero: dict[str, int]) -> Make:
    """Unary, whose quantized results have a fixed scale and zero point (mostly)."""

    def make(draw: Draw, op: OneOp) -> None:
        kind = draw.kind(*types)
        x = op.input(draw.shape(0, 5), kind, constant=0.03)
        result = draw.like(kind)
        if kind.scale and not draw.chance(0.03):
            wide = 1 / 32768 if kind.type == "int16" else scale
            result = Kind(kind.type, (wide,), zero.get(kind.type, 0))
        op.output(result)
        op.op([x])

    return make


def binary(*types: str, options: Options = _nothing, result: str = "") -> Make:
    """Of two operands of one type that broadcast."""

    def make(draw: Draw, op: OneOp) -> None:
        kind = draw.kind(*types)
        shapes: list[Shape] = list(draw.broadcast(draw.shape(0, draw.pick(4, 4, 5, 6))))
        if draw.chance():
            shapes.reverse()
        kinds = [kind, draw.like(kind)]
        inputs = [op.input(shape, each) for shape, each in zip(shapes, kinds, strict=True)]
        if draw.chance(0.03):
            inputs[1] = inputs[0]
            op.told.append("of one operand")
        op.output(result or draw.like(kind))
        op.op(inputs, options(draw))

    return make


def _activated(name: str) -> Options:
    table = getattr(tflite, f"{name}OptionsT")
    return lambda draw: table(fused_activation_function=activation(draw))


def _pot(name: str) -> Options:
    table = getattr(tflite, f"{name}OptionsT")
    return lambda draw: table(fused_activation_function=activation(draw), pot_scale_int16=draw.chance())


def _add_n(draw: Draw, op: OneOp) -> None:
    kind = draw.kind("float32", "float32", "int32", "int64", "int8", "float16")
    shape = draw.shape()
    inputs = [op.input(shape, kind) for _ in range(draw.number(1, 5))]
    op.output(kind)
    op.op(inputs)


def _positive(draw: Draw, kind: Kind, shape: Shape) -> np.ndarray:
    """Mostly what has a root or a logarithm."""
    values = draw.values(kind, shape)
    if kind.scale:
        return np.maximum(values, kind.zero_point).astype(values.dtype)
    return np.abs(values) if values.dtype.kind in "fi" else values


def _power(draw: Draw, op: OneOp) -> None:
    kind = draw.kind("float32", "int32", "float16", "int64")
    first, second = draw.broadcast(draw.shape(0, 5))
    x = op.input(first, kind, (lambda shape: np.abs(draw.values(kind, shape))) if draw.chance() else None)
    y = op.input(
        second, kind, (lambda shape: np.abs(draw.values(kind, shape)) % 6) if draw.chance(0.7) else None
    )
    op.output(kind)
    op.op([x, y])


def _prelu(draw: Draw, op: OneOp) -> None:
    kind = draw.kind("float32", "float32", "int8", "uint8", "float16")
    shape = draw.shape(0, 4)
    slopes = tuple(draw.pick(1, 1, n) for n in shape)[draw.number(0, len(shape)) if draw.chance(0.7) else 0 :]
    if draw.chance(0.5):
        slopes = (*(1,) * (len(shape) - 2), *shape[-1:])
    inputs = [op.input(shape, kind, constant=0.02), op.input(slopes, draw.like(kind), constant=0.7)]
    op.output(draw.like(kind))
    op.op(inputs)


def _cast(draw: Draw, op: OneOp) -> None:
    kind, result = draw.kind(*ALL, "int4", "uint4"), draw.kind(*ALL)
    small = draw.chance(0.7)

    def values(shape: Shape) -> np.ndarray:
        made = draw.values(kind, shape)
        return np.nan_to_num(made, posinf=7, neginf=-7) % 100 if small and made.dtype.kind in "f" else made

    x = op.input(draw.shape(), kind, values, constant=0.1)
    op.output(result)
    op.op([x], tflite.CastOptionsT() if draw.chance() else None)


def _quantize(draw: Draw, op: OneOp) -> None:
    kind = draw.kind("float32", "float32", "int8", "uint8", "int16", "float16")
    shape = draw.shape(0, 5)
    result = draw.kind("int8", "uint8", "int16", "int8", "uint8")
    if draw.chance(0.25) and shape and kind.type == "float32":
        axis = draw.number(0, len(shape) - 1)
        scales = tuple(draw.quantized("int8").scale[0] for _ in range(max(1, shape[axis])))
        result = Kind(result.type, scales, 0, axis)
    x = op.input(shape, kind, constant=0.05)
    op.output(result)
    op.op([x])


def _dequantize(draw: Draw, op: OneOp) -> None:
    kind = draw.kind("int8", "uint8", "int16", "float16", "int4", "uint4", "int2")
    shape = draw.shape(0, 5)
    if kind.type in ("int4", "uint4", "int2"):
        kind = Kind(kind.type, (0.37,), draw.pick(0, 1))
    if draw.chance(0.3) and shape and kind.scale and kind.type != "int16":
        axis = draw.number(0, len(shape) - 1)
        scales = tuple(draw.quantized("int8").scale[0] for _ in range(max(1, shape[axis])))
        kind = Kind(kind.type, scales, draw.pick(0, kind.zero_point), axis)
    x = op.input(shape, kind, constant=0.3)
    op.output("float32")
    op.op([x])


def _fake_quant(draw: Draw, op: OneOp) -> None:
    x = op.input(draw.shape(), "float32")
    low, high = sorted((draw.pick(0.0, -1.0, -6.3, 0.5, 1.0), draw.pick(0.1, 1.0, 6.0, -0.5, 255.0)))
    op.output("float32")
    op.op(
        [x],
        tflite.FakeQuantOptionsT(
            min=low, max=high, num_bits=draw.pick(8, 8, 4, 2, 16, 1, 17), narrow_range=draw.chance(0.05)
        ),
    )


def _bitcast(draw: Draw, op: OneOp) -> None:
    kind, result = draw.kind(*ALL), draw.kind(*ALL)
    shape = draw.shape()
    if kind.dtype.itemsize < result.dtype.itemsize:
        shape = (*shape, result.dtype.itemsize // kind.dtype.itemsize)
    x = op.input(shape, kind)
    op.output(result)
    op.op([x])


def _select(draw: Draw, op: OneOp) -> None:
    kind = draw.kind(*ALL)
    shape = draw.shape(0, 5)
    first, second = (shape, shape) if draw.chance() else draw.broadcast(shape)
    condition = draw.pick(shape, shape[:1], (), draw.broadcast(shape)[0], draw.broadcast(shape)[1])
    inputs = [op.input(condition, "bool"), op.input(first, kind), op.input(second, kind)]
    op.output(kind)
    op.op(inputs)


def _bucketize(draw: Draw, op: OneOp) -> None:
    x = op.input(draw.shape(), draw.kind("float32", "int32", "int64", "float64"))
    op.output("int32")
    limits = np.sort(draw.random.standard_normal(draw.number(0, 6)) * 5).astype(np.float32)
    op.op([x], tflite.BucketizeOptionsT(boundaries=draw.pick(limits, np.rint(limits))))


def _complex(draw: Draw, op: OneOp) -> None:
    kind = draw.kind("complex64", "complex64", "complex128", "float32")
    x = op.input(draw.shape(), kind)
    op.output("float64" if kind.type == "complex128" else "float32")
    op.op([x])


def _leaky(draw: Draw) -> TableT:
    return tflite.LeakyReluOptionsT(alpha=draw.pick(0.0, 0.1, 0.3, 1.0, 1.7, -0.2, -1.0))


ARITHMETIC = ("float32", "float32", "int8", "uint8", "int16", "int32", "int64", "float16")
COMPARED = (*FLOATS, *WIDE, "int8", "uint8", "int16", "bool", "int8!", "int16!", "uint8!")
CURVED = ("float32", "float32", "int8", "int16", "uint8", "float16")
_UNIT = {"int8": -128, "uint8": 0}

ENTRIES = {
    "ADD": Entry(binary(*ARITHMETIC, "int16!", "complex64", options=_pot("Add"))),
    "SUB": Entry(binary(*ARITHMETIC, options=_pot("Sub"))),
    "MUL": Entry(binary(*ARITHMETIC, "complex64", "uint32", "int16!", options=_activated("Mul"))),
    "DIV": Entry(binary(*ARITHMETIC, options=_activated("Div"))),
    "MAXIMUM": Entry(binary(*ARITHMETIC, "int8!", "uint8!")),
    "MINIMUM": Entry(binary(*ARITHMETIC, "int16!")),
    "SQUARED_DIFFERENCE": Entry(binary("float32", "int32", "int8", "int64", "float16")),
    "FLOOR_DIV": Entry(binary("float32", "int32", "int8!", "int16!", "int64", "float16", "int8")),
    "FLOOR_MOD": Entry(binary("float32", "int32", "int8!", "int16!", "int64", "float16")),
    "ATAN2": Entry(binary("float32", "float64", "float16")),
    "POW": Entry(_power),
    "ADD_N": Entry(_add_n),
    "BITWISE_XOR": Entry(binary(*INTEGERS)),
    "RIGHT_SHIFT": Entry(binary(*INTEGERS)),
    "LOGICAL_AND": Entry(binary("bool")),
    "LOGICAL_OR": Entry(binary("bool")),
    "LOGICAL_NOT": Entry(unary("bool")),
    **{
        name: Entry(binary(*COMPARED, *(("string",) if "EQUAL" in name else ()), result="bool"))
        for name in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
    },
    "ABS": Entry(unary(*CURVED, "int32")),
    "NEG": Entry(unary("float32", "int32", "int64", "int8", "float16")),
    "SIGN": Entry(unary("float32", "float64", "int32", "float16")),
    "FLOOR": Entry(unary(*FLOATS)),
    "CEIL": Entry(unary(*FLOATS)),
    "ROUND": Entry(unary(*FLOATS)),
    "EXP": Entry(unary(*CURVED)),
    "LOG": Entry(unary(*CURVED, values=_positive)),
    "SIN": Entry(unary(*FLOATS)),
    "COS": Entry(unary(*FLOATS)),
    "SQRT": Entry(unary(*CURVED, values=_positive)),
    "RSQRT": Entry(unary(*CURVED, values=_positive)),
    "SQUARE": Entry(unary("float32", "float16", "int8", "int32")),
    "ELU": Entry(unary("float32", "int8", "float16", "int16")),
    "GELU": Entry(unary("float32", "int8", "uint8", "float16",
                        options=lambda draw: tflite.GeluOptionsT(approximate=draw.chance())), atol=1e-5),
    "HARD_SWISH": Entry(unary(*CURVED)),
    "LEAKY_RELU": Entry(unary(*CURVED, options=_leaky)),
    "LOGISTIC": Entry(fixed_result(*CURVED, scale=1 / 256, zero=_UNIT)),
    "TANH": Entry(fixed_result(*CURVED, scale=1 / 128, zero={"uint8": 128})),
    "RELU": Entry(unary(*CURVED), nan=True),
    "RELU6": Entry(unary(*CURVED), nan=True),
    "RELU_N1_TO_1": Entry(unary(*CURVED), nan=True),
    "RELU_0_TO_1": Entry(unary(*CURVED), nan=True),
    "PRELU": Entry(_prelu),
    "CAST": Entry(_cast),
    "QUANTIZE": Entry(_quantize),
    "DEQUANTIZE": Entry(_dequantize),
    "FAKE_QUANT": Entry(_fake_quant),
    "BITCAST": Entry(_bitcast),
    "SELECT": Entry(_select),
    "SELECT_V2": Entry(_select),
    "ZEROS_LIKE": Entry(unary(*ALL)),
    "BUCKETIZE": Entry(_bucketize),
    "REAL": Entry(_complex),
    "IMAG": Entry(_complex),
    "COMPLEX_ABS": Entry(_complex),
}  # fmt: skip
