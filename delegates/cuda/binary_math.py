"""POW, FLOOR_DIV and FLOOR_MOD: launches from the argument blocks of kernels/broadcast.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lite.errors import UnsupportedError
from .binary import launch_plain

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering


def lower(b: Lowering, step: Step) -> None:
    """One launch, that reports what integers must not be."""
    for call in b.calls(step.node):
        if call.kernel == "floor_mod_f32":
            raise UnsupportedError("FLOOR_MOD of float32 is not built: its remainders must be exact")
        if call.kernel == "pow_by_squares_i32":
            raise UnsupportedError("POW of int32 by one exponent is not built: its products wrap around")
        launch_plain(b, step.node, call, call.kernel.rpartition("_")[0])
