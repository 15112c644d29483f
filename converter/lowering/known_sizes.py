"""What is known of the numbers in vectors that graphs compute shapes in.

A graph that reshapes to [batch, 7 * 7 * 64] computes that vector from its input's shape. The batch is
not known, the other number is: the reshape's result has a partly known shape.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...kernels.fallback.node_runner import run_node
from ...kernels.fallback.register import fallback_kernels
from ...kernels.fallback.status import OpError
from ...lite.errors import ModelError, UnsupportedError
from ...lite.tensor import TensorType
from ..element_types import numpy_dtype_of
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .flex import node_def_of
from .lowering import Lowering

# Ops whose results depend on each element of their operands as sums, products and places do: if a
# result is the same for two sets of primes in place of the unknown elements, it is the same for all.
_ARITHMETIC = frozenset(
    (
        *("Add", "AddV2", "Sub", "Mul", "Neg", "Sum", "Prod", "Cast", "Pack", "Unpack", "Concat", "ConcatV2"),
        *("ExpandDims", "Squeeze", "Reshape", "Slice", "StridedSlice", "GatherV2", "Gather", "Split"),
        *("SplitV", "Tile", "ReverseV2"),
    )
)
_OF_SHAPES = frozenset(("Shape", "ShapeN", "Size", "Rank"))
_INTEGERS = (TensorType.INT32, TensorType.INT64)
_MOST_ELEMENTS = 64
# Far apart, and no sum or product of two is another.
_PRIMES = (10007, 20011, 40009, 80021, 160001, 320009)


def known_results(lowering: Lowering, node: Node, results: Sequence[LiteTensor]) -> list[LiteTensor]:
    """The results, with what is known of their numbers; those all of whose numbers are known as constants."""
    if not any(result.type in _INTEGERS and _is_short(result) for result in results):
        return list(results)
    if node.op in _OF_SHAPES:
        found = _of_shapes(lowering, node)
    elif node.op in _ARITHMETIC:
        found = _of_arithmetic(lowering, node)
    else:
        return list(results)
    return [
        _with(lowering, r, known) for r, known in zip(results, found or [None] * len(results), strict=True)
    ]


def _is_short(tensor: LiteTensor) -> bool:
    return tensor.data is None and (tensor.shape is None or len(tensor.shape) <= 1)


def _with(lowering: Lowering, result: LiteTensor, known: np.ndarray | None) -> LiteTensor:
    """The result, knowing these numbers (-1 where not known), of the shape that they have."""
    if known is None or result.type not in _INTEGERS or not _is_short(result) or known.size > _MOST_ELEMENTS:
        return result
    if -1 not in known:
        return lowering.constant(result.name, known.astype(numpy_dtype_of(result.type)), result.type)
    result.shape = known.shape
    result.sizes = tuple(int(number) for number in known.reshape(-1))
    return result


def _of_shapes(lowering: Lowering, node: Node) -> list[np.ndarray | None] | None:
    found: list[np.ndarray | None] = []
    for x in lowering.inputs(node):
        if x.shape is None:
            found.append(None)
        elif node.op == "Rank":
            found.append(np.array(len(x.shape)))
        elif node.op == "Size":
            known = 0 if 0 in x.shape else -1 if -1 in x.shape else int(np.prod(x.shape, dtype=np.int64))
            found.append(np.array(known))
        else:
            found.append(np.array(x.shape, np.int64).reshape(-1))
    return found


def _of_arithmetic(lowering: Lowering, node: Node) -> list[np.ndarray | None] | None:
    """The numbers that come out the same whatever the unknown ones are; None when nothing is known."""
    inputs = lowering.inputs(node)
    known = [x.known() for x in inputs]
    if any(numbers is None for numbers in known) or not fallback_kernels().registrations(node.op):
        return None
    try:
        runs = [_run(node, inputs, known, first) for first in (0, 1)]
    except (UnsupportedError, OpError, ModelError):
        # What is wrong with it is for its rule to say.
        return None
    found: list[np.ndarray | None] = []
    for one, other in zip(*runs, strict=True):
        same = one.shape == other.shape
        # A number that is really -1 is taken for an unknown one, which is right, if less than could be said.
        found.append(np.where(one == other, one, -1) if same and one.dtype.kind == "i" else None)
    return found


def _run(
    node: Node, inputs: Sequence[LiteTensor], known: Sequence[tuple[int, ...] | None], first: int
) -> list[np.ndarray]:
    """The node's results with primes for the numbers that are not known."""
    values: list[np.ndarray] = []
    used = first
    for x, numbers in zip(inputs, known, strict=True):
        if x.data is not None:
            values.append(x.data)
            continue
        assert numbers is not None and x.shape is not None
        filled = []
        for number in numbers:
            filled.append(_PRIMES[used % len(_PRIMES)] if number == -1 else number)
            used += 3 * (number == -1)
        values.append(np.array(filled, numpy_dtype_of(x.type)).reshape(x.shape))
    return run_node(node_def_of(node), values)
