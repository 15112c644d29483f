"""Einsum of one or two operands: BATCH_MATMUL between transposes and reshapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import (
    BatchMatMulOptionsT,
    BuiltinOperator,
    FullyConnectedOptionsT,
    GatherOptionsT,
    PackOptionsT,
    ReshapeOptionsT,
)
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .binary import binary
from .lowering import Lowering, Rule
from .reduce import reduced
from .reshape import reshaped
from .shape import shape_of

# No letters, so that no equation has them.
_OTHER_LABELS = "01234567"


class _Operand(NamedTuple):
    """A tensor and the label of each of its axes."""

    tensor: LiteTensor
    labels: str


def einsum(lowering: Lowering, node: Node) -> LiteTensor:
    """Labels of both operands and the result are batches, of both only are summed over."""
    inputs = lowering.inputs(node)
    operands, result = _parsed(node.text("equation"), inputs)
    elsewhere = [set(result).union(*(o.labels for o in operands if o is not each)) for each in operands]
    summed = [_summed(lowering, node, o, kept) for o, kept in zip(operands, elsewhere, strict=True)]
    if len(summed) == 1:
        return _arranged(lowering, node, summed[0], result).tensor
    return _product(lowering, node, summed[0], summed[1], result)


def _parsed(equation: str, tensors: Sequence[LiteTensor]) -> tuple[list[_Operand], str]:
    """Operands with a label for each axis, and the result's labels."""
    left, arrow, result = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if not arrow or len(terms) != len(tensors):
        raise ModelError(f"equation must have a term for each of {len(tensors)} operands, got {equation!r}")
    if len(tensors) > 2:
        raise UnsupportedError("more than two operands")
    result, terms = _without_ellipsis(result, terms, tensors)
    operands = []
    for term, tensor in zip(terms, tensors, strict=True):
        if tensor.shape is None:
            raise UnsupportedError("the ranks of the operands must be known")
        if len(term) != len(tensor.shape):
            raise ModelError(f"equation must have a label for each axis, got {equation!r} for {tensor!r}")
        if len(set(term)) != len(term):
            raise UnsupportedError("a label twice in one operand")
        operands.append(_Operand(tensor, term))
    return operands, result


def _without_ellipsis(
    result: str, terms: Sequence[str], tensors: Sequence[LiteTensor]
) -> tuple[str, list[str]]:
    """The terms with a label of its own for each axis of an ellipsis, the last ones in common."""
    counts = []
    for term, tensor in zip(terms, tensors, strict=True):
        if "..." in term and tensor.shape is not None:
            counts.append(max(len(tensor.shape) - len(term) + 3, 0))
    most = max(counts, default=0)
    if most > len(_OTHER_LABELS):
        raise ModelError(f"equation: an ellipsis stands for {most} axes, {len(_OTHER_LABELS)} are the most")
    labels = _OTHER_LABELS[:most]
    found = []
    for term, tensor in zip(terms, tensors, strict=True):
        count = 0 if tensor.shape is None else max(len(tensor.shape) - len(term) + 3, 0)
        found.append(term.replace("...", labels[most - count :] if "..." in term else ""))
    return result.replace("...", labels), found


def _summed(lowering: Lowering, node: Node, operand: _Operand, kept: set[str]) -> _Operand:
    """Without the axes that nothing else has."""
    axes = [i for i, label in enumerate(operand.labels) if label not in kept]
    if not axes:
        return operand
    tensor = reduced(lowering, node, BuiltinOperator.SUM, operand.tensor, axes, False)
    return _Operand(tensor, "".join(label for label in operand.labels if label in kept))


def _arranged(lowering: Lowering, node: Node, operand: _Operand, labels: str) -> _Operand:
    """With its axes in another order."""
    if operand.labels == labels:
        return operand
    order = [operand.labels.index(label) for label in labels]
    name = f"/{operand.labels}_{labels}"
    return _Operand(lowering.transposed(node, operand.tensor, order, name), labels)


def _product(lowering: Lowering, node: Node, a: _Operand, b: _Operand, result: str) -> LiteTensor:
    sizes = _Sizes(a, b)
    batch = "".join(label for label in result if label in a.labels and label in b.labels)
    inner = "".join(label for label in a.labels if label in b.labels and label not in result)
    rows = "".join(label for label in a.labels if label not in b.labels)
    columns = "".join(label for label in b.labels if label not in a.labels)
    if not batch and inner and b.tensor.data is not None and a.tensor.type == TensorType.FLOAT32:
        spread = _dense(lowering, node, a, b, (rows, inner, columns), sizes)
        return _arranged(lowering, node, _Operand(spread, rows + columns), result).tensor
    if not batch and len(rows) > 1 and len(inner) == len(columns) == 1 and a.labels == rows + inner:
        # The operator stretches a matrix over the first operand's rows by itself.
        spread = _stretched(lowering, node, a, b, (rows, inner, columns), sizes)
        return _arranged(lowering, node, _Operand(spread, rows + columns), result).tensor
    x, adj_x = _matrices(lowering, node, a, batch, rows, inner, sizes)
    y, adj_y = _matrices(lowering, node, b, batch, inner, columns, sizes)
    shape = (*(sizes[label] for label in batch), _whole(rows, sizes), _whole(columns, sizes))
    options = BatchMatMulOptionsT(adj_x=adj_x, adj_y=adj_y)
    z = lowering.operator(node, BuiltinOperator.BATCH_MATMUL, [x, y], shape, options)
    labels = batch + rows + columns
    spread = _reshaped(lowering, node, z, tuple(labels), sizes)
    return _arranged(lowering, node, _Operand(spread, labels), result).tensor


