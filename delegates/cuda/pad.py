"""PAD and PADV2: launches from the argument block of kernels/pad.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...kernels.pad import OUTER
from ...lite.errors import UnsupportedError
from .launch import Argument, Constant
from .lowering import BLOCK
from .movement import check_computed

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from .fusion import Step
    from .launch import Pointer
    from .lowering import Lowering

OPERATORS = ("PAD", "PADV2")
_MOST_AXES = 4


def lower(b: Lowering, step: Step) -> None:
    """One launch, for up to four axes after those without a border have been joined."""
    node = step.node
    calls = b.calls(node)
    check_computed(b, node)
    for call in calls:
        if call.kernel != "constant_pad":
            raise UnsupportedError(f"{node.registration.name} by {call.kernel} is not built")
        args, rank = _arguments(node.registration.name, call)
        x, y = call.tensors["x"], call.tensors["y"]
        pointers: dict[str, Argument] = {"x_ptr": b.pointer(x), "y_ptr": b.pointer(y)}
        pointers["value_ptr"] = _value(b, step, call)
        constants: dict[str, Constant] = {"RANK": rank, "BLOCK": BLOCK}
        pointers["size"] = y.size
        b.launch("movement", "pad", (-(-y.size // BLOCK),), {**pointers, **args}, constants)


def _value(b: Lowering, step: Step, call: KernelCall) -> Pointer:
    if "value" in call.tensors:
        return b.pointer(call.tensors["value"])
    y, zero = call.tensors["y"], call.keep[0]

    def make() -> np.ndarray:
        return b.stored(zero.view(y.dtype)[:1])

    return b.weights(step.node, "value", make, b.type_of(y))


def _arguments(operator: str, call: KernelCall) -> tuple[dict[str, Argument], int]:
    """Sizes and borders in elements, and how many axes count."""
    block, item = call.args, call.tensors["x"].dtype.itemsize
    sizes, inner, before = (block[name][0].tolist() for name in ("sizes", "inner_sizes", "before"))
    strides = (block["x_strides"][0] // item).tolist()
    used = [k for k in range(OUTER) if sizes[k] != 1 or inner[k] != 1]
    first = min(used[0], OUTER) if used else OUTER
    rank = OUTER - first + 1
    if rank > _MOST_AXES:
        raise UnsupportedError(f"{operator}: borders of up to {_MOST_AXES} axes are built, got {rank}")
    at = slice(OUTER - _MOST_AXES + 1, OUTER)
    row = {name: int(block[f"{name}_bytes"][0]) // item for name in ("row", "left", "middle")}
    n = [*sizes[at], row["row"]]
    m = [*inner[at], row["middle"]]
    borders = [*before[at], row["left"]]
    args: dict[str, Argument] = {f"n{k}": n[k] for k in range(1, _MOST_AXES)}
    args |= {f"m{k}": m[k] for k in range(_MOST_AXES)}
    args |= {f"b{k}": borders[k] for k in range(_MOST_AXES)}
    args |= {f"x{k}": stride for k, stride in enumerate(strides[at])}
    return args, rank
