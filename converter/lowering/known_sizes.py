"""What is known of the numbers in vectors that graphs compute shapes in.

A graph that reshapes to [batch, 7 * 7 * 64] computes that vector from its input's shape. The batch is
not known, the other number is: the reshape's result has a partly known shape.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.tensor import TensorType
from ..element_types import numpy_dtype_of
from ..ir.node import Node
from ..lite_graph import LiteTensor
from ..shapes.context import UNKNOWN
from .lowering import Lowering

_INTEGERS = (TensorType.INT32, TensorType.INT64)
_MOST_ELEMENTS = 64


def known_results(lowering: Lowering, node: Node, results: Sequence[LiteTensor]) -> list[LiteTensor]:
    """The results, with what is known of their numbers; those all of whose numbers are known as constants."""
    if not any(result.type in _INTEGERS and _is_short(result) for result in results):
        return list(results)
    values = lowering.inferred(node).values
    return [_with(lowering, result, known) for result, known in zip(results, values, strict=True)]


def _is_short(tensor: LiteTensor) -> bool:
    return tensor.data is None and (tensor.shape is None or len(tensor.shape) <= 1)


def _with(lowering: Lowering, result: LiteTensor, known: np.ndarray | None) -> LiteTensor:
    """The result, knowing these numbers, of the shape that they have."""
    if known is None or result.type not in _INTEGERS or not _is_short(result) or known.dtype != np.int64:
        return result
    if known.ndim > 1 or known.size > _MOST_ELEMENTS:
        return result
    if UNKNOWN not in known:
        return lowering.constant(result.name, known.astype(numpy_dtype_of(result.type)), result.type)
    result.shape = known.shape
    result.sizes = tuple(-1 if number == UNKNOWN else int(number) for number in known.reshape(-1))
    return result
