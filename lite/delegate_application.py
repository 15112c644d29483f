"""Applying a delegate to all subgraphs of an interpreter: everywhere, or nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .buffer_handles import set_buffer_handle
from .delegate import Delegate, DelegateFlags
from .delegation import RESTORED, Delegation
from .errors import DelegateError, StateError
from .node_errors import described
from .stage import State

if TYPE_CHECKING:
    from .runtime import Runtime
    from .subgraph import Subgraph
    from .tensor import Tensor


def apply_delegate(runtime: Runtime, delegate: Delegate) -> None:
    """Let the delegate take nodes of every subgraph, and allocate what was allocated before.

    A delegate without dynamic tensors has the main subgraph allocated at once, as in TFLite.
    StateError when its flags exclude a graph, DelegateError when it fails.
    """
    if not isinstance(delegate, Delegate):
        raise StateError(f"delegate: it must be a Delegate, got {delegate!r}{_remedy(delegate)}")
    if any(applied is delegate for applied in runtime.delegates):
        raise StateError(f"delegate {delegate.name}: it is applied already")
    ready = [s for s in runtime.subgraphs if s.state is State.INVOKABLE]
    skippable = dict(runtime.skippable)
    before = list(runtime.delegates)
    runtime.delegates.append(delegate)
    try:
        for subgraph in runtime.subgraphs:
            runtime.delegate_to(subgraph, delegate)
        for copy in list(runtime.copies):
            runtime.delegate_to(copy, delegate)
        _allocate(runtime, delegate, ready)
    except StateError:
        # The delegate was refused before it touched this graph; others that it had are given back.
        runtime.delegates[:] = before
        runtime.skippable = skippable
        _forget(runtime, delegate)
        for subgraph in ready:
            subgraph.allocate_tensors()
        raise
    except Exception as error:
        _remove_all(runtime)
        for subgraph in ready:
            subgraph.allocate_tensors()
        if isinstance(error, DelegateError):
            raise
        raise DelegateError(f"delegate {delegate.name}: {described(error)}. {RESTORED}") from error


def _remedy(delegate: object) -> str:
    if isinstance(delegate, str):
        return f"; load_delegate({delegate!r}) looks for one of that name"
    if isinstance(delegate, type) and issubclass(delegate, Delegate):
        return f"; {delegate.__name__}() makes one"
    return ""


def _allocate(runtime: Runtime, delegate: Delegate, ready: list[Subgraph]) -> None:
    main = runtime.subgraphs[0]
    waits = main.delegation is not None and main.delegation.undone
    if not waits and not delegate.flags & DelegateFlags.ALLOW_DYNAMIC_TENSORS:
        main.allocate_tensors()
    for subgraph in ready:
        subgraph.allocate_tensors()


def _remove_all(runtime: Runtime) -> None:
    runtime.delegates.clear()
    runtime.skippable.clear()
    for subgraph in (*runtime.subgraphs, *runtime.copies):
        if subgraph.delegation is not None:
            subgraph.discard_stages()
            subgraph.delegation.remove_all(subgraph)


def _forget(runtime: Runtime, delegate: Delegate) -> None:
    for subgraph in (*runtime.subgraphs, *runtime.copies):
        if subgraph.delegation is not None:
            subgraph.delegation.forget(subgraph, delegate)


def hold_tensor(subgraph: Subgraph, tensor: Tensor, handle: int, delegate: Delegate) -> None:
    """Have a delegate hold a tensor; what others read of it is copied out of the delegate's memory."""
    if not isinstance(delegate, Delegate):
        raise StateError(f"delegate: it must be a Delegate, got {delegate!r}{_remedy(delegate)}")
    if subgraph.delegation is None:
        subgraph.delegation = Delegation()
    set_buffer_handle(subgraph, tensor, handle, delegate)
    subgraph.plan_again()
    for caller in (*subgraph.runtime.subgraphs, *subgraph.runtime.copies):
        caller.invalidate_if_it_calls(subgraph)
