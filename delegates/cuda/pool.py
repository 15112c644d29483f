"""AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D: launches from the argument blocks of kernels/pool.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...lite.tensor import TensorType
from .launch import Argument, Constant
from .tiling import tiling

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering

# Outputs of a program; with single loads, more would not fit its registers.
_WIDE_TILE, _TILE = 512, 256
_SIZES = (
    "in_height",
    "in_width",
    "out_height",
    "out_width",
    "filter_height",
    "filter_width",
    "stride_h",
    "stride_w",
    "pad_top",
    "pad_left",
)


def lower(b: Lowering, step: Step) -> None:
    """One launch, a thread for an output."""
    for call in b.calls(step.node):
        x, y, block = call.tensors["x"], call.tensors["y"], call.args
        is_float = y.type == TensorType.FLOAT32
        kind = call.kernel.partition("_pool_")[0]
        args: dict[str, Argument] = {"x_ptr": b.pointer(x), "y_ptr": b.pointer(y)}
        depth = int(block["depth"][0])
        is_wide = depth % 16 == 0 and int(block["out_height"][0]) * int(block["out_width"][0]) > 1
        tiles = tiling(y.size // depth, depth, _WIDE_TILE if is_wide else _TILE)
        args |= tiles.args
        args |= {name: int(block[name][0]) for name in _SIZES}
        args |= {name: block[name][0].item() for name in ("low", "high")}
        args["smallest"] = float(np.finfo(np.float32).min) if is_float else int(np.iinfo(y.dtype).min)
        constants: dict[str, Constant] = {"KIND": kind if is_float else f"integer_{kind}", **tiles.constants}
        b.launch("pool", "pool", tiles.grid, args, constants, divisible=("columns",))