def _dense(
    lowering: Lowering,
    node: Node,
    a: _Operand,
    b: _Operand,
    parts: tuple[str, str, str],
    sizes: _Sizes,
) -> LiteTensor:
    """FULLY_CONNECTED with a constant operand; the result's axes are a's rows and b's columns."""
    rows, inner, columns = parts
    weights = _arranged(lowering, node, b, columns + inner).tensor
    assert weights.data is not None
    units, depth = _whole(columns, sizes), _whole(inner, sizes)
    matrix = lowering.constant(weights.name, weights.data.reshape(units, depth))
    x = _reshaped(lowering, node, _arranged(lowering, node, a, rows + inner).tensor, (*rows, inner), sizes)
    flat = (*(sizes[label] for label in rows), depth)
    options = FullyConnectedOptionsT(keep_num_dims=len(flat) != 2)
    inputs = [x, matrix, None]
    y = lowering.operator(node, BuiltinOperator.FULLY_CONNECTED, inputs, (*flat[:-1], units), options)
    return _reshaped(lowering, node, y, tuple(rows + columns), sizes)


def _stretched(
    lowering: Lowering,
    node: Node,
    a: _Operand,
    b: _Operand,
    parts: tuple[str, str, str],
    sizes: _Sizes,
) -> LiteTensor:
    """BATCH_MATMUL of rows with a matrix; the result's axes are a's rows and b's columns."""
    rows, inner, columns = parts
    options = BatchMatMulOptionsT(adj_x=False, adj_y=b.labels == columns + inner)
    shape = tuple(sizes[label] for label in rows + columns)
    return lowering.operator(node, BuiltinOperator.BATCH_MATMUL, [a.tensor, b.tensor], shape, options)


class _Sizes(dict[str, int]):
    """The size of each label, -1 where it is not known, and an operand that has it."""

    def __init__(self, *operands: _Operand) -> None:
        super().__init__()
        self.operands: dict[str, _Operand] = {}
        for operand in operands:
            assert operand.tensor.shape is not None
            for label, size in zip(operand.labels, operand.tensor.shape, strict=True):
                known = self.setdefault(label, size)
                self.operands.setdefault(label, operand)
                if -1 in (known, size):
                    self[label] = max(known, size)
                elif known != size:
                    raise ModelError(f"label {label!r} must have one size, got {known} and {size}")


def _whole(labels: str, sizes: _Sizes) -> int:
    """The size of several axes made one."""
    size = 1
    for label in labels:
        size = -1 if -1 in (size, sizes[label]) else size * sizes[label]
    return size


def _matrices(
    lowering: Lowering,
    node: Node,
    operand: _Operand,
    batch: str,
    first: str,
    second: str,
    sizes: _Sizes,
) -> tuple[LiteTensor, bool]:
    """The operand as [batch ..., first, second], or with the last two swapped where that is its order."""
    swapped = operand.labels == batch + second + first
    labels = operand.labels if swapped else batch + first + second
    tensor = _arranged(lowering, node, operand, labels).tensor
    ends = (second, first) if swapped else (first, second)
    return _reshaped(lowering, node, tensor, (*batch, *ends), sizes), swapped


def _reshaped(
    lowering: Lowering, node: Node, x: LiteTensor, groups: tuple[str, ...], sizes: _Sizes
) -> LiteTensor:
    """With an axis for each group of labels."""
    shape = tuple(_whole(group, sizes) for group in groups)
    if x.shape == shape:
        return x
    made = reshaped(lowering, node, x, shape)
    if made is not None:
        return made
    parts = [_length(lowering, node, group, sizes) for group in groups]
    rank = (len(parts),)
    options = PackOptionsT(values_count=len(parts), axis=0)
    wanted = lowering.operator(node, BuiltinOperator.PACK, parts, rank, options)
    wanted.sizes = shape
    return lowering.operator(node, BuiltinOperator.RESHAPE, [x, wanted], shape, ReshapeOptionsT())


def _length(lowering: Lowering, node: Node, labels: str, sizes: _Sizes) -> LiteTensor:
    """The size of several axes made one, as a scalar: known, or computed when the model runs."""
    known = 1
    lengths: list[LiteTensor] = []
    for label in labels:
        if sizes[label] != -1:
            known *= sizes[label]
        else:
            lengths.append(_open_length(lowering, node, label, sizes))
    if known != 1 or not lengths:
        lengths.append(lowering.constant(lowering.name(node, f"/{known}"), np.array(known, np.int32)))
    length = lengths[0]
    for other in lengths[1:]:
        length = binary(lowering, node, BuiltinOperator.MUL, length, other)
    return length


def _open_length(lowering: Lowering, node: Node, label: str, sizes: _Sizes) -> LiteTensor:
    operand = sizes.operands[label]
    shape = shape_of(lowering, node, operand.tensor, TensorType.INT32)
    axis = operand.labels.index(label)
    place = lowering.constant(lowering.name(node, f"/axis{axis}"), np.array(axis, np.int32))
    return lowering.operator(node, BuiltinOperator.GATHER, [shape, place], (), GatherOptionsT())


REGISTRATIONS: dict[str, Rule] = {"Einsum": einsum}
