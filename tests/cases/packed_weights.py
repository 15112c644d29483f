"""Cases of weights that are packed, sparse, or scaled by blocks."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from .case import QUANTIZED, Case, Close, Differs, Quanta

_TYPES = tflite.TensorType
_PER_BYTE = {_TYPES.INT4: 2, _TYPES.INT2: 4}


def packed(values: np.ndarray, type_: tflite.TensorType) -> bytes:
    """Small integers, the first in the lowest bits of a byte."""
    count = _PER_BYTE[type_]
    bits = 8 // count
    flat = np.zeros(-(-values.size // count) * count, np.int64)
    flat[: values.size] = values.reshape(-1)
    parts = (flat.reshape(-1, count) & ((1 << bits) - 1)) << (np.arange(count) * bits)
    return parts.sum(axis=1).astype(np.uint8).tobytes()


def fully_connected_case(
    id: str, type_: tflite.TensorType, batch: int, depth: int, units: int, *, hybrid: bool
) -> Case:
    """FULLY_CONNECTED with packed weights."""
    random = np.random.default_rng(sum(map(ord, id)))
    limit = 1 << (8 // _PER_BYTE[type_] - 1)
    w = random.integers(-limit, limit, (units, depth))
    scales = random.uniform(0.02, 0.1, units).astype(np.float32).astype(np.float64)
    if hybrid:
        x = random.standard_normal((batch, depth)).astype(np.float32)
    else:
        x = random.integers(-128, 128, (batch, depth)).astype(np.int8)
    x_scale, y_scale = float(np.float32(0.04)), float(np.float32(0.2 * depth**0.5))

    def oracle(x: np.ndarray) -> np.ndarray:
        weights = (w * scales[:, None]).T
        if hybrid:
            return (x.astype(np.float64) @ weights).astype(np.float32)
        real = (x_scale * (x.astype(np.float64) - 3)) @ weights
        return np.clip(np.rint(real / y_scale) - 4, -128, 127).astype(np.int8)

    def make() -> bytes:
        model = ModelBuilder()
        kind = {} if hybrid else {"scale": x_scale, "zero_point": 3}
        tensors = [
            model.tensor(x.shape, x.dtype, **kind),
            model.tensor(w.shape, type_, packed(w, type_), scale=list(scales), zero_point=[0] * units),
            -1,
        ]
        kind = {} if hybrid else {"scale": y_scale, "zero_point": -4}
        y = model.tensor((batch, units), x.dtype, **kind)
        model.op(tflite.BuiltinOperator.FULLY_CONNECTED, tensors, [y], tflite.FullyConnectedOptionsT(), 9)
        return model.build(tensors[:1], [y])

    return Case(
        id=id,
        make=make,
        inputs=[x],
        oracle=oracle,
        closeness=QUANTIZED if hybrid else Quanta(1),
        litert_default=Close(1e-5, 1e-5) if hybrid else None,
        litert_reference=Close(1e-5, 1e-5) if hybrid else None,
    )


def dequantize_case(id: str, type_: tflite.TensorType, size: int) -> Case:
    """DEQUANTIZE of a packed constant, added to an input."""
    random = np.random.default_rng(sum(map(ord, id)))
    limit = 1 << (8 // _PER_BYTE[type_] - 1)
    values = random.integers(-limit, limit, size)
    x = random.standard_normal(size).astype(np.float32)

    def make() -> bytes:
        model = ModelBuilder()
        constant = model.tensor((size,), type_, packed(values, type_), scale=0.25, zero_point=0)
        inputs = [model.tensor((size,)), model.tensor((size,))]
        model.op(tflite.BuiltinOperator.DEQUANTIZE, [constant], inputs[1:], tflite.DequantizeOptionsT(), 6)
        y = model.tensor((size,))
        model.op(tflite.BuiltinOperator.ADD, inputs, [y], tflite.AddOptionsT())
        return model.build(inputs[:1], [y])

    return Case(id=id, make=make, inputs=[x], oracle=lambda x: x + (values * 0.25).astype(np.float32))


def blockwise_case(id: str, batch: int, depth: int, units: int, block_size: int) -> Case:
    """FULLY_CONNECTED of float32 rows and 4-bit weights with a float16 scale for each block."""
    random = np.random.default_rng(sum(map(ord, id)))
    w = random.integers(-8, 8, (units, depth))
    x = random.standard_normal((batch, depth)).astype(np.float32)
    scales = random.uniform(0.01, 0.1, (units, depth // block_size)).astype(np.float16)

    def oracle(x: np.ndarray) -> np.ndarray:
        return (x.astype(np.float64) @ (w * np.repeat(scales, block_size, 1)).T).astype(np.float32)

    def make() -> bytes:
        model = ModelBuilder()
        tensors = [model.tensor(x.shape), model.tensor(w.shape, _TYPES.INT4, packed(w, _TYPES.INT4)), -1]
        blocks = tflite.BlockwiseQuantizationT(
            scales=model.constant(scales), zero_points=-1, block_size=block_size
        )
        weights = model.model.subgraphs[0].tensors[tensors[1]]
        weights.quantization = tflite.QuantizationParametersT(details=blocks)
        y = model.tensor((batch, units))
        model.op(tflite.BuiltinOperator.FULLY_CONNECTED, tensors, [y], tflite.FullyConnectedOptionsT(), 12)
        return model.build(tensors[:1], [y])

    return Case(
        id=id,
        make=make,
        inputs=[x],
        oracle=oracle,
        # Rows have 8 bits, and scales 8 bits of mantissa.
        closeness=Close(0.05, 0.15),
        litert_default=Close(1e-5, 1e-5),
        litert_reference=Differs("LiteRT's reference resolver reads one scale"),
    )


def widening_case(id: str, batch: int, *, shuffled: bool) -> Case:
    """FULLY_CONNECTED of uint8 to int16, whose weights may be in blocks of 4 rows by 16 columns."""
    random = np.random.default_rng(sum(map(ord, id)))
    depth, units = 32, 8
    x = random.integers(0, 256, (batch, depth)).astype(np.uint8)
    w = random.integers(0, 256, (units, depth)).astype(np.uint8)
    b = random.integers(-5000, 5000, units).astype(np.int32)
    blocks = w.reshape(units // 4, 4, depth // 16, 16).transpose(0, 2, 1, 3).reshape(w.shape) ^ 0x80

    def oracle(x: np.ndarray) -> np.ndarray:
        sums = (x.astype(np.int64) - 128) @ (w.astype(np.int64) - 128).T + b
        return np.clip(np.rint(sums / 8192 / (8 / 32768)), -32768, 32767).astype(np.int16)

    def make() -> bytes:
        model = ModelBuilder()
        stored = blocks.astype(np.uint8) if shuffled else w
        tensors = [
            model.tensor(x.shape, np.uint8, scale=1 / 128, zero_point=128),
            model.constant(stored, scale=1 / 64, zero_point=128),
            model.constant(b, scale=1 / 8192, zero_point=0),
        ]
        outputs = [model.tensor((batch, units), np.int16, scale=8 / 32768, zero_point=0)]
        if shuffled:
            outputs.append(model.tensor(x.shape, np.uint8))
        options = tflite.FullyConnectedOptionsT(weights_format=int(shuffled))
        model.op(tflite.BuiltinOperator.FULLY_CONNECTED, tensors, outputs, options, 2)
        return model.build(tensors[:1], outputs[:1])

    return Case(id=id, make=make, inputs=[x], oracle=oracle, closeness=Quanta(1))


CASES = [
    widening_case("fully-connected-u8-i16", 3, shuffled=False),
    widening_case("fully-connected-shuffled", 1, shuffled=True),
    widening_case("fully-connected-shuffled-batch-4", 4, shuffled=True),
    fully_connected_case("fully-connected-int4", _TYPES.INT4, 2, 64, 33, hybrid=False),
    fully_connected_case("fully-connected-int4-odd", _TYPES.INT4, 3, 17, 5, hybrid=False),
    fully_connected_case("fully-connected-int4-hybrid", _TYPES.INT4, 2, 64, 33, hybrid=True),
    fully_connected_case("fully-connected-int4-hybrid-odd", _TYPES.INT4, 3, 17, 5, hybrid=True),
    fully_connected_case("fully-connected-int2", _TYPES.INT2, 2, 64, 33, hybrid=False),
    fully_connected_case("fully-connected-int2-hybrid", _TYPES.INT2, 2, 64, 33, hybrid=True),
    dequantize_case("dequantize-int4", _TYPES.INT4, 7),
    dequantize_case("dequantize-int2", _TYPES.INT2, 13),
    blockwise_case("fully-connected-blockwise", 2, 64, 33, 32),
    blockwise_case("fully-connected-blockwise-one-row", 1, 256, 40, 128),
]
