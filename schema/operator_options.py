"""Which table holds the options of a builtin operator."""

from __future__ import annotations

from functools import cache

from . import tflite
from .flatbuffer import Table

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
