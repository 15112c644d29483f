"""Rows sent to lists by number, and lists put back in order."""

from __future__ import annotations

import numpy as np

from .axis import flattened
from .dtypes import ANY
from .gather import check_indices
from .kernel import checked_shape, zeros
from .registry import kernel
from .status import InvalidArgumentError


def dynamic_partition(data: np.ndarray, partitions: np.ndarray, *, num_partitions: int) -> list[np.ndarray]:
    """data's parts with each number of partitions, whose shape is how data's begins, in order."""
    rank = partitions.ndim
    if data.shape[:rank] != partitions.shape:
        message = f"data must begin with the shape {list(partitions.shape)}, got {list(data.shape)}"
        raise InvalidArgumentError(f"DynamicPartition: {message}")
    check_indices(partitions, num_partitions, "partitions")
    rows = flattened(data, rank)
    flat = partitions.reshape(-1)
    return [rows[flat == number] for number in range(num_partitions)]


def dynamic_stitch(indices: list[np.ndarray], data: list[np.ndarray]) -> np.ndarray:
    """Rows of data at the places that indices name; the last of several for one place stays.

    Each data's shape begins with its indices'; places that none names hold zeros.
    """
    if not indices:
        raise InvalidArgumentError("DynamicStitch: there must be indices, got none")
    rest = data[0].shape[indices[0].ndim :]
    for places, rows in zip(indices, data, strict=True):
        if rows.shape != (*places.shape, *rest):
            message = f"data must be {[*places.shape, *rest]}, got {list(rows.shape)}"
            raise InvalidArgumentError(f"DynamicStitch: {message}")
    count = max((int(places.max()) + 1 for places in indices if places.size), default=0)
    checked_shape([count, *rest], data[0].dtype)
    made = zeros((count, *rest), data[0].dtype)
    for places, rows in zip(indices, data, strict=True):
        check_indices(places, count)
        made[places.reshape(-1)] = rows.reshape(places.size, *rest)
    return made


REGISTRATIONS = (
    kernel("DynamicPartition", dynamic_partition, T=ANY),
    kernel("DynamicStitch", dynamic_stitch, T=ANY),
    kernel("ParallelDynamicStitch", dynamic_stitch, T=ANY),
)
