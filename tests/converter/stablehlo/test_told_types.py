"""Each operation's results must have the types that a program tells of them."""

from __future__ import annotations

import pytest
from numlite.converter import Converter
from numlite.lite.errors import ModelError

HEAD = "func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %i: tensor<2x3xi32>, %h: tensor<2x3xf16>)"
TOLD = r"is told to be {}, its operands give {}"
CASES = {
    "dot_general": (
        "%y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] "
        ": (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x5xf32>",
        "2x5xf32",
        TOLD.format("2x5xf32", "2x4xf32"),
    ),
    "dot_general of another rank": (
        "%y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] "
        ": (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<8xf32>",
        "8xf32",
        TOLD.format("8xf32", "2x4xf32"),
    ),
    "transpose": (
        "%y = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>",
        "2x3xf32",
        TOLD.format("2x3xf32", "3x2xf32"),
    ),
    "slice": (
        "%y = stablehlo.slice %x [0:1, 0:3] : (tensor<2x3xf32>) -> tensor<2x3xf32>",
        "2x3xf32",
        TOLD.format("2x3xf32", "1x3xf32"),
    ),
    "reduce": (
        "%z = stablehlo.constant dense<0.0> : tensor<f32>\n%y = stablehlo.reduce(%x init: %z) applies "
        "stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>",
        "3xf32",
        TOLD.format("3xf32", "2xf32"),
    ),
    "concatenate": (
        "%y = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
        "2x3xf32",
        TOLD.format("2x3xf32", "4x3xf32"),
    ),
    "reshape": (
        "%y = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<5xf32>",
        "5xf32",
        "must have the operand's 6 elements, got 5",
    ),
    "broadcast_in_dim": (
        "%y = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x4xf32>",
        "2x4xf32",
        "axis 1 of the result must have 3 elements, got 4",
    ),
    "add": (
        '%y = "stablehlo.add"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3x2xf32>',
        "3x2xf32",
        "operand 0 must have the result's shape",
    ),
    "multiply": (
        '%y = "stablehlo.multiply"(%x, %h) : (tensor<2x3xf32>, tensor<2x3xf16>) -> tensor<2x3xf32>',
        "2x3xf32",
        "elements must be of one type",
    ),
    "compare": (
        "%y = stablehlo.compare LT, %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi32>",
        "2x3xi32",
        "the result must be of i1",
    ),
    "select": (
        "%c = stablehlo.compare LT, %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>\n"
        '%y = "stablehlo.select"(%c, %x, %h) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf16>) '
        "-> tensor<2x3xf32>",
        "2x3xf32",
        "elements must be of one type",
    ),
    "negate": (
        '%y = "stablehlo.negate"(%x) : (tensor<2x3xf32>) -> tensor<2x3xi32>',
        "2x3xi32",
        "elements must be of one type",
    ),
}
FUNCTIONS = "func.func private @f(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {\nreturn %a : tensor<2x3xf32>\n}\n"


def converted(body: str, result: str, functions: str = "") -> Converter:
    end = f"return %y : tensor<{result}>\n}}"
    return Converter.from_stablehlo(f"{functions}{HEAD} -> tensor<{result}> {{\n{body}\n{end}")


@pytest.mark.parametrize("name", CASES)
def test_results_of_other_types(name: str) -> None:
    body, result, message = CASES[name]
    with pytest.raises(ModelError, match=f"operation {name.split()[0]} in function main: .*{message}"):
        converted(body, result)


@pytest.mark.parametrize(
    ("call", "result", "message"),
    [
        ("(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>", "3x2xf32", r"results .*\(2x3xf32\), got \(3x2xf32\)"),
        ("(%x) : (tensor<2x3xf32>) -> tensor<2x3xf16>", "2x3xf16", r"results .*\(2x3xf32\), got \(2x3xf16\)"),
        ("(%h) : (tensor<2x3xf16>) -> tensor<2x3xf32>", "2x3xf32", r"arguments .*\(2x3xf32\), got \(2x3xf16"),
        ("(%w) : (tensor<3x4xf32>) -> tensor<2x3xf32>", "2x3xf32", r"arguments .*\(2x3xf32\), got \(3x4xf32"),
        (
            "(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
            "2x3xf32",
            "arguments of function f must be",
        ),
    ],
)
def test_calls_of_other_types(call: str, result: str, message: str) -> None:
    with pytest.raises(ModelError, match=f"operation call in function main: {message}"):
        converted(f"%y = call @f{call}", result, FUNCTIONS)


def test_the_function_of_a_wrong_operation_is_named() -> None:
    wrong = FUNCTIONS.replace(
        "return %a", '%b = "stablehlo.abs"(%a) : (tensor<2x3xf32>) -> tensor<2x4xf32>\nreturn %a'
    )
    with pytest.raises(
        ModelError, match="operation call in function main: operation abs in function f: operand 0"
    ):
        converted("%y = call @f(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>", "2x3xf32", wrong)


def test_a_loop_that_changes_a_shape() -> None:
    body = (
        "%y:2 = stablehlo.while(%a = %x, %n = %i) : tensor<2x3xf32>, tensor<2x3xi32>\n"
        "cond {\n%p = stablehlo.constant dense<true> : tensor<i1>\nstablehlo.return %p : tensor<i1>}\n"
        "do {\n%t = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n"
        "stablehlo.return %t, %n : tensor<3x2xf32>, tensor<2x3xi32>}"
    )
    with pytest.raises(
        ModelError,
        match=r"operation while in .*computation gives must be of types \(2x3xf32, 2x3xi32\), got \(3x2",
    ):
        converted(body, "2x3xf32")


def test_sizes_may_be_known_on_one_side() -> None:
    text = (
        "func.func private @f(%a: tensor<?x3xf32>) -> tensor<?x3xf32> {\nreturn %a : tensor<?x3xf32>\n}\n"
        "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
        '%y = "func.call"(%x) {callee = @f} : (tensor<2x3xf32>) -> tensor<2x3xf32>\n'
        "return %y : tensor<2x3xf32>\n}"
    )
    assert Converter.from_stablehlo(text).convert()
