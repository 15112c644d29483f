"""Makes NAME.py and NAME.pyi from each NAME.fbs: `python -m numlite.schema.generate [--check]`."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
# What the module of each .fbs file says that it is.
SCHEMAS = {
    "tflite": "The .tflite format",
    "model_metadata": "What a model says of itself, its inputs and its outputs",
}

SCALARS = {
    "bool": "?",
    "byte": "b",
    "ubyte": "B",
    "short": "h",
    "ushort": "H",
    "int": "i",
    "uint": "I",
    "long": "q",
    "ulong": "Q",
    "float": "f",
    "double": "d",
}

_DECLARATION = re.compile(
    r"(?P<kind>enum|union|table)\s+(?P<name>\w+)\s*(?::\s*(?P<base>\w+)\s*)?\{(?P<body>[^}]*)\}"
    r"|namespace\s+\w+\s*;|root_type\s+(?P<root>\w+)\s*;"
    r"|file_identifier\s+\"(?P<identifier>\w+)\"\s*;|file_extension\s+\"\w+\"\s*;"
)
_FIELD = re.compile(
    r"(?P<name>\w+)\s*:\s*(?P<vector>\[)?\s*(?P<type>\w+)\s*\]?\s*"
    r"(?:=\s*(?P<default>[\w.+-]+))?\s*(?:\((?P<attributes>[^)]*)\))?"
)


class Field(NamedTuple):
    """A field as a generated module lists it: see flatbuffer.Field. alignment is that of a vector's bytes."""

    name: str
    slot: int
    kind: str
    type: str
    default: int | float | bool | None
    alignment: int


class Definitions(NamedTuple):
    """What a .fbs file declares; enums also hold the scalar type they are stored as."""

    enums: dict[str, tuple[str, dict[str, int]]]
    unions: dict[str, tuple[str, ...]]
    tables: dict[str, tuple[Field, ...]]
    root: str
    identifier: bytes


def parse(text: str) -> Definitions:
    """Read the subset of the .fbs language that our schemas use; ValueError for anything else."""
    text = re.sub(r"//[^\n]*", "", text)
    rest = _DECLARATION.sub("", text).strip()
    if rest:
        raise ValueError(f"schema: cannot read {rest.splitlines()[0]!r}")
    declared = [match for match in _DECLARATION.finditer(text) if match["name"]]
    enums = {
        m["name"]: (SCALARS[m["base"]], _enum_values(m["body"])) for m in declared if m["kind"] == "enum"
    }
    unions = {m["name"]: tuple(_items(m["body"], ",")) for m in declared if m["kind"] == "union"}
    tables = {m["name"]: _items(m["body"], ";") for m in declared if m["kind"] == "table"}
    fields = {name: _fields(items, enums, unions, set(tables)) for name, items in tables.items()}
    [root] = [m["root"] for m in _DECLARATION.finditer(text) if m["root"]]
    [identifier] = [m["identifier"] for m in _DECLARATION.finditer(text) if m["identifier"]]
    return Definitions(enums, unions, fields, root, identifier.encode())


def _items(body: str, separator: str) -> list[str]:
    return [item.strip() for item in body.split(separator) if item.strip()]


def _enum_values(body: str) -> dict[str, int]:
    values: dict[str, int] = {}
    for item in _items(body, ","):
        name, _, value = (part.strip() for part in item.partition("="))
        values[name] = int(value) if value else max(values.values(), default=-1) + 1
    return values


def _fields(
    items: list[str],
    enums: dict[str, tuple[str, dict[str, int]]],
    unions: dict[str, tuple[str, ...]],
    tables: set[str],
) -> tuple[Field, ...]:
    fields: list[Field] = []
    slot = 4
    for item in items:
        match = _FIELD.fullmatch(item)
        if match is None:
            raise ValueError(f"schema: cannot read the field {item!r}")
        name, type_name, attributes = match["name"], match["type"], match["attributes"] or ""
        if type_name in unions:
            fields.append(Field(name + "_type", slot, "scalar", "B", 0, 0))
            slot += 2
        if attributes != "deprecated":
            aligned = re.search(r"force_align:\s*(\d+)", attributes)
            kind, code = _kind(type_name, bool(match["vector"]), enums, unions, tables)
            default = _default(match["default"], type_name, enums) if kind == "scalar" else None
            fields.append(Field(name, slot, kind, code, default, int(aligned[1]) if aligned else 0))
        slot += 2
    return tuple(fields)


