"""map, what devices do together, numbers of 64 bits, complex inputs: what is taken, and what refused."""

from __future__ import annotations

from pathlib import Path

import numlite
import numpy as np
import pytest
from numlite.converter import Converter, run_graph
from numlite.interpreter import Interpreter
from numlite.lite.errors import ModelError, UnsupportedError

from ..graphs import run_litert, run_numlite

HEAD = "func.func @main(%x: tensor<2x3xf32>, %k: tensor<4xui32>, %u: tensor<f32>) -> tensor<2x3xf32> {"
END = "return %y : tensor<2x3xf32>}"
TYPES = "(tensor<2x3xf32>) -> tensor<2x3xf32>"
SUM = """({^bb0(%p: tensor<f32>, %q: tensor<f32>):
  %s = stablehlo.add %p, %q : tensor<f32>
  stablehlo.return %s : tensor<f32>})"""


def convert(body: str) -> bytes:
    return Converter.from_stablehlo(f"{HEAD}\n{body}\n{END}").convert()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            f'%y = "stablehlo.all_reduce"(%x) {SUM} '
            f"{{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : {TYPES}",
            "all_reduce .* a group of 2 devices; export the program for one device",
        ),
        (
            '%g = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64} '
            ": (tensor<2x3xf32>) -> tensor<4x3xf32>\n"
            "%y = stablehlo.slice %g [0:2, 0:3] : (tensor<4x3xf32>) -> tensor<2x3xf32>",
            "all_gather .* a result of another shape than the operand",
        ),
        (
            '%y = "stablehlo.collective_permute"(%x) '
            f"{{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}} : {TYPES}",
            r"values that go from device to device, \[\[0, 1\]\]",
        ),
        (
            f'%y = "stablehlo.map"(%x) ({{^bb0(%p: tensor<f32>):\n%s = stablehlo.add %p, %u : tensor<f32>\n'
            f"stablehlo.return %s : tensor<f32>}}) {{dimensions = array<i64: 0, 1>}} : {TYPES}",
            "map .* uses values from around it",
        ),
        (
            f'%y = "stablehlo.map"(%x) ({{^bb0(%p: tensor<f32>):\n'
            "%s = stablehlo.custom_call @f(%p) : (tensor<f32>) -> tensor<f32>\n"
            f"stablehlo.return %s : tensor<f32>}}) {{dimensions = array<i64: 0, 1>}} : {TYPES}",
            "map .* a computation with custom_call",
        ),
        (
            "%r = stablehlo.reshape %k : (tensor<4xui32>) -> tensor<2x2xui32>\n"
            "%w = stablehlo.bitcast_convert %r : (tensor<2x2xui32>) -> tensor<2xui64>\n"
            "%v = stablehlo.add %w, %w : tensor<2xui64>\n%y = stablehlo.abs %x : tensor<2x3xf32>",
            "add .* values of type ui64 have no operators",
        ),
        (
            "%r = stablehlo.reshape %k : (tensor<4xui32>) -> tensor<2x2xui32>\n"
            "%w = stablehlo.bitcast_convert %r : (tensor<2x2xui32>) -> tensor<2xui64>\n"
            "%v, %b = stablehlo.rng_bit_generator %w, algorithm = PHILOX "
            ": (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui64>)\n%y = stablehlo.abs %x : tensor<2x3xf32>",
            "bits of type 3xui64: at most 32",
        ),
    ],
)
def test_what_is_refused(body: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        convert(body)


def test_a_map_of_a_constant_fills_the_shape() -> None:
    body = (
        '%y = "stablehlo.map"(%x) ({^bb0(%p: tensor<f32>):\n'
        "%s = stablehlo.constant dense<7.0> : tensor<f32>\n"
        f"stablehlo.return %s : tensor<f32>}}) {{dimensions = array<i64: 0, 1>}} : {TYPES}"
    )
    runner = Interpreter(model_content=convert(body)).get_signature_runner()
    x, k = np.zeros((2, 3), np.float32), np.zeros(4, np.uint32)
    [found] = runner(x=x, k=k, u=np.float32(0)).values()
    np.testing.assert_array_equal(found, np.full((2, 3), 7, np.float32))


def test_a_state_of_another_size() -> None:
    body = (
        "%c = stablehlo.constant dense<[1, 2, 3]> : tensor<3xui64>\n"
        "%v, %b = stablehlo.rng_bit_generator %c, algorithm = PHILOX : (tensor<3xui64>) -> "
        "(tensor<3xui64>, tensor<3xui32>)\n%y = stablehlo.abs %x : tensor<2x3xf32>"
    )
    with pytest.raises(UnsupportedError, match=r"a state must be 2 numbers of 64 bits, got shape \[3\]"):
        convert(body)
    with pytest.raises(ModelError, match="operand 0 must be there"):
        convert('%y = "stablehlo.rng_bit_generator"() : () -> tensor<2x3xf32>')


DRAWN = "algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui32>)"
STATE = "%c = stablehlo.constant dense<[1, 2]> : tensor<2xui64>\n"


def test_a_constant_state_in_a_branch() -> None:
    """A branch has its constants anew; they stay numbers of 64 bits."""
    draws = f"%s, %a = stablehlo.rng_bit_generator %c, {DRAWN}\n"
    converted = "%y = stablehlo.convert {} : (tensor<2x3xui32>) -> tensor<2x3xf32>"
    branch = (
        "%p = stablehlo.compare GT, %u, %u : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        f'%z = "stablehlo.if"(%p) ({{stablehlo.return %a : tensor<2x3xui32>}}, {{\n'
        f"%t, %b = stablehlo.rng_bit_generator %s, {DRAWN}\nstablehlo.return %b : tensor<2x3xui32>}}) "
        ": (tensor<i1>) -> tensor<2x3xui32>\n"
    )
    plain = f"%t, %z = stablehlo.rng_bit_generator %s, {DRAWN}\n"
    fed = {"x": np.zeros((2, 3), np.float32), "k": np.zeros(4, np.uint32), "u": np.float32(0)}
    found, wanted = (
        Interpreter(model_content=convert(STATE + draws + body + converted.format("%z")))
        .get_signature_runner()(**fed)
        .values()
        for body in (branch, plain)
    )
    np.testing.assert_array_equal(list(found), list(wanted))


def test_a_state_that_a_loop_carries_is_refused() -> None:
    body = (
        "%d:2 = stablehlo.while(%a = %u, %b = %c) : tensor<f32>, tensor<2xui64>\n"
        "cond {\n%p = stablehlo.compare LT, %a, %u : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "stablehlo.return %p : tensor<i1>}\n"
        f"do {{\n%s, %r = stablehlo.rng_bit_generator %b, {DRAWN}\n"
        "stablehlo.return %a, %s : tensor<f32>, tensor<2xui64>}\n%y = stablehlo.abs %x : tensor<2x3xf32>"
    )
    with pytest.raises(UnsupportedError, match="a state that a loop or branch is given; values of type ui64"):
        convert(STATE + body)


