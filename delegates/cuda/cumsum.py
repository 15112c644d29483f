"""CUMSUM: launches from the argument block of kernels/cumsum.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .launch import Argument, Constant
from .movement import check_computed

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering

# Lines and elements of a tile: neighbours in memory are elements, or lines.
_ALONG, _ACROSS = (2, 256), (32, 16)


def lower(b: Lowering, step: Step) -> None:
    """One launch."""
    calls = b.calls(step.node)
    check_computed(b, step.node)
    for call in calls:
        x, y, block = call.tensors["x"], call.tensors["y"], call.args
        inner = int(block["inner"][0])
        lines, elements = _ALONG if inner == 1 else _ACROSS
        count = int(block["outer"][0]) * inner
        args: dict[str, Argument] = {"x_ptr": b.pointer(x), "y_ptr": b.pointer(y), "lines": count}
        args |= {"count": int(block["size"][0]), "inner": inner}
        constants: dict[str, Constant] = {
            "FLOAT": call.kernel.endswith("_f32"),
            "EXCLUSIVE": bool(block["exclusive"][0]),
            "REVERSE": bool(block["reverse"][0]),
            "LINES": lines,
            "BLOCK": elements,
        }
        even = ("count",) if inner == 1 else ("inner",)
        b.launch("reduce", "running_sums", (-(-count // lines),), args, constants, divisible=even)
