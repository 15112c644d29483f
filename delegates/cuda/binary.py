"""Binary elementwise operators: launches from the argument blocks of kernels/binary.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...kernels.element_functions import BROADCAST_RANK, DIVISION_BY_ZERO, NEGATIVE_EXPONENT
from ...lite.errors import UnsupportedError
from .launch import Argument, Constant, Pointer
from .tiling import elements_of, stays_even, tiling

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from ...lite.node import Node
    from ...lite.tensor import Tensor
    from .fusion import Step
    from .lowering import Lowering

_MOST_LOOPS = 4
_CLAMPED = ("add", "sub", "mul", "div")
# Fields of the quantized blocks, in the order of the kernels' arguments.
_FIELDS = {
    "sum_q8": "a_multiplier b_multiplier bias shift zero low high",
    "product_q8": "a_zero b_zero zero low high scale",
    "sum_q8_reference": "left_shift a_zero a_multiplier a_shift b_zero b_multiplier b_shift b_sign "
    "multiplier shift zero low high",
    "product_q8_reference": "a_zero b_zero multiplier shift zero low high",
}
_FUNCTIONS = {
    "sum": "sum_q8",
    "product": "product_q8",
    "sum_reference": "sum_q8_reference",
    "squared_difference_reference": "sum_q8_reference",
    "product_reference": "product_q8_reference",
}


def lower(b: Lowering, step: Step) -> None:
    """One launch; broadcasts of more than four alternating dimensions are refused."""
    node = step.node
    for call in b.calls(node):
        kind = call.kernel.rpartition("_")[0]
        if call.family in ("binary_f32", "binary_int"):
            launch_plain(b, node, call, kind)
            continue
        function = _FUNCTIONS.get(kind)
        if function is None:
            raise UnsupportedError(f"{node.registration.name} by {call.kernel} is not built")
        constants: dict[str, Constant] = {}
        if function == "sum_q8_reference":
            constants["SQUARED"] = kind.startswith("squared")
        launch(b, node, call, "binary", function, quantized_parameters(function, call.args), constants)


def launch_plain(b: Lowering, node: Node, call: KernelCall, kind: str) -> None:
    """The launch of a function of values as they are; with a report where the CPU's kernel may fail."""
    y, block = call.tensors["out"], call.args
    is_float = call.kernel.endswith("_f32")
    args: dict[str, Argument] = {"low": 0.0 if is_float else 0, "high": 0.0 if is_float else 0}
    clamps = kind in _CLAMPED
    if clamps:
        low, high = block["low"][0].item(), block["high"][0].item()
        limits = (-np.inf, np.inf) if is_float else _limits(y)
        clamps = low > limits[0] or high < limits[1]
        args = {"low": low, "high": high} if clamps else args
    function = "plain"
    fault = _fault(kind, call)
    if fault is not None:
        function = "checked"
        args |= b.reports.add(b, node, fault)
    constants: dict[str, Constant] = {"OP": kind, "CLAMP": clamps, "FLOAT": is_float}
    launch(b, node, call, "binary", function, args, constants)


def _limits(y: Tensor) -> tuple[float, float]:
    # ADD_N's bytes are summed as int8 whatever they are.
    limits = np.iinfo(np.int8 if y.dtype.itemsize == 1 else y.dtype)
    return int(limits.min), int(limits.max)


def _fault(kind: str, call: KernelCall) -> str | None:
    """What the second operand may have wrong, in the CPU's words."""
    is_float = call.kernel.endswith("_f32")
    if kind == "pow" and not is_float:
        return call.messages[NEGATIVE_EXPONENT]
    if kind in ("floor_div", "floor_mod") or (kind == "div" and not is_float):
        return call.messages[DIVISION_BY_ZERO]
    return None


def launch(
    b: Lowering,
    node: Node,
    call: KernelCall,
    source: str,
    function: str,
    args: Mapping[str, Argument],
    constants: Mapping[str, Constant],
) -> None:
    """The launch of a function of two operands, whose call has the loops of kernels/broadcast.py."""
    x, z, y = (call.tensors[name] for name in ("a", "b", "out"))
    pointers: dict[str, Argument] = {"a_ptr": b.pointer(x), "b_ptr": b.pointer(z), "y_ptr": b.pointer(y)}
    sizes = call.args["shape"][0].tolist()
    rank = BROADCAST_RANK - next((k for k, n in enumerate(sizes) if n != 1), BROADCAST_RANK - 1)
    if rank > _MOST_LOOPS:
        raise UnsupportedError(
            f"{node.registration.name}: broadcasts of up to {_MOST_LOOPS} loops are built, got {rank}"
        )
    tiles = tiling(y.size // sizes[-1], sizes[-1], elements_of(pointers.values()))
    loops: dict[str, Argument] = {"n1": sizes[-3], "n2": sizes[-2]}
    steps: dict[str, Constant] = {}
    for name in "ab":
        strides = call.args[f"{name}_strides"][0].tolist()
        loops |= {f"{name}{k}": strides[k - _MOST_LOOPS] for k in range(_MOST_LOOPS - 1)}
        steps[f"{name.upper()}_STEP"] = strides[-1]
    even = ("columns",) if rank > 1 or stays_even(y.shape) else ()
    b.launch(
        source,
        function,
        tiles.grid,
        {**pointers, **tiles.args, **loops, **args},
        {**constants, **steps, "RANK": rank, **tiles.constants},
        divisible=(*even, *(f"{name}{k}" for name in "ab" for k in range(_MOST_LOOPS - 1))),
    )


def quantized_parameters(function: str, block: np.ndarray) -> dict[str, Argument]:
    """A quantized block's parameters by the names of the function's arguments."""
    return {name: block[name][0].item() for name in _FIELDS[function].split()}


def addition(b: Lowering, step: Step) -> tuple[str, Pointer, Pointer]:
    """Of a residual that is fused into another operator: its kind, the residual, and its parameters.

    The operator's own result is the first operand there.
    """
    from .clamps import composed

    node = step.addition
    assert node is not None
    (call,) = b.calls(node)
    mine = (step.clamps[-1] if step.clamps else step.node).outputs[0]
    first = node.inputs[0] == mine
    residual = b.pointer(b.graph.tensor(node.inputs[1 if first else 0]))
    block = call.args
    if call.kernel == "add_f32":
        bounds = composed((float(block["low"][0]), float(block["high"][0])), step.last_clamps, b.graph)
        return "float", residual, b.table(lambda: np.array(bounds, np.float32), "fp32")
    kind = call.kernel.rpartition("_")[0]
    if kind not in ("sum", "sum_reference"):
        raise UnsupportedError(f"ADD of {b.graph.output(node, 0).type_name} is not fused")
    values = quantized_parameters(_FUNCTIONS[kind], block)
    low, high = composed((int(values["low"]), int(values["high"])), step.last_clamps, b.graph)  # type: ignore[arg-type]
    values["low"], values["high"] = low, high
    if not first:
        for name in [name for name in values if name.startswith("a_")]:
            other = "b_" + name[2:]
            values[name], values[other] = values[other], values[name]
    parameters = np.array(list(values.values()), np.int32)
    return kind.replace("sum_", ""), residual, b.table(lambda: parameters, "i32")
