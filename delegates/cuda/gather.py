"""GATHER, and EMBEDDING_LOOKUP by rows: launches from the argument block of kernels/gather.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...kernels.gather import OUT_OF_RANGE
from ...lite.errors import UnsupportedError
from .launch import Argument
from .movement import Units, check_computed
from .tiling import elements_of, tiling

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from .fusion import Step
    from .lowering import Lowering


def lower(b: Lowering, step: Step) -> None:
    """One launch."""
    calls = b.calls(step.node)
    check_computed(b, step.node)
    for call in calls:
        launch_gather(b, step, call)


def launch_gather(b: Lowering, step: Step, call: KernelCall) -> None:
    """The launch of a call of kernels/gather.py; positions that are not constant are checked as it runs."""
    x, positions, y, block = *(call.tensors[name] for name in ("x", "positions", "y")), call.args
    axis_size, slice_bytes = int(block["axis_size"][0]), int(block["slice_bytes"][0])
    units = Units(b, x, [slice_bytes])
    args: dict[str, Argument] = {
        "x_ptr": units.pointer(b.pointer(x)),
        "position_ptr": b.pointer(positions),
        "y_ptr": units.pointer(b.pointer(y)),
    }
    outer, count = int(block["outer"][0]), int(block["count"][0])
    rows = int(block["batch"][0]) * outer * count
    tiles = tiling(rows, units.count(slice_bytes), elements_of([args["x_ptr"]]))
    args |= {**tiles.args, "outer": outer, "count": count, "axis_size": axis_size}
    function = "gather"
    if positions.is_constant:
        values = positions.array()
        if np.any((values < 0) | (values >= axis_size)):
            raise UnsupportedError(f"{step.node.registration.name}: positions must be in [0, {axis_size})")
    else:
        function = "checked_gather"
        args |= b.reports.add(b, step.node, call.messages[OUT_OF_RANGE])
    b.launch("gather", function, tiles.grid, args, tiles.constants, divisible=("columns",))
