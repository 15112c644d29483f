"""STABLEHLO_GATHER and STABLEHLO_SCATTER: boxes of an array at places that a tensor gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor
from ..schema.named_tuple import NamedTuple
from .index_vector import check_counts, check_index_type, check_same_type, check_sizes, output_of
from .operators import registration
from .reduction_body import FOLDS, Body, body_of
from .strided_copy import row_major_strides


def _axes(values: Sequence[int] | None) -> list[int]:
    return [] if values is None else [int(n) for n in values]


def _check_axes(operator: str, what: str, axes: Sequence[int], rank: int) -> None:
    if len(set(axes)) != len(axes) or any(not 0 <= axis < rank for axis in axes):
        raise PrepareError(f"{operator}: {what} must be different axes under {rank}, got {list(axes)}")


class Boxes(NamedTuple):
    """Boxes of `sizes` in an array: one for each index vector, a vector's axes being `named`.

    The boxes' axes other than those in `dropped` (of size 1) appear as axes `at` of a tensor
    of all boxes, whose other axes are those of the index vectors.
    """

    sizes: list[int]
    named: list[int]
    dropped: list[int]
    at: list[int]
    vector_axis: int

    def check(self, operator: str, x: Shape, indices: Shape) -> None:
        """PrepareError unless boxes and index vectors fit x."""
        rank = len(x)
        _check_axes(operator, "axes that indices name", self.named, rank)
        _check_axes(operator, "axes left out", self.dropped, rank)
        _check_axes(operator, "axes of windows", self.at, len(self.batch(indices)) + len(self.at))
        if len(self.sizes) != rank or any(not 0 <= n <= m for n, m in zip(self.sizes, x, strict=False)):
            raise PrepareError(f"{operator}: window sizes must fit in {list(x)}, got {self.sizes}")
        if any(self.sizes[axis] != 1 for axis in self.dropped) or len(self.at) != rank - len(self.dropped):
            raise PrepareError(
                f"{operator}: axes left out must have windows of 1, and every other have a place in the "
                f"output, got window {self.sizes}, axes {self.dropped} and places {self.at}"
            )
        if not 0 <= self.vector_axis <= len(indices):
            raise PrepareError(
                f"{operator}: the axis of index vectors must be in [0, {len(indices)}], "
                f"got {self.vector_axis}"
            )
        length = indices[self.vector_axis] if self.vector_axis < len(indices) else 1
        if length != len(self.named):
            raise PrepareError(
                f"{operator}: index vectors must have {len(self.named)} elements, "
                f"got {length} ({list(indices)})"
            )

    def batch(self, indices: Shape) -> list[int]:
        return [n for d, n in enumerate(indices) if d != self.vector_axis]

    def shape(self, indices: Shape) -> Shape:
        """The shape of all boxes as one tensor."""
        batch = iter(self.batch(indices))
        kept = iter(n for d, n in enumerate(self.sizes) if d not in self.dropped)
        rank = len(indices) - (self.vector_axis < len(indices)) + len(self.at)
        return tuple(next(kept) if d in self.at else next(batch) for d in range(rank))

    def starts(self, indices: np.ndarray, rank: int) -> np.ndarray:
        """Where each box starts: int64 [batch..., rank]."""
        vectors = indices.astype(np.int64)
        vectors = vectors[..., None] if self.vector_axis == indices.ndim else vectors
        starts = np.zeros((*self.batch(indices.shape), rank), np.int64)
        starts[..., self.named] = np.moveaxis(vectors, self.vector_axis, -1)
        return starts

    def places(self, starts: np.ndarray) -> np.ndarray:
        """Coordinates of all elements: int64 [boxes' shape, rank]."""
        rank = starts.shape[-1]
        inside = np.stack(np.meshgrid(*map(np.arange, self.sizes), indexing="ij"), -1) if rank else starts
        kept = [n for d, n in enumerate(self.sizes) if d not in self.dropped]
        inside = inside.reshape(*kept, rank)
        batch_rank = starts.ndim - 1
        places = starts.reshape(*starts.shape[:-1], *[1] * len(kept), rank) + inside
        others = [d for d in range(batch_rank + len(kept)) if d not in self.at]
        order = np.argsort([*others, *sorted(self.at)]).tolist() if places.ndim > 1 else []
        return places.transpose(*order, places.ndim - 1)


def _positions(places: np.ndarray, shape: Shape) -> np.ndarray:
    return places @ np.array(row_major_strides(shape, 1), np.int64).reshape(len(shape))


def _gather(context: Context, node: Node) -> tuple[Tensor, Tensor, Tensor, Boxes]:
    operator, options = "STABLEHLO_GATHER", node.options
    check_counts(operator, node, 2)
    x, indices = context.input(node, 0), context.input(node, 1)
    check_index_type(operator, "indices", indices)
    if options is None:
        raise PrepareError(f"{operator}: options must give the slices, got none")
    boxes = Boxes(
        _axes(options.slice_sizes),
        _axes(options.start_index_map),
        _axes(options.collapsed_slice_dims),
        _axes(options.offset_dims),
        int(options.index_vector_dim),
    )
    boxes.check(operator, x.shape, indices.shape)
    x.dtype  # noqa: B018 - an error for types that NumPy lacks
    return x, indices, output_of(context, node, operator, x), boxes


def _prepare_gather(context: Context, node: Node) -> None:
    _, indices, y, boxes = _gather(context, node)
    context.resize_tensor(y, check_sizes("STABLEHLO_GATHER", boxes.shape(indices.shape)))


def _invoke_gather(context: Context, node: Node) -> None:
    """Boxes that reach out of the array are moved inside."""
    x, indices, y, boxes = _gather(context, node)
    if not y.size:
        return
    most = np.array(x.shape, np.int64) - np.array(boxes.sizes, np.int64)
    starts = np.clip(boxes.starts(indices.array(), len(x.shape)), 0, most)
    y.array()[...] = x.array().reshape(-1)[_positions(boxes.places(starts), x.shape)]


class Scatter(NamedTuple):
    """Arrays of one shape, their updates of one shape, the outputs, and where the updates go."""

    arrays: list[Tensor]
    indices: Tensor
    updates: list[Tensor]
    outputs: list[Tensor]
    boxes: Boxes


def _scatter(context: Context, node: Node) -> Scatter:
    operator, options = "STABLEHLO_SCATTER", node.options
    count = len(node.outputs)
    check_counts(operator, node, 2 * count + 1, max(count, 1))
    arrays = [context.input(node, i) for i in range(count)]
    indices = context.input(node, count)
    updates = [context.input(node, count + 1 + i) for i in range(count)]
    outputs = [context.output(node, i) for i in range(count)]
    check_index_type(operator, "indices", indices)
    if options is None:
        raise PrepareError(f"{operator}: options must give the windows, got none")
    for x, update, y in zip(arrays, updates, outputs, strict=True):
        check_same_type(operator, x, update)
        check_same_type(operator, x, y)
        if x.shape != arrays[0].shape or update.shape != updates[0].shape:
            raise PrepareError(
                f"{operator}: arrays must have one shape, and updates one, "
                f"got {x!r} and {update!r} beside {arrays[0]!r} and {updates[0]!r}"
            )
        x.dtype  # noqa: B018 - an error for types that NumPy lacks
    return Scatter(arrays, indices, updates, outputs, _update_boxes(node, arrays[0], indices, updates[0]))


def _update_boxes(node: Node, x: Tensor, indices: Tensor, updates: Tensor) -> Boxes:
    operator, options = "STABLEHLO_SCATTER", node.options
    dropped, at = _axes(options.inserted_window_dims), _axes(options.update_window_dims)
    _check_axes(operator, "axes of windows", at, len(updates.shape))
    kept = iter(updates.shape[axis] for axis in sorted(at))
    sizes = [1 if d in dropped else next(kept, -1) for d in range(len(x.shape))]
    boxes = Boxes(
        sizes, _axes(options.scatter_dims_to_operand_dims), dropped, at, int(options.index_vector_dim)
    )
    boxes.check(operator, x.shape, indices.shape)
    if boxes.shape(indices.shape) != updates.shape:
        raise PrepareError(
            f"{operator}: updates must have the shape {list(boxes.shape(indices.shape))}, got {updates!r}"
        )
    return boxes


def _body(context: Context, node: Node, scatter: Scatter) -> Body:
    index = int(node.options.update_computation_subgraph_index)
    return body_of(context, node, "STABLEHLO_SCATTER", index, [x.type for x in scatter.arrays])


def _prepare_scatter(context: Context, node: Node) -> None:
    scatter = _scatter(context, node)
    _body(context, node, scatter)
    for x, y in zip(scatter.arrays, scatter.outputs, strict=True):
        context.resize_tensor(y, x.shape)


def _invoke_scatter(context: Context, node: Node) -> None:
    """Elements that would be outside of the array are left out; updates of one element go in order."""
    scatter = _scatter(context, node)
    x, boxes = scatter.arrays[0], scatter.boxes
    if not x.size:
        return
    for source, y in zip(scatter.arrays, scatter.outputs, strict=True):
        y.array()[...] = source.array()
    if not scatter.updates[0].size:
        return
    places = boxes.places(boxes.starts(scatter.indices.array(), len(x.shape)))
    inside = ((places >= 0) & (places < np.array(x.shape, np.int64))).all(-1)
    positions = _positions(places, x.shape)[inside]
    values = [update.array()[inside] for update in scatter.updates]
    flat = [y.array().reshape(-1) for y in scatter.outputs]
    body = _body(context, node, scatter)
    if body.name:
        with np.errstate(all="ignore"):
            FOLDS[body.name].at(flat[0], positions, values[0])
    elif body.gives_second:
        for target, new in zip(flat, values, strict=True):
            target[positions] = new
    else:
        _join_in_turns(body, flat, positions, values)


def _join_in_turns(
    body: Body, flat: list[np.ndarray], positions: np.ndarray, values: list[np.ndarray]
) -> None:
    """Join values to the elements at positions; of equal positions, one is joined in each turn."""
    order = np.argsort(positions, kind="stable")
    ordered = positions[order]
    _, first, counts = np.unique(ordered, return_index=True, return_counts=True)
    turn = np.arange(len(ordered)) - np.repeat(first, counts)
    by_turn, ends = order[np.argsort(turn, kind="stable")], np.cumsum(np.bincount(turn))
    for chosen in np.split(by_turn, ends[:-1]):
        at = positions[chosen]
        joined = body.join([target[at] for target in flat], [new[chosen] for new in values])
        for target, new in zip(flat, joined, strict=True):
            target[at] = new


REGISTRATIONS = (
    registration("STABLEHLO_GATHER", _prepare_gather, _invoke_gather),
    registration("STABLEHLO_SCATTER", _prepare_scatter, _invoke_scatter),
)
