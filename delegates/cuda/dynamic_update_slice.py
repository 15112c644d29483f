"""DYNAMIC_UPDATE_SLICE: launches from the argument blocks of kernels/dynamic_update_slice.py."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .launch import Argument, Constant
from .movement import Units, launch_flat_copy
from .tiling import elements_of, tiling

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from .fusion import Step
    from .lowering import Lowering


def lower(b: Lowering, step: Step) -> None:
    """A copy of the operand, and a launch that puts the update into it."""
    for call in b.calls(step.node):
        if call.kernel == "flat_copy":
            launch_flat_copy(b, call)
        else:
            _update(b, call)


def _update(b: Lowering, call: KernelCall) -> None:
    update, starts, y, block = *(call.tensors[name] for name in ("update", "starts", "y")), call.args
    rank, item_bytes = int(block["rank"][0]), int(block["item_bytes"][0])
    sizes, box = (block[name][0, :rank].tolist() for name in ("sizes", "box"))
    units = Units(b, y, [item_bytes])
    axes = np.array([*sizes, *box, 0], np.int32)
    args: dict[str, Argument] = {
        "update_ptr": units.pointer(b.pointer(update)),
        "start_ptr": b.pointer(starts),
        "y_ptr": units.pointer(b.pointer(y)),
        "axis_ptr": b.table(lambda: axes, "i32"),
    }
    tiles = tiling(math.prod(box), units.count(item_bytes), elements_of([args["y_ptr"]]))
    constants: dict[str, Constant] = {"RANK": rank, **tiles.constants}
    b.launch("gather", "update_slice", tiles.grid, {**args, **tiles.args}, constants, divisible=("columns",))
