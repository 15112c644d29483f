"""Quantized types: integers of a scale and a zero point, in texts and in bytecode, and operators on them."""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numlite.converter import Converter, run_graph
from numlite.converter.stablehlo.bytecode import read_bytecode
from numlite.converter.stablehlo.program import Program
from numlite.converter.stablehlo.quantized_type import quantized_of_text
from numlite.converter.stablehlo.text.module import read_text
from numlite.interpreter import Interpreter
from numlite.lite.errors import ModelError, UnsupportedError

X = "2x3x!quant.uniform<i8:f32, 0.1:3>"
W = "3x4x!quant.uniform<i8<-127:127>:f32:1, {0.01,0.02,0.03,0.015}>"
S = "2x4x!quant.uniform<i32:f32:1, {0.001,0.002,0.003,0.0015}>"
B = "4x!quant.uniform<i32:f32:0, {0.001,0.002,0.003,0.0015}>"
Y = "2x4x!quant.uniform<i8:f32, 0.02:-2>"
DENSE = f"""module {{
func.func @main(%x: tensor<2x3xf32>, %i: tensor<{X}>) -> (tensor<2x3xf32>, tensor<{X}>, tensor<{Y}>) {{
  %q = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> tensor<{X}>
  %r = stablehlo.add %q, %i : tensor<{X}>
  %w = stablehlo.constant() {{value = dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, -10, -11, 12]]>
    : tensor<3x4xi8>}} : () -> tensor<{W}>
  %b = stablehlo.constant() {{value = dense<[100, -100, 50, 20]> : tensor<4xi32>}} : () -> tensor<{B}>
  %d = stablehlo.dot_general %r, %w, contracting_dims = [1] x [0] : (tensor<{X}>, tensor<{W}>) -> tensor<{S}>
  %a = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<{B}>) -> tensor<{S}>
  %e = stablehlo.add %d, %a : tensor<{S}>
  %f = stablehlo.uniform_quantize %e : (tensor<{S}>) -> tensor<{Y}>
  %y = stablehlo.uniform_dequantize %r : (tensor<{X}>) -> tensor<2x3xf32>
  return %y, %r, %f : tensor<2x3xf32>, tensor<{X}>, tensor<{Y}>
}} }}
"""
# The same, as stablehlo.serialize_portable_artifact_str of jaxlib 0.10.2 writes it.
ARTIFACT = (
    "eNqdkkFrE0EUx2f6Mjtdx2UZ1jAsYRnCkqZLaGtapQcJQoUitKXFXoWw7W5rINm06SaIh+Yj+AH0IEg/gEdvIl48qSD4ATwUT3qw"
    "QQStb2wievXB7703b97/Mbu8jfXPd5ztPN5pp7fXN5uD+nx9ef4qoSGjzKMgQLqeKumwWoPD5RrVwvvHwBfCXRBoNze9BahxpbjB"
    "C9fW1BvlnXqn3JuasZhSFEBRZgiRDUW5VNRGBOIiEvGQIqIQHynxsApUR1RLScmFKRp6gR+UdODTKSgwi0/bo7PLOiwnePv4/Px8"
    "EeMVBFi1isKxjtgRs52icVSVMMiKcSqIgLmSMeAMnDpwSq4tGTsaOj/hO/yujGbvPnx5NjvkphIxR5YaWIYRnuzx5fTwTxc5aFz6"
    "8PSgMUmCoU3RjI5HIMsNwPMXfKh+a5xNvm1/PHn06snxOHlxTL7+eH//08y7SfLs+GICSNuI4X/EtyKgbuE1o1tAeeE5UGZv4UcX"
    "TkDVmODcJmAJAKxbDoD5HysuA5+vSA5arHo2CMZtZ7UocC0EsxQ6xwXLBwe3xCoBKmQh4EXuWTiEksFUgC3FuUhL341cIXf6rXbe"
    "ysjgXrtLOt2k305JP2vtdXud5mE/zvLWgxRXkMRJYsJuNzvKsWryvX62a2LSzZv7aZb24nZzsEh2et042Y2P8mYrayatjmmZTEzS"
    "v2f20rzfy0w2RzoxPoJM33AYpaIclWtzsAB1X+tQV7ReCvV1DZVfiwu6LA=="
)
INTEGERS = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [9, -10, -11, 12]])
SCALES = np.array([0.01, 0.02, 0.03, 0.015])


def steps(x: np.ndarray, scale: float, zero: int, low: int = -128, high: int = 127) -> np.ndarray:
    """The integers of numbers."""
    return np.clip(np.rint(np.asarray(x, np.float64) / scale) + zero, low, high)