def test_complex_numbers_as_inputs() -> None:
    text = """func.func @main(%x: tensor<2x3xcomplex<f32>>) -> (tensor<2x3xf32>, tensor<3x3xf32>) {
      %a = stablehlo.abs %x : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
      %p = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0]
        : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
      %i = stablehlo.imag %p : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xf32>
      return %a, %i : tensor<2x3xf32>, tensor<3x3xf32>}"""
    draw = np.random.default_rng(3)
    x = (draw.normal(size=(2, 3)) + 1j * draw.normal(size=(2, 3))).astype(np.complex64)
    for fed, values in (({"x": x}, None), ({}, {"x": x})):
        converter = Converter.from_stablehlo(text, input_values=values)
        found = Interpreter(model_content=converter.convert()).get_signature_runner()(**fed)
        first, second = (found[name] for name in converter.entries[0].outputs)
        np.testing.assert_allclose(first, np.abs(x), rtol=1e-6)
        np.testing.assert_allclose(second, (x.T @ x).imag, atol=1e-6)


@pytest.mark.parametrize(
    ("given", "shape", "wanted", "result"),
    [
        (np.float32, (2, 3), np.uint8, (2, 3, 4)),
        (np.float32, (3,), np.int16, (3, 2)),
        (np.float16, (3,), np.uint16, (3,)),
        (np.float16, (3,), np.int8, (3, 2)),
        (np.uint8, (3, 4), np.float32, (3,)),
        (np.int16, (5,), np.float16, (5,)),
        (np.int32, (2, 2), np.int64, (2,)),
    ],
)
@pytest.mark.parametrize("runtime", ["graph", "numlite", "litert"])
def test_bitcasts(
    given: type, shape: tuple, wanted: type, result: tuple, runtime: str, tmp_path: Path
) -> None:
    names = {np.float32: "f32", np.float16: "f16", np.uint8: "ui8", np.int8: "i8", np.int16: "i16"}
    names |= {np.uint16: "ui16", np.int32: "i32", np.int64: "i64"}
    types = ["x".join([*map(str, sizes), names[of]]) for sizes, of in ((shape, given), (result, wanted))]
    text = (
        f"func.func @main(%x: tensor<{types[0]}>) -> tensor<{types[1]}> {{\n"
        f"%y = stablehlo.bitcast_convert %x : (tensor<{types[0]}>) -> tensor<{types[1]}>\n"
        f"return %y : tensor<{types[1]}>\n}}"
    )
    draw = np.random.default_rng(1)
    x = (draw.normal(size=shape) if np.dtype(given).kind == "f" else draw.integers(1, 60, shape)).astype(
        given
    )
    converter = Converter.from_stablehlo(text)
    [output] = converter.entries[0].outputs
    if runtime == "graph":
        (tmp_path / "program").write_text(text)
        [found] = run_graph(tmp_path / "program", {"x": x}, [output])
    else:
        made = pytest.importorskip("ai_edge_litert.interpreter") if runtime == "litert" else numlite
        found = made.Interpreter(model_content=converter.convert()).get_signature_runner()(x=x)[output]
    assert found.dtype == wanted
    np.testing.assert_array_equal(found, x.view(wanted).reshape(result))


