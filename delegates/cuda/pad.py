"""PAD and PADV2: launches from the argument block of kernels/pad.py."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...kernels.pad import OUTER
from ...kernels.strided_copy import element_bytes
from ...lite.errors import UnsupportedError
from .launch import Argument
from .movement import Units, check_computed
from .tiling import elements_of, stays_even, tiling

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from .fusion import Step
    from .launch import Pointer
    from .lowering import Lowering

_MOST_AXES = 4
_OUTER = slice(OUTER - _MOST_AXES + 1, OUTER)


def lower(b: Lowering, step: Step) -> None:
    """One launch, for up to four axes after those without a border have been joined."""
    node = step.node
    calls = b.calls(node)
    check_computed(b, node)
    for call in calls:
        if call.kernel != "constant_pad":
            raise UnsupportedError(f"{node.registration.name} by {call.kernel} is not built")
        x, y, block = call.tensors["x"], call.tensors["y"], call.args
        rank = _rank(node.registration.name, block)
        row = [int(block[f"{name}_bytes"][0]) for name in ("row", "left", "middle")]
        strides = block["x_strides"][0, _OUTER].tolist()
        value = call.tensors.get("value")
        is_late = value is not None and not value.is_constant
        units = Units(b, x, [*row, *strides, *([element_bytes(x, "PAD")] if is_late else [])])
        args: dict[str, Argument] = {
            "x_ptr": units.pointer(b.pointer(x)),
            "y_ptr": units.pointer(b.pointer(y)),
            "value_ptr": units.pointer(_value(b, step, call)),
        }
        columns, left, middle = map(units.count, row)
        rows = math.prod(block["sizes"][0].tolist())
        tiles = tiling(rows, columns, elements_of(args.values()))
        sizes, inner, before = (
            block[name][0, _OUTER].tolist() for name in ("sizes", "inner_sizes", "before")
        )
        args |= {**tiles.args, "left": left, "middle": middle, "n1": sizes[1], "n2": sizes[2]}
        for name, values in (("m", inner), ("b", before), ("x", map(units.count, strides))):
            args |= {f"{name}{k}": value for k, value in enumerate(values)}
        even = ("columns", "left", "middle", "x0", "x1", "x2") if rank > 1 or stays_even(y.shape) else ()
        b.launch("movement", "pad", tiles.grid, args, {"RANK": rank, **tiles.constants}, divisible=even)


def _value(b: Lowering, step: Step, call: KernelCall) -> Pointer:
    """The border's element; a constant one as often as it fits in 8 bytes."""
    value = call.tensors.get("value")
    if value is not None and not value.is_constant:
        return b.pointer(value)

    def make() -> np.ndarray:
        if value is None:
            return call.keep[0]
        held = b.held(value)
        return np.repeat(held.reshape(1), 8 // held.itemsize)

    return b.weights(step.node, "value", make, b.type_of(call.tensors["y"]))


def _rank(operator: str, block: np.ndarray) -> int:
    """How many axes count, the joined ones of a row as one."""
    sizes, inner = block["sizes"][0].tolist(), block["inner_sizes"][0].tolist()
    first = next((k for k in range(OUTER) if sizes[k] != 1 or inner[k] != 1), OUTER)
    rank = OUTER - first + 1
    if rank > _MOST_AXES:
        raise UnsupportedError(f"{operator}: borders of up to {_MOST_AXES} axes are built, got {rank}")
    return rank
