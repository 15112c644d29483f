"""Activations: clamps, and tables of all results, from what kernels/elementwise.py prepares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lite.errors import UnsupportedError
from .elementwise import launch_lookup
from .launch import Argument, Constant
from .tiling import elements_of, stays_even

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering


def lower(b: Lowering, step: Step) -> None:
    """One launch: of a clamp for floats, of a table for integers."""
    node = step.node
    calls = b.calls(node)
    x, y = b.graph.input(node, 0), b.graph.output(node, 0)
    for call in calls:
        args: dict[str, Argument] = {"x_ptr": b.pointer(x), "y_ptr": b.pointer(y)}
        if call.kernel == "clamp_f32":
            block = elements_of(args.values())
            args |= {"size": x.size, "low": float(call.args["low"][0]), "high": float(call.args["high"][0])}
            even = ("size",) if stays_even(x.shape) else ()
            constants: dict[str, Constant] = {"BLOCK": block}
            b.launch("elementwise", "clamp_float", (-(-x.size // block),), args, constants, divisible=even)
        elif call.kernel in ("lookup_8", "lookup_16"):
            launch_lookup(b, step, call, "table")
        else:
            raise UnsupportedError(f"{node.registration.name} of {x.type_name} is not built")
