"""ARG_MAX and ARG_MIN: launches from the argument block of kernels/arg_min_max.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .launch import Argument, Constant
from .movement import check_computed

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering

# Results and elements of a tile: neighbours in memory are elements, or results.
_ALONG, _ACROSS = (4, 256), (64, 16)


def lower(b: Lowering, step: Step) -> None:
    """One launch."""
    calls = b.calls(step.node)
    check_computed(b, step.node)
    for call in calls:
        x, y = call.tensors["x"], call.tensors["y"]
        inner = int(call.args["inner"][0])
        results, elements = _ALONG if inner == 1 else _ACROSS
        args: dict[str, Argument] = {"x_ptr": b.pointer(x), "y_ptr": b.pointer(y), "size": y.size}
        args |= {"count": int(call.args["size"][0]), "inner": inner}
        constants: dict[str, Constant] = {
            "LEAST": call.kernel.startswith("arg_min"),
            "FLOAT": call.kernel.endswith("_f32"),
            "ALONG": inner == 1,
            "RESULTS": results,
            "BLOCK": elements,
        }
        even = ("count",) if inner == 1 else ("inner",)
        b.launch("search", "best", (-(-y.size // results),), args, constants, divisible=even)
