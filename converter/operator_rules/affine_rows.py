"""Rows that are products and sums of other rows with constants: followed through operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...schema.tflite import (
    ActivationFunctionType,
    BatchMatMulOptionsT,
    ConcatenationOptionsT,
    FullyConnectedOptionsT,
    StridedSliceOptionsT,
)
from ...schema.tflite import BuiltinOperator as Op
from ..lite_graph import LiteOperator, LiteTensor
from ..partial_shape import is_known
from .pattern import activation_of

# More elements no slice of columns is tried on.
_MOST_ELEMENTS = 1 << 20


@dataclass(frozen=True)
class Affine:
    """Each source's rows times its matrix [width of the source, width], all added, and the bias [width]."""

    matrices: Mapping[LiteTensor, np.ndarray]
    bias: np.ndarray

    def mapped(self, change: Callable[[np.ndarray], np.ndarray]) -> Affine:
        """The same done to the columns of everything."""
        return Affine({x: change(matrix) for x, matrix in self.matrices.items()}, change(self.bias))

    def plus(self, other: Affine) -> Affine:
        """The sum of two of the same width."""
        matrices = dict(self.matrices)
        for x, matrix in other.matrices.items():
            matrices[x] = matrices[x] + matrix if x in matrices else matrix
        return Affine(matrices, self.bias + other.bias)


class AffineRows:
    """Follows tensors back to sources, whose elements along the last axis are a row's.

    constant gives what is known of a tensor's elements.
    """

    def __init__(
        self, sources: Sequence[LiteTensor], constant: Callable[[LiteTensor], np.ndarray | None]
    ) -> None:
        self.constant = constant
        self._found: dict[LiteTensor, Affine | None] = {}
        for x in sources:
            width = (x.shape or (-1,))[-1]
            known = Affine({x: np.eye(width, dtype=np.float32)}, np.zeros(width, np.float32))
            self._found[x] = known if width > 0 else None

    def of(self, tensor: LiteTensor) -> Affine | None:
        """The tensor's rows by those of the sources; None where they are not such a sum."""
        if tensor not in self._found:
            # What leads back to itself is none.
            self._found[tensor] = None
            self._found[tensor] = self._made(tensor)
        return self._found[tensor]

    def _made(self, y: LiteTensor) -> Affine | None:
        operator = y.producer
        rule = None if operator is None else _RULES.get(operator.code)
        if operator is None or rule is None or not y.shape or activation_of(operator) not in _PLAIN:
            return None
        return rule(self, operator, y)

    def row(self, x: LiteTensor, like: LiteTensor) -> np.ndarray | None:
        """A constant that is added to or multiplied with all rows of a tensor alike, as one row."""
        data, width = self.constant(x), (like.shape or (-1,))[-1]
        if data is None or data.dtype != np.float32 or width == -1 or data.ndim > len(like.shape or ()):
            return None
        if data.size == 0 or (data.shape or (1,))[-1] not in (1, width):
            return None
        rows = data.reshape(-1, (data.shape or (1,))[-1])
        return np.broadcast_to(rows[0], (width,)) if (rows == rows[0]).all() else None

    def matrix(self, x: LiteTensor) -> np.ndarray | None:
        """A constant matrix."""
        data = self.constant(x)
        if (
            data is None
            or data.dtype != np.float32
            or data.ndim < 2
            or data.size != data[(0,) * (data.ndim - 2)].size
        ):
            return None
        return data.reshape(data.shape[-2:])


_PLAIN = (None, ActivationFunctionType.NONE)


def _times(rows: AffineRows, x: LiteTensor, matrix: np.ndarray | None) -> Affine | None:
    found = rows.of(x)
    if found is None or matrix is None or matrix.shape[0] != found.bias.size:
        return None
    return found.mapped(lambda columns: columns @ matrix)


def _fully_connected(rows: AffineRows, operator: LiteOperator, y: LiteTensor) -> Affine | None:
    options, weights = operator.options, rows.matrix(operator.operand(1))
    if not isinstance(options, FullyConnectedOptionsT) or options.weights_format or weights is None:
        return None
    made = _times(rows, operator.operand(0), weights.T)
    bias = operator.operands[2] if len(operator.operands) > 2 else None
    if made is None or bias is None:
        return made
    row = rows.row(bias, y)
    return None if row is None else Affine(made.matrices, made.bias + row)


def _batch_matmul(rows: AffineRows, operator: LiteOperator, y: LiteTensor) -> Affine | None:
    options, matrix = operator.options, rows.matrix(operator.operand(1))
    if not isinstance(options, BatchMatMulOptionsT) or options.adj_x or matrix is None:
        return None
    return _times(rows, operator.operand(0), matrix.T if options.adj_y else matrix)


def _combined(rows: AffineRows, operator: LiteOperator, y: LiteTensor) -> Affine | None:
    """Of ADD and SUB."""
    a, b = operator.operand(0), operator.operand(1)
    sign = np.float32(-1 if operator.code == Op.SUB else 1)
    parts = []
    for x, factor in ((a, np.float32(1)), (b, sign)):
        row = rows.row(x, y)
        found = Affine({}, row) if row is not None else rows.of(x) if x.shape == y.shape else None
        if found is None:
            return None
        parts.append(found.mapped(partial(np.multiply, factor)))
    return parts[0].plus(parts[1])


