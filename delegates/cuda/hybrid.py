"""Hybrid operators: float tensors that are quantized on the device, row by row, for int8 weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...lite.errors import UnsupportedError
from . import pad
from .launch import Argument, Constant, Pointer
from .tiles import power_of_two

if TYPE_CHECKING:
    from ...kernels.contraction.sums import HybridSums
    from ...lite.node import Node
    from .fusion import Step
    from .lowering import Lowering

_TILE = 2048  # elements that a program looks at together


class QuantizedRows(NamedTuple):
    """Quantized values, and how: a zero point and a scale (by its bits) for each row, int32 [rows, 2]."""

    values: Pointer
    rows: Pointer
    length: int


def with_pad_apart(b: Lowering, step: Step) -> Step:
    """The step without its PAD, which gets launches of its own: what is quantized is the padded image."""
    if step.pad is None:
        return step
    pad.lower(b, replace(step, node=step.pad, pad=None, clamps=[], addition=None, last_clamps=[]))
    return replace(step, pad=None)


def quantize_rows(b: Lowering, node: Node, x: Pointer, size: int, centred: str = "") -> QuantizedRows:
    """Quantize x (size elements) as the CPU's call for the node does it.

    Values are int8, or of the type `centred` less their zero point. UnsupportedError for nodes that the
    CPU does not compute so.
    """
    call = next((call for call in b.calls(node) if call.kernel.startswith("quantize_rows")), None)
    if call is None:
        raise UnsupportedError(f"{node.registration.name} of these types and int8 weights is not built")
    rows, depth, symmetric = (int(call.args[name][0]) for name in ("rows", "depth", "symmetric"))
    assert rows * depth == size
    found = QuantizedRows(b.scratch(centred or "i8", size), b.scratch("i32", 2 * rows), rows)
    args: dict[str, Argument] = {
        "x_ptr": x,
        "y_ptr": found.values,
        "rows_ptr": found.rows,
        "rows": rows,
        "depth": depth,
    }
    block = min(_TILE, power_of_two(depth))
    constants: dict[str, Constant] = {
        "REFERENCE": call.kernel == "quantize_rows_reference",
        "SYMMETRIC": bool(symmetric),
        "CENTRED": bool(centred),
        "INTERPRETED": b.simulated,
        "ROWS": _TILE // block,
        "BLOCK": block,
    }
    grid = (-(-rows * block // _TILE),)
    b.launch("hybrid", "quantize_rows", grid, args, constants, divisible=("depth",))
    return found


def channel_constants(b: Lowering, node: Node, f: HybridSums) -> Pointer:
    """The channels' scales, then their biases, float32 [2, channels]."""

    def make() -> np.ndarray:
        bias = np.zeros_like(f.scales) if f.bias is None else f.bias.array().reshape(-1)
        return np.concatenate([f.scales, bias])

    return b.weights(node, "scales", make, "fp32")
