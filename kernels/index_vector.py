"""Integers that an operator is given as tensors or options: shapes, axes, begins, paddings.

They may be results of other nodes, computed in prepare where those that they follow from are constant.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..lite.available_memory import OVERREAD_BYTES
from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.node import Node
from ..lite.tensor import MOST_KNOWN_BYTES, NUMPY_DTYPES, AllocationType, Shape, Tensor, TensorType

INDEX_TYPES = (TensorType.INT32, TensorType.INT64)
MAX_SIZE = 2**31 - 1  # the format keeps sizes as int32


def check_index_type(operator: str, what: str, tensor: Tensor, types: tuple[int, ...] = INDEX_TYPES) -> None:
    if tensor.type not in types:
        names = " or ".join(TensorType(t).name.lower() for t in types)
        raise PrepareError(f"{operator}: {what} must be {names}, got {tensor!r}")


def integers(tensor: Tensor) -> list[int]:
    """The values of a tensor of integers, in order."""
    return [int(value) for value in np.ravel(tensor.array())]


def scalar_integer(operator: str, what: str, tensor: Tensor) -> int:
    """The value of a tensor of exactly one integer."""
    check_index_type(operator, what, tensor)
    if tensor.size != 1:
        raise PrepareError(f"{operator}: {what} must be one integer, got {tensor!r}")
    return integers(tensor)[0]


def normalized_axis(operator: str, axis: int, rank: int, what: str = "axis") -> int:
    """The axis counted from the front; PrepareError unless -rank <= axis < rank."""
    if not -rank <= axis < rank:
        raise PrepareError(f"{operator}: {what} must be in [{-rank}, {rank}), got {axis}")
    return axis % rank


def check_sizes(operator: str, shape: Shape) -> Shape:
    """The shape itself; PrepareError when a size does not fit the format's int32."""
    if any(not 0 <= size <= MAX_SIZE for size in shape):
        raise PrepareError(f"{operator}: output sizes must be in [0, {MAX_SIZE}], got {shape}")
    return shape


def check_counts(operator: str, node: Node, inputs: int, outputs: int = 1) -> None:
    """PrepareError unless the node has exactly so many inputs and outputs."""
    if len(node.inputs) != inputs or len(node.outputs) != outputs:
        raise PrepareError(
            f"{operator}: must have {inputs} inputs and {outputs} outputs, "
            f"got {len(node.inputs)} and {len(node.outputs)}"
        )


def check_same_type(operator: str, x: Tensor, y: Tensor) -> None:
    if x.type != y.type:
        raise PrepareError(f"{operator}: input and output must have one type, got {x!r} and {y!r}")


def check_same_quantization(operator: str, x: Tensor, y: Tensor) -> None:
    """PrepareError unless both tensors have one scale and one zero point (or none)."""
    if quantization_pair(x) != quantization_pair(y):
        raise PrepareError(
            f"{operator}: input and output must have one scale and zero point, "
            f"got {quantization_pair(x)} ({x!r}) and {quantization_pair(y)} ({y!r})"
        )


def quantization_pair(tensor: Tensor) -> tuple[float, int]:
    """(scale, zero point) of a tensor, the first of several; (0, 0) when it has none."""
    quantization = tensor.quantization
    if quantization is None or not len(quantization.scales):
        return 0.0, 0
    return float(quantization.scales[0]), quantization.zero_point


def output_of(context: Context, node: Node, operator: str, x: Tensor) -> Tensor:
    """The node's only output, checked to be of x's type."""
    y = context.output(node, 0)
    check_same_type(operator, x, y)
    return y


def set_constant(context: Context, tensor: Tensor, values: np.ndarray) -> None:
    """Give an output its shape and its values (of the tensor's dtype), for as long as these shapes hold."""
    context.resize_tensor(tensor, values.shape)
    memory = np.zeros(values.nbytes + OVERREAD_BYTES, np.uint8)[: values.nbytes]
    memory[:] = np.frombuffer(values.tobytes(), np.uint8)
    tensor.bind(memory)
    tensor.allocation_type = AllocationType.PERSISTENT_RO


def is_small_constant(inputs: Iterable[Tensor], y: Tensor, shape: Shape) -> bool:
    """Whether to compute an output of this shape in prepare: its inputs are constant, and it is small.

    Such are the shapes that models put together from parts of other shapes. A variable is set anew in each
    run, as what reads it may write to it.
    """
    dtype = NUMPY_DTYPES.get(y.type)
    if dtype is None or y.is_variable:
        return False
    if int(np.prod(shape, dtype=np.float64)) * dtype.itemsize > MOST_KNOWN_BYTES:
        return False
    return all(x.is_constant for x in inputs)
