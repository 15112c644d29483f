"""Diagonals of matrices, in the last two axes: read, written, made, and bands kept."""

from __future__ import annotations

import math

import numpy as np

from .axis import scalar
from .dtypes import ANY, INDICES, NUMBERS
from .kernel import checked_shape, zeros
from .registry import kernel
from .status import InvalidArgumentError

_ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def diag(diagonal: np.ndarray) -> np.ndarray:
    """The tensor of twice the axes with diagonal at [i..., i...], zeros elsewhere."""
    _needs_axes(diagonal, 1)
    checked_shape(diagonal.shape * 2, diagonal.dtype)
    return np.diag(diagonal.reshape(-1)).reshape(diagonal.shape * 2)


def diag_part(x: np.ndarray) -> np.ndarray:
    """x[i..., i...] of a tensor whose second half of axes repeats the first."""
    half = x.ndim // 2
    if x.ndim % 2 or x.shape[:half] != x.shape[half:]:
        message = f"the second half of the axes must repeat the first, got {list(x.shape)}"
        raise InvalidArgumentError(f"DiagPart: {message}")
    count = math.prod(x.shape[:half])
    return np.diagonal(x.reshape(count, count)).reshape(x.shape[:half])


def _needs_axes(x: np.ndarray, count: int) -> None:
    if x.ndim < count:
        raise InvalidArgumentError(f"input must have at least {count} axes, got {list(x.shape)}")


def matrix_diag(diagonal: np.ndarray) -> np.ndarray:
    """Square matrices of zeros with these diagonals."""
    _needs_axes(diagonal, 1)
    size = diagonal.shape[-1]
    checked_shape([*diagonal.shape, size], diagonal.dtype)
    made = zeros((*diagonal.shape, size), diagonal.dtype)
    made[..., range(size), range(size)] = diagonal
    return made


def matrix_diag_part(x: np.ndarray) -> np.ndarray:
    """The main diagonals."""
    _needs_axes(x, 2)
    return np.diagonal(x, axis1=-2, axis2=-1)


