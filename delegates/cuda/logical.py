"""LOGICAL_AND, LOGICAL_OR and LOGICAL_NOT: launches from the argument blocks of kernels/broadcast.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .binary import launch_plain
from .elementwise import launch_unary

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering


def lower(b: Lowering, step: Step) -> None:
    """One launch."""
    for call in b.calls(step.node):
        function = call.kernel.removesuffix("_bool")
        if function == "logical_not":
            launch_unary(b, call, function, is_float=False)
        else:
            launch_plain(b, step.node, call, function)
