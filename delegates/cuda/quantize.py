"""QUANTIZE and DEQUANTIZE: launches from the argument blocks of kernels/quantize.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...kernels.quantize import QUANTIZED_AT_ONCE
from ...lite.errors import UnsupportedError
from .elementwise import launch_lookup
from .launch import Argument, Constant
from .lowering import BLOCK
from .movement import check_computed

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from .fusion import Step
    from .lowering import Lowering


def lower(b: Lowering, step: Step) -> None:
    """A launch for each call of the CPU's."""
    node = step.node
    calls = b.calls(node)
    check_computed(b, node)
    for number, call in enumerate(calls):
        if call.kernel == "lookup_8":
            launch_lookup(b, step, call, f"table {number}")
        elif call.kernel in ("dequantize_f16", "flat_copy"):
            x, y = b.graph.input(node, 0), b.graph.output(node, 0)
            b.convert(b.pointer(x), b.pointer(y), x.size)
        elif call.kernel.startswith("requantize_"):
            _requantize(b, call)
        elif "quantize_" in call.kernel:
            _convert(b, step, call)
        else:
            raise UnsupportedError(f"{node.registration.name} by {call.kernel} is not built")


def _convert(b: Lowering, step: Step, call: KernelCall) -> None:
    """Between reals and a quantized type."""
    x, y, block = call.tensors["x"], call.tensors["y"], call.args
    scales, zeros = call.keep
    # Elements from one channel to the next.
    loops = zip(block["x_strides"][0].tolist(), block["scales_strides"][0].tolist(), strict=True)
    inner = next((step for step, by_channel in loops if by_channel), x.size)
    to_reals = call.kernel.startswith("dequantize")
    reference = call.kernel.startswith("quantize_reference")

    args: dict[str, Argument] = {
        "x_ptr": b.pointer(x),
        "y_ptr": b.pointer(y),
        "scale_ptr": b.weights(step.node, "scales", lambda: scales, "fp32"),
        "zero_ptr": b.weights(step.node, "zeros", lambda: zeros, "i32"),
        "size": x.size,
        "channels": zeros.size,
        "inner": inner,
    }
    constants: dict[str, Constant] = {"BLOCK": BLOCK}
    if not to_reals:
        limits = np.iinfo(y.dtype)
        args |= {"lowest": int(limits.min), "highest": int(limits.max)}
        constants["REFERENCE"] = reference
        constants["AT_ONCE"] = QUANTIZED_AT_ONCE if call.kernel == "quantize_i16" else 0
    b.launch("quantize", "dequantize" if to_reals else "quantize", (-(-x.size // BLOCK),), args, constants)


def _requantize(b: Lowering, call: KernelCall) -> None:
    """From one quantized type to another that no table serves."""
    x, y = call.tensors["x"], call.tensors["y"]
    limits = np.iinfo(y.dtype)
    args: dict[str, Argument] = {"x_ptr": b.pointer(x), "y_ptr": b.pointer(y), "size": x.size}
    args |= {name: call.args[name][0].item() for name in ("x_zero", "y_zero", "multiplier", "shift")}
    args |= {"low": int(limits.min), "high": int(limits.max)}
    b.launch("quantize", "requantize", (-(-x.size // BLOCK),), args, {"BLOCK": BLOCK})
