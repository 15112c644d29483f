"""Communication among devices, of which this process is the only one."""

from __future__ import annotations

import numpy as np

from ...lite.errors import UnsupportedError
from .dtypes import NUMBERS
from .registry import kernel
from .status import InvalidArgumentError


def collective_reduce(input: np.ndarray, *, group_size: int, merge_op: str, final_op: str) -> np.ndarray:
    """What the devices of a group give, put together: of a group of one, the input.

    UnsupportedError for larger groups: the others are in other processes, or on devices that are not there.
    """
    if group_size < 1 or merge_op not in ("Min", "Max", "Mul", "Add") or final_op not in ("Id", "Div"):
        message = f"group_size {group_size}, merge_op {merge_op!r} and final_op {final_op!r}"
        raise InvalidArgumentError(f"CollectiveReduce: must be of a group, got {message}")
    if group_size > 1:
        message = f"group_size must be 1, got {group_size}: the others of the group are not in this process"
        raise UnsupportedError(f"CollectiveReduce: {message}; run the graph of one device alone")
    return input


REGISTRATIONS = (kernel("CollectiveReduce", collective_reduce, T=NUMBERS),)
