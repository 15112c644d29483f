"""MATRIX_DIAG and MATRIX_SET_DIAG: matrices given their main diagonals."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor
from .fill import fill_calls
from .index_vector import check_counts, check_same_type, output_of
from .operators import registration
from .reshape import flat_copy_calls
from .strided_copy import StridedCopy, element_bytes, strided_copy_calls


def _diagonal_calls(context: Context, diagonal: Tensor, y: Tensor, item_bytes: int) -> list[KernelCall]:
    """Copy [..., n] onto the diagonals of y."""
    rows, columns = y.shape[-2:]
    length = min(rows, columns)
    sizes = (math.prod(y.shape[:-2]), length)
    source = (length * item_bytes, item_bytes)
    target = (rows * columns * item_bytes, (columns + 1) * item_bytes)
    return strided_copy_calls(context, StridedCopy(item_bytes, sizes, 0, source, 0, target), diagonal, y)


def _prepare_diag(context: Context, node: Node) -> Sequence[KernelCall]:
    check_counts("MATRIX_DIAG", node, 1)
    x = context.input(node, 0)
    y = output_of(context, node, "MATRIX_DIAG", x)
    if not x.shape:
        raise PrepareError(f"MATRIX_DIAG: input must have 1 dimension at least, got {x!r}")
    context.resize_tensor(y, (*x.shape, x.shape[-1]))
    item_bytes = element_bytes(x, "MATRIX_DIAG")
    return fill_calls(context, y, item_bytes, y.size, None) + _diagonal_calls(context, x, y, item_bytes)


def _prepare_set_diag(context: Context, node: Node) -> Sequence[KernelCall]:
    check_counts("MATRIX_SET_DIAG", node, 2)
    x, diagonal = context.input(node, 0), context.input(node, 1)
    y = output_of(context, node, "MATRIX_SET_DIAG", x)
    check_same_type("MATRIX_SET_DIAG", diagonal, y)
    if len(x.shape) < 2 or diagonal.shape != (*x.shape[:-2], min(x.shape[-2:])):
        raise PrepareError(
            f"MATRIX_SET_DIAG: the diagonal must have one element a row or column of each matrix, "
            f"got {diagonal!r} for {x!r}"
        )
    context.resize_tensor(y, x.shape)
    item_bytes = element_bytes(x, "MATRIX_SET_DIAG")
    copies = flat_copy_calls(context, x, y, x.size * item_bytes)
    return copies + _diagonal_calls(context, diagonal, y, item_bytes)


REGISTRATIONS = (
    registration("MATRIX_DIAG", _prepare_diag),
    registration("MATRIX_SET_DIAG", _prepare_set_diag),
)
