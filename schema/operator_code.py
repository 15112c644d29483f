"""Operator codes: numbers and names, the two fields that hold one as one, and which table has the options."""

from __future__ import annotations

from functools import cache

from . import tflite
from .flatbuffer import Table

# Of every builtin operator, by name. Not the enumeration, which takes longer to make than a model to open.
CODES = tflite.ENUMS["BuiltinOperator"]
CUSTOM, DELEGATE = CODES["CUSTOM"], CODES["DELEGATE"]
# Of custom operators in compiled models; a delegate's name follows.
CUSTOM_CODE_PREFIX = "numlite-delegate:"
# Codes from here on do not fit the older field, which then holds this one.
PLACEHOLDER = CODES["PLACEHOLDER_FOR_GREATER_OP_CODES"]
_NAMES = {code: name for name, code in CODES.items()}

# Operators whose table is not called as they are.
_SHARED = {
    "AVERAGE_POOL_2D": "Pool2DOptions",
    "CONV_3D_TRANSPOSE": "Conv3DOptions",
    "L2_NORMALIZATION": "L2NormOptions",
    "L2_POOL_2D": "Pool2DOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "MAX_POOL_2D": "Pool2DOptions",
    "MEAN": "ReducerOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "MULTINOMIAL": "RandomOptions",
    "RANDOM_STANDARD_NORMAL": "RandomOptions",
    "RANDOM_UNIFORM": "RandomOptions",
    "REDUCE_ALL": "ReducerOptions",
    "REDUCE_ANY": "ReducerOptions",
    "REDUCE_MAX": "ReducerOptions",
    "REDUCE_MIN": "ReducerOptions",
    "REDUCE_PROD": "ReducerOptions",
    "SUM": "ReducerOptions",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions",
}


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


def options_of(operator: tflite.Operator, name: str) -> Table | None:
    """The options of a builtin operator by its name; None where the file gives none, or another's.

    Another operator's table tells nothing, as in LiteRT. Source: LiteRT
    tflite/core/api/flatbuffer_conversions.cc.
    """
    options = operator.builtin_options or operator.builtin_options_2
    return options if type(options).__name__ == options_table(name) else None


@cache
def options_table(name: str) -> str:
    """The table of an operator's options, "" where the schema has none."""
    return _SHARED.get(name) or _by_letters().get(name.replace("_", "").lower(), "")


@cache
def _by_letters() -> dict[str, str]:
    tables = (*tflite.UNIONS["BuiltinOptions"], *tflite.UNIONS["BuiltinOptions2"])
    return {table.removesuffix("Options").lower(): table for table in tables}
