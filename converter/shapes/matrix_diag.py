"""Diagonals."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction
from .dimensions import ANY, PartialShape


def diag(c: ShapeContext) -> Results:
    shape = c.at_least(0, 1)
    return [None if shape is None else shape + shape]


def diag_part(c: ShapeContext) -> Results:
    shape = c.shape_of(0)
    if shape is None:
        return [None]
    if not shape or len(shape) % 2:
        raise c.fault(f"input must have an even rank, got {len(shape)}")
    half = len(shape) // 2
    return [c.merged(shape[:half], shape[half:])]


def matrix_diag(c: ShapeContext) -> Results:
    shape = c.at_least(0, 1)
    return [None if shape is None else (*shape, shape[-1])]


def matrix_diag_part(c: ShapeContext) -> Results:
    shape = c.at_least(0, 2)
    if shape is None:
        return [None]
    return [(*shape[:-2], ANY if ANY in shape[-2:] else min(shape[-2:]))]


def _diagonals(c: ShapeContext) -> tuple[int, int] | None:
    """Lowest and highest diagonal."""
    numbers = c.known_numbers(1)
    if numbers is None or not numbers:
        return None
    return numbers[0], numbers[-1]


def matrix_diag_part_v2(c: ShapeContext) -> Results:
    shape, band = c.at_least(0, 2), _diagonals(c)
    if shape is None or band is None:
        return [None]
    rows, columns = shape[-2:]
    low, high = band
    length = ANY if ANY in (rows, columns) else min(rows + min(high, 0), columns - max(low, 0))
    if low == high:
        return [(*shape[:-2], length)]
    return [(*shape[:-2], high - low + 1, length)]


def matrix_diag_v2(c: ShapeContext) -> Results:
    """Diagonals, k, rows, columns and padding: sizes of -1 are as small as they can be."""
    shape, band = c.at_least(0, 1), _diagonals(c)
    if shape is None:
        return [None]
    if band is None:
        return [None]
    low, high = band
    batch: PartialShape = shape[:-1] if low == high else shape[:-2]
    assert batch is not None
    length = shape[-1]
    rows, columns = c.number(2), c.number(3)
    if rows is None or columns is None or length == ANY:
        known = [ANY if n is None or n < 0 else n for n in (rows, columns)]
        return [(*batch, *known)]
    least_rows, least_columns = length - min(high, 0), length + max(low, 0)
    if rows == -1 and columns == -1:
        side = max(least_rows, least_columns)
        rows = columns = side
    rows = least_rows if rows == -1 else rows
    columns = least_columns if columns == -1 else columns
    return [(*batch, rows, columns)]


REGISTRATIONS: dict[str, ShapeFunction] = {
    "Diag": diag,
    "DiagPart": diag_part,
    **dict.fromkeys(("MatrixDiag", "BatchMatrixDiag"), matrix_diag),
    **dict.fromkeys(("MatrixDiagPart", "BatchMatrixDiagPart"), matrix_diag_part),
    **dict.fromkeys(("MatrixDiagPartV2", "MatrixDiagPartV3"), matrix_diag_part_v2),
    **dict.fromkeys(("MatrixDiagV2", "MatrixDiagV3"), matrix_diag_v2),
}
