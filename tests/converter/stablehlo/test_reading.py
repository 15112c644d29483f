"""StableHLO files: what is read, and what is said of what is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numlite.converter import Converter, load_graph
from numlite.converter.source_file import FileKind, file_kind
from numlite.converter.stablehlo import graph_import
from numlite.converter.stablehlo.bytecode import read_bytecode
from numlite.converter.stablehlo.model_import import stablehlo_entry
from numlite.converter.stablehlo.program import (
    UNKNOWN,
    ArrayType,
    Block,
    Dense,
    FunctionOperation,
    Operation,
    Program,
    Value,
)
from numlite.lite.errors import ModelError, UnsupportedError

from .recorded import recorded

FLOATS = ArrayType((2, 3), "f32")


def program(*steps: Operation, arguments: int = 1, returned: Value | None = None) -> Program:
    """A main function of the operations; it returns the last one's first result."""
    values = [Value(FLOATS, f"x{place}") for place in range(arguments)]
    result = returned or (steps[-1].results[0] if steps else values[0])
    block = Block(values, [*steps, Operation("return", [result], [])])
    return Program({"main": FunctionOperation("main", block, [], [])})


def test_an_export_and_its_program_are_the_same_model() -> None:
    models = [
        Converter.from_stablehlo(recorded()[name].program).convert()
        for name in ("open_images", "open_images export")
    ]
    assert models[0] == models[1]


def test_a_file_is_recognised_by_its_content(tmp_path: Path) -> None:
    for name in ("mlp", "mlp export"):
        path = tmp_path / "model.any"
        path.write_bytes(recorded()[name].program)
        assert file_kind(path) == FileKind.STABLEHLO
        assert Converter.from_stablehlo(path).convert()
        assert load_graph(path).graph is not None


def test_names_are_the_programs_own() -> None:
    entry = stablehlo_entry(recorded()["control"].program)
    assert list(entry.inputs) == ["x", "n"]
    assert list(entry.outputs)[:2] == ["result[0]", "result[1]"]
    # Of open shapes the names stand in the function that main calls.
    assert list(stablehlo_entry(recorded()["open_shapes"].program).inputs) == ["x", "y"]


def test_what_is_no_program() -> None:
    with pytest.raises(ModelError, match=r"program: not a StableHLO program \(it is an HDF5 file"):
        Converter.from_stablehlo(b"\x89HDF\r\n\x1a\n" + bytes(99))
    with pytest.raises(ModelError, match=r"sections .* are missing"):
        read_bytecode(b"ML\xefR\x0dStableHLO_v1.0.0\0")
    with pytest.raises(UnsupportedError, match="versions up to 6 are read, got 60"):
        read_bytecode(b"ML\xefR\x79StableHLO_v1.0.0\0")