def _scaled(rows: AffineRows, operator: LiteOperator, y: LiteTensor) -> Affine | None:
    a, b = operator.operand(0), operator.operand(1)
    for x, other in ((a, b), (b, a)):
        factor = rows.row(other, y)
        found = rows.of(x) if factor is not None and x.shape == y.shape else None
        if found is not None and factor is not None:
            return found.mapped(partial(np.multiply, factor))
    return None


def _same_rows(rows: AffineRows, operator: LiteOperator, y: LiteTensor) -> Affine | None:
    """Of a RESHAPE that keeps the last axis."""
    x = operator.operand(0)
    assert y.shape
    return rows.of(x) if x.shape and x.shape[-1] == y.shape[-1] != -1 else None


def _part(rows: AffineRows, operator: LiteOperator, y: LiteTensor) -> Affine | None:
    """Of SPLIT along the last axis."""
    axis, x = rows.constant(operator.operand(0)), operator.operand(1)
    if axis is None or not x.shape or int(axis.reshape(-1)[0]) % len(x.shape) != len(x.shape) - 1:
        return None
    found, place = rows.of(x), list(operator.results).index(y)
    if found is None:
        return None
    return found.mapped(lambda columns: np.split(columns, len(operator.results), axis=-1)[place])


def _sized_part(rows: AffineRows, operator: LiteOperator, y: LiteTensor) -> Affine | None:
    """Of SPLIT_V along the last axis."""
    x, sizes, axis = (
        operator.operand(0),
        rows.constant(operator.operand(1)),
        rows.constant(operator.operand(2)),
    )
    if (
        axis is None
        or sizes is None
        or not x.shape
        or int(axis.reshape(-1)[0]) % len(x.shape) != len(x.shape) - 1
    ):
        return None
    found, place = rows.of(x), list(operator.results).index(y)
    if found is None or (sizes < 0).any():
        return None
    ends = np.cumsum(sizes)
    return found.mapped(lambda columns: columns[..., ends[place] - sizes[place] : ends[place]])


def _columns(rows: AffineRows, operator: LiteOperator, y: LiteTensor) -> Affine | None:
    """Of SLICE and STRIDED_SLICE that leave out but columns."""
    x, options = operator.operand(0), operator.options
    bounds = [rows.constant(operand) for operand in operator.operands[1:] if operand is not None]
    if not x.shape or not is_known(x.shape) or any(bound is None for bound in bounds):
        return None
    found = rows.of(x)
    if found is None or np.prod(x.shape) > _MOST_ELEMENTS:
        return None
    numbers = [[int(n) for n in bound.reshape(-1)] for bound in bounds if bound is not None]
    slices = []
    for axis, size in enumerate(x.shape):
        if axis >= len(numbers[0]):
            slices.append(slice(None))
        elif isinstance(options, StridedSliceOptionsT):
            if options.ellipsis_mask or options.new_axis_mask or options.shrink_axis_mask or options.offset:
                return None
            begin = None if options.begin_mask >> axis & 1 else numbers[0][axis]
            end = None if options.end_mask >> axis & 1 else numbers[1][axis]
            slices.append(slice(begin, end, numbers[2][axis]))
        else:
            begin, count = numbers[0][axis], numbers[1][axis]
            slices.append(slice(begin, size if count == -1 else begin + count))
    if any(range(size)[part] != range(size) for size, part in zip(x.shape[:-1], slices[:-1], strict=True)):
        return None
    return found.mapped(lambda columns: columns[..., slices[-1]])


def _joined(rows: AffineRows, operator: LiteOperator, y: LiteTensor) -> Affine | None:
    """Of CONCATENATION along the last axis."""
    options, parts = operator.options, [rows.of(x) for x in operator.operands if x is not None]
    assert y.shape
    if not isinstance(options, ConcatenationOptionsT) or options.axis % len(y.shape) != len(y.shape) - 1:
        return None
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    matrices = {}
    for source in {x: None for part in known for x in part.matrices}:
        depth = next(part.matrices[source].shape[0] for part in known if source in part.matrices)
        blocks = [part.matrices.get(source, np.zeros((depth, part.bias.size), np.float32)) for part in known]
        matrices[source] = np.concatenate(blocks, axis=-1)
    return Affine(matrices, np.concatenate([part.bias for part in known]))


_RULES: dict[Op, Callable[[AffineRows, LiteOperator, LiteTensor], Affine | None]] = {
    Op.ADD: _combined,
    Op.BATCH_MATMUL: _batch_matmul,
    Op.CONCATENATION: _joined,
    Op.EXPAND_DIMS: _same_rows,
    Op.FULLY_CONNECTED: _fully_connected,
    Op.MUL: _scaled,
    Op.RESHAPE: _same_rows,
    Op.SLICE: _columns,
    Op.SPLIT: _part,
    Op.SPLIT_V: _sized_part,
    Op.STRIDED_SLICE: _columns,
    Op.SUB: _combined,
}
