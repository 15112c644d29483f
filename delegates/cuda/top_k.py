"""TOPK_V2: launches from the argument block of kernels/top_k.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lite.errors import UnsupportedError
from .launch import Argument, Constant
from .movement import check_computed

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering

_MOST = 1024  # each takes a pass over the row
_BLOCK = 1024


def lower(b: Lowering, step: Step) -> None:
    """One launch, a program for a row."""
    calls = b.calls(step.node)
    check_computed(b, step.node)
    for call in calls:
        x, values, places = (call.tensors[name] for name in ("x", "values", "places"))
        k = int(call.args["k"][0])
        if k > _MOST or call.kernel.endswith("i64"):
            raise UnsupportedError(
                f"TOPK_V2: up to {_MOST} of elements of 32 bits are built, got {k} of {x.type_name}"
            )
        args: dict[str, Argument] = {
            "x_ptr": b.pointer(x),
            "value_ptr": b.pointer(values),
            "place_ptr": b.pointer(places),
            "count": int(call.args["size"][0]),
            "wanted": k,
        }
        constants: dict[str, Constant] = {"FLOAT": call.kernel.endswith("_f32"), "BLOCK": _BLOCK}
        b.launch("search", "largest", (int(call.args["rows"][0]),), args, constants, divisible=("count",))
