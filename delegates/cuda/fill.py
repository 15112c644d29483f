"""FILL, ZEROS_LIKE and ONE_HOT: launches from the argument blocks of kernels/fill.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .launch import Argument, Constant
from .movement import check_computed
from .tiling import elements_of, stays_even

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from .fusion import Step
    from .lowering import Lowering


def lower(b: Lowering, step: Step) -> None:
    """One launch."""
    calls = b.calls(step.node)
    check_computed(b, step.node)
    for call in calls:
        y = call.tensors["y"]
        args = _one_hot(b, call) if call.kernel == "one_hot" else _fill(b, step, call)
        block = elements_of([args["y_ptr"]])
        args["size"] = y.size
        if call.kernel == "one_hot":
            args |= {name: int(call.args[name][0]) for name in ("depth", "inner")}
        constants: dict[str, Constant] = {"BLOCK": block}
        even = ("size",) if stays_even(y.shape) else ()
        b.launch("movement", call.kernel, (-(-y.size // block),), args, constants, divisible=even)


def _fill(b: Lowering, step: Step, call: KernelCall) -> dict[str, Argument]:
    y, value = call.tensors["y"], call.tensors.get("value")
    zero = b.weights(step.node, "zero", lambda: np.zeros(8, np.uint8), b.type_of(y))
    return {"y_ptr": b.pointer(y), "value_ptr": zero if value is None else b.pointer(value)}


def _one_hot(b: Lowering, call: KernelCall) -> dict[str, Argument]:
    names = {"index_ptr": "indices", "on_ptr": "on", "off_ptr": "off", "y_ptr": "y"}
    return {argument: b.pointer(call.tensors[name]) for argument, name in names.items()}
