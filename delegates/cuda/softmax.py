"""SOFTMAX and LOG_SOFTMAX: launches from the argument blocks of kernels/softmax.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...lite.errors import UnsupportedError
from .launch import Argument, Constant
from .tiles import power_of_two

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from .fusion import Step
    from .lowering import Lowering

_TILE = 1024  # elements of a float program, but for longer rows
_WHOLE = 8192  # up to which a row stays in registers
_BYTE_ROWS = 32


def lower(b: Lowering, step: Step) -> None:
    """One launch: float32 rows in tiles, 8-bit rows a thread each."""
    node = step.node
    for call in b.calls(node):
        x, y = call.tensors["x"], call.tensors["y"]
        rows, depth = int(call.args["rows"][0]), int(call.args["depth"][0])
        args: dict[str, Argument] = {"x_ptr": b.pointer(x), "y_ptr": b.pointer(y)}
        if call.kernel in ("softmax_f32", "log_softmax_f32"):
            columns = min(max(power_of_two(depth), 16), _TILE if depth > _WHOLE else _WHOLE)
            tile = max(_TILE // columns, 1)
            beta = float(call.args["beta"][0])
            is_log = call.kernel.startswith("log")
            args |= {"rows": rows, "depth": depth, "beta": 1.0 if is_log else beta}
            constants: dict[str, Constant] = {"LOG": is_log, "ROWS": tile, "BLOCK": columns}
            function = "softmax" if depth > columns else "whole_rows"
            warps = 8 if columns > 2 * _TILE else 4
            grid = (-(-rows // tile),)
            b.launch("softmax", function, grid, args, constants, divisible=("depth",), warps=warps)
            continue
        if call.kernel == "softmax_i16":
            _words(b, step, call, args)
            continue
        function = call.kernel.rpartition("_")[0]
        if call.family != "softmax_q8" or function.startswith("log"):
            raise UnsupportedError(f"{node.registration.name} by {call.kernel} is not built")
        if x.type != y.type or (function == "softmax" and call.args["y_scale"][0] != np.float32(1 / 256)):
            raise UnsupportedError("SOFTMAX is built for results of x's type, in steps of 1/256")
        exponentials = call.keep[0]
        if function == "softmax":
            args["table_ptr"] = b.weights(node, "exponentials", lambda table=exponentials: table, "fp32")  # type: ignore[misc]
        else:
            terms = call.keep[1]
            args["exponential_ptr"] = b.weights(node, "exponentials", lambda table=exponentials: table, "i32")  # type: ignore[misc]
            args["term_ptr"] = b.weights(node, "terms", lambda table=terms: table, "i32")  # type: ignore[misc]
        args |= {"rows": rows, "depth": depth, "lowest": int(np.iinfo(y.dtype).min)}
        name = function.replace("softmax", "softmax_q8")
        b.launch("softmax", name, (-(-rows // _BYTE_ROWS),), args, {"ROWS": _BYTE_ROWS}, warps=1)


def _words(b: Lowering, step: Step, call: KernelCall, args: dict[str, Argument]) -> None:
    """Rows of int16, by tables."""
    rows, depth = int(call.args["rows"][0]), int(call.args["depth"][0])
    for name, table in zip(("exponential", "reciprocal"), call.keep, strict=True):
        args[f"{name}_ptr"] = b.weights(step.node, name, lambda table=table: table, "i16")  # type: ignore[misc]
    args |= {"rows": rows, "depth": depth}
    args |= {name: int(call.args[name][0]) for name in ("multiplier", "shift")}
    columns = min(max(power_of_two(depth), 16), _TILE)
    constants: dict[str, Constant] = {"ROWS": _TILE // columns, "BLOCK": columns}
    grid = (-(-rows // (_TILE // columns)),)
    b.launch("softmax", "softmax_i16", grid, args, constants, divisible=("depth",))
