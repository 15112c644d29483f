"""Operator codes: their numbers and names, and the two fields that hold one, read and written as one."""

from __future__ import annotations

from . import tflite

# Of every builtin operator, by name. Not the enumeration, which takes longer to make than a model to open.
CODES = tflite.ENUMS["BuiltinOperator"]
CUSTOM, DELEGATE = CODES["CUSTOM"], CODES["DELEGATE"]
# Of custom operators in compiled models; a delegate's name follows.
CUSTOM_CODE_PREFIX = "numlite-delegate:"
# Codes from here on do not fit the older field, which then holds this one.
PLACEHOLDER = CODES["PLACEHOLDER_FOR_GREATER_OP_CODES"]
_NAMES = {code: name for name, code in CODES.items()}


def operator_name(code: int) -> str:
    """The operator's name, UNKNOWN_<code> for a code that the schema lacks."""
    return _NAMES.get(code, f"UNKNOWN_{code}")


def builtin_code(code: tflite.OperatorCode) -> int:
    """The builtin code of an entry, whichever field holds it; CUSTOM for a custom operator."""
    return max(code.builtin_code, code.deprecated_builtin_code)


def operator_code(builtin: int, custom: str | None = None, version: int = 1) -> tflite.OperatorCodeT:
    """An entry for model.operator_codes."""
    return tflite.OperatorCodeT(
        deprecated_builtin_code=min(builtin, PLACEHOLDER),
        builtin_code=builtin,
        custom_code=custom,
        version=version,
    )
