"""Constants of eight and four bits, as networks quantized to such floats hold them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from numlite.converter import Converter
from numlite.lite.errors import UnsupportedError
from numlite.schema.onnx import ModelProto, TensorProto

from ...onnx_builder import model, node, tensor, value
from ..graphs import checked, run_litert, run_numlite

TYPES = {
    "FLOAT8E4M3FN": ml_dtypes.float8_e4m3fn,
    "FLOAT8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "FLOAT8E5M2": ml_dtypes.float8_e5m2,
    "FLOAT8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "FLOAT8E8M0": ml_dtypes.float8_e8m0fnu,
    "FLOAT4E2M1": ml_dtypes.float4_e2m1fn,
}


def weights(name: str, bits: np.ndarray, listed: bool) -> TensorProto:
    """w of the bits, as bytes or one by one."""
    packed = bits[0::2] | bits[1::2] << 4 if name == "FLOAT4E2M1" else bits
    made = TensorProto(name="w", dims=bits.shape, data_type=TensorProto.DataType.Value(name))
    if listed:
        made.int32_data.extend(packed.tolist())
    else:
        made.raw_data = packed.tobytes()
    return made


def scaled(name: str, bits: np.ndarray, listed: bool = False) -> ModelProto:
    """y = x + w / 2."""
    nodes = [node("DequantizeLinear", ["w", "s"], "d"), node("Add", ["x", "d"], "y")]
    made = model(nodes, [value("x", bits.shape)], [value("y", None)], {"s": np.array(0.5, np.float32)}, 25)
    made.graph.initializer.append(weights(name, bits, listed))
    return made


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("name", TYPES)
def test_all_numbers_of_a_type(name: str, listed: bool) -> None:
    bits = np.arange(16 if name == "FLOAT4E2M1" else 256, dtype=np.uint8)
    wanted = bits.view(TYPES[name]).astype(np.float32) * np.float32(0.5)
    content = checked(Converter.from_onnx(scaled(name, bits, listed)).convert())
    # Sums below float's least normal number may be 0.
    least = float(np.finfo(np.float32).tiny)
    for [y] in (run(content, np.zeros(bits.shape, np.float32)) for run in (run_numlite, run_litert)):
        np.testing.assert_allclose(y, wanted, rtol=0, atol=least)


def test_scales_of_blocks_may_be_such_floats() -> None:
    """As NVFP4 has them: numbers of four bits, their scales of eight."""
    bits = np.arange(16, dtype=np.uint8).reshape(2, 8)
    scales = np.array([[0x38, 0x40], [0x30, 0x48]], np.uint8)
    nodes = [
        node("DequantizeLinear", ["s", "one"], "wide"),
        node("DequantizeLinear", ["w", "wide"], "d", axis=1, block_size=4),
        node("Add", ["x", "d"], "y"),
    ]
    made = model(nodes, [value("x", [2, 8])], [value("y", None)], {"one": np.array(1, np.float32)}, 25)
    made.graph.initializer.append(weights("FLOAT4E2M1", bits.reshape(-1), False))
    made.graph.initializer[-1].dims[:] = [2, 8]
    held = tensor("s", scales)
    held.data_type = TensorProto.FLOAT8E4M3FN
    made.graph.initializer.append(held)
    wide = scales.view(ml_dtypes.float8_e4m3fn).astype(np.float32).repeat(4, 1)
    wanted = bits.view(ml_dtypes.float4_e2m1fn).astype(np.float32) * wide
    [y] = run_numlite(Converter.from_onnx(made).convert(), np.zeros((2, 8), np.float32))
    np.testing.assert_array_equal(y, wanted)


def test_what_is_computed_is_no_such_float() -> None:
    nodes = [
        node("Cast", ["x"], "c", to=TensorProto.FLOAT8E4M3FN),
        node("Cast", ["c"], "y", to=TensorProto.FLOAT),
    ]
    made = model(nodes, [value("x", [3])], [value("y", [3])], {}, 25)
    with pytest.raises(UnsupportedError, match=r"FLOAT8E4M3FN has no type .*only constants have it"):
        Converter.from_onnx(made)
