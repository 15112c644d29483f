"""Functions of one operand: tables of 8- and 16-bit results, and floating point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...kernels.operators import OPERATORS
from ...lite.errors import UnsupportedError
from .launch import Argument, Constant
from .tiling import elements_of, stays_even

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from .fusion import Step
    from .lowering import Lowering

_MASKS = {"lookup_8": 0xFF, "lookup_16": 0xFFFF}
_FUNCTIONS = frozenset(
    (*(name.lower() for name, facts in OPERATORS.items() if facts.gpu == "elementwise"), "gelu_approximate")
)
_FAMILIES = ("activations", "elementwise", "unary_math")


def lower(b: Lowering, step: Step) -> None:
    """One launch: of a table for integers that the CPU has a table for, of the function for others."""
    node = step.node
    for call in b.calls(node):
        if call.kernel in _MASKS:
            launch_lookup(b, step, call, "table")
            continue
        function, _, type_ = call.kernel.rpartition("_")
        if call.family not in _FAMILIES or function not in _FUNCTIONS:
            raise UnsupportedError(f"{node.registration.name} by {call.kernel} is not built")
        alpha = float(call.args["alpha"][0]) if function == "leaky_relu" else 0.0
        launch_unary(b, call, function, type_ == "f32", alpha)


def launch_unary(
    b: Lowering, call: KernelCall, function: str, is_float: bool, parameter: float = 0.0
) -> None:
    """The launch of a function of one operand."""
    x, y = call.tensors["x"], call.tensors["y"]
    args: dict[str, Argument] = {"x_ptr": b.pointer(x), "y_ptr": b.pointer(y)}
    block = elements_of(args.values())
    args |= {"size": x.size, "parameter": parameter}
    constants: dict[str, Constant] = {"FUNCTION": function, "FLOAT": is_float, "BLOCK": block}
    even = ("size",) if stays_even(x.shape) else ()
    b.launch("elementwise", "unary", (-(-x.size // block),), args, constants, divisible=even)


def launch_lookup(b: Lowering, step: Step, call: KernelCall, name: str) -> None:
    """The launch of a call of kernels/lookup.py; name tells the tables of a node apart."""
    x, y = call.tensors["x"], call.tensors["y"]
    table = call.keep[0]
    size = int(call.args["size"][0])
    args: dict[str, Argument] = {
        "x_ptr": b.pointer(x),
        "y_ptr": b.pointer(y),
        "table_ptr": b.weights(step.node, name, lambda: table, b.type_of(y)),
    }
    block = elements_of(args.values())
    args |= {"first": int(call.args["first"][0]), "size": size}
    constants: dict[str, Constant] = {"MASK": _MASKS[call.kernel], "BLOCK": block}
    even = ("first", "size") if size == x.size and stays_even(x.shape) else ()
    b.launch("elementwise", "lookup", (-(-size // block),), args, constants, divisible=even)