def both_ways(text: str, arguments: list[np.ndarray], folder: Path) -> tuple[list[list[np.ndarray]], Counter]:
    """The results as a graph, in numlite and in LiteRT, and how many operators there are of each code."""
    converter = Converter.from_stablehlo(text)
    entry = converter.entries[0]
    fed = dict(zip(entry.inputs, arguments, strict=True))
    (folder / "program").write_text(text)
    found = [run_graph(folder / "program", fed, list(entry.outputs))]
    conversion = converter.conversion()
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    for made in (Interpreter, litert.Interpreter):
        results = made(model_content=conversion.model).get_signature_runner()(**fed)
        found.append([results[name] for name in entry.outputs])
    codes = Counter(each.code.name for graph in conversion.lite.graphs() for each in graph)
    return found, codes


def within_one(found: np.ndarray, wanted: np.ndarray) -> None:
    """Halves go to either side."""
    assert np.abs(found.astype(np.int64) - wanted).max() <= 1, (found, wanted)


def test_a_dense_layer_becomes_one_of_integers(tmp_path: Path) -> None:
    x = np.linspace(-3, 3, 6, dtype=np.float32).reshape(2, 3)
    i = np.int8([[1, 2, 3], [-5, 60, 100]])
    added = steps((steps(x, 0.1, 3) - 3 + i - 3) * 0.1, 0.1, 3)
    real = (added - 3) * 0.1
    bias = np.array([100, -100, 50, 20]) * SCALES * 0.1
    wanted = steps(real @ (INTEGERS * SCALES) + bias, 0.02, -2)
    found, codes = both_ways(DENSE, [x, i], tmp_path)
    for y, r, f in found:
        assert (y.dtype, r.dtype, f.dtype) == (np.float32, np.int8, np.int8)
        within_one(r, added)
        np.testing.assert_allclose(y, real, atol=0.11)
        within_one(f, wanted)
    assert codes == {"QUANTIZE": 1, "ADD": 1, "DEQUANTIZE": 1, "FULLY_CONNECTED": 1}


def types_of(program: Program) -> list[tuple[str, list[str]]]:
    body = program.functions["main"].body
    return [(each.name, [str(value.type) for value in each.results]) for each in body.operations]


def test_bytecode_has_the_same_types() -> None:
    bytecode = read_bytecode(zlib.decompress(base64.b64decode(ARTIFACT)))
    assert types_of(bytecode) == types_of(read_text(DENSE))
    grids = [each.type for each in bytecode.functions["main"].body.arguments]
    assert grids == [each.type for each in read_text(DENSE).functions["main"].body.arguments]
    assert Converter.from_stablehlo(zlib.decompress(base64.b64decode(ARTIFACT))).convert()


N = "1x6x6x2x!quant.uniform<i8:f32, 0.05:-4>"
K = "3x3x2x4x!quant.uniform<i8<-127:127>:f32:3, {0.01,0.02,0.03,0.015}>"
C = "1x6x6x4x!quant.uniform<i32:f32:3, {0.0005,0.001,0.0015,0.00075}>"
R = "1x6x6x4x!quant.uniform<i8:f32, 0.04:-128>"
P = "1x3x3x4x!quant.uniform<i8:f32, 0.04:-128>"
F = "1x36x!quant.uniform<i8:f32, 0.04:-128>"
ONE = "!quant.uniform<i8:f32, 0.04:-128>"


def conv_text(weights: np.ndarray) -> str:
    return f"""
func.func @main(%x: tensor<1x6x6x2xf32>) -> tensor<1x36xf32> {{
  %q = stablehlo.uniform_quantize %x : (tensor<1x6x6x2xf32>) -> tensor<{N}>
  %w = stablehlo.constant() <{{value = dense<{weights.tolist()}> : tensor<3x3x2x4xi8>}}> : () -> tensor<{K}>
  %c = stablehlo.convolution(%q, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {{pad = [[1, 1], [1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
    : (tensor<{N}>, tensor<{K}>) -> tensor<{C}>
  %r = stablehlo.uniform_quantize %c : (tensor<{C}>) -> tensor<{R}>
  %least = stablehlo.constant() {{value = dense<-128> : tensor<i8>}} : () -> tensor<{ONE}>
  %p = "stablehlo.reduce_window"(%r, %least) ({{
  ^bb0(%a: tensor<{ONE}>, %b: tensor<{ONE}>):
    %m = stablehlo.maximum %a, %b : tensor<{ONE}>
    stablehlo.return %m : tensor<{ONE}>
  }}) {{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}}
    : (tensor<{R}>, tensor<{ONE}>) -> tensor<{P}>
  %f = stablehlo.reshape %p : (tensor<{P}>) -> tensor<{F}>
  %y = stablehlo.uniform_dequantize %f : (tensor<{F}>) -> tensor<1x36xf32>
  return %y : tensor<1x36xf32>
}}"""


