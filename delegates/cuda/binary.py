"""Binary elementwise operators: launches from the argument blocks of kernels/binary.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...kernels.broadcast import BROADCAST_RANK
from ...lite.errors import UnsupportedError
from ...lite.tensor import Tensor, TensorType
from .launch import Argument, Constant, Pointer
from .lowering import BLOCK

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering

OPERATORS = ("ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE", "MAXIMUM", "MINIMUM")

_MOST_LOOPS = 4
_CLAMPED = ("add", "sub", "mul", "div")
_INTEGERS = (TensorType.INT32, TensorType.INT64)
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
    node, graph = step.node, b.graph
    calls = b.calls(node)
    x, z, y = graph.input(node, 0), graph.input(node, 1), graph.output(node, 0)
    if not calls:
        return
    (call,) = calls
    args = operands(b, node.registration.name, call.args, (x, z, y))
    constants: dict[str, Constant] = {"RANK": rank_of(call.args), "BLOCK": BLOCK}
    kind = call.kernel.rpartition("_")[0]
    if call.family in ("binary_f32", "binary_int"):
        _plain(b, kind, call.args, args, constants, y)
        return
    function = _FUNCTIONS[kind]
    args.update(quantized_parameters(function, call.args))
    if function == "sum_q8_reference":
        constants["SQUARED"] = kind.startswith("squared")
    b.launch("binary", function, (-(-y.size // BLOCK),), args, constants)


def _plain(
    b: Lowering,
    kind: str,
    block: np.ndarray,
    args: dict[str, Argument],
    constants: dict[str, Constant],
    y: Tensor,
) -> None:
    if kind == "div" and y.type in _INTEGERS:
        raise UnsupportedError("DIV of integers is not built: a GPU cannot report a division by zero")
    is_float = y.type == TensorType.FLOAT32
    clamps = kind in _CLAMPED
    low, high = (block["low"][0].item(), block["high"][0].item()) if clamps else (0, 0)
    if is_float:
        low, high = float(low), float(high)
        clamps = clamps and (low > -np.inf or high < np.inf)
    args["low"], args["high"] = low, high
    constants |= {"OP": kind, "CLAMP": clamps, "HALF": is_float and b.is_half}
    b.launch("binary", "plain", (-(-y.size // BLOCK),), args, constants)


def rank_of(block: np.ndarray) -> int:
    sizes = block["shape"][0]
    used = np.flatnonzero(sizes != 1)
    return BROADCAST_RANK - int(used[0]) if len(used) else 1


def operands(
    b: Lowering, operator: str, block: np.ndarray, tensors: tuple[Tensor, Tensor, Tensor]
) -> dict[str, Argument]:
    """The arguments that say where the operands lie: pointers, sizes and strides."""
    if rank_of(block) > _MOST_LOOPS:
        raise UnsupportedError(f"{operator}: broadcasts of up to {_MOST_LOOPS} loops are built")
    x, z, y = tensors
    args: dict[str, Argument] = {"a_ptr": b.pointer(x), "b_ptr": b.pointer(z), "y_ptr": b.pointer(y)}
    args["size"] = y.size
    sizes = block["shape"][0][-_MOST_LOOPS:]
    args |= {f"n{i}": int(sizes[i]) for i in (1, 2, 3)}
    for name in "ab":
        strides = block[f"{name}_strides"][0][-_MOST_LOOPS:]
        args |= {f"{name}{i}": int(strides[i]) for i in range(_MOST_LOOPS)}
    return args


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
