"""GATHER: launches from the argument block of kernels/gather.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...lite.errors import UnsupportedError
from .launch import Argument
from .lowering import BLOCK
from .movement import check_computed

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering


def lower(b: Lowering, step: Step) -> None:
    """One launch, of constant positions: a GPU cannot report one that is out of range."""
    node = step.node
    calls = b.calls(node)
    check_computed(b, node)
    for call in calls:
        x, positions, y, block = *(call.tensors[name] for name in ("x", "positions", "y")), call.args
        axis_size = int(block["axis_size"][0])
        if not positions.is_constant:
            raise UnsupportedError(
                "GATHER: positions must be constant, as a GPU cannot report one that is out of range"
            )
        values = positions.array()
        if np.any((values < 0) | (values >= axis_size)):
            raise UnsupportedError(f"GATHER: positions must be in [0, {axis_size})")
        args: dict[str, Argument] = {
            "x_ptr": b.pointer(x),
            "position_ptr": b.pointer(positions),
            "y_ptr": b.pointer(y),
            "size": y.size,
            "outer": int(block["outer"][0]),
            "axis_size": axis_size,
            "count": int(block["count"][0]),
            "slice_size": int(block["slice_bytes"][0]) // x.dtype.itemsize,
        }
        b.launch("movement", "gather", (-(-y.size // BLOCK),), args, {"BLOCK": BLOCK})