def test_a_convolution_with_pooling_becomes_one_of_integers(tmp_path: Path) -> None:
    draw = np.random.default_rng(4)
    weights = draw.integers(-127, 128, (3, 3, 2, 4))
    x = draw.uniform(-4, 4, (1, 6, 6, 2)).astype(np.float32)
    padded = np.pad((steps(x, 0.05, -4) + 4) * 0.05, ((0, 0), (1, 1), (1, 1), (0, 0)))
    real = weights * SCALES
    sums = np.stack(
        [
            [np.einsum("hwi,hwio->o", padded[0, h : h + 3, w : w + 3], real) for w in range(6)]
            for h in range(6)
        ]
    )
    wanted = (steps(sums, 0.04, -128) + 128) * 0.04
    wanted = wanted.reshape(3, 2, 3, 2, 4).max((1, 3)).reshape(1, 36)
    found, codes = both_ways(conv_text(weights), [x], tmp_path)
    for (y,) in found:
        np.testing.assert_allclose(y, wanted, atol=0.0401)
    assert codes == {"QUANTIZE": 1, "CONV_2D": 1, "MAX_POOL_2D": 1, "RESHAPE": 1, "DEQUANTIZE": 1}


KINDS = {
    "u8": ("u8:f32, 0.05:128", 0.05, 128, 0, 255, np.uint8),
    "i16": ("i16:f32, 0.001", 0.001, 0, -32768, 32767, np.int16),
    "narrow": ("i8<-100:100>:f32, 0.05:5", 0.05, 5, -100, 100, np.int8),
    "i4": ("i4:f32, 0.5:1", 0.5, 1, -8, 7, None),
}


@pytest.mark.parametrize("name", KINDS)
def test_other_integers(name: str, tmp_path: Path) -> None:
    words, scale, zero, low, high, dtype = KINDS[name]
    type = f"tensor<2x4x!quant.uniform<{words}>>"
    text = f"""func.func @main(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>{f", {type}" if dtype else ""}) {{
      %q = stablehlo.uniform_quantize %x : (tensor<2x4xf32>) -> {type}
      %a = stablehlo.add %q, %q : {type}
      %y = stablehlo.uniform_dequantize %a : ({type}) -> tensor<2x4xf32>
      return %y{", %a" if dtype else ""} : tensor<2x4xf32>{f", {type}" if dtype else ""}
    }}"""
    x = np.float32([[-30, -2, -0.4, 0], [0.26, 1, 2, 30]])
    real = (steps(x, scale, zero, low, high) - zero) * scale
    integers = steps(real * 2, scale, zero, low, high)
    for y, *rest in both_ways(text, [x], tmp_path)[0]:
        np.testing.assert_allclose(y, (integers - zero) * scale, atol=scale * 1.01)
        for q in rest:
            assert q.dtype == dtype
            within_one(q, integers)


def test_given_integers_of_other_types(tmp_path: Path) -> None:
    type = "tensor<3x!quant.uniform<u8:f32, 0.5:100>>"
    text = (
        f"func.func @main(%x: {type}) -> tensor<3xf32> {{\n"
        f"%y = stablehlo.uniform_dequantize %x : ({type}) -> tensor<3xf32>\nreturn %y : tensor<3xf32>\n}}"
    )
    for (y,) in both_ways(text, [np.uint8([0, 100, 255])], tmp_path)[0]:
        np.testing.assert_array_equal(y, np.float32([-50, 0, 77.5]))


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ("i8:f32, 0.0", ModelError, "scales must be positive and finite"),
        ("i8:f32, 1e39", ModelError, "scales must be positive and finite"),
        ("i8:f32, 0.1:200", ModelError, "zero points must be from -128 to 127"),
        ("i8<-300:127>:f32, 0.1", ModelError, "integers must be from -128 to 127, got from -300"),
        ("i8:i32, 0.1", ModelError, "must stand for floats, got i32"),
        ("i8:f32, {0.1}", ModelError, "scales and zero points must be numbers"),
        ("i8:f32:0, 0.1", ModelError, "scales of an axis must stand between braces"),
        ("i8", ModelError, "must be storage:expressed, scale:zero"),
        ("i8:f32:{0:2}, {0.1, 0.2}", UnsupportedError, "scales of blocks"),
        ("i64:f32, 0.1", UnsupportedError, "integers of 64 bits"),
    ],
)
def test_types_that_are_wrong(words: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        quantized_of_text(words)
    with pytest.raises(error, match=f"line 1: .*{message}"):
        read_text(f"func.func @main(%x: tensor<2x!quant.uniform<{words}>>) {{\nreturn\n}}")


def test_scales_of_an_axis_are_as_many_as_it_is_long() -> None:
    with pytest.raises(ModelError, match=r"one for each index of axis 1 of \[2, 3\], got 4"):
        Converter.from_stablehlo(
            "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
            "%q = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> "
            "tensor<2x3x!quant.uniform<i8:f32:1, {0.1,0.2,0.3,0.4}>>\n"
            "%y = stablehlo.uniform_dequantize %q : "
            "(tensor<2x3x!quant.uniform<i8:f32:1, {0.1,0.2,0.3,0.4}>>) -> tensor<2x3xf32>\n"
            "return %y : tensor<2x3xf32>\n}"
        )