def matrix_set_diag(x: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    """x with these main diagonals."""
    _needs_axes(x, 2)
    size = min(x.shape[-2:])
    if diagonal.shape != (*x.shape[:-2], size):
        message = f"diagonal must be {[*x.shape[:-2], size]}, got {list(diagonal.shape)}"
        raise InvalidArgumentError(f"MatrixSetDiag: {message}")
    made = x.copy()
    made[..., range(size), range(size)] = diagonal
    return made


def matrix_band_part(x: np.ndarray, num_lower: np.ndarray, num_upper: np.ndarray) -> np.ndarray:
    """x with zeros below num_lower and above num_upper diagonals; a negative number keeps all."""
    _needs_axes(x, 2)
    rows, columns = x.shape[-2:]
    lower, upper = scalar(num_lower, "num_lower"), scalar(num_upper, "num_upper")
    if lower > rows or upper > columns:
        message = f"num_lower and num_upper must be within {[rows, columns]}, got {lower} and {upper}"
        raise InvalidArgumentError(f"MatrixBandPart: {message}")
    offsets = np.arange(columns)[None] - np.arange(rows)[:, None]
    kept = ((lower < 0) | (-offsets <= lower)) & ((upper < 0) | (offsets <= upper))
    return np.where(kept, x, zeros((), x.dtype))


def _band(k: np.ndarray) -> tuple[int, int]:
    if k.ndim > 1 or k.size not in (1, 2):
        raise InvalidArgumentError(f"k must be one or two diagonals, got {list(k.shape)}")
    values = [int(value) for value in k.reshape(-1)]
    if values[0] > values[-1]:
        raise InvalidArgumentError(f"k must not fall, got {values}")
    return values[0], values[-1]


def _within(rows: int, columns: int, band: tuple[int, int]) -> None:
    low, high = band
    # The main diagonal is there even in an empty matrix.
    if any(end and not -rows < end < columns for end in band):
        raise InvalidArgumentError(f"k must be within ({-rows}, {columns}), got {low} to {high}")


def _places(
    rows: int, columns: int, band: tuple[int, int], align: str
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """How a band is stored: its width; and row and column in the matrix and in the band of each element.

    The band's first row is its highest diagonal. A short diagonal stands left or right by align,
    whose first word is for those above the main one, the second for those below.
    """
    low, high = band
    if align not in _ALIGNMENTS:
        raise InvalidArgumentError(f"align must be one of {', '.join(_ALIGNMENTS)}, got {align!r}")
    above, below = align.split("_")
    width = min(rows + min(high, 0), columns - max(low, 0))
    found = []
    for number, offset in enumerate(range(high, low - 1, -1)):
        length = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
        side = above if offset >= 0 else below
        start = width - length if side == "RIGHT" else 0
        i = np.arange(length)
        found.append((i + max(-offset, 0), i + max(offset, 0), np.full(length, number), i + start))
    row, column, number_, place = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return width, row, column, number_, place


def matrix_diag_part_v3(x: np.ndarray, k: np.ndarray, padding_value: np.ndarray, *, align: str) -> np.ndarray:
    """The diagonals k of matrices: [..., length] of one, [..., diagonals, longest] of several.

    Diagonal 0 is the main one, negative ones are below. Short ones are padded.
    """
    _needs_axes(x, 2)
    band = _band(k)
    _within(x.shape[-2], x.shape[-1], band)
    width, row, column, number, place = _places(x.shape[-2], x.shape[-1], band, align)
    made = np.full((*x.shape[:-2], band[1] - band[0] + 1, width), padding_value[()], x.dtype)
    made[..., number, place] = x[..., row, column]
    return made[..., 0, :] if band[0] == band[1] else made


def matrix_diag_part_v2(x: np.ndarray, k: np.ndarray, padding_value: np.ndarray) -> np.ndarray:
    """matrix_diag_part_v3 with all diagonals aligned left."""
    return matrix_diag_part_v3(x, k, padding_value, align="LEFT_LEFT")


def _diagonals(diagonal: np.ndarray, band: tuple[int, int]) -> np.ndarray:
    """The diagonals with an axis for their number."""
    _needs_axes(diagonal, 1 if band[0] == band[1] else 2)
    held = diagonal[..., None, :] if band[0] == band[1] else diagonal
    if held.shape[-2] != band[1] - band[0] + 1:
        message = f"there must be {band[1] - band[0] + 1} diagonals, got {list(diagonal.shape)}"
        raise InvalidArgumentError(message)
    return held


def matrix_set_diag_v3(x: np.ndarray, diagonal: np.ndarray, k: np.ndarray, *, align: str) -> np.ndarray:
    """x with the diagonals k, stored as matrix_diag_part_v3 gives them."""
    _needs_axes(x, 2)
    band = _band(k)
    _within(x.shape[-2], x.shape[-1], band)
    width, row, column, number, place = _places(x.shape[-2], x.shape[-1], band, align)
    held = _diagonals(diagonal, band)
    if held.shape[-1] != width or held.shape[:-2] != x.shape[:-2]:
        message = f"diagonals must be of {width} for {list(x.shape)}, got {list(diagonal.shape)}"
        raise InvalidArgumentError(f"MatrixSetDiag: {message}")
    made = x.copy()
    made[..., row, column] = held[..., number, place]
    return made


def matrix_set_diag_v2(x: np.ndarray, diagonal: np.ndarray, k: np.ndarray) -> np.ndarray:
    """matrix_set_diag_v3 with all diagonals aligned left."""
    return matrix_set_diag_v3(x, diagonal, k, align="LEFT_LEFT")


def matrix_diag_v3(
    diagonal: np.ndarray,
    k: np.ndarray,
    num_rows: np.ndarray,
    num_cols: np.ndarray,
    padding_value: np.ndarray,
    *,
    align: str,
) -> np.ndarray:
    """Matrices with the diagonals k, padding_value elsewhere.

    -1 rows or columns are as few as the diagonals need, so that the matrix is square if it can be.
    """
    band = _band(k)
    held = _diagonals(diagonal, band)
    width = held.shape[-1]
    least_rows, least_columns = width - min(band[1], 0), width + max(band[0], 0)
    rows, columns = scalar(num_rows, "num_rows"), scalar(num_cols, "num_cols")
    if rows == -1 and columns == -1:
        rows = columns = max(least_rows, least_columns)
    rows, columns = (least_rows if rows == -1 else rows), (least_columns if columns == -1 else columns)
    if rows < least_rows or columns < least_columns or (rows != least_rows and columns != least_columns):
        message = f"the diagonals need {least_rows} rows or {least_columns} columns"
        raise InvalidArgumentError(f"MatrixDiag: {message}, got {rows} and {columns}")
    checked_shape([*held.shape[:-2], rows, columns], diagonal.dtype)
    _, row, column, number, place = _places(rows, columns, band, align)
    made = np.full((*held.shape[:-2], rows, columns), padding_value[()], diagonal.dtype)
    made[..., row, column] = held[..., number, place]
    return made


def matrix_diag_v2(
    diagonal: np.ndarray,
    k: np.ndarray,
    num_rows: np.ndarray,
    num_cols: np.ndarray,
    padding_value: np.ndarray,
) -> np.ndarray:
    """matrix_diag_v3 with all diagonals aligned left."""
    return matrix_diag_v3(diagonal, k, num_rows, num_cols, padding_value, align="LEFT_LEFT")


REGISTRATIONS = (
    kernel("Diag", diag, T=NUMBERS),
    kernel("DiagPart", diag_part, T=NUMBERS),
    *(kernel(op, matrix_diag, T=ANY) for op in ("MatrixDiag", "BatchMatrixDiag")),
    *(kernel(op, matrix_diag_part, T=ANY) for op in ("MatrixDiagPart", "BatchMatrixDiagPart")),
    *(kernel(op, matrix_set_diag, T=ANY) for op in ("MatrixSetDiag", "BatchMatrixSetDiag")),
    kernel("MatrixBandPart", matrix_band_part, T=ANY, Tindex=INDICES),
    kernel("BatchMatrixBandPart", matrix_band_part, T=ANY),
    kernel("MatrixDiagPartV2", matrix_diag_part_v2, T=ANY),
    kernel("MatrixDiagPartV3", matrix_diag_part_v3, T=ANY),
    kernel("MatrixSetDiagV2", matrix_set_diag_v2, T=ANY),
    kernel("MatrixSetDiagV3", matrix_set_diag_v3, T=ANY),
    kernel("MatrixDiagV2", matrix_diag_v2, T=ANY),
    kernel("MatrixDiagV3", matrix_diag_v3, T=ANY),
)
