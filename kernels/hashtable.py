"""HASHTABLE, HASHTABLE_IMPORT, HASHTABLE_FIND and HASHTABLE_SIZE: tables from strings or integers to such."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.resources import handle_of
from ..lite.string_tensor import pack_strings, strings_of
from ..lite.tensor import Tensor, TensorType
from .index_vector import check_counts
from .operators import registration
from .resource import check_resource, set_handle

_TYPES = (TensorType.INT64, TensorType.STRING)
_Element = int | bytes


class Table:
    """Values by key; None until they have been imported, which happens once."""

    def __init__(self, key_type: int, value_type: int) -> None:
        self.key_type = key_type
        self.value_type = value_type
        self.values: dict[_Element, _Element] | None = None


def _elements(tensor: Tensor) -> list[_Element]:
    if tensor.type != TensorType.STRING:
        return list(map(int, tensor.array().ravel().tolist()))
    return list(strings_of(tensor))


def _prepare_hashtable(context: Context, node: Node) -> Sequence[KernelCall]:
    check_counts("HASHTABLE", node, 0)
    options = node.options
    if options is None:
        raise PrepareError("HASHTABLE: it must have options that give its types")
    key_type, value_type = int(options.key_dtype), int(options.value_dtype)
    if key_type not in _TYPES or value_type not in _TYPES:
        raise PrepareError(
            f"HASHTABLE: keys and values must be int64 or string, got types {key_type} and {value_type}"
        )
    resources = context.resources
    number = resources.number("table", "", str(int(options.table_id)))
    resources.tables.setdefault(number, Table(key_type, value_type))
    set_handle(context, node, "HASHTABLE", number)
    return []


def _table(context: Context, node: Node, operator: str) -> Table:
    table = context.resources.tables.get(handle_of(context.input(node, 0)))
    if not isinstance(table, Table):
        raise InvokeError(f"{operator}: input 0 must hold a table, got {context.input(node, 0)!r}")
    return table


def _filled(context: Context, node: Node, operator: str) -> tuple[Table, dict[_Element, _Element]]:
    table = _table(context, node, operator)
    if table.values is None:
        named = context.input(node, 0)
        raise InvokeError(
            f"{operator}: the table {named!r} must have been filled by HASHTABLE_IMPORT, and was not"
        )
    return table, table.values


def _check_types(operator: str, table: Table, keys: Tensor, values: Tensor) -> None:
    if keys.type != table.key_type or values.type != table.value_type:
        wanted = [TensorType(t).name.lower() for t in (table.key_type, table.value_type)]
        raise InvokeError(
            f"{operator}: keys and values must be {wanted[0]} and {wanted[1]}, as the table's, "
            f"got {keys!r} and {values!r}"
        )


def _prepare_import(context: Context, node: Node) -> None:
    check_counts("HASHTABLE_IMPORT", node, 3, 0)
    check_resource("HASHTABLE_IMPORT", context.input(node, 0))
    keys, values = context.input(node, 1), context.input(node, 2)
    if keys.shape != values.shape:
        raise PrepareError(
            f"HASHTABLE_IMPORT: keys and values must have one shape, got {keys!r} and {values!r}"
        )


def _import(context: Context, node: Node) -> None:
    """Fill the table, unless it is filled. Of equal keys the first counts."""
    table = _table(context, node, "HASHTABLE_IMPORT")
    keys, values = context.input(node, 1), context.input(node, 2)
    _check_types("HASHTABLE_IMPORT", table, keys, values)
    if table.values is None:
        table.values = {}
        if keys.size:
            for key, value in zip(_elements(keys), _elements(values), strict=True):
                table.values.setdefault(key, value)


def _prepare_find(context: Context, node: Node) -> None:
    check_counts("HASHTABLE_FIND", node, 3)
    check_resource("HASHTABLE_FIND", context.input(node, 0))
    keys, default, y = context.input(node, 1), context.input(node, 2), context.output(node, 0)
    if default.size != 1 or default.type != y.type:
        raise PrepareError(
            f"HASHTABLE_FIND: the default must be one value of the output's type, got {default!r} and {y!r}"
        )
    if y.type == TensorType.STRING:
        context.set_dynamic(y)
    else:
        context.resize_tensor(y, keys.shape)


def _find(context: Context, node: Node) -> None:
    table, found = _filled(context, node, "HASHTABLE_FIND")
    keys, y = context.input(node, 1), context.output(node, 0)
    _check_types("HASHTABLE_FIND", table, keys, y)
    default = _elements(context.input(node, 2))[0]
    values = [found.get(key, default) for key in _elements(keys)] if keys.size else []
    context.resize_tensor(y, keys.shape)
    if y.type == TensorType.STRING:
        y.bind(pack_strings([value for value in values if isinstance(value, bytes)]))
    else:
        y.array()[...] = np.array(values, np.int64).reshape(keys.shape)


def _prepare_size(context: Context, node: Node) -> None:
    check_counts("HASHTABLE_SIZE", node, 1)
    check_resource("HASHTABLE_SIZE", context.input(node, 0))
    y = context.output(node, 0)
    if y.type != TensorType.INT64:
        raise PrepareError(f"HASHTABLE_SIZE: output must be int64, got {y!r}")
    context.resize_tensor(y, (1,))


def _size(context: Context, node: Node) -> None:
    context.output(node, 0).array()[...] = len(_filled(context, node, "HASHTABLE_SIZE")[1])


REGISTRATIONS = (
    registration("HASHTABLE", _prepare_hashtable),
    registration("HASHTABLE_FIND", _prepare_find, _find),
    registration("HASHTABLE_IMPORT", _prepare_import, _import),
    registration("HASHTABLE_SIZE", _prepare_size, _size),
)
