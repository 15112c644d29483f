"""Nodes that give variables and tables what a checkpoint has for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...lite.string_tensor import string_array
from ..ir.attributes import DenseAttr, ShapeAttr
from ..ir.node import Block, Node
from ..ir.types import TensorType
from .constant_variable import constant_node
from .restore import origin
from .stored_tensor import StoredTensor, stored

_DENSE_TABLES = frozenset(("MutableDenseHashTableV2", "MutableDenseHashTable"))


def restoring_node(
    block: Block, handle: Node, tensors: Sequence[StoredTensor], fresh: Callable[[str], str]
) -> Node:
    """A new node, behind new constants, that gives a handle's resource these contents.

    A variable has one tensor, a table its keys and its values. fresh makes names that are not taken.
    """
    op = "AssignVariableOp" if handle.op == "VarHandleOp" else "Assign"
    if len(tensors) > 1:
        op = "LookupTableImportV2"
        if handle.op in _DENSE_TABLES:
            op, tensors = "LookupTableInsertV2", _entries(handle, tensors)
    values = []
    for tensor in tensors:
        node = constant_node(fresh(f"{handle.name}/value"), tensor.attribute())
        values.append(block.append(node).results[0])
    types = [value.type.element for value in values if isinstance(value.type, TensorType)]
    names = {"AssignVariableOp": ("dtype",), "Assign": ("T",)}.get(op, ("Tin", "Tout"))
    made = Node(op, fresh(f"{handle.name}/restore"))
    made.attributes = dict(zip(names, types, strict=True))
    if op == "Assign":
        made.add_result(handle.results[0].type)
    block.append(made)
    made.operands = (handle.results[0], *values)
    return made


def _entries(handle: Node, tensors: Sequence[StoredTensor]) -> list[StoredTensor]:
    """Keys and values of a dense table, of which the checkpoint has all places, also the empty ones."""
    what = f"table {handle.name!r} ({handle.op})"
    places, values = (tensor.array() for tensor in tensors)
    if len(tensors) != 2 or not places.ndim or len(values) != len(places):
        raise ModelError(f"{what}: keys and values must be as many, got {places.shape} and {values.shape}")
    rows = places.reshape(len(places), -1)
    taken = np.ones(len(rows), bool)
    marks = [origin(operand).attributes.get("value") for operand in handle.operands]
    if not all(isinstance(mark, DenseAttr) and mark.type.shape is not None for mark in marks):
        raise UnsupportedError(f"{what}: its empty and deleted keys must be constants")
    shape: tuple[int, ...] = ()
    for mark in marks:
        assert isinstance(mark, DenseAttr) and mark.type.shape is not None
        shape = mark.type.shape
        taken &= ~np.all(rows == _elements(mark, places.dtype), axis=1)
    width = handle.attributes.get("value_shape")
    sizes = width.sizes if isinstance(width, ShapeAttr) and width.sizes is not None else ()
    value_shape = tuple(size or 0 for size in sizes)
    count = int(taken.sum())
    return [
        stored(tensors[0].dtype, rows[taken].reshape(count, *shape)),
        stored(tensors[1].dtype, values[taken].reshape(count, *value_shape)),
    ]


def _elements(mark: DenseAttr, dtype: np.dtype) -> np.ndarray:
    """All elements in a row, or the one that they all equal."""
    if not isinstance(mark.elements, tuple):
        return np.frombuffer(mark.elements, dtype)
    return string_array(mark.elements, [len(mark.elements)])