def _kind(
    type_name: str,
    vector: bool,
    enums: dict[str, tuple[str, dict[str, int]]],
    unions: dict[str, tuple[str, ...]],
    tables: set[str],
) -> tuple[str, str]:
    scalar = enums[type_name][0] if type_name in enums else SCALARS.get(type_name)
    if scalar is not None:
        return ("vector" if vector else "scalar"), scalar
    if type_name == "string":
        return ("strings" if vector else "string"), ""
    if type_name in unions and not vector:
        return "union", type_name
    if type_name in tables:
        return ("tables" if vector else "table"), type_name
    raise ValueError(f"schema: no such type: {type_name}")


def _default(
    text: str | None, type_name: str, enums: dict[str, tuple[str, dict[str, int]]]
) -> int | float | bool:
    if type_name == "bool":
        return text == "true"
    if type_name in ("float", "double"):
        return float(text or 0)
    if text is not None and type_name in enums and text in enums[type_name][1]:
        return enums[type_name][1][text]
    return int(text or 0)


def module_text(name: str, definitions: Definitions) -> str:
    """NAME.py: the tables of the schema, from which classes.py makes the classes."""
    lines = [
        f'"""{SCHEMAS[name]}: enums, readers and objects. Generated from {name}.fbs by generate.py."""',
        "",
        "from .classes import Schema",
        "",
        "# enum: {name: value}",
        "ENUMS = {",
        *(f"    {name!r}: {values!r}," for name, (_, values) in definitions.enums.items()),
        "}",
        "",
        "# union: tables, numbered from 1",
        "UNIONS = {",
        *(f"    {name!r}: {members!r}," for name, members in definitions.unions.items()),
        "}",
        "",
        "# table: (name, byte offset in the vtable, kind, type, default, alignment) of each field",
        "TABLES = {",
    ]
    for name, fields in definitions.tables.items():
        lines.append(f"    {name!r}: (" + ("" if fields else "),"))
        lines += [f"        {tuple(field)!r}," for field in fields]
        lines += ["    ),"] if fields else []
    lines += [
        "}",
        "",
        "SCHEMA = Schema(__name__, ENUMS, UNIONS, TABLES)",
        f"IDENTIFIER = {definitions.identifier!r}",
        f"ROOT = {definitions.root!r}",
        "",
        "",
        "def read(buffer):",
        "    return SCHEMA.read(ROOT, buffer)",
        "",
        "",
        f"def pack({_argument(definitions)}):",
        f"    return SCHEMA.pack({_argument(definitions)}, IDENTIFIER)",
        "",
        "",
        "unpack = SCHEMA.unpack",
        "",
        "",
        "def __getattr__(name):",
        "    made = SCHEMA.named(name)",
        "    globals()[name] = made",
        "    return made",
        "",
        "",
        "def __dir__():",
        "    return sorted({*globals(), *SCHEMA.names()})",
    ]
    return "\n".join(lines) + "\n"


