"""SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: launches from the argument block of kernels/space_batch.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .launch import Argument
from .movement import Units
from .tiling import elements_of, tiling

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering

_SIZES = (
    "batch",
    "height",
    "width",
    "small_height",
    "small_width",
    "block_height",
    "block_width",
    "top",
    "left",
)


def lower(b: Lowering, step: Step) -> None:
    """One launch, of the output's pixels."""
    for call in b.calls(step.node):
        x, y, block = call.tensors["x"], call.tensors["y"], call.args
        pixel_bytes = int(block["pixel_bytes"][0])
        units = Units(b, x, [pixel_bytes])
        args: dict[str, Argument] = {
            "x_ptr": units.pointer(b.pointer(x)),
            "y_ptr": units.pointer(b.pointer(y)),
        }
        if call.kernel == "space_to_batch":
            filler = block["filler"].view(np.uint8)
            pointer = b.weights(step.node, "filler", lambda filler=filler: filler, "i8")  # type: ignore[misc]
            args["value_ptr"] = units.pointer(pointer)
        tiles = tiling(y.size // y.shape[-1], units.count(pixel_bytes), elements_of(args.values()))
        args |= {**tiles.args, **{name: int(block[name][0]) for name in _SIZES}}
        b.launch("movement", call.kernel, tiles.grid, args, tiles.constants, divisible=("columns",))
