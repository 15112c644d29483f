"""Outputs whose values are known when the node is prepared: nodes behind them may size their own by them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..lite.context import Context
from ..lite.tensor import NUMPY_DTYPES, OVERREAD_BYTES, AllocationType, Shape, Tensor

_MOST_BYTES = 4096  # more than that is no arithmetic on shapes


def set_constant(context: Context, tensor: Tensor, values: np.ndarray) -> None:
    """Give an output its shape and its values (of the tensor's dtype), for as long as these shapes hold."""
    context.resize_tensor(tensor, values.shape)
    memory = np.zeros(values.nbytes + OVERREAD_BYTES, np.uint8)[: values.nbytes]
    memory[:] = np.frombuffer(values.tobytes(), np.uint8)
    tensor.bind(memory)
    tensor.allocation_type = AllocationType.PERSISTENT_RO


def is_small_constant(inputs: Iterable[Tensor], y: Tensor, shape: Shape) -> bool:
    """Whether to compute an output of this shape in prepare: its inputs are constant, and it is small.

    Such are the shapes that models put together from parts of other shapes.
    """
    dtype = NUMPY_DTYPES.get(y.type)
    if dtype is None or int(np.prod(shape, dtype=np.float64)) * dtype.itemsize > _MOST_BYTES:
        return False
    return all(x.is_constant for x in inputs)
