"""Delegation: the delegates of one subgraph, applied, undone for a resize, and applied again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .buffer_handles import free_handle, with_copies
from .delegate import Delegate, DelegateFlags
from .delegate_context import SubgraphDelegateContext
from .errors import DelegateError, PrepareError, StateError
from .subgraph import State
from .tensor import TensorType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .node import Node
    from .subgraph import Subgraph
    from .tensor import Tensor

RESTORED = "Restored original execution plan after delegate application failure."

# Their tensors hold a number or an object, whose shape is not the graph's concern.
_HANDLE_TYPES = (TensorType.RESOURCE, TensorType.VARIANT)

_ALLOW_DYNAMIC = DelegateFlags.ALLOW_DYNAMIC_TENSORS
_PROPAGATE = DelegateFlags.REQUIRE_PROPAGATED_SHAPES
_WHOLE = DelegateFlags.HINT_FULLY_DELEGATED_TO_SINGLE_DELEGATE


class Delegation:
    """What one subgraph has to do with delegates.

    applied lists them in order. undone says that the plan is the original one for now, and
    that they are due at the next allocation. fixed_shapes says that one of them was prepared
    for the present shapes and does not allow dynamic tensors: a resize undoes them all.
    """

    __slots__ = ("_model_nodes", "_original_plan", "applied", "fixed_shapes", "undone")

    def __init__(self) -> None:
        self.applied: list[Delegate] = []
        self.undone = False
        self.fixed_shapes = False
        self._original_plan: list[int] | None = None
        self._model_nodes = 0

    def apply(self, subgraph: Subgraph, delegate: Delegate, may_wait: bool = True) -> None:
        """Let the delegate take nodes of the subgraph, which is not allocated afterwards.

        A graph whose shapes do not fit as the file gives them has its delegates applied by the
        next allocation, when they may have been set.
        Raises StateError for a graph that the delegate's flags exclude, DelegateError when the
        delegate fails; the plan is the original one then.
        """
        if self.undone and may_wait:
            self.applied.append(delegate)
            return
        if not self._shapes_are_known(subgraph, delegate, may_wait):
            self.undo(subgraph)
            self.applied.append(delegate)
            self.undone = True
            return
        subgraph.discard_stages()
        if self._original_plan is None:
            self._original_plan = list(subgraph.execution_plan)
            self._model_nodes = len(subgraph.nodes)
        context = SubgraphDelegateContext(subgraph, delegate)
        try:
            delegate.prepare(context)
            _check_whole(subgraph, delegate)
        except Exception as error:
            raise self.failure(subgraph, error, delegate) from error
        finally:
            context.close()
        self.applied.append(delegate)
        self.fixed_shapes |= not delegate.flags & _ALLOW_DYNAMIC

    def _shapes_are_known(self, subgraph: Subgraph, delegate: Delegate, may_wait: bool) -> bool:
        """Compute shapes for a delegate that needs them; False when they must first be set."""
        static = not delegate.flags & _ALLOW_DYNAMIC
        if not static and not delegate.flags & _PROPAGATE:
            return True
        if subgraph.state is not State.INVOKABLE:
            try:
                subgraph.propagate_shapes()
            except PrepareError:
                if may_wait:
                    return False
                raise
        dynamic = first_dynamic_tensor(subgraph)
        if static and dynamic is not None:
            raise StateError(
                "Attempting to use a delegate that only supports static-sized tensors with a graph that has "
                f"dynamic-sized tensors (tensor#{dynamic.index} is a dynamic-sized tensor). "
                f"{delegate.name}: tensor {dynamic!r} gets its shape by running"
            )
        return True

    def undo(self, subgraph: Subgraph) -> None:
        """Bring back the original plan; the delegates are applied again by the next allocation."""
        if self._original_plan is None:
            return
        subgraph.discard_stages()
        for node in subgraph.nodes[self._model_nodes :]:
            if node.registration.free is not None:
                node.registration.free(subgraph, node)
            for t in node.outputs:
                free_handle(subgraph, subgraph.tensors[t])
                subgraph.tensors[t].delegate = None
        del subgraph.nodes[self._model_nodes :]
        subgraph.execution_plan = self._original_plan
        self._original_plan = None
        self.fixed_shapes = False
        self.undone = bool(self.applied)

    def redo(self, subgraph: Subgraph) -> None:
        """Apply the delegates that a resize has undone, or that waited for shapes."""
        delegates, self.applied, self.undone = self.applied, [], False
        try:
            for delegate in delegates:
                self.apply(subgraph, delegate, may_wait=False)
        except DelegateError:
            raise
        except Exception:
            self.undo(subgraph)
            self.applied, self.undone = delegates, True
            raise

    def remove_all(self, subgraph: Subgraph) -> None:
        self.applied.clear()
        self.undo(subgraph)
        self.undone = False

    def failure(
        self, subgraph: Subgraph, error: Exception, delegate: Delegate | None = None
    ) -> DelegateError:
        """Remove all delegates, and make the error that says why."""
        name = ", ".join(d.name for d in self.applied) if delegate is None else delegate.name
        self.remove_all(subgraph)
        text = str(error) or type(error).__name__
        if not isinstance(error, (ValueError, RuntimeError)):
            text = f"{type(error).__name__}: {text}"
        return DelegateError(f"delegate {name}: {text}. {RESTORED}")

    def check_allocated(self, subgraph: Subgraph) -> None:
        """PrepareError when a kernel made a tensor dynamic in a graph whose shapes must be fixed."""
        dynamic = first_dynamic_tensor(subgraph) if self.fixed_shapes else None
        if dynamic is not None:
            raise PrepareError(
                f"Cannot allow dynamic tensors due to previous delegation: tensor {dynamic!r} is dynamic"
            )

    def steps(self, subgraph: Subgraph, nodes: Sequence[Node], ends_plan: bool) -> list[Node]:
        """The nodes, with the copies out of delegates' memory that their tensors need."""
        return with_copies(subgraph, nodes, ends_plan)

    def release(self, subgraph: Subgraph) -> None:
        """Free all buffer handles; the subgraph ends."""
        for tensor in subgraph.tensors:
            if tensor.delegate is not None:
                free_handle(subgraph, tensor)


def first_dynamic_tensor(subgraph: Subgraph) -> Tensor | None:
    """An output of the execution plan's nodes whose shape is known only by running."""
    written = (t for n in subgraph.execution_plan for t in subgraph.nodes[n].outputs if t >= 0)
    dynamic = (subgraph.tensors[t] for t in written if subgraph.tensors[t].is_dynamic)
    return next((tensor for tensor in dynamic if tensor.type not in _HANDLE_TYPES), None)


def _check_whole(subgraph: Subgraph, delegate: Delegate) -> None:
    if not delegate.flags & _WHOLE:
        return
    left = [n for n in subgraph.execution_plan if subgraph.nodes[n].delegate is not delegate]
    if left or len(subgraph.execution_plan) > 1:
        which = f"{subgraph.where(subgraph.nodes[left[0]])} is left out" if left else "it takes several nodes"
        raise PrepareError(f"the graph is not fully delegated to a single node: {which}")
