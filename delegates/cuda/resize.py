"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR: launches from the tables of kernels/resize.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...lite.errors import UnsupportedError
from .launch import Argument, Constant, Pointer
from .movement import Units
from .tiling import elements_of, tiling

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from .fusion import Step
    from .lowering import Lowering

_TILE = 512  # outputs of a bilinear program
_TABLES = ("top_ptr", "bottom_ptr", "row_weight_ptr", "left_ptr", "right_ptr", "column_weight_ptr")
_SIZES = ("in_height", "in_row", "out_height", "out_width")
_RULES = {
    "f32": "float",
    "u8": "eleven_bits",
    "i8": "eleven_bits",
    "reference_f32": "reference",
    "products_f32": "reference",
    "reference_u8": "reference_u8",
    "products_u8": "reference_u8",
    "integer_i8": "integer",
    "integer_i16": "integer",
}


def lower(b: Lowering, step: Step) -> None:
    """One launch, a thread for an output."""
    for call in b.calls(step.node):
        if call.kernel == "flat_copy":
            x, y = call.tensors["source"], call.tensors["target"]
            b.convert(b.pointer(x), b.pointer(y), x.size)
        elif call.kernel == "resize_nearest":
            _nearest(b, call)
        else:
            _bilinear(b, step, call)


def _table(b: Lowering, values: np.ndarray) -> Pointer:
    return b.table(lambda: values, "fp32" if values.dtype == np.float32 else "i32")


def _nearest(b: Lowering, call: KernelCall) -> None:
    x, y, block = call.tensors["x"], call.tensors["y"], call.args
    rows, columns = call.keep
    pixel_bytes = int(block["pixel_bytes"][0])
    units = Units(b, x, [pixel_bytes])
    pointers = {"x_ptr": units.pointer(b.pointer(x)), "y_ptr": units.pointer(b.pointer(y))}
    tiles = tiling(y.size // y.shape[-1], units.count(pixel_bytes), elements_of(pointers.values()))
    args: dict[str, Argument] = {
        **pointers,
        "row_ptr": _table(b, rows),
        "column_ptr": _table(b, columns),
        **tiles.args,
        **{name: int(block[name][0]) for name in ("in_height", "in_width", "out_height", "out_width")},
    }
    b.launch("resize", "nearest", tiles.grid, args, tiles.constants, divisible=("columns",))


def _bilinear(b: Lowering, step: Step, call: KernelCall) -> None:
    x, y, block = call.tensors["x"], call.tensors["y"], call.args
    rule = _RULES.get(call.kernel.removeprefix("resize_bilinear_").removeprefix("direct_"))
    if rule is None:
        raise UnsupportedError(f"{step.node.registration.name} by {call.kernel} is not built")
    args: dict[str, Argument] = {"x_ptr": b.pointer(x), "y_ptr": b.pointer(y)}
    args |= {name: _table(b, values) for name, values in zip(_TABLES, call.keep, strict=True)}
    tiles = tiling(y.size // y.shape[-1], y.shape[-1], _TILE)
    args |= {**tiles.args, **{name: int(block[name][0]) for name in _SIZES}}
    constants: dict[str, Constant] = {"RULE": rule, "EVEN": y.shape[-1] % 16 == 0, **tiles.constants}
    b.launch("resize", "bilinear", tiles.grid, args, constants, divisible=("columns", "in_row"))
