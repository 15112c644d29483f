"""How much an operator does: multiply-adds, parameters and bytes, from its tensors' shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..schema.operator_code import CUSTOM, DELEGATE

if TYPE_CHECKING:
    from .node import Node
    from .tensor import Tensor

TensorOf = Callable[[int], "Tensor"]

# What they do depends on values, or on graphs of their own.
_UNKNOWN = frozenset(("CALL", "CALL_ONCE", "IF", "STABLEHLO_COMPOSITE", "STABLEHLO_WHILE", "WHILE"))
_RECURRENT = frozenset(
    (
        "BIDIRECTIONAL_SEQUENCE_LSTM",
        "BIDIRECTIONAL_SEQUENCE_RNN",
        "LSTM",
        "RNN",
        "SVDF",
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        "UNIDIRECTIONAL_SEQUENCE_RNN",
    )
)
# Where the axis of the weights' output channels is, for y = (input windows) x weights.
_OUTPUT_AXIS = {"CONV_2D": 0, "FULLY_CONNECTED": 0, "DEPTHWISE_CONV_2D": 3, "CONV_3D": 4}
# The axis of the weights' input channels, for those that spread each element of input 2.
_INPUT_AXIS = {"TRANSPOSE_CONV": 3, "CONV_3D_TRANSPOSE": 4}


def multiply_adds(node: Node, tensor: TensorOf) -> int | None:
    """Of operators that multiply matrices; 0 of the other builtin ones, None where nobody knows.

    Unknown are custom operators, delegates and those that run graphs. Padding counts as it were data.
    """
    name = node.registration.name
    if name in _UNKNOWN or node.registration.builtin_code in (CUSTOM, DELEGATE):
        return None
    if name in _OUTPUT_AXIS:
        return _count(tensor, node.outputs[0]) * _others(tensor, node.inputs[1], _OUTPUT_AXIS[name])
    if name in _INPUT_AXIS:
        return _count(tensor, node.inputs[2]) * _others(tensor, node.inputs[1], _INPUT_AXIS[name])
    if name == "BATCH_MATMUL":
        shape = tensor(node.inputs[0]).shape
        inner = shape[-2 if getattr(node.options, "adj_x", False) else -1]
        return _count(tensor, node.outputs[0]) * inner
    if name in _RECURRENT:
        rows = math.prod(tensor(node.inputs[0]).shape[:-1])
        weights = (tensor(t) for t in node.inputs[1:] if t >= 0)
        return rows * sum(w.size for w in weights if w.is_constant and len(w.shape) == 2)
    return 0


def parameters(node: Node, tensor: TensorOf) -> int:
    """Elements of the constants that it reads and that are weights: floats, or quantized."""
    found = {t: tensor(t) for t in node.inputs if t >= 0}
    return sum(
        x.size
        for x in found.values()
        if x.is_constant and (x.quantization is not None or x.type_name in _FLOATS)
    )


_FLOATS = frozenset(("float16", "bfloat16", "float32", "float64", "complex64", "complex128"))


def touched_bytes(node: Node, tensor: TensorOf) -> int:
    """Bytes of its inputs and outputs, each once: the least that is read and written."""
    return _nbytes(tensor, {t for t in (*node.inputs, *node.outputs) if t >= 0})


def _nbytes(tensor: TensorOf, indexes: Iterable[int]) -> int:
    found = (tensor(t) for t in indexes)
    return sum(x.data.size if x.is_constant and x.data is not None else x.nbytes for x in found)


def _count(tensor: TensorOf, index: int) -> int:
    return tensor(index).size


def _others(tensor: TensorOf, index: int, axis: int) -> int:
    """Elements of the weights along all axes but one."""
    shape = tensor(index).shape
    return math.prod(shape[:axis]) * math.prod(shape[axis + 1 :])
