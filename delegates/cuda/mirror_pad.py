"""MIRROR_PAD: launches from the tables of kernels/mirror_pad.py."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...kernels.strided_copy import element_bytes
from .launch import Argument, Constant
from .movement import check_computed
from .tiling import elements_of, tiling

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from .fusion import Step
    from .lowering import Lowering


def lower(b: Lowering, step: Step) -> None:
    """One launch, that looks up where each index along each axis comes from."""
    calls = b.calls(step.node)
    check_computed(b, step.node)
    for call in calls:
        x, y = call.tensors["x"], call.tensors["y"]
        *outer, columns = _axes(call, element_bytes(x, "MIRROR_PAD"))
        dense = bool(np.array_equal(columns, np.arange(len(columns))))
        header: list[int] = []
        at = 2 * len(outer)
        for offsets in outer:
            header += [len(offsets), at]
            at += len(offsets)
        table = np.concatenate([np.array(header, np.int64), *outer, columns]).astype(np.int32)
        args: dict[str, Argument] = {
            "x_ptr": b.pointer(x),
            "y_ptr": b.pointer(y),
            "table_ptr": b.table(lambda table=table: table, "i32"),  # type: ignore[misc]
        }
        rows = math.prod(map(len, outer))
        tiles = tiling(rows, len(columns), elements_of([args["x_ptr"]]))
        args |= {**tiles.args, "column_offsets": at}
        constants: dict[str, Constant] = {"DENSE": dense, "RANK": len(outer), **tiles.constants}
        b.launch("movement", "mirror_pad", tiles.grid, args, constants, divisible=("columns",))


def _axes(call: KernelCall, item_bytes: int) -> list[np.ndarray]:
    """Offsets in elements of x of each index along each axis of y that has more than one; the last always."""
    sizes = call.args["sizes"][0].tolist()
    parts = np.split(call.keep[0] // item_bytes, np.cumsum(sizes)[:-1])
    # An axis of one index starts where all others do but for its own offset.
    single = sum(int(part[0]) for part in parts[:-1] if len(part) == 1)
    axes = [part for part in parts[:-1] if len(part) > 1] + [parts[-1]]
    axes[0] = axes[0] + single
    return axes