def test_a_bitcast_of_truth_is_refused() -> None:
    text = (
        "func.func @main(%x: tensor<8xi1>) -> tensor<i8> {\n"
        "%y = stablehlo.bitcast_convert %x : (tensor<8xi1>) -> tensor<i8>\nreturn %y : tensor<i8>\n}"
    )
    with pytest.raises(UnsupportedError, match="a bitcast of 8xi1 to i8"):
        Converter.from_stablehlo(text)


def test_open_sizes_that_must_be_told() -> None:
    """The message says what helps, and it does."""
    text = """func.func @main(%x: tensor<1x?x1xf32>, %w: tensor<3x1x1xf32>) -> tensor<1x?x1xf32> {
      %n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<1x?x1xf32>) -> tensor<i32>
      %r = stablehlo.reshape %n : (tensor<i32>) -> tensor<1x1xi32>
      %one = stablehlo.constant dense<1> : tensor<1x1xi32>
      %s = stablehlo.subtract %r, %r : tensor<1x1xi32>
      %low = stablehlo.add %s, %one : tensor<1x1xi32>
      %p = stablehlo.concatenate %low, %one, dim = 1 : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x2xi32>
      %y = "stablehlo.dynamic_conv"(%x, %w, %p) {batch_group_count = 1 : i64, feature_group_count = 1 : i64,
        dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}
        : (tensor<1x?x1xf32>, tensor<3x1x1xf32>, tensor<1x2xi32>) -> tensor<1x?x1xf32>
      return %y : tensor<1x?x1xf32>
    }"""
    with pytest.raises(UnsupportedError, match="padding must be constant; give input_shapes"):
        Converter.from_stablehlo(text)
    model = Converter.from_stablehlo(text, input_shapes={"x": [1, 4, 1]}).convert()
    x, w = np.float32([1, 2, 3, 4]).reshape(1, 4, 1), np.float32([1, 1, 1]).reshape(3, 1, 1)
    [found] = Interpreter(model_content=model).get_signature_runner()(x=x, w=w).values()
    np.testing.assert_allclose(found.reshape(-1), [3, 6, 9, 7])


NAN_EXTREMES = """func.func @main(%x: tensor<2x3xf32>)
  -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
%c = stablehlo.constant dense<1.0> : tensor<2x3xf32>
%l = stablehlo.constant dense<-1.0> : tensor<f32>
%h = stablehlo.constant dense<2.0> : tensor<f32>
%a = stablehlo.maximum %x, %c : tensor<2x3xf32>
%b = stablehlo.minimum %c, %x : tensor<2x3xf32>
%y = stablehlo.clamp %l, %x, %h : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
return %a, %b, %y : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>}"""


def test_what_is_no_number_stays_one_beside_constants() -> None:
    content = Converter.from_stablehlo(NAN_EXTREMES).convert()
    x = np.array([[np.nan, -3, 3], [0, np.inf, -np.inf]], np.float32)
    wanted = np.maximum(x, 1), np.minimum(x, 1), np.clip(x, -1, 2)
    for run in (run_numlite, run_litert):
        for found, y in zip(run(content, x), wanted, strict=True):
            np.testing.assert_array_equal(found, y)
