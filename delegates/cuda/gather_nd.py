"""GATHER_ND: launches from the argument block of kernels/gather_nd.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...kernels.gather_nd import OUT_OF_RANGE
from .launch import Argument, Constant
from .movement import Units, check_computed
from .tiling import elements_of, tiling

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering


def lower(b: Lowering, step: Step) -> None:
    """One launch, that reports coordinates out of range."""
    calls = b.calls(step.node)
    check_computed(b, step.node)
    for call in calls:
        x, indices, y, block = *(call.tensors[name] for name in ("x", "indices", "y")), call.args
        depth, slice_bytes = int(block["depth"][0]), int(block["slice_bytes"][0])
        units = Units(b, x, [slice_bytes])
        strides = [units.count(stride) for stride in block["strides"][0, :depth].tolist()]
        axes = np.array([*block["sizes"][0, :depth], *strides, 0], np.int32)
        args: dict[str, Argument] = {
            "x_ptr": units.pointer(b.pointer(x)),
            "index_ptr": b.pointer(indices),
            "y_ptr": units.pointer(b.pointer(y)),
            "axis_ptr": b.table(lambda axes=axes: axes, "i32"),  # type: ignore[misc]
        }
        tiles = tiling(int(block["count"][0]), units.count(slice_bytes), elements_of([args["x_ptr"]]))
        args |= {**tiles.args, **b.reports.add(b, step.node, call.messages[OUT_OF_RANGE])}
        constants: dict[str, Constant] = {"DEPTH": depth, **tiles.constants}
        b.launch("gather", "gather_nd", tiles.grid, args, constants, divisible=("columns",))
