"""Programs as MLIR's text: what JAX prints computes what JAX does, and what is said of wrong texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numlite.converter import Converter, load_graph, run_graph
from numlite.converter.source_file import FileKind, file_kind
from numlite.converter.stablehlo.model_import import stablehlo_entry
from numlite.converter.stablehlo.program import UNKNOWN, ArrayType, Dense, Operation, OtherType
from numlite.converter.stablehlo.text.module import is_program_text, read_text
from numlite.converter.tfg.text_printer import print_module
from numlite.interpreter import Interpreter
from numlite.lite.errors import ModelError, UnsupportedError

from .recorded import recorded, recorded_texts
from .test_recorded import check

NAMES = tuple(recorded_texts())
ONE = """
module {
  func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    BODY
    return %y : tensor<2x3xf32>
  }
}
"""


def operations(body: str) -> list[Operation]:
    """The operations of a main function of those lines; they may use %x and %a to %d."""
    head = "%x: tensor<2x3xf32>, %a: tensor<?x4xi32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<2xi64>"
    text = f"func.func @main({head}) {{\n{body}\n  return\n}}"
    return read_text(text).functions["main"].body.steps()


@pytest.mark.parametrize("name", NAMES)
def test_what_jax_prints_computes_what_jax_does(name: str) -> None:
    case = recorded()[name]
    converter = Converter.from_stablehlo(recorded_texts()[name]["own"])
    entry = converter.entries[0]
    conversion = converter.conversion()
    assert not [operator for graph in conversion.lite.graphs() for operator in graph if operator.custom_code]
    runner = Interpreter(model_content=conversion.model).get_signature_runner()
    found = runner(**dict(zip(entry.inputs, case.arguments, strict=True)))
    check(case, [found[output] for output in entry.outputs])


@pytest.mark.parametrize("name", [name for name in NAMES if "generic" in recorded_texts()[name]])
def test_both_forms_are_the_same_program(name: str) -> None:
    """Even names of nodes are the same: a graph has all that is read."""
    own, generic = (
        print_module(stablehlo_entry(recorded_texts()[name][form]).module) for form in ("own", "generic")
    )
    assert own == generic


@pytest.mark.parametrize("form", ["own", "generic"])
def test_names_come_from_places(form: str) -> None:
    texts = recorded_texts()["control"]
    assert list(stablehlo_entry(texts[f"{form} with places"]).inputs) == ["x", "n"]
    assert list(stablehlo_entry(texts[form]).inputs) == ["input_0", "input_1"]
    assert list(stablehlo_entry(texts[form]).outputs)[:2] == ["result[0]", "result[1]"]


@pytest.mark.parametrize("form", ["own", "own with places", "generic", "generic with places"])
def test_a_text_is_recognised_by_its_content(form: str, tmp_path: Path) -> None:
    case, path = recorded()["mlp"], tmp_path / "model.any"
    path.write_text(recorded_texts()["mlp"][form])
    assert file_kind(path) == FileKind.STABLEHLO
    assert load_graph(path).graph is not None
    entry = Converter.from_stablehlo(path).entries[0]
    found = run_graph(path, dict(zip(entry.inputs, case.arguments, strict=True)), list(entry.outputs))
    check(case, found)


def test_texts_of_other_modules_are_not_programs() -> None:
    assert not is_program_text('module {\n  tfg.graph #tf_type.version<producer = 1> {\n  "stablehlo.add"')
    assert not is_program_text('node { name: "stablehlo.add" }')
    assert not is_program_text("# a comment\nversions { }")
    assert is_program_text('#loc1 = loc("x")\n' * 4000)
    assert is_program_text('// printed\n"builtin.module"() ({\n  "func.func"() ({')


@pytest.mark.parametrize(
    ("place", "name"),
    [(r"a['\C3\A9']", "a['\u00e9']"), (r"a[\22x\22]", 'a["x"]'), (r"a\\b", r"a\b")],
)
def test_escapes_in_names_are_what_they_stand_for(place: str, name: str) -> None:
    """As bytecode has them."""
    own, aliased = (
        f"func.func @main(%x: tensor<2xf32> loc({of})) -> tensor<2xf32> {{\nreturn %x : tensor<2xf32>\n}}"
        for of in (f'"{place}"', "#loc1")
    )
    for text in (own, f'#loc1 = loc("{place}")\n{aliased}'):
        assert list(stablehlo_entry(text).inputs) == [name]


def test_declared_functions_are_passed_over() -> None:
    program = read_text(
        "func.func private @f(tensor<2xf32>, tensor<i32> {a}) -> (tensor<f32>, tensor<i32>)\n"
        '"func.func"() <{function_type = (tensor<2xf32>) -> (), sym_name = "g"}> ({\n}) : () -> ()'
    )
    assert "f" not in program.functions


def test_operands_may_be_parts_of_what_is_made() -> None:
    """Complex numbers and tuples tell their own type alone."""
    steps = operations(
        "%0 = stablehlo.complex %x, %x : tensor<2x3xcomplex<f32>>\n"
        "%1 = stablehlo.tuple %x, %b : tuple<tensor<2x3xf32>, tensor<f32>>\n"
        "%2 = stablehlo.compare LT, %b, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "%3 = stablehlo.select %2, %x, %x : tensor<i1>, tensor<2x3xf32>\n"
        "%4 = chlo.is_inf %x : tensor<2x3xf32> -> tensor<2x3xi1>"
    )
    assert [each.name for each in steps] == ["complex", "tuple", "compare", "select", "chlo.is_inf"]


def test_hand_written_names_are_kept() -> None:
    text = ONE.replace("BODY", "%y = stablehlo.add %x, %x : tensor<2x3xf32>")
    entry = stablehlo_entry(text)
    assert list(entry.inputs) == ["x"]
    x = np.ones((2, 3), np.float32)
    model = Converter([entry]).convert()
    [found] = Interpreter(model_content=model).get_signature_runner()(x=x).values()
    np.testing.assert_array_equal(found, x + x)


@pytest.mark.parametrize(
    ("text", "shape", "numbers"),
    [
        ("dense<[[1, -2], [3, 0x10]]> : tensor<2x2xi32>", (2, 2), [1, -2, 3, 16]),
        ("dense<1.5> : tensor<3xf32>", (3,), [1.5] * 3),
        ("dense<0x7F800000> : tensor<f32>", (), [np.inf]),
        ("dense<[true, false]> : tensor<2xi1>", (2,), [True, False]),
        ("dense<[1.0, -0.5]> : tensor<2xbf16>", (2,), [1.0, -0.5]),
        ('dense<"0x0000803F000000C0"> : tensor<2xf32>', (2,), [1.0, -2.0]),
        ('dense<"0x05"> : tensor<5xi1>', (5,), [1, 0, 1, 0, 0]),
        ("dense<> : tensor<0x3xf32>", (0, 3), []),
        ("dense<18446744073709551615> : tensor<ui64>", (), [2**64 - 1]),
    ],
)
def test_constants(text: str, shape: tuple[int, ...], numbers: list) -> None:
    [constant] = operations(f"%y = stablehlo.constant {text}")
    dense = constant.attributes["value"]
    assert isinstance(dense, Dense) and dense.type.shape == shape
    assert constant.results[0].type == dense.type
    assert dense.array().reshape(-1).tolist() == numbers


@pytest.mark.parametrize(
    ("line", "attributes"),
    [
        ("%y = stablehlo.reduce_precision %x, format = e5m10 : tensor<2x3xf32>", [("mantissa_bits", 10)]),
        (
            "%y = stablehlo.slice %x [0:2, 1:3:2] : (tensor<2x3xf32>) -> tensor<2x1xf32>",
            [("start_indices", [0, 1]), ("limit_indices", [2, 3]), ("strides", [1, 2])],
        ),
        (
            "%y = stablehlo.pad %x, %b, low = [0, -1], high = [1, 1], interior = [0, 2] "
            ": (tensor<2x3xf32>, tensor<f32>) -> tensor<3x7xf32>",
            [("edge_padding_low", [0, -1]), ("interior_padding", [0, 2])],
        ),
        (
            "%y = stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [1] x [1], "
            "precision = [HIGHEST, DEFAULT], algorithm = <accumulation_type = f32> "
            ": (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>",
            [("lhs_batching_dimensions", [0]), ("rhs_contracting_dimensions", [1])],
        ),
        ("%y = stablehlo.get_tuple_element %b[1] : (tensor<f32>) -> tensor<f32>", [("index", 1)]),
        (
            "%y = stablehlo.dynamic_broadcast_in_dim %x, %d, dims = [0, 1] {known_expanding_dimensions = "
            "array<i64: 0>} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>",
            [("broadcast_dimensions", [0, 1]), ("known_expanding_dimensions", [0])],
        ),
        (
            '%y = "stablehlo.sort"(%x) ({\n^bb0(%l: tensor<f32>, %r: tensor<f32>):\n'
            "%t = stablehlo.compare LT, %l, %r, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
            "stablehlo.return %t : tensor<i1>}) : (tensor<2x3xf32>) -> tensor<2x3xf32>",
            [("dimension", -1)],
        ),
        (
            '%y = "stablehlo.gather"(%x, %d) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = '
            "[0, 1], start_index_map = [0, 1]>, slice_sizes = array<i64: 1, 1>}> "
            ": (tensor<2x3xf32>, tensor<2xi64>) -> tensor<f32>",
            [("start_index_map", [0, 1]), ("index_vector_dim", 0), ("offset_dims", [])],
        ),
    ],
)
def test_attributes_have_their_own_names(line: str, attributes: list) -> None:
    [operation] = operations(line)
    assert [(key, operation.attributes[key]) for key, _ in attributes] == attributes


def test_types() -> None:
    steps = operations(
        "%0 = stablehlo.create_token : !stablehlo.token\n"
        "%1 = stablehlo.set_dimension_size %x, %c, dim = 0 : (tensor<2x3xf32>, tensor<i32>) "
        "-> tensor<?x3xf32, #stablehlo.bounds<2, ?>>\n"
        "%2:2 = stablehlo.optimization_barrier %x, %b : tensor<2x3xf32>, tensor<f32>\n"
        "%3 = stablehlo.custom_call @f(%2#1) : (tensor<f32>) -> tensor<?x4xcomplex<f32>>\n"
        '%state, %bits = "stablehlo.custom_call"(%a) {call_target_name = "f"} : (tensor<?x4xi32>) '
        "-> (tensor<2xui64>, tensor<*xf32>)"
    )
    types = [value.type for step in steps for value in step.results]
    assert types == [
        OtherType("!stablehlo.token"),
        ArrayType((UNKNOWN, 3), "f32"),
        *(ArrayType((2, 3), "f32"), ArrayType((), "f32"), ArrayType((UNKNOWN, 4), "complex<f32>")),
        *(ArrayType((2,), "ui64"), OtherType("*xf32")),
    ]


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        ("%y = stablehlo.add %x, %z : tensor<2x3xf32>", ModelError, "line 4: %z is used before any"),
        ("%y = stablehlo.add %x, : tensor<2x3xf32>", ModelError, "line 4: expected an operand"),
        ("%y = stablehlo.abs %x : (tensor<4xf32>) -> tensor<2x3xf32>", ModelError, "must be of types"),
        ("%y = stablehlo.abs %x : tensor<4xf32>", ModelError, r"line 4: .* types \(4xf32\), got \(2x3xf32\)"),
        (
            "%s = stablehlo.constant dense<1.0> : tensor<f32>\n%y = stablehlo.add %x, %s : tensor<2x3xf32>",
            *(ModelError, r"types \(2x3xf32, 2x3xf32\), got \(2x3xf32, f32\)"),
        ),
        (
            "%y = chlo.erf %x : tensor<2x3xi32> -> tensor<2x3xf32>",
            *(ModelError, r"types \(2x3xi32\), got \(2x3xf32\)"),
        ),
        ("%y = stablehlo.constant dense<1.0> : tensor<4xf32>", ModelError, r"\(2x3xf32\), got \(4xf32\)"),
        (
            "%y = stablehlo.constant dense<1> : tensor<2x3xi32>\nreturn %y : tensor<2x3xi32>\n}\n"
            "func.func @g(%x: tensor<f32>) -> tensor<2x3xf32> {\n%y = call @h() : () -> tensor<2x3xf32>",
            *(ModelError, r"function .*main.*: its results must be of types \(2x3xf32\), got \(2x3xi32\)"),
        ),
        ("%y, %z = stablehlo.abs %x : tensor<2x3xf32>", ModelError, "a type must be told for each of 2"),
        ("%y = stablehlo.abs %x#1 : tensor<2x3xf32>", ModelError, "%x must have 2 results, got 1"),
        ("%y = stablehlo.constant dense<[1.0]> : tensor<2x3xf32>", ModelError, "1 elements, its type has 6"),
        ("%y = stablehlo.constant dense<300> : tensor<2xi8>", ModelError, "elements do not fit into i8"),
        (
            "%y = stablehlo.constant dense<1.0e39> : tensor<2xbf16>",
            ModelError,
            "do not fit into bf16 .too large",
        ),
        (
            "%y = stablehlo.constant dense_resource<__elided__> : tensor<2x3xf32>",
            UnsupportedError,
            "line 4: numbers that .* print the module with large_elements_limit=None",
        ),
        (
            "%y = stablehlo.constant dense<1.0> : tensor<6xf8E5M2>",
            UnsupportedError,
            "line 4: constants of f8E5M2 have no operators",
        ),
        ("%y = arith.addf %x, %x : tensor<2x3xf32>", UnsupportedError, "print the module with print_generic"),
        ("%y = vhlo.abs_v1 %x : tensor<2x3xf32>", UnsupportedError, "give its bytecode"),
        (
            "%y = chlo.zeta %x, %x : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>",
            UnsupportedError,
            "chlo.zeta .* jax.export writes what it is made of",
        ),
        (
            '%y = "stablehlo.abs"(%x) ({^a: ^b:}) : (tensor<2x3xf32>) -> tensor<2x3xf32>',
            UnsupportedError,
            "several blocks",
        ),
    ],
)
def test_wrong_texts_name_the_line(body: str, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        Converter.from_stablehlo(ONE.replace("BODY", body))


@pytest.mark.parametrize(
    "body",
    [
        "({" * 5000,
        "%y = stablehlo.constant dense<" + "[" * 100000,
        '%y = "stablehlo.abs"(%x) {a = ' + "[" * 5000,
        '%y = "stablehlo.abs"(%x) {a = ' + "{b = " * 5000,
        "%y = stablehlo.abs %x : " + "(" * 5000,
        "%y = stablehlo.custom_call @f" + "::@g" * 100000,
        "%y = stablehlo.abs %x : tensor<" + "9" * 5000 + "xf32>",
        "%y:999999999 = stablehlo.abs %x : tensor<f32>",
        '%y = "stablehlo.while"(%x) (' + "{ " * 3000,
        '%y = stablehlo.custom_call @"' + "a\\" * 100000,
        "%y = stablehlo.reduce(" + "%x init: %x), (" * 20000,
        "%y = stablehlo.abs %x : tensor<f32> loc(" + "callsite(" * 20000,
    ],
    ids=lambda body: body[:40],
)
def test_hostile_texts_end_in_errors(body: str) -> None:
    with pytest.raises(ModelError):
        Converter.from_stablehlo(ONE.replace("BODY", body))


@pytest.mark.parametrize("form", ["own", "generic with places"])
def test_texts_cut_short(form: str) -> None:
    text = recorded_texts()["control"][form].rstrip()
    for length in range(60, text.rindex("}"), max(len(text) // 60, 1)):
        with pytest.raises(ModelError):
            read_text(text[:length])


def test_a_large_constant_is_read_at_once() -> None:
    """Its digits are one token: reading it takes no step for each."""
    count = 1 << 20
    numbers = np.arange(count, dtype=np.float32)
    text = f'%w = stablehlo.constant dense<"0x{numbers.tobytes().hex()}"> : tensor<{count}xf32>'
    [constant] = operations(text)
    dense = constant.attributes["value"]
    assert isinstance(dense, Dense)
    np.testing.assert_array_equal(dense.array(), numbers)
