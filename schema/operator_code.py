"""Operator codes: the two fields that hold a builtin operator's code, read and written as one."""

from __future__ import annotations

from . import tflite

# Codes from here on do not fit the older field, which then holds this one.
PLACEHOLDER = 127


def builtin_code(code: tflite.OperatorCode) -> int:
    """The builtin code of an entry, whichever field holds it (32, CUSTOM, for a custom operator)."""
    return max(code.builtin_code, code.deprecated_builtin_code)


def operator_code(builtin: int, custom: str | None = None, version: int = 1) -> tflite.OperatorCodeT:
    """An entry for model.operator_codes."""
    return tflite.OperatorCodeT(
        deprecated_builtin_code=min(builtin, PLACEHOLDER),
        builtin_code=builtin,
        custom_code=custom,
        version=version,
    )
