"""Functional control flow: calls, branches and loops whose bodies are functions of the library."""

from __future__ import annotations

import numpy as np

from .attributes import FunctionName
from .axis import row_of
from .dtypes import ANY
from .kernel import KernelConstruction, KernelContext, OpKernel
from .registry import kernel, kernel_class
from .status import InvalidArgumentError, UnimplementedError


def call(args: list[np.ndarray], *, f: FunctionName, context: KernelContext) -> list[np.ndarray]:
    """The function's results for the arguments."""
    return context.environment.call_function(f, args)


def remote_call(
    target: np.ndarray, args: list[np.ndarray], *, f: FunctionName, context: KernelContext
) -> list[np.ndarray]:
    """The function's results; every target is this machine."""
    return context.environment.call_function(f, args)


def is_true(op: str, value: np.ndarray) -> bool:
    """A scalar as a condition: not zero, or not an empty string; any other tensor: not empty.

    Source: TensorFlow tensorflow/core/kernels/functional_ops.cc, ToBool.
    """
    if value.shape != ():
        return value.size > 0
    held = value[()]
    if value.dtype.kind == "O" and not isinstance(held, bytes):
        raise InvalidArgumentError(f"{op}: the condition must be a bool, number or string, got {type(held)}")
    return len(held) > 0 if isinstance(held, bytes) else bool(held)


def branch(
    cond: np.ndarray,
    input: list[np.ndarray],
    *,
    then_branch: FunctionName,
    else_branch: FunctionName,
    context: KernelContext,
) -> list[np.ndarray]:
    """What the branch that cond chooses makes of the inputs."""
    taken = then_branch if is_true("If", cond) else else_branch
    return context.environment.call_function(taken, input)


def case(
    branch_index: np.ndarray, input: list[np.ndarray], *, branches: list[FunctionName], context: KernelContext
) -> list[np.ndarray]:
    """What the branch with the index makes of the inputs; the last one where no branch has it."""
    if branch_index.shape != ():
        raise InvalidArgumentError(f"Case: branch_index must be a scalar, got {list(branch_index.shape)}")
    index = int(branch_index)
    taken = branches[index if 0 <= index < len(branches) else -1]
    return context.environment.call_function(taken, input)


def while_loop(
    input: list[np.ndarray], *, cond: FunctionName, body: FunctionName, context: KernelContext
) -> list[np.ndarray]:
    """The inputs, put through body for as long as cond of them is true."""
    call_function = context.environment.call_function
    values = input
    while True:
        conditions = call_function(cond, values)
        if len(conditions) != 1:
            raise InvalidArgumentError(f"While: cond must have one result, got {len(conditions)}")
        if not is_true("While", conditions[0]):
            return values
        values = call_function(body, values)
        if len(values) != len(input):
            raise InvalidArgumentError(f"While: body must have {len(input)} results, got {len(values)}")


def for_loop(
    start: np.ndarray,
    limit: np.ndarray,
    delta: np.ndarray,
    input: list[np.ndarray],
    *,
    body: FunctionName,
    context: KernelContext,
) -> list[np.ndarray]:
    """The inputs, put through body(i, ...) for each i from start towards limit by delta.

    Source: TensorFlow tensorflow/core/kernels/functional_ops.cc, ForOp.
    """
    for name, value in (("start", start), ("limit", limit), ("delta", delta)):
        if value.shape != ():
            raise InvalidArgumentError(f"For: {name} must be a scalar, got {list(value.shape)}")
    first, last, step = int(start), int(limit), int(delta)
    if step == 0 or (last - first) * step < 0:
        message = f"For: delta must lead from start to limit, got {first}, {last} and {step}"
        raise InvalidArgumentError(message)
    values = input
    for i in range(first, last, step):
        values = context.environment.call_function(body, [np.array(i, np.int32), *values])
        if len(values) != len(input):
            raise InvalidArgumentError(f"For: body must have {len(input)} results, got {len(values)}")
    return values


def map_defun(
    arguments: list[np.ndarray], captured_inputs: list[np.ndarray], *, f: FunctionName, context: KernelContext
) -> list[np.ndarray]:
    """f of the arguments' slices along their first axis, with the captured inputs, stacked.

    Source: TensorFlow tensorflow/core/kernels/data/map_defun_op.cc.
    """
    if any(x.ndim == 0 for x in arguments):
        raise InvalidArgumentError("MapDefun: arguments must have a first axis, got a scalar")
    counts = {len(x) for x in arguments}
    if len(counts) != 1:
        raise InvalidArgumentError(f"MapDefun: arguments must have one length, got {sorted(counts)}")
    count = counts.pop()
    call_function = context.environment.call_function
    rows = [call_function(f, [*(row_of(x, i) for x in arguments), *captured_inputs]) for i in range(count)]
    if not rows:
        raise UnimplementedError("MapDefun: arguments must have at least one slice, got none")
    return [np.stack(results) for results in zip(*rows, strict=True)]


class SymbolicGradient(OpKernel):
    """Refused: it would need a gradient for every op of the function."""

    def __init__(self, construction: KernelConstruction) -> None:
        from ...lite.errors import UnsupportedError

        super().__init__(construction)
        function = construction.get_attr("f", FunctionName).name
        message = f"SymbolicGradient: gradients of functions are not built, got that of {function!r}"
        raise UnsupportedError(f"{message}; a graph whose gradients are nodes of its own would run")


REGISTRATIONS = (
    *(kernel(op, call) for op in ("PartitionedCall", "StatefulPartitionedCall")),
    kernel("RemoteCall", remote_call),
    *(kernel(op, branch) for op in ("If", "StatelessIf")),
    *(kernel(op, case) for op in ("Case", "StatelessCase")),
    *(kernel(op, while_loop) for op in ("While", "StatelessWhile")),
    kernel("For", for_loop, T=ANY),
    kernel("MapDefun", map_defun),
    kernel_class("SymbolicGradient", SymbolicGradient),
)
