"""MatrixDiag, MatrixSetDiag and MatrixBandPart."""

from __future__ import annotations

from typing import cast

import numpy as np

from ...lite.errors import UnsupportedError
from ...schema.tflite import BuiltinOperator
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule
from .select import selected


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
    """x where a constant mask of the band says so, zero elsewhere."""
    x = lowering.input(node, 0)
    [lower], [upper] = (lowering.integers_input(node, i, "the band's widths") for i in (1, 2))
    if x.shape is None or len(x.shape) < 2 or -1 in x.shape[-2:]:
        raise UnsupportedError("the matrix's sizes must be known")
    rows, columns = cast(tuple[int, int], x.shape[-2:])
    below = np.arange(rows)[:, None] - np.arange(columns)
    mask = ((lower < 0) | (below <= lower)) & ((upper < 0) | (-below <= upper))
    band = lowering.constant(lowering.name(node, "/band"), mask)
    return selected(lowering, node, band, x, lowering.scalar(lowering.name(node, "/zero"), 0, x))


REGISTRATIONS: dict[str, Rule] = {
    "MatrixBandPart": matrix_band_part,
    "MatrixDiag": matrix_diag,
    "MatrixDiagV2": matrix_diag_v2,
    "MatrixDiagV3": matrix_diag_v2,
    "MatrixSetDiag": matrix_set_diag,
    "MatrixSetDiagV2": matrix_set_diag,
    "MatrixSetDiagV3": matrix_set_diag,
}
