"""Element types by Keras's names."""

from __future__ import annotations

from ...lite.errors import ModelError
from ...schema import graph_def
from .config import Config, cut

TYPES = {
    "float32": graph_def.DT_FLOAT,
    "float16": graph_def.DT_HALF,
    "bfloat16": graph_def.DT_BFLOAT16,
    "float64": graph_def.DT_DOUBLE,
    "int8": graph_def.DT_INT8,
    "int16": graph_def.DT_INT16,
    "int32": graph_def.DT_INT32,
    "int64": graph_def.DT_INT64,
    "uint8": graph_def.DT_UINT8,
    "uint16": graph_def.DT_UINT16,
    "uint32": graph_def.DT_UINT32,
    "bool": graph_def.DT_BOOL,
    "string": graph_def.DT_STRING,
}
# Builtin operators compute floats in 32 bits.
FLOATS = (graph_def.DT_HALF, graph_def.DT_BFLOAT16, graph_def.DT_DOUBLE)


def outside_type(name: object) -> int:
    """TensorFlow's number of the type that an input declares."""
    if isinstance(name, dict) and isinstance(name.get("config"), dict):
        name = Config(name).config("config").get("name")
    if not isinstance(name, str) or name not in TYPES:
        raise ModelError(f"dtype must be one of Keras's, got {cut(name)}")
    return TYPES[name]


def type_of(name: object) -> int:
    """The type in which values are computed."""
    found = outside_type(name)
    return graph_def.DT_FLOAT if found in FLOATS else found
