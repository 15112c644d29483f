"""Models of operators on single elements, at sizes common in networks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numlite.schema import tflite
from operator_model import (
    FLOAT,
    INT8,
    LARGE,
    MAP,
    QUANTIZED,
    UINT8,
    Operand,
    OperatorModel,
    Result,
    constant,
    floats,
    indices,
    integers,
    model_of,
    positive,
    quantized,
    scalar,
)


def unary() -> Iterator[OperatorModel]:
    """Functions of each element."""
    for name in ("SIN", "COS", "EXP", "TANH", "LOGISTIC", "NEG", "ABS", "FLOOR", "CEIL", "ROUND", "SQUARE"):
        yield model_of(name, [floats(*MAP)], FLOAT)
    for name in ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "HARD_SWISH", "ELU", "SIGN"):
        yield model_of(name, [floats(*MAP)], FLOAT)
    for name in ("LOG", "SQRT", "RSQRT"):
        yield model_of(name, [positive(*MAP)], FLOAT)
    yield model_of("TANH small", [floats(1, 256)], FLOAT)
    yield model_of("SIN small", [floats(1, 256)], FLOAT)
    yield model_of("LEAKY_RELU", [floats(*MAP)], FLOAT, tflite.LeakyReluOptionsT(alpha=0.1))
    for approximate in (False, True):
        options = tflite.GeluOptionsT(approximate=approximate)
        yield model_of(f"GELU approximate={approximate}", [floats(*MAP)], FLOAT, options, 2)
    yield model_of(
        "FAKE_QUANT", [floats(*MAP)], FLOAT, tflite.FakeQuantOptionsT(min=-1.0, max=1.0, num_bits=8), 2
    )
    yield model_of("NEG", [integers(np.int32, -99, 99, *MAP)], Result(np.int32))
    yield model_of("ABS", [integers(np.int32, -99, 99, *MAP)], Result(np.int32), version=5)
    yield model_of("LOGICAL_NOT", [integers(np.bool_, 0, 1, *MAP)], Result(np.bool_))
    for dtype in (np.int8, np.uint8, np.int16):
        x = quantized(dtype, *LARGE)
        logistic = {np.int8: (1 / 256, -128), np.uint8: (1 / 256, 0), np.int16: (1 / 32768, 0)}[dtype]
        tanh = {np.int8: (1 / 128, 0), np.uint8: (1 / 128, 128), np.int16: (1 / 32768, 0)}[dtype]
        yield model_of("LOGISTIC", [x], Result(dtype, *logistic), version=3)
        yield model_of("TANH", [x], Result(dtype, *tanh), version=3)
        yield model_of("LEAKY_RELU", [x], QUANTIZED[dtype], tflite.LeakyReluOptionsT(alpha=0.1), 2)
        yield model_of("DEQUANTIZE", [x], FLOAT, version=3)
    for dtype in (np.int8, np.uint8):
        x = quantized(dtype, *LARGE)
        for name in ("RELU", "RELU6", "ELU", "HARD_SWISH"):
            if name != "ELU" or dtype is np.int8:
                yield model_of(name, [x], QUANTIZED[dtype], version=2 if name.startswith("RELU") else 1)
    positive_i8 = Operand(integers(np.int8, 3, 127, *LARGE).value, 0.05, 3)
    for name in ("EXP", "LOG", "SQRT", "RSQRT", "ABS", "NEG", "GELU"):
        options = tflite.GeluOptionsT() if name == "GELU" else None
        version = {"ABS": 5, "NEG": 1}.get(name, 2)
        yield model_of(name, [positive_i8], INT8, options, version)


def conversions() -> Iterator[OperatorModel]:
    """Casts and requantization."""
    for dtype in (np.int8, np.uint8, np.int16):
        yield model_of(f"QUANTIZE {np.dtype(dtype).name}", [floats(*LARGE)], QUANTIZED[dtype], version=2)
    yield model_of("QUANTIZE int8", [quantized(np.int8, *LARGE)], INT8, version=2)
    yield model_of("QUANTIZE uint8", [quantized(np.int8, *LARGE)], UINT8, version=2)
    pairs = (
        (np.float32, np.int32),
        (np.float32, np.uint8),
        (np.float32, np.int8),
        (np.float32, np.bool_),
        (np.float32, np.float16),
        (np.float32, np.int64),
        (np.float16, np.float32),
        (np.int32, np.float32),
        (np.int64, np.int32),
        (np.int32, np.int64),
        (np.uint8, np.float32),
        (np.int8, np.float32),
        (np.bool_, np.float32),
        (np.bool_, np.int32),
        (np.int64, np.float32),
        (np.int16, np.float32),
        (np.int16, np.int32),
        (np.uint8, np.int32),
        (np.int8, np.int32),
        (np.float32, np.float64),
    )
    for of, to in pairs:
        x = floats(*MAP) if of in (np.float32, np.float16) else integers(np.int64, 0, 1, *MAP)
        if to in (np.uint8, np.int8, np.bool_):
            x = positive(*MAP)
        yield model_of(f"CAST {np.dtype(to).name}", [Operand(x.value.astype(of))], Result(to), version=5)
    yield model_of("BITCAST", [floats(*MAP)], Result(np.int32))


_FUSED = {
    "ADD": tflite.AddOptionsT,
    "SUB": tflite.SubOptionsT,
    "MUL": tflite.MulOptionsT,
    "DIV": tflite.DivOptionsT,
}


def binary() -> Iterator[OperatorModel]:
    """Functions of two broadcast operands."""
    for name, options in _FUSED.items():
        for text, other in (("", MAP), ("channel", (96,)), ("scalar", ()), ("pixel", (1, 28, 28, 1))):
            operands = [floats(*MAP), positive(*other)]
            yield model_of(f"{name} {text}", operands, FLOAT, options())
        whole = [integers(np.int32, 1, 99, *MAP), integers(np.int32, 1, 99, *MAP)]
        yield model_of(name, whole, Result(np.int32), options())
        if name != "DIV":
            wide = [Operand(o.value.astype(np.int64)) for o in whole]
            yield model_of(name, wide, Result(np.int64), options())
    yield model_of("ADD small", [floats(1, 256), floats(1, 256)], FLOAT, tflite.AddOptionsT())
    for name in ("ADD", "SUB", "MUL"):
        for dtype in (np.int8, np.uint8):
            version = {"ADD": 2, "SUB": 3, "MUL": 2}[name]
            options = _FUSED[name]()
            for text, other in (("", LARGE), ("channel", (72,)), ("pixel", (1, 56, 56, 1))):
                operands = [quantized(dtype, *s) for s in (LARGE, other)]
                yield model_of(f"{name} {text}", operands, QUANTIZED[dtype], options, version)
    divisor = replace(integers(np.uint8, 1, 255, *LARGE), scale=0.05)
    yield model_of("DIV", [quantized(np.uint8, *LARGE), divisor], UINT8, tflite.DivOptionsT())
    for name in ("MAXIMUM", "MINIMUM"):
        yield model_of(name, [floats(*MAP), floats(*MAP)], FLOAT, tflite.MaximumMinimumOptionsT())
        yield model_of(f"{name} scalar", [floats(*MAP), floats()], FLOAT, tflite.MaximumMinimumOptionsT())
        for dtype in (np.int8, np.int32):
            q = {"scale": 0.05} if dtype is np.int8 else {}
            operands = [replace(integers(dtype, -99, 99, *LARGE), **q) for _ in range(2)]
            result = Result(dtype, **q)
            yield model_of(name, operands, result, tflite.MaximumMinimumOptionsT(), 2)
    yield model_of("SQUARED_DIFFERENCE", [floats(*MAP), floats(*MAP)], FLOAT)
    yield model_of("SQUARED_DIFFERENCE", [quantized(np.int8, *LARGE)] * 2, INT8, version=2)
    yield model_of("POW", [positive(*MAP), floats(*MAP)], FLOAT)
    yield model_of("POW scalar", [positive(*MAP), constant(Operand(np.array(2.5, np.float32)))], FLOAT)
    yield model_of("POW square", [positive(*MAP), constant(Operand(np.array(2, np.float32)))], FLOAT)
    yield model_of("POW", [integers(np.int32, 1, 9, *MAP), integers(np.int32, 0, 4, *MAP)], Result(np.int32))
    yield model_of("ATAN2", [floats(*MAP), floats(*MAP)], FLOAT)
    for name in ("FLOOR_DIV", "FLOOR_MOD"):
        yield model_of(name, [floats(*MAP), positive(*MAP)], FLOAT, version=2)
        operands = [integers(np.int32, -99, 99, *MAP), integers(np.int32, 1, 9, *MAP)]
        yield model_of(name, operands, Result(np.int32), version=2)
        wide = [Operand(o.value.astype(np.int64)) for o in operands]
        if name == "FLOOR_MOD":
            yield model_of(name, wide, Result(np.int64), version=2)
    for name in ("EQUAL", "NOT_EQUAL", "LESS", "GREATER_EQUAL"):
        for dtype in (np.float32, np.int32, np.int64, np.int8):
            q = {"scale": 0.05} if dtype is np.int8 else {}
            operands = [replace(integers(dtype, -9, 9, *MAP), **q) for _ in range(2)]
            yield model_of(name, operands, Result(np.bool_), version=2)
    yield model_of("GREATER scalar", [floats(*MAP), floats()], Result(np.bool_))
    for name in ("LOGICAL_AND", "LOGICAL_OR"):
        yield model_of(name, [integers(np.bool_, 0, 1, *MAP)] * 2, Result(np.bool_))
    for dtype in (np.int8, np.int32):
        operands = [integers(dtype, 0, 99, *MAP), integers(dtype, 0, 7, *MAP)]
        yield model_of("BITWISE_XOR", operands, Result(dtype), tflite.BitwiseXorOptionsT())
        yield model_of("RIGHT_SHIFT", operands, Result(dtype), tflite.RightShiftOptionsT())
    yield model_of("ADD_N", [floats(*MAP) for _ in range(3)], FLOAT)
    yield model_of("PRELU", [floats(*MAP), constant(floats(96))], FLOAT)
    yield model_of("PRELU", [quantized(np.int8, *LARGE), constant(quantized(np.int8, 1, 1, 72))], INT8)
    condition = integers(np.bool_, 0, 1, *MAP)
    yield model_of("SELECT", [condition, floats(*MAP), floats(*MAP)], FLOAT)
    yield model_of("SELECT_V2", [condition, floats(*MAP), floats(*MAP)], FLOAT)
    yield model_of("SELECT_V2 scalar", [condition, floats(*MAP), floats()], FLOAT)
    bytes_ = [integers(np.int8, -99, 99, *MAP) for _ in range(2)]
    yield model_of("SELECT_V2 int8", [condition, *bytes_], Result(np.int8))


def stablehlo() -> Iterator[OperatorModel]:
    """StableHLO's operators that LiteRT runs."""
    for name in ("ADD", "MULTIPLY", "MAXIMUM", "MINIMUM"):
        for dtype in (np.float32, np.int8, np.uint8, np.int16, np.int32, np.int64, np.float16, np.float64):
            yield model_of(f"STABLEHLO_{name}", [integers(dtype, 0, 9, *MAP)] * 2, Result(dtype))
    yield model_of("STABLEHLO_AND", [integers(np.bool_, 0, 1, *MAP)] * 2, Result(np.bool_))
    yield model_of("STABLEHLO_AND", [integers(np.int32, 0, 9, *MAP)] * 2, Result(np.int32))
    options = tflite.StablehloShiftLeftOptionsT()
    yield model_of("STABLEHLO_SHIFT_LEFT", [integers(np.int32, 0, 9, *MAP)] * 2, Result(np.int32), options)
    pad = tflite.StablehloPadOptionsT(
        edge_padding_low=[0, 1, 1, 0], edge_padding_high=[0, 1, 1, 0], interior_padding=[0, 0, 0, 0]
    )
    yield model_of("STABLEHLO_PAD", [floats(*MAP), scalar(0, np.float32)], FLOAT, pad)
    spread = tflite.StablehloPadOptionsT(
        edge_padding_low=[0, 1, 1, 0], edge_padding_high=[0, 1, 1, 0], interior_padding=[0, 1, 1, 0]
    )
    yield model_of("STABLEHLO_PAD interior", [floats(*MAP), scalar(0, np.float32)], FLOAT, spread)
    gather = tflite.StablehloGatherOptionsT(
        offset_dims=[1],
        collapsed_slice_dims=[0],
        start_index_map=[0],
        index_vector_dim=1,
        slice_sizes=[1, 64],
        indices_are_sorted=False,
    )
    rows = integers(np.int32, 0, 999, 256, 1)
    yield model_of("STABLEHLO_GATHER", [floats(1000, 64), rows], FLOAT, gather)
    dilate = [floats(56, 56), indices(2, 2), scalar(0, np.float32)]
    yield model_of("DILATE", dilate, FLOAT)
