"""VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE and CALL_ONCE: state that subgraphs share by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError
from ..lite.kernel_call import KernelCall, argument_block
from ..lite.node import Node
from ..lite.resources import Variable, handle_bytes, handle_of
from ..lite.tensor import AllocationType, Tensor, TensorType
from .index_vector import check_counts
from .native_call import Failures, native_plans
from .operators import registration

# variable is the address of a Variable's words.
VARIABLE_COPY = argument_block("variable tensor nbytes")
ONCE = argument_block("runner plan done")
NOT_ASSIGNED = 1
OTHER_SIZE = 2
ONCE_FAILED = 1

_NOT_ASSIGNED_TEXT = "READ_VARIABLE: the variable must have been assigned a value, and has none"
_MESSAGES = {
    NOT_ASSIGNED: _NOT_ASSIGNED_TEXT,
    OTHER_SIZE: "the variable has another size than when the node was prepared: call allocate_tensors()",
}


def check_resource(operator: str, tensor: Tensor) -> None:
    if tensor.type != TensorType.RESOURCE:
        raise PrepareError(f"{operator}: the handle must be a resource, got {tensor!r}")


def set_handle(context: Context, node: Node, operator: str, number: int) -> None:
    """Make a number the value of the node's output, now and for good."""
    output = context.output(node, 0)
    check_resource(operator, output)
    output.allocation_type = AllocationType.PERSISTENT_RO
    output.bind(handle_bytes(number))


def _prepare_var_handle(context: Context, node: Node) -> Sequence[KernelCall]:
    check_counts("VAR_HANDLE", node, 0)
    container = getattr(node.options, "container", None) or ""
    name = getattr(node.options, "shared_name", None) or ""
    number = context.resources.number("variable", container, name)
    context.resources.variables.setdefault(number, Variable())
    set_handle(context, node, "VAR_HANDLE", number)
    return []


def _variable(context: Context, node: Node, operator: str) -> Variable:
    """The variable whose handle is the node's first input, which must have it by now."""
    handle = context.input(node, 0)
    variable = context.resources.variables.get(handle_of(handle))
    if variable is None:
        raise InvokeError(f"{operator}: the handle must be a variable's, got {handle!r}")
    return variable


def _known_variable(context: Context, node: Node, operator: str) -> Variable | None:
    """The variable, if its handle is known before the run."""
    handle = context.input(node, 0)
    check_resource(operator, handle)
    if not handle.is_constant:
        return None
    try:
        return _variable(context, node, operator)
    except InvokeError as error:
        raise PrepareError(str(error)) from error


def _is_open(tensor: Tensor) -> bool:
    """Whether the file leaves the shape open; a missing shape reads as that of a scalar."""
    return not tensor.declared_shape or -1 in tensor.declared_shape


def _copy_call(kernel: str, variable: Variable, tensor: Tensor) -> list[KernelCall]:
    if not variable.is_assigned and (variable.memory is None or len(variable.memory) != tensor.nbytes):
        variable.reserve(tensor.nbytes)
    args = np.zeros(1, VARIABLE_COPY)
    args["variable"], args["nbytes"] = variable.address, tensor.nbytes
    call = KernelCall("resource", kernel, args, {"tensor": tensor}, keep=[variable.words], messages=_MESSAGES)
    call.variable = variable
    return [call]


def _prepare_read_variable(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("READ_VARIABLE", node, 1)
    y = context.output(node, 0)
    variable = _known_variable(context, node, "READ_VARIABLE")
    if variable is not None and variable.type is None and y.has_fixed_size and not _is_open(y):
        context.resources.settle(variable, y.type, y.declared_shape)
    if variable is None or variable.loose or variable.shape is None or variable.type != y.type:
        context.set_dynamic(y)
        return None
    context.resize_tensor(y, variable.shape)
    return _copy_call("read_variable", variable, y)


def _read_variable(context: Context, node: Node) -> None:
    y = context.output(node, 0)
    variable = _variable(context, node, "READ_VARIABLE")
    if not variable.is_assigned or variable.type is None or variable.shape is None:
        raise InvokeError(_NOT_ASSIGNED_TEXT)
    if variable.type != y.type:
        held = TensorType(variable.type).name.lower()
        raise InvokeError(f"READ_VARIABLE: the variable must have the type of {y!r}, got {held}")
    context.resize_tensor(y, variable.shape)
    assert variable.memory is not None
    if not y.has_fixed_size:
        y.bind(variable.memory.copy())
    elif y.data is not None:
        y.data[: y.nbytes] = variable.memory


def _prepare_assign_variable(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("ASSIGN_VARIABLE", node, 2, 0)
    x = context.input(node, 1)
    variable = _known_variable(context, node, "ASSIGN_VARIABLE")
    if variable is None:
        return None
    if not x.has_fixed_size:
        context.resources.loosen(variable)
    else:
        context.resources.settle(variable, x.type, x.shape)
    return None if variable.loose else _copy_call("assign_variable", variable, x)


def _assign_variable(context: Context, node: Node) -> None:
    variable, x = _variable(context, node, "ASSIGN_VARIABLE"), context.input(node, 1)
    if not variable.loose:
        context.resources.settle(variable, x.type, x.shape)
    variable.assign(x)


def _prepare_call_once(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("CALL_ONCE", node, 0, 0)
    index = int(getattr(node.options, "init_subgraph_index", 0))
    done = context.resources.once(index)
    if done[0]:
        return []
    subgraph = context.called_subgraph(node, index)
    if subgraph.inputs or subgraph.outputs:
        raise PrepareError(
            f"CALL_ONCE: subgraph {index} must have no inputs and no outputs, "
            f"got {len(subgraph.inputs)} and {len(subgraph.outputs)}"
        )
    subgraph.allocate_tensors()
    plans = native_plans([subgraph])
    if plans is None or plans[0] is None:
        return None
    args = np.zeros(1, ONCE)
    args["runner"], args["plan"], args["done"] = plans[0].runner, plans[0].address, done.ctypes.data
    failures = Failures({ONCE_FAILED: subgraph})
    return [KernelCall("resource", "run_once", args, {}, keep=[done], messages=failures)]


def _call_once(context: Context, node: Node) -> None:
    """Run the subgraph, unless that was done since the interpreter was made."""
    index = int(getattr(node.options, "init_subgraph_index", 0))
    done = context.resources.once(index)
    if not done[0]:
        subgraph = context.called_subgraph(node, index)
        subgraph.allocate_tensors()
        subgraph.invoke()
        done[0] = 1


REGISTRATIONS = (
    registration("CALL_ONCE", _prepare_call_once, _call_once),
    registration("VAR_HANDLE", _prepare_var_handle),
    registration("READ_VARIABLE", _prepare_read_variable, _read_variable),
    registration("ASSIGN_VARIABLE", _prepare_assign_variable, _assign_variable),
)
