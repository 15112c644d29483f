"""Hash tables: their making, filling, size, and looking up."""

from __future__ import annotations

import zlib

from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, HashtableOptionsT
from ..element_types import tensor_type
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule
from .reshape import reshaped

# Keys and values that runtimes have tables of.
_BUILT = ((TensorType.STRING, TensorType.INT64), (TensorType.INT64, TensorType.STRING))


def hash_table(lowering: Lowering, node: Node) -> LiteTensor:
    """HASHTABLE, known by a number that its shared name gives."""
    types = tensor_type(node.type("key_dtype")), tensor_type(node.type("value_dtype"))
    if types not in _BUILT:
        raise UnsupportedError(f"a table of {types[1].name.lower()} by {types[0].name.lower()}")
    name = node.text("shared_name") or lowering.name(node)
    table_id = zlib.crc32(name.encode()) & 0x7FFFFFFF
    options = HashtableOptionsT(table_id=table_id, key_dtype=types[0], value_dtype=types[1])
    return lowering.operator(node, BuiltinOperator.HASHTABLE, [], (), options, type=TensorType.RESOURCE)


def _operands(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """The inputs, the table first; UnsupportedError where the table itself is no builtin one.

    All ops of a table are run by whoever made it.
    """
    inputs = lowering.inputs(node)
    made = inputs[0].producer if inputs else None
    if made is not None and made.code != BuiltinOperator.HASHTABLE:
        raise UnsupportedError(f"its table is made by {made.custom_code or made.code.name}")
    return inputs


def find(lowering: Lowering, node: Node) -> LiteTensor:
    """HASHTABLE_FIND; the default where a key is not there."""
    inputs = _operands(lowering, node)
    return lowering.operator(
        node, BuiltinOperator.HASHTABLE_FIND, inputs, inputs[1].shape, type=inputs[2].type
    )


def fill(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """HASHTABLE_IMPORT."""
    lowering.add(node, BuiltinOperator.HASHTABLE_IMPORT, _operands(lowering, node), [])
    return []


def size(lowering: Lowering, node: Node) -> LiteTensor:
    """HASHTABLE_SIZE, whose result is a vector of one number."""
    table = _operands(lowering, node)[0]
    made = lowering.operator(node, BuiltinOperator.HASHTABLE_SIZE, [table], (1,), type=TensorType.INT64)
    number = reshaped(lowering, node, made, ())
    assert number is not None
    return number


REGISTRATIONS: dict[str, Rule] = {
    "HashTable": hash_table,
    "HashTableV2": hash_table,
    "InitializeTable": fill,
    "InitializeTableV2": fill,
    "LookupTableFind": find,
    "LookupTableFindV2": find,
    "LookupTableImport": fill,
    "LookupTableImportV2": fill,
    "LookupTableSize": size,
    "LookupTableSizeV2": size,
}
