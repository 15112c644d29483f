"""The generated schemas follow from their .fbs, and say what the formats say."""

import inspect
import re

import pytest
from numlite.schema import generate, tflite


def test_generated_files_are_current() -> None:
    assert [path.name for path in generate.stale()] == []


@pytest.mark.parametrize("text", ["struct S {}", "table T { f: nothing; }", "table T { f: [[int]]; }"])
def test_unknown_declarations_are_refused(text: str) -> None:
    header = 'file_identifier "ABCD"; root_type T; '
    with pytest.raises(ValueError, match="schema: "):
        generate.parse(header + text)


@pytest.fixture(scope="module")
def litert() -> object:
    """The classes that flatc made from LiteRT's schema."""
    return pytest.importorskip("ai_edge_litert.schema_py_generated", reason="ai-edge-litert is not installed")


@pytest.mark.parametrize("name", [*tflite.ENUMS, *tflite.UNIONS])
def test_enum_equals_litert(name: str, litert: object) -> None:
    theirs = {k: v for k, v in vars(getattr(litert, name)).items() if not k.startswith("__")}
    ours = {member.name: member.value for member in getattr(tflite, name)}
    assert ours.items() >= theirs.items()
    # flatc leaves out what is retired.
    assert ours.keys() - theirs.keys() <= {"REDUCE_WINDOW", "ReduceWindowOptions"}


@pytest.mark.parametrize("name", list(tflite.TABLES))
def test_table_equals_litert(name: str, litert: object) -> None:
    """Names, vtable offsets, types and defaults of every field."""
    reader = getattr(litert, name)
    defaults = inspect.signature(getattr(litert, name + "T").__init__).parameters
    theirs = {}
    for parameter in list(defaults.values())[1:]:
        method = getattr(reader, parameter.name[0].upper() + parameter.name[1:])
        source = inspect.getsource(method)
        slot = int(re.search(r"Offset\((\d+)\)", source)[1])
        flags = re.search(r"number_types\.(?:\w+)Flags(?=,)", source)
        kind = flags[0].split(".")[1].removesuffix("Flags") if flags else None
        theirs[parameter.name.lower()] = (slot, parameter.default, kind)
    ours = {}
    for field in getattr(tflite, name).fields:
        kind = FLAGS[field.type] if field.kind in ("scalar", "vector") else None
        ours[field.name.replace("_", "")] = (field.slot, field.default, kind)
    assert ours == theirs


FLAGS = {
    "?": "Bool",
    "b": "Int8",
    "B": "Uint8",
    "H": "Uint16",
    "i": "Int32",
    "I": "Uint32",
    "q": "Int64",
    "Q": "Uint64",
    "f": "Float32",
}


def test_no_table_is_missing(litert: object) -> None:
    theirs = {name[:-1] for name in vars(litert) if name.endswith("T") and hasattr(litert, name[:-1])}
    assert theirs == set(tflite.TABLES)
