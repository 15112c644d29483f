"""L2_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION: launches from kernels/normalization.py's blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .launch import Argument, Constant
from .tiles import power_of_two

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering

_TILE = 1024


def lower(b: Lowering, step: Step) -> None:
    """One launch, of whole rows."""
    for call in b.calls(step.node):
        x, y, block = call.tensors["x"], call.tensors["y"], call.args
        rows, depth = int(block["rows"][0]), int(block["depth"][0])
        columns = min(max(power_of_two(depth), 16), _TILE)
        tile = _TILE // columns
        args: dict[str, Argument] = {
            "x_ptr": b.pointer(x),
            "y_ptr": b.pointer(y),
            "rows": rows,
            "depth": depth,
        }
        if call.kernel == "local_response_f32":
            args |= {name: min(int(block[name][0]), depth) for name in ("before", "after")}
            args |= {name: float(block[name][0]) for name in ("bias", "alpha", "beta")}
            function = "local_response"
        elif call.kernel == "l2_normalization_f32":
            function = "l2"
        else:
            limits = np.iinfo(y.dtype)
            is_signed = limits.min < 0
            args |= {"x_zero": int(block["x_zero"][0]), "low": int(limits.min), "high": int(limits.max)}
            # The types differ in where their products are rounded.
            args |= {"zero": 0 if is_signed else 128, "factor": 1 if is_signed else 128}
            args["bits"] = 7 if is_signed else 0
            function = "l2_quantized"
        constants: dict[str, Constant] = {"ROWS": tile, "BLOCK": columns}
        b.launch("normalization", function, (-(-rows // tile),), args, constants, divisible=("depth",))
