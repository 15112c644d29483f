"""What commands print for programs: one JSON object in one line, as docs/json.md describes it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import click

SCHEMA = 1  # fields are added under the same number; one that goes or changes makes the next

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON (docs/json.md) instead of tables."
)


def print_json(command: str, fields: Mapping[str, Any]) -> None:
    """Print the object: schema and command, then the fields."""
    content = {"schema": SCHEMA, "command": command, **fields}
    click.echo(json.dumps(plain(content), allow_nan=False))


def plain(value: Any) -> Any:
    """What JSON can say: bytes as text, complex numbers as pairs, infinities and NaN as their names.

    Data classes are their fields.
    """
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return plain(vars(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
