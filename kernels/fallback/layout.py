"""Axes and vectors of one data format in the order of another."""

from __future__ import annotations

import numpy as np

from .dtypes import INDICES
from .gather import check_indices
from .registry import kernel
from .status import InvalidArgumentError


def _order(src_format: str, dst_format: str) -> list[int]:
    """The place of each axis of the one format in the other."""
    if sorted(src_format) != sorted(dst_format) or len(set(src_format)) != len(src_format):
        message = f"formats must name the same axes, got {src_format!r} and {dst_format!r}"
        raise InvalidArgumentError(message)
    return [dst_format.index(axis) for axis in src_format]


def data_format_dim_map(x: np.ndarray, *, src_format: str, dst_format: str) -> np.ndarray:
    """Axes of src_format, negative ones counted from the end, as axes of dst_format."""
    order = np.array(_order(src_format, dst_format), x.dtype)
    wrapped = np.where(x < 0, x + len(order), x)
    check_indices(wrapped, len(order), "x")
    return np.asarray(order[wrapped])


def data_format_vec_permute(x: np.ndarray, *, src_format: str, dst_format: str) -> np.ndarray:
    """Entries for axes of src_format (rows, in a matrix) in dst_format's order.

    Where only the axes of space have entries, the order is theirs.
    """
    if x.ndim not in (1, 2) or (x.ndim == 2 and x.shape[1] != 2):
        raise InvalidArgumentError(f"DataFormatVecPermute: x must be [n] or [n, 2], got {list(x.shape)}")
    source, target = src_format, dst_format
    if len(x) == len(source) - 2:
        source, target = (text.replace("N", "").replace("C", "") for text in (source, target))
    if len(x) != len(source):
        message = f"x must have {len(src_format)} or {len(src_format) - 2} entries, got {len(x)}"
        raise InvalidArgumentError(f"DataFormatVecPermute: {message}")
    made = np.empty_like(x)
    made[_order(source, target)] = x
    return made


REGISTRATIONS = (
    kernel("DataFormatDimMap", data_format_dim_map, T=INDICES),
    kernel("DataFormatVecPermute", data_format_vec_permute, T=INDICES),
)
