"""PRELU: launches from the argument blocks of kernels/prelu.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...lite.errors import UnsupportedError
from .binary import launch

if TYPE_CHECKING:
    from .fusion import Step
    from .launch import Argument
    from .lowering import Lowering

_FIELDS = ("a_zero", "b_zero", "zero", "multiplier", "shift", "slope_multiplier", "slope_shift")


def lower(b: Lowering, step: Step) -> None:
    """One launch; the slope must have the input's type."""
    node, graph = step.node, b.graph
    x, slope, y = graph.input(node, 0), graph.input(node, 1), graph.output(node, 0)
    calls = b.calls(node)
    if x.type != slope.type:
        raise UnsupportedError(f"PRELU of {x.type_name} with slopes of {slope.type_name} is not built")
    for call in calls:
        args: dict[str, Argument] = {}
        function = "prelu"
        if call.kernel != "prelu_f32":
            function = "prelu_quantized"
            limits = np.iinfo(y.dtype)
            args = {name: call.args[name][0].item() for name in _FIELDS}
            args |= {"low": int(limits.min), "high": int(limits.max)}
        launch(b, node, call, "prelu", function, args, {})
