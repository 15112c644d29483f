"""MatrixDiag, MatrixSetDiag and MatrixBandPart."""

from __future__ import annotations

import numpy as np

from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator
from ..element_types import numpy_dtype_of
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .binary import binary
from .cast import cast_to
from .lowering import Lowering, Rule
from .select import selected
from .shape import places_along


def matrix_diag(lowering: Lowering, node: Node) -> LiteTensor:
    """MATRIX_DIAG of the main diagonal."""
    x = lowering.input(node, 0)
    shape = None if x.shape is None else (*x.shape, x.shape[-1])
    return lowering.operator(node, BuiltinOperator.MATRIX_DIAG, [x], shape)


def matrix_diag_v2(lowering: Lowering, node: Node) -> LiteTensor:
    """As MatrixDiag, where it asks for no more: diagonal 0, a square, zeros elsewhere."""
    k, rows, columns = (lowering.integers_input(node, i, "diagonals and sizes") for i in (1, 2, 3))
    padding = lowering.constant_input(node, 4, "the padding value")
    x = lowering.input(node, 0)
    size = None if x.shape is None else x.shape[-1]
    if set(k) != {0} or not {*rows, *columns} <= {-1, size} or np.any(padding != 0):
        raise UnsupportedError("MATRIX_DIAG makes squares of the main diagonal with zeros around it")
    return matrix_diag(lowering, node)


def matrix_set_diag(lowering: Lowering, node: Node) -> LiteTensor:
    """MATRIX_SET_DIAG of the main diagonal."""
    x, diagonal = lowering.input(node, 0), lowering.input(node, 1)
    if len(node.operands) > 2 and set(lowering.integers_input(node, 2, "the diagonals")) != {0}:
        raise UnsupportedError("MATRIX_SET_DIAG sets the main diagonal")
    return lowering.operator(node, BuiltinOperator.MATRIX_SET_DIAG, [x, diagonal], x.shape)


def matrix_band_part(lowering: Lowering, node: Node) -> LiteTensor:
    """x where a mask of the band says so, zero elsewhere; the mask is constant where the sizes are known."""
    x, *widths = lowering.inputs(node)
    if x.shape is None or len(x.shape) < 2:
        raise UnsupportedError("the matrix's rank must be known")
    if any(width.data is None for width in widths):
        band = _given_band(lowering, node, x, *widths)
        return selected(lowering, node, band, x, lowering.scalar(lowering.name(node, "/zero"), 0, x))
    [lower], [upper] = (lowering.integers_input(node, i, "the band's widths") for i in (1, 2))
    if lower < 0 and upper < 0:
        return x
    if -1 in x.shape[-2:]:
        band = _band(lowering, node, x, lower, upper)
    else:
        rows, columns = x.shape[-2:]
        below = np.arange(rows)[:, None] - np.arange(columns)
        mask = ((lower < 0) | (below <= lower)) & ((upper < 0) | (-below <= upper))
        band = lowering.constant(lowering.name(node, "/band"), mask)
    return selected(lowering, node, band, x, lowering.scalar(lowering.name(node, "/zero"), 0, x))


def _band(lowering: Lowering, node: Node, x: LiteTensor, lower: int, upper: int) -> LiteTensor:
    """The mask of a band that is lower and upper wide, or without an end where that is negative."""
    below = binary(lowering, node, BuiltinOperator.SUB, *_rows_and_columns(lowering, node, x))
    ends = ((lower, BuiltinOperator.LESS_EQUAL, 1), (upper, BuiltinOperator.GREATER_EQUAL, -1))
    masks = []
    for width, code, sign in ends:
        if width >= 0:
            # Nothing is further off than an int32 can tell.
            limit = np.array(sign * min(width, np.iinfo(np.int32).max), np.int32)
            masks.append(binary(lowering, node, code, below, lowering.constant(lowering.name(node), limit)))
    if len(masks) == 1:
        return masks[0]
    return binary(lowering, node, BuiltinOperator.LOGICAL_AND, *masks)


def _given_band(
    lowering: Lowering, node: Node, x: LiteTensor, lower: LiteTensor, upper: LiteTensor
) -> LiteTensor:
    """The mask of a band of widths that are given while running: no width, or no more than that off."""
    masks = []
    for width, sign in ((lower, 1), (upper, -1)):
        zero = lowering.scalar(lowering.name(node, "/no_width"), 0, width)
        endless = binary(lowering, node, BuiltinOperator.LESS, width, zero)
        off = _off(lowering, node, x, width.type, sign)
        near = binary(lowering, node, BuiltinOperator.LESS_EQUAL, off, width)
        masks.append(binary(lowering, node, BuiltinOperator.LOGICAL_OR, near, endless))
    return binary(lowering, node, BuiltinOperator.LOGICAL_AND, *masks)


def _off(lowering: Lowering, node: Node, x: LiteTensor, to: TensorType, sign: int) -> LiteTensor:
    """How far each element is below the diagonal, or above it where the sign is -1."""
    assert x.shape is not None
    rows, columns = x.shape[-2:]
    if -1 not in (rows, columns):
        off = sign * (np.arange(rows)[:, None] - np.arange(columns))
        return lowering.constant(lowering.name(node, "/off"), off.astype(numpy_dtype_of(to)))
    places = _rows_and_columns(lowering, node, x)[::sign]
    return cast_to(lowering, node, binary(lowering, node, BuiltinOperator.SUB, *places), to)


def _rows_and_columns(lowering: Lowering, node: Node, x: LiteTensor) -> tuple[LiteTensor, LiteTensor]:
    """The number of each row, [rows, 1], and of each column, int32."""
    rows, columns = (places_along(lowering, node, x, axis) for axis in (-2, -1))
    axis = lowering.constant(lowering.name(node, "/axis"), np.array(1, np.int32))
    shape = None if rows.shape is None else (*rows.shape, 1)
    return lowering.operator(node, BuiltinOperator.EXPAND_DIMS, [rows, axis], shape), columns


REGISTRATIONS: dict[str, Rule] = {
    "MatrixBandPart": matrix_band_part,
    "MatrixDiag": matrix_diag,
    "MatrixDiagV2": matrix_diag_v2,
    "MatrixDiagV3": matrix_diag_v2,
    "MatrixSetDiag": matrix_set_diag,
    "MatrixSetDiagV2": matrix_set_diag,
    "MatrixSetDiagV3": matrix_set_diag,
}
