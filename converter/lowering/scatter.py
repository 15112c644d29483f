"""ScatterNd, SparseToDense, and tensors with some elements changed."""

from __future__ import annotations

import numpy as np

from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, FillOptionsT, GatherOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor, PartialShape
from ..partial_shape import is_known
from .binary import binary
from .cast import as_int32
from .lowering import Lowering, Rule
from .select import selected
from .shape import shape_of


def scattered(
    lowering: Lowering,
    node: Node,
    indices: LiteTensor,
    updates: LiteTensor,
    sizes: LiteTensor,
    shape: PartialShape,
) -> LiteTensor:
    """SCATTER_ND: zeros, and the sum of the updates for each index."""
    inputs = [as_int32(lowering, node, indices), updates, as_int32(lowering, node, sizes)]
    return lowering.operator(node, BuiltinOperator.SCATTER_ND, inputs, shape, type=updates.type)


def scatter_nd(lowering: Lowering, node: Node) -> LiteTensor:
    """SCATTER_ND; indices out of range must not be asked to do anything else than fail."""
    _check_policy(node)
    indices, updates, sizes = lowering.inputs(node)
    return scattered(lowering, node, indices, updates, sizes, lowering.result_shape(node))


def _check_policy(node: Node) -> None:
    policy = node.text("bad_indices_policy")
    if policy not in ("", "DEFAULT", "ERROR"):
        raise UnsupportedError(f"bad_indices_policy {policy} is not built")


def _sizes(lowering: Lowering, node: Node, x: LiteTensor) -> LiteTensor:
    """x's shape as a tensor."""
    if x.shape is not None and is_known(x.shape):
        return lowering.integers(lowering.name(node, "/shape"), x.shape)
    return shape_of(lowering, node, x, TensorType.INT32)


def tensor_scatter_update(lowering: Lowering, node: Node) -> LiteTensor:
    """The scattered updates where an index says so, x elsewhere."""
    _check_policy(node)
    x, indices, updates = lowering.inputs(node)
    indices, updates = _without_earlier(lowering, node, indices, updates)
    sizes, marks = _sizes(lowering, node, x), _marks(lowering, node, updates)
    changed = scattered(lowering, node, indices, marks, sizes, x.shape)
    values = scattered(lowering, node, indices, updates, sizes, x.shape)
    return selected(lowering, node, changed, values, x)


def _without_earlier(
    lowering: Lowering, node: Node, indices: LiteTensor, updates: LiteTensor
) -> tuple[LiteTensor, LiteTensor]:
    """Indices and updates; of constant indices without those that later ones of the same index replace.

    SCATTER_ND would add them up. Which of them counts otherwise, TensorFlow does not say.
    """
    if indices.data is None or not indices.data.size:
        return indices, updates
    flat = indices.data.reshape(-1, indices.data.shape[-1])
    count, given = len(flat), updates.shape
    kept = np.sort(count - 1 - np.unique(flat[::-1], axis=0, return_index=True)[1])
    if len(kept) == count:
        return indices, updates
    rest = None if given is None else given[indices.data.ndim - 1 :]
    if indices.data.ndim != 2:
        if rest is None or not is_known(rest):
            raise UnsupportedError(
                f"updates must be of known sizes where an index has several, got {updates}"
            )
        flat_sizes = lowering.integers(lowering.name(node, "/flat"), (count, *rest))
        updates = lowering.operator(node, BuiltinOperator.RESHAPE, [updates, flat_sizes], (count, *rest))
    places = lowering.integers(lowering.name(node, "/kept"), kept.tolist())
    shape = None if rest is None else (len(kept), *rest)
    options = GatherOptionsT(axis=0)
    last = lowering.operator(node, BuiltinOperator.GATHER, [updates, places], shape, options)
    return lowering.constant(lowering.name(node, "/indices"), flat[kept]), last


def _marks(lowering: Lowering, node: Node, updates: LiteTensor) -> LiteTensor:
    """True for each of the updates."""
    if updates.shape is not None and is_known(updates.shape):
        return lowering.constant(lowering.name(node, "/marks"), np.ones(updates.shape, np.bool_))
    yes = lowering.constant(lowering.name(node, "/yes"), np.array(True))
    sizes = shape_of(lowering, node, updates, TensorType.INT32)
    return lowering.operator(
        node, BuiltinOperator.FILL, [sizes, yes], updates.shape, FillOptionsT(), type=TensorType.BOOL
    )


def _with_scattered(code: BuiltinOperator) -> Rule:
    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        """x and the scattered updates, added or subtracted."""
        _check_policy(node)
        x, indices, updates = lowering.inputs(node)
        values = scattered(lowering, node, indices, updates, _sizes(lowering, node, x), x.shape)
        return binary(lowering, node, code, x, values)

    return rule


def sparse_to_dense(lowering: Lowering, node: Node) -> LiteTensor:
    """SPARSE_TO_DENSE."""
    inputs, shape = lowering.inputs(node), lowering.result_shape(node)
    return lowering.operator(node, BuiltinOperator.SPARSE_TO_DENSE, inputs, shape, type=inputs[2].type)


def invert_permutation(lowering: Lowering, node: Node) -> LiteTensor:
    """Each place, scattered to where the permutation has it."""
    x = lowering.input(node, 0)
    if x.shape is None or not is_known(x.shape):
        raise UnsupportedError("the length must be known")
    [count] = x.shape
    rows = lowering.integers(lowering.name(node, "/rows"), (count, 1))
    column = lowering.operator(node, BuiltinOperator.RESHAPE, [x, rows], (count, 1))
    dtype = np.int32 if x.type == TensorType.INT32 else np.int64
    places = lowering.constant(lowering.name(node, "/places"), np.arange(count, dtype=dtype))
    sizes = lowering.integers(lowering.name(node, "/count"), (count,))
    return scattered(lowering, node, column, places, sizes, (count,))


REGISTRATIONS: dict[str, Rule] = {
    "InvertPermutation": invert_permutation,
    "ScatterNd": scatter_nd,
    "SparseToDense": sparse_to_dense,
    "TensorScatterAdd": _with_scattered(BuiltinOperator.ADD),
    "TensorScatterSub": _with_scattered(BuiltinOperator.SUB),
    "TensorScatterUpdate": tensor_scatter_update,
}
