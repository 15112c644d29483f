"""Tensors that live in a delegate's memory, and when their values come out of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .available_memory import allocate
from .delegate import NULL_BUFFER_HANDLE, Delegate
from .errors import StateError
from .node import Node
from .node_errors import warn_of_failure
from .registration import Registration
from .tensor import Tensor

if TYPE_CHECKING:
    from .prepared_graph import PreparedGraph


def make_readable(subgraph: PreparedGraph, tensor: Tensor) -> None:
    """Bring the tensor's memory up to date; copies at most once for each value.

    StateError when its delegate cannot give the value.
    """
    if tensor.data_is_stale:
        _copy_out(subgraph, tensor, tensor)
        tensor.data_is_stale = False


def readable(subgraph: PreparedGraph, tensor: Tensor) -> Tensor:
    """The tensor with an up-to-date memory, or a copy of it that has one.

    The memory of a tensor that is no graph output may be another's by the end of an invoke.
    """
    if not tensor.data_is_stale:
        return tensor
    if tensor.index in subgraph.outputs:
        make_readable(subgraph, tensor)
        return tensor
    copy = Tensor(tensor.index, tensor.name, tensor.type, tensor.shape, tensor.quantization)
    copy.allocation_type = tensor.allocation_type
    if copy.has_fixed_size:
        copy.bind(allocate(copy.nbytes))
    _copy_out(subgraph, tensor, copy)
    return copy


def _copy_out(subgraph: PreparedGraph, tensor: Tensor, target: Tensor) -> None:
    delegate, handle = tensor.delegate, tensor.buffer_handle
    if not isinstance(delegate, Delegate) or handle == NULL_BUFFER_HANDLE:
        raise StateError(f"tensor {tensor!r}: its memory is stale and no buffer handle holds its value")
    try:
        delegate.copy_from_buffer_handle(subgraph, handle, target)
    except Exception as error:
        raise StateError(
            f"tensor {tensor!r}: delegate {delegate.name} could not copy it from buffer handle "
            f"{handle}: {error}"
        ) from error


def written_from_outside(subgraph: PreparedGraph, tensor: Tensor) -> None:
    """Let the delegate that holds the tensor know of a value that was set from Python."""
    tensor.data_is_stale = False
    delegate = tensor.delegate
    if isinstance(delegate, Delegate) and tensor.buffer_handle != NULL_BUFFER_HANDLE:
        handle = tensor.buffer_handle
        try:
            delegate.copy_to_buffer_handle(subgraph, handle, tensor)
        except Exception as error:
            raise StateError(
                f"tensor {tensor!r}: delegate {delegate.name} could not copy it to buffer handle "
                f"{handle}: {error}"
            ) from error


def set_buffer_handle(subgraph: PreparedGraph, tensor: Tensor, handle: int, delegate: Delegate) -> None:
    """Have a delegate hold the tensor; what it held before under another handle is freed."""
    if tensor.delegate is not None and tensor.delegate is not delegate:
        raise StateError(f"tensor {tensor!r}: another delegate holds it already")
    if tensor.buffer_handle != handle:
        free_handle(subgraph, tensor)
    tensor.delegate = delegate
    tensor.buffer_handle = handle


def free_handle(subgraph: PreparedGraph, tensor: Tensor) -> None:
    """Give the tensor's handle back to its delegate; the delegate still owns the tensor."""
    delegate, handle = tensor.delegate, tensor.buffer_handle
    tensor.buffer_handle = NULL_BUFFER_HANDLE
    tensor.data_is_stale = False
    if isinstance(delegate, Delegate) and handle != NULL_BUFFER_HANDLE:
        try:
            delegate.free_buffer_handle(subgraph, handle)
        except Exception as error:
            warn_of_failure(f"delegate {delegate.name}, buffer handle {handle}", error)


def replace_value(subgraph: PreparedGraph, tensor: Tensor) -> None:
    """Let the delegate that holds the tensor have the value that its memory has got from the runtime."""
    delegate = tensor.delegate
    if isinstance(delegate, Delegate) and tensor.buffer_handle != NULL_BUFFER_HANDLE:
        if type(delegate).copy_to_buffer_handle is Delegate.copy_to_buffer_handle:
            free_handle(subgraph, tensor)  # it finds the value in the tensor's memory
        else:
            written_from_outside(subgraph, tensor)


def with_copies(subgraph: PreparedGraph, nodes: Sequence[Node], ends_plan: bool) -> list[Node]:
    """The nodes, with copies out of delegates' memory before the nodes of others that read it.

    A native kernel cannot mark its outputs as stale; that is done after it. A subgraph that
    another one calls hands its outputs over readable.
    """
    steps: list[Node] = []
    for node in nodes:
        held = _held_by_others(subgraph, node.inputs, node.delegate)
        if held:
            steps.append(_step(_COPY, node.index, held))
        steps.append(node)
        marked = _held_outputs(subgraph, node)
        if marked:
            steps.append(_step(_MARK, node.index, marked))
    if ends_plan and subgraph.index:
        held = _held_by_others(subgraph, subgraph.outputs, None)
        if held:
            steps.append(_step(_COPY, len(subgraph.nodes), held))
    return steps


def _held_by_others(subgraph: PreparedGraph, indexes: Iterable[int], reader: object) -> tuple[int, ...]:
    held = []
    for t in indexes:
        owner = subgraph.tensors[t].delegate if t >= 0 else None
        if isinstance(owner, Delegate) and owner is not reader and owner.has_buffer_handles:
            held.append(t)
    return tuple(held)


def _held_outputs(subgraph: PreparedGraph, node: Node) -> tuple[int, ...]:
    if node.delegate is None or node.calls is None:
        return ()
    tensors = subgraph.tensors
    return tuple(t for t in node.outputs if t >= 0 and tensors[t].buffer_handle != NULL_BUFFER_HANDLE)


def _step(registration: Registration, index: int, tensors: tuple[int, ...]) -> Node:
    return Node(index, registration, tensors, tensors)


def _nothing_to_prepare(context: object, node: Node) -> None:
    """These steps are made after everything is prepared."""


def _copy(context: PreparedGraph, node: Node) -> None:
    for t in node.inputs:
        make_readable(context, context.tensors[t])


def _mark(context: PreparedGraph, node: Node) -> None:
    for t in node.inputs:
        context.tensors[t].data_is_stale = True


_COPY = Registration("COPY_FROM_BUFFER_HANDLE", _nothing_to_prepare, _copy)  # type: ignore[arg-type]
_MARK = Registration("MARK_STALE", _nothing_to_prepare, _mark)  # type: ignore[arg-type]
