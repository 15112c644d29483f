"""Operators computed in Python by NumPy functions of whole arrays: types off the hot paths."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..lite.context import Context
from ..lite.node import Node
from ..lite.string_tensor import string_array, strings_of
from ..lite.tensor import Tensor, TensorType

ArrayFunction = Callable[..., np.ndarray]


def values_of(tensor: Tensor) -> np.ndarray:
    """The tensor's elements in its shape, a view of its memory; strings as an array of bytes objects.

    StateError where a string tensor has no value.
    """
    if tensor.type != TensorType.STRING:
        return tensor.array()
    return string_array(strings_of(tensor), tensor.shape)


def invoke_function(operator: str, function: ArrayFunction, context: Context, node: Node) -> None:
    """Set the node's output to function(*inputs), cast to its type; empty outputs stay."""
    y = context.output(node, 0)
    if y.size == 0:
        return
    operands = [values_of(context.input(node, i)) for i in range(len(node.inputs))]
    with np.errstate(all="ignore"):
        y.array()[...] = function(*operands)
