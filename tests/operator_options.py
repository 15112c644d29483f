"""Makes docs/options.md from the schema: python -m tests.operator_options."""

from __future__ import annotations

import re
from pathlib import Path

import numlite
from numlite.kernels.operators import OPERATORS
from numlite.schema import tflite
from numlite.schema.operator_code import options_table

ROOT = Path(numlite.__file__).parent
PATH = ROOT / "docs" / "options.md"

HEADER = """# Options of the builtin operators

Made by `python -m tests.operator_options` from `schema/tflite.fbs`; a test says when it is stale.

What `node.options` holds, by the schema's names, for a delegate's `is_node_supported` and for kernels: an
enumeration as its number, a vector as an array, None where the file has none. `node.options` is None where
the file leaves the whole table out. A field that the file leaves out has its default: the one written here,
else 0, False or None. Custom operators have `node.custom_options` instead
([custom_operators.md](custom_operators.md)).

| operators | fields |
|---|---|
"""

ENUMS = """
## Enumerations

| type | values |
|---|---|
"""

_TABLE = re.compile(r"^table (\w+) *\{(.*?)\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"(\w+) *: *(\[?\w+\]?) *(?:= *([\w.+-]+) *)?(\(deprecated\))?[^;]*;")


def fields() -> dict[str, list[tuple[str, str, str]]]:
    """Name, type and default of each field that is in use, by table."""
    text = re.sub(r"//.*", "", (ROOT / "schema" / "tflite.fbs").read_text())
    return {
        table: [(name, type, default) for name, type, default, gone in _FIELD.findall(body) if not gone]
        for table, body in _TABLE.findall(text)
    }


def text() -> str:
    """The page."""
    known = fields()
    operators: dict[str, list[str]] = {}
    for name in sorted(OPERATORS):
        operators.setdefault(options_table(name), []).append(name)
    nothing = [name for table in operators if not known.get(table) for name in operators[table]]
    used: set[str] = set()
    lines = []
    for table, names in operators.items():
        if not known.get(table):
            continue
        used.update(type.strip("[]") for _, type, _ in known[table])
        lines.append(f"| {', '.join(names)} | {', '.join(map(_shown, known[table]))} |")
    enums = [
        f"| {name} | {', '.join(f'{value} {number}' for value, number in tflite.ENUMS[name].items())} |"
        for name in sorted(used & tflite.ENUMS.keys())
    ]
    without = f"\nNo fields: {', '.join(sorted(nothing))}.\n"
    return HEADER + "\n".join(lines) + "\n" + without + ENUMS + "\n".join(enums) + "\n"


def _shown(field: tuple[str, str, str]) -> str:
    name, type, default = field
    return f"`{name}` {type}" + (f" = {default}" if default else "")


if __name__ == "__main__":
    PATH.write_text(text())
