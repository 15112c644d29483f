"""VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE and CALL_ONCE: state that subgraphs share by name."""

from __future__ import annotations

from collections.abc import Sequence

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.resources import VariableValue, handle_bytes, handle_of
from ..lite.tensor import AllocationType, Tensor, TensorType
from .index_vector import check_counts

CALL_ONCE = 129  # the schema's BuiltinOperator
VAR_HANDLE = 142
READ_VARIABLE = 143
ASSIGN_VARIABLE = 144


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
    set_handle(context, node, "VAR_HANDLE", context.resources.number("variable", container, name))
    return []


def _prepare_read_variable(context: Context, node: Node) -> None:
    check_counts("READ_VARIABLE", node, 1)
    check_resource("READ_VARIABLE", context.input(node, 0))
    context.set_dynamic(context.output(node, 0))


def _read_variable(context: Context, node: Node) -> None:
    y = context.output(node, 0)
    value = context.resources.variables.get(handle_of(context.input(node, 0)))
    if value is None:
        raise InvokeError("READ_VARIABLE: the variable must have been assigned a value, and has none")
    if value.type != y.type:
        held = TensorType(value.type).name.lower()
        raise InvokeError(f"READ_VARIABLE: the variable must have the type of {y!r}, got {held}")
    context.resize_tensor(y, value.shape)
    if not y.has_fixed_size:
        y.bind(value.data)
    elif value.data is not None and y.data is not None:
        y.data[: y.nbytes] = value.data


def _prepare_assign_variable(context: Context, node: Node) -> None:
    check_counts("ASSIGN_VARIABLE", node, 2, 0)
    check_resource("ASSIGN_VARIABLE", context.input(node, 0))
    context.input(node, 1)


def _assign_variable(context: Context, node: Node) -> None:
    x = context.input(node, 1)
    if x.data is None and (x.nbytes or not x.has_fixed_size):
        raise InvokeError(f"ASSIGN_VARIABLE: {x!r} is read, but nothing gives it a value")
    data = x.data[: x.nbytes].copy() if x.has_fixed_size and x.data is not None else x.data
    context.resources.variables[handle_of(context.input(node, 0))] = VariableValue(x.type, x.shape, data)


def _prepare_call_once(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("CALL_ONCE", node, 0, 0)
    index = int(getattr(node.options, "init_subgraph_index", 0))
    subgraph = context.subgraph(index)
    if subgraph.inputs or subgraph.outputs:
        raise PrepareError(
            f"CALL_ONCE: subgraph {index} must have no inputs and no outputs, "
            f"got {len(subgraph.inputs)} and {len(subgraph.outputs)}"
        )
    return [] if index in context.resources.initialized else None


def _call_once(context: Context, node: Node) -> None:
    """Run the subgraph, unless that was done since the interpreter was made."""
    index = int(getattr(node.options, "init_subgraph_index", 0))
    if index in context.resources.initialized:
        return
    subgraph = context.subgraph(index)
    subgraph.allocate_tensors()
    subgraph.invoke()
    subgraph.release_nonpersistent_memory()
    context.resources.initialized.add(index)


REGISTRATIONS = (
    Registration("CALL_ONCE", _prepare_call_once, _call_once, builtin_code=CALL_ONCE, side_effects=True),
    Registration("VAR_HANDLE", _prepare_var_handle, builtin_code=VAR_HANDLE),
    Registration(
        "READ_VARIABLE",
        _prepare_read_variable,
        _read_variable,
        builtin_code=READ_VARIABLE,
        side_effects=True,
    ),
    Registration(
        "ASSIGN_VARIABLE",
        _prepare_assign_variable,
        _assign_variable,
        builtin_code=ASSIGN_VARIABLE,
        side_effects=True,
    ),
)