def _argument(definitions: Definitions) -> str:
    """What pack calls the root table."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", definitions.root).lower()


def stub_text(name: str, definitions: Definitions) -> str:
    """NAME.pyi: the same names for the type checker."""
    lines = [
        f'"""Types of {name}.py. Generated from {name}.fbs by generate.py."""',
        "",
        "from collections.abc import Sequence",
        "from enum import IntEnum",
        "from mmap import mmap",
        "",
        "import numpy as np",
        "",
        "from .classes import RawField, Schema",
        "from .flatbuffer import Table, TableVector",
        "from .objects import TableT",
        "",
        "ENUMS: dict[str, dict[str, int]]",
        "UNIONS: dict[str, tuple[str, ...]]",
        "TABLES: dict[str, tuple[RawField, ...]]",
        "SCHEMA: Schema",
        "IDENTIFIER: bytes",
        "ROOT: str",
        "",
        f"def read(buffer: bytes | bytearray | memoryview | mmap | np.ndarray) -> {definitions.root}: ...",
        f"def pack({_argument(definitions)}: {definitions.root}T) -> bytes: ...",
        f"def unpack(table: {definitions.root}) -> {definitions.root}T: ...",
        "",
    ]
    for enum, (_, values) in definitions.enums.items():
        lines += [f"class {enum}(IntEnum):", *(f"    {k} = {v}" for k, v in values.items()), ""]
    for union, members in definitions.unions.items():
        numbered = ["    NONE = 0", *(f"    {m} = {i}" for i, m in enumerate(members, 1))]
        lines += [f"class {union}(IntEnum):", *numbered, ""]
    for table, fields in definitions.tables.items():
        readers = [line for field in fields for line in _stub_property(field)]
        lines += [f"class {table}(Table):", *(readers or ["    pass"]), ""]
        lines += [f"class {table}T(TableT):", *_stub_object(fields, definitions.unions), ""]
    return "\n".join(lines).rstrip() + "\n"


def _stub_property(field: Field) -> list[str]:
    types = {"string": "str | None", "strings": "tuple[str, ...]", "vector": "np.ndarray"}
    types["union"] = "Table | None"
    types |= {"tables": f"TableVector[{field.type}]", "table": f"{field.type} | None"}
    returned = types.get(field.kind) or _scalar_name(field)
    return ["    @property", f"    def {field.name}(self) -> {returned}: ..."]


def _stub_object(fields: tuple[Field, ...], unions: dict[str, tuple[str, ...]]) -> list[str]:
    if not fields:
        return ["    def __init__(self) -> None: ..."]
    declared = [f"    {field.name}: {_object_type(field)}" for field in fields]
    arguments = [f"        {field.name}: {_object_type(field)} = ...," for field in fields]
    return [*declared, "    def __init__(", "        self,", "        *,", *arguments, "    ) -> None: ..."]


def _object_type(field: Field) -> str:
    vector = "bytes | bytearray | memoryview | " if field.type == "B" else ""
    types = {
        "string": "str | None",
        "strings": "Sequence[str] | None",
        "vector": f"{vector}Sequence[{_scalar_name(field)}] | np.ndarray | None",
        "union": "TableT | None",
        "tables": f"list[{field.type}T] | None",
        "table": f"{field.type}T | None",
    }
    return types.get(field.kind) or _scalar_name(field)


def _scalar_name(field: Field) -> str:
    return {"?": "bool", "f": "float", "d": "float"}.get(field.type, "int")


def outputs() -> dict[Path, str]:
    """The generated files and what they should hold."""
    found = {}
    for name in SCHEMAS:
        definitions = parse((FOLDER / f"{name}.fbs").read_text(encoding="utf-8"))
        found[FOLDER / f"{name}.py"] = module_text(name, definitions)
        found[FOLDER / f"{name}.pyi"] = stub_text(name, definitions)
    return found


def stale() -> list[Path]:
    """The generated files that no longer follow from their .fbs."""
    return differing(outputs())


def differing(texts: Mapping[Path, str]) -> list[Path]:
    """The files that have another text."""
    return [p for p, text in texts.items() if not p.exists() or p.read_text(encoding="utf-8") != text]


def write_or_check(texts: Mapping[Path, str], command: str) -> int:
    """Write files, or with --check name those that differ and the command for them: an exit status."""
    if "--check" in sys.argv[1:]:
        found = differing(texts)
        for path in found:
            print(f"{path.name} is stale: run {command}", file=sys.stderr)
        return 1 if found else 0
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(write_or_check(outputs(), "python -m numlite.schema.generate"))
