"""Activations: clamps, and tables of 8-bit results, from what kernels/activations.py prepares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lite.errors import UnsupportedError
from .launch import Argument
from .lowering import BLOCK

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering

OPERATORS = ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1")


def lower(b: Lowering, step: Step) -> None:
    """One launch: of a clamp for floats, of a table for 8-bit values."""
    node = step.node
    calls = b.calls(node)
    x, y = b.graph.input(node, 0), b.graph.output(node, 0)
    for call in calls:
        args: dict[str, Argument] = {"x_ptr": b.pointer(x), "y_ptr": b.pointer(y)}
        if call.kernel == "clamp_f32":
            args |= {"size": x.size, "low": float(call.args["low"][0]), "high": float(call.args["high"][0])}
            function = "clamp_float"
        elif call.kernel == "lookup_8":
            table = call.keep[0]
            args |= {
                "table_ptr": b.weights(node, "table", lambda table=table: table, b.type_of(y)),  # type: ignore[misc]
                "size": x.size,
            }
            function = "lookup_8"
        else:
            raise UnsupportedError(f"{node.registration.name} of {x.type_name} is not built")
        b.launch("activations", function, (-(-x.size // BLOCK),), args, {"BLOCK": BLOCK})
