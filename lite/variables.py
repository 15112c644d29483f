"""Variables and inputs of a subgraph: their values when it is reset, and when it is prepared anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .node_errors import invoke_error
from .tensor import Tensor, TensorType

if TYPE_CHECKING:
    import numpy as np

    from .prepared_graph import PreparedGraph


def reset_variables(subgraph: PreparedGraph) -> None:
    """Set all variables to zero bytes, but int8 ones to their zero point, as TFLite does.

    Variables without a fixed size (strings) have no value then.
    """
    for t in subgraph.variables:
        tensor = subgraph.tensors[t]
        if not tensor.has_fixed_size:
            tensor.bind(None)
        elif tensor.data is not None:
            tensor.data[:] = _zero(tensor) & 0xFF
            _tell_delegate(subgraph, tensor)


def reset_operators(subgraph: PreparedGraph) -> None:
    """Have operators that keep something of their own between runs forget it.

    InvokeError names the node whose hook fails.
    """
    for node in subgraph.nodes if subgraph.fault is None else ():
        registration = node.registration
        if registration.reset_variables is None:
            continue
        try:
            registration.reset_variables(subgraph, node)
        except Exception as error:
            raise invoke_error(f"{subgraph.where(node)}:", registration.name, error) from error


def _zero(tensor: Tensor) -> int | np.ndarray:
    is_int8 = tensor.type == TensorType.INT8 and tensor.quantization is not None
    return tensor.quantization.zero_point if is_int8 and tensor.quantization else 0


def kept_values(subgraph: PreparedGraph) -> list[tuple[Tensor, np.ndarray]]:
    """Copies of the present values of inputs and variables, wherever they are."""
    found = []
    for t in (*subgraph.inputs, *subgraph.variables):
        tensor = subgraph.tensors[t]
        if tensor.data is None:
            continue
        if tensor.data_is_stale:
            from .buffer_handles import make_readable

            make_readable(subgraph, tensor)
        found.append((tensor, tensor.data.copy()))
    return found


def restore_values(subgraph: PreparedGraph, values: list[tuple[Tensor, np.ndarray]]) -> None:
    """Write back what kept_values has copied."""
    for tensor, value in values:
        if not tensor.has_fixed_size:
            tensor.bind(value)
        elif tensor.data is not None:
            tensor.data[:] = value
            _tell_delegate(subgraph, tensor)


def _tell_delegate(subgraph: PreparedGraph, tensor: Tensor) -> None:
    if tensor.delegate is not None:
        from .buffer_handles import replace_value

        replace_value(subgraph, tensor)
