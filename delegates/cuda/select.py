"""SELECT and SELECT_V2: launches from the argument block of kernels/select.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...kernels.element_functions import BROADCAST_RANK
from ...lite.errors import UnsupportedError
from .launch import Argument, Constant
from .tiling import elements_of, stays_even, tiling

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering

_MOST_LOOPS = 4
_OPERANDS = {"c": "condition", "a": "a", "b": "b"}


def lower(b: Lowering, step: Step) -> None:
    """One launch; broadcasts of more than four alternating dimensions are refused."""
    for call in b.calls(step.node):
        y, sizes = call.tensors["out"], call.args["shape"][0].tolist()
        rank = BROADCAST_RANK - next((k for k, n in enumerate(sizes) if n != 1), BROADCAST_RANK - 1)
        if rank > _MOST_LOOPS:
            raise UnsupportedError(
                f"{step.node.registration.name}: broadcasts of up to {_MOST_LOOPS} loops are built, "
                f"got {rank}"
            )
        pointers: dict[str, Argument] = {
            f"{letter}_ptr": b.pointer(call.tensors[name]) for letter, name in _OPERANDS.items()
        }
        pointers["y_ptr"] = b.pointer(y)
        tiles = tiling(y.size // sizes[-1], sizes[-1], elements_of(pointers.values()))
        loops: dict[str, Argument] = {"n1": sizes[-3], "n2": sizes[-2]}
        steps: dict[str, Constant] = {}
        for letter, name in _OPERANDS.items():
            strides = call.args[f"{name}_strides"][0].tolist()
            loops |= {f"{letter}{k}": strides[k - _MOST_LOOPS] for k in range(_MOST_LOOPS - 1)}
            steps[f"{letter.upper()}_STEP"] = strides[-1]
        even = ("columns",) if rank > 1 or stays_even(y.shape) else ()
        b.launch(
            "elementwise",
            "select",
            tiles.grid,
            {**pointers, **tiles.args, **loops},
            {**steps, "RANK": rank, **tiles.constants},
            divisible=(*even, *(f"{letter}{k}" for letter in _OPERANDS for k in range(_MOST_LOOPS - 1))),
        )