@pytest.mark.parametrize("name", ["mlp", "control"])
def test_programs_cut_short(name: str) -> None:
    content = recorded()[name].program
    for length in range(4, len(content) - 1, max(len(content) // 60, 1)):
        with pytest.raises(ModelError):
            Converter.from_stablehlo(content[:length])


def test_inputs_that_are_not_there_or_do_not_fit() -> None:
    content = recorded()["mlp"].program
    with pytest.raises(ModelError, match="z is no input, the inputs are x"):
        Converter.from_stablehlo(content, input_shapes={"z": [1, 8]})
    with pytest.raises(ModelError, match=r"x must be a shape of 3x8xf32, got \[4, 8\]"):
        Converter.from_stablehlo(content, input_shapes={"x": [4, 8]})


def test_functions_that_call_themselves() -> None:
    made = program()
    x, y = Value(FLOATS), Value(FLOATS)
    block = Block([x], [Operation("call", [x], [y], {"callee": "f"}), Operation("return", [y], [])])
    made.functions["f"] = FunctionOperation("f", block, [], [])
    main = made.functions["main"].body
    result = Value(FLOATS)
    main.operations.insert(0, Operation("call", main.arguments, [result], {"callee": "f"}))
    with pytest.raises(ModelError, match="functions must not call themselves, got f"):
        stablehlo_entry(made)
    made.functions.pop("f")
    with pytest.raises(ModelError, match="function 'f' is called, but not there"):
        stablehlo_entry(made)


def test_calls_that_multiply(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each function calls the next twice: forty of them are 2^40 operations."""
    monkeypatch.setattr(graph_import, "MOST_STEPS", 500)
    made = program()
    for place in range(40):
        x, y, z = (Value(FLOATS) for _ in range(3))
        callee = {"callee": f"f{place + 1}"}
        steps = [Operation("call", [x], [y], callee), Operation("call", [y], [z], callee)]
        made.functions[f"f{place}"] = FunctionOperation(
            "", Block([x], [*steps, Operation("return", [z], [])]), [], []
        )
    x, y = Value(FLOATS), Value(FLOATS)
    last = Block([x], [Operation("negate", [x], [y]), Operation("return", [y], [])])
    made.functions["f40"] = FunctionOperation("f40", last, [], [])
    main = made.functions["main"].body
    main.operations.insert(0, Operation("call", main.arguments, [Value(FLOATS)], {"callee": "f0"}))
    with pytest.raises(UnsupportedError, match="more than 500 operations"):
        stablehlo_entry(made)


def test_what_has_no_operators_is_listed_at_once() -> None:
    x = Value(FLOATS, "x")
    steps = [
        Operation("infeed", [x], [Value(FLOATS)]),
        Operation("custom_call", [x], [Value(FLOATS)], {"call_target_name": "lapack_sgetrf"}),
        Operation("infeed", [x], [Value(FLOATS)]),
    ]
    made = program(*steps)
    made.functions["main"].body.arguments[:] = [x]
    with pytest.raises(UnsupportedError) as error:
        stablehlo_entry(made)
    assert "infeed (2 times in main): no builtin operators are known for it" in str(error.value)
    assert "custom_call (main): a call of 'lapack_sgetrf'" in str(error.value)


@pytest.mark.parametrize(
    ("name", "attributes", "message"),
    [
        ("transpose", {"permutation": [0, 0]}, "must name different axes of 2"),
        ("transpose", {"permutation": [0, 5]}, "must name different axes of 2"),
        ("transpose", {}, "permutation must name every axis of 2, got"),
        ("slice", {"start_indices": [0], "limit_indices": [1, 1]}, "must be 2 numbers"),
        ("concatenate", {"dimension": 7}, "must be one of 2 axes, got 7"),
        ("compare", {"comparison_direction": "SO"}, "must be one of EQ"),
        ("pad", {"interior_padding": [-1, 0]}, "operand 1 must be there, got 1"),
        ("reduce", {"dimensions": [0]}, "a start must be given for each operand"),
        ("while", {}, "region 0 must be there, got 0"),
        ("add", {}, "operands must be 2, got 1"),
    ],
)
def test_operations_that_are_wrong(name: str, attributes: dict, message: str) -> None:
    made = program()
    main = made.functions["main"].body
    made_type = ArrayType(FLOATS.shape, "i1") if name == "compare" else FLOATS
    operands = [*main.arguments] * (2 if name == "compare" else 1)
    main.operations.insert(0, Operation(name, operands, [Value(made_type)], attributes))
    with pytest.raises(ModelError, match=message):
        stablehlo_entry(made)


def test_a_number_for_very_many_takes_no_room() -> None:
    """A constant of equal numbers is one number; an attribute of so many is refused."""
    type = ArrayType((1 << 20, 1 << 20), "f32")
    x = Value(FLOATS, "x")
    many = Operation("constant", [], [Value(type)], {"value": Dense(type, np.float32(2).tobytes())})
    part = Operation(
        "slice",
        many.results,
        [Value(FLOATS)],
        {"start_indices": [0, 0], "limit_indices": [2, 3], "strides": [1, 1]},
    )
    total = Operation("multiply", [x, part.results[0]], [Value(FLOATS)])
    made = program(many, part, total)
    made.functions["main"].body.arguments[:] = [x]
    assert len(Converter([stablehlo_entry(made)]).convert()) < 2000
    axes = Dense(ArrayType((1 << 30,), "i64"), bytes(8))
    made = program()
    main = made.functions["main"].body
    main.operations.insert(0, Operation("transpose", main.arguments, [Value(FLOATS)], {"permutation": axes}))
    with pytest.raises(ModelError, match="must be a few numbers for each axis"):
        stablehlo_entry(made)


def test_sizes_that_nothing_tells() -> None:
    """Numbers in a row and repeated numbers need every size that their type leaves open."""
    x, open_type = Value(FLOATS, "x"), ArrayType((2, UNKNOWN), "f32")
    one = Operation("constant", [], [Value(FLOATS)], {"value": Dense(FLOATS, np.float32(2).tobytes())})
    twice = Operation("add", one.results * 2, [Value(open_type)])
    turned = Value(ArrayType((UNKNOWN, 2), "f32"))
    back = Operation("transpose", twice.results, [turned], {"permutation": [1, 0]})
    line = Operation("iota", [], [Value(open_type)], {"iota_dimension": 1})
    for steps in ([one, twice, back], [line]):
        made = program(*steps)
        made.functions["main"].body.arguments[:] = [x]
        with pytest.raises(ModelError, match=r"sizes .*must be known, got \[(2, -1|-1, 2)\]"):
            stablehlo_entry(made)
