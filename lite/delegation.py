"""Delegation: the delegates of one subgraph, applied, undone for a resize, and applied again."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from ..schema.named_tuple import NamedTuple
from .buffer_handles import free_handle, with_copies
from .delegate import Delegate, DelegateFlags
from .delegate_context import SubgraphDelegateContext
from .errors import DelegateError, PrepareError, StateError
from .node_errors import described, free_node
from .stage import State
from .tensor import TensorType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .node import Node
    from .partition import PartitionMode
    from .prepared_graph import PreparedGraph
    from .registration import Registration
    from .runtime import Runtime
    from .tensor import Shape, Tensor

RESTORED = "Restored original execution plan after delegate application failure."

# Their tensors hold a number or an object, whose shape is not the graph's concern.
_HANDLE_TYPES = (TensorType.RESOURCE, TensorType.VARIANT)

_ALLOW_DYNAMIC = DelegateFlags.ALLOW_DYNAMIC_TENSORS
_PROPAGATE = DelegateFlags.REQUIRE_PROPAGATED_SHAPES
_WHOLE = DelegateFlags.HINT_FULLY_DELEGATED_TO_SINGLE_DELEGATE


class Replacement(NamedTuple):
    """Nodes that a delegate replaces while it is prepared for another subgraph.

    by is the delegation of that subgraph; place says how many of this one's delegates come first.
    """

    delegate: Delegate
    by: Delegation
    place: int
    registration: Registration
    nodes: tuple[int, ...]
    mode: PartitionMode | None


class Delegation:
    """What one subgraph has to do with delegates.

    applied lists them in order, replacements what came from other subgraphs. undone says that the
    plan is the original one for now, and that they are due at the next allocation. fixed_shapes
    says that one of them was prepared for the present shapes and does not allow dynamic tensors: a
    resize undoes them all. acquired are the subgraphs that these delegates have replaced nodes of.
    """

    __slots__ = ("_before", "_outputs", "acquired", "applied", "fixed_shapes", "replacements", "undone")

    def __init__(self) -> None:
        self.applied: list[Delegate] = []
        self.replacements: list[Replacement] = []
        self.acquired: set[int] = set()
        self.undone = False
        self.fixed_shapes = False
        self._before: _Original | None = None
        self._outputs: dict[int, tuple[int, Shape | None]] = {}  # of the delegates' nodes, as they must be

    def apply(self, subgraph: PreparedGraph, delegate: Delegate, may_wait: bool = True) -> None:
        """Let the delegate take nodes of the subgraph, which is not allocated afterwards.

        A graph whose shapes do not fit as the file gives them has its delegates applied by the
        next allocation, when they may have been set.
        Raises StateError for a graph that the delegate's flags exclude, DelegateError when the
        delegate fails; the plan is the original one then.
        """
        shapes = _Shapes.MISSING if self.undone and may_wait else _shapes_for(subgraph, delegate, may_wait)
        if shapes is _Shapes.MISSING:
            self._wait(subgraph)
            self.applied.append(delegate)
            return

        def prepare(context: SubgraphDelegateContext) -> None:
            delegate.prepare(context)
            _check_whole(subgraph, delegate)

        self._let(subgraph, delegate, shapes, prepare)
        self.applied.append(delegate)

    def replace(
        self,
        subgraph: PreparedGraph,
        delegate: Delegate,
        by: Delegation,
        registration: Registration,
        nodes: Iterable[int],
        mode: PartitionMode | None,
    ) -> None:
        """Replace nodes of this subgraph for a delegate that is being prepared for another one.

        It is done again after a resize, and undone when the other subgraph's delegates are.
        """
        known = [place for place, applied in enumerate(self.applied) if applied is delegate]
        place = known[0] if self.undone and known else len(self.applied)
        replacement = Replacement(delegate, by, place, registration, tuple(nodes), mode)
        self.replacements.append(replacement)
        by.acquired.add(subgraph.index)
        shapes = _Shapes.MISSING if self.undone else _shapes_for(subgraph, delegate, may_wait=True)
        if shapes is _Shapes.MISSING:
            self._wait(subgraph)
        else:
            self._replay(subgraph, replacement, shapes)

    def hand_over(self, copy: PreparedGraph) -> None:
        """Have a copy of the subgraph get the replacements that came from other subgraphs."""
        if self.replacements:
            copy.delegation = Delegation()
            copy.delegation.replacements = list(self.replacements)
            copy.delegation.undone = True

    def _wait(self, subgraph: PreparedGraph) -> None:
        self.undo(subgraph)
        self.undone = True

    def _replay(self, subgraph: PreparedGraph, replacement: Replacement, shapes: _Shapes) -> None:
        _, _, _, registration, nodes, mode = replacement
        # Another delegate, or this one for another instance, may have taken some meanwhile.
        present = set(subgraph.execution_plan)
        nodes = tuple(n for n in nodes if n in present)
        self._let(
            subgraph,
            replacement.delegate,
            shapes,
            lambda context: context.replace_node_subsets_with_delegate_kernels(registration, nodes, mode),
        )

    def _let(
        self,
        subgraph: PreparedGraph,
        delegate: Delegate,
        shapes: _Shapes,
        change: Callable[[SubgraphDelegateContext], None],
    ) -> None:
        """Let the delegate change the plan, once the original one is kept."""
        subgraph.discard_stages()
        if self._before is None:
            self._before = _Original(subgraph)
        first = len(subgraph.nodes)
        context = SubgraphDelegateContext(subgraph, delegate)
        try:
            change(context)
        except Exception as error:
            raise self.failure(subgraph, error, delegate) from error
        finally:
            context.close()
        fixed = not delegate.flags & _ALLOW_DYNAMIC
        self.fixed_shapes |= fixed
        must_stay = fixed and shapes is _Shapes.KNOWN
        for node in subgraph.nodes[first:]:
            for t in node.outputs:
                tensor = subgraph.tensors[t]
                self._outputs[t] = tensor.type, tensor.shape if must_stay else None

    def undo(self, subgraph: PreparedGraph) -> None:
        """Bring back the original plan; the delegates are applied again by the next allocation."""
        before = self._before
        if before is None:
            return
        self._before = None
        self._outputs.clear()
        self.fixed_shapes = False
        subgraph.discard_stages()
        before.restore(subgraph)
        self._give_back(subgraph.runtime)
        self.undone = bool(self.applied or self.replacements)

    def _give_back(self, runtime: Runtime) -> None:
        """Undo what the delegates have replaced in other subgraphs."""
        acquired, self.acquired = self.acquired, set()
        for index in acquired:
            for other in runtime.instances(index):
                if other.delegation is not None:
                    other.delegation.drop(other, lambda replacement: replacement.by is self)

    def drop(self, subgraph: PreparedGraph, condition: Callable[[Replacement], bool]) -> None:
        """Undo everything, and forget the replacements that meet the condition."""
        left = [replacement for replacement in self.replacements if not condition(replacement)]
        if len(left) == len(self.replacements):
            return
        self.undo(subgraph)
        self.replacements = left
        self.undone = bool(self.applied or left)
        for caller in (*subgraph.runtime.subgraphs, *subgraph.runtime.copies):
            caller.invalidate_if_it_calls(subgraph)

    def redo(self, subgraph: PreparedGraph) -> None:
        """Apply the delegates that a resize has undone, or that waited for shapes."""
        delegates, self.applied, self.undone = self.applied, [], False
        try:
            for place in range(len(delegates) + 1):
                self._redo_replacements(subgraph, place, is_last=place == len(delegates))
                if place < len(delegates):
                    self.apply(subgraph, delegates[place], may_wait=False)
        except DelegateError:
            raise
        except Exception:
            self.undo(subgraph)
            self.applied, self.undone = delegates, True
            raise

    def _redo_replacements(self, subgraph: PreparedGraph, place: int, is_last: bool) -> None:
        for replacement in list(self.replacements):
            if replacement.place == place or (is_last and replacement.place > place):
                shapes = _shapes_for(subgraph, replacement.delegate, may_wait=False)
                self._replay(subgraph, replacement, shapes)

    def forget(self, subgraph: PreparedGraph, delegate: Delegate) -> None:
        """Undo everything; the other delegates are due at the next allocation."""
        self.undo(subgraph)
        self.applied = [applied for applied in self.applied if applied is not delegate]
        self.replacements = [entry for entry in self.replacements if entry.delegate is not delegate]
        self.undone = bool(self.applied or self.replacements)

    def remove_all(self, subgraph: PreparedGraph) -> None:
        self.applied.clear()
        self.replacements.clear()
        self.undo(subgraph)
        self.undone = False

    def failure(
        self, subgraph: PreparedGraph, error: Exception, delegate: Delegate | None = None
    ) -> DelegateError:
        """Remove all delegates, and make the error that says why."""
        name = ", ".join(d.name for d in self.applied) if delegate is None else delegate.name
        self.remove_all(subgraph)
        subgraph.runtime.forget_idle_delegates()
        return DelegateError(f"delegate {name}: {described(error)}. {RESTORED}")

    def check_allocated(self, subgraph: PreparedGraph) -> None:
        """PrepareError when a kernel gave an output another type, or one that is fixed another shape."""
        for t, (type, shape) in self._outputs.items():
            tensor = subgraph.tensors[t]
            if tensor.type != type or (shape is not None and tensor.shape != shape):
                must = TensorType(type).name.lower()
                size = "" if shape is None else f" {'x'.join(map(str, shape)) or 'scalar'}"
                owner = "" if tensor.delegate is None else f" of {tensor.delegate.name}"
                raise PrepareError(f"output{owner}: it must stay {must}{size}, got {tensor!r}")
        dynamic = first_dynamic_tensor(subgraph) if self.fixed_shapes else None
        if dynamic is not None:
            raise PrepareError(
                f"Cannot allow dynamic tensors due to previous delegation: tensor {dynamic!r} is dynamic"
            )

    def steps(self, subgraph: PreparedGraph, nodes: Sequence[Node], ends_plan: bool) -> list[Node]:
        """The nodes, with the copies out of delegates' memory that their tensors need."""
        return with_copies(subgraph, nodes, ends_plan)

    def release(self, subgraph: PreparedGraph) -> None:
        """Free all buffer handles; the subgraph ends."""
        for tensor in subgraph.tensors:
            if tensor.delegate is not None:
                free_handle(subgraph, tensor)


class _Shapes(Enum):
    """What is known of a graph's shapes when a delegate takes nodes."""

    MISSING = "the graph must first be given shapes that fit"
    SOME = "some, or it does not matter"
    KNOWN = "all"


def _shapes_for(subgraph: PreparedGraph, delegate: Delegate, may_wait: bool) -> _Shapes:
    """Compute shapes for a delegate that needs them; StateError for a graph that its flags exclude."""
    static = not delegate.flags & _ALLOW_DYNAMIC
    if not static and not delegate.flags & _PROPAGATE:
        return _Shapes.SOME
    whole = True
    if subgraph.state is not State.INVOKABLE:
        try:
            whole = subgraph.propagate_shapes()
        except PrepareError:
            if may_wait:
                return _Shapes.MISSING
            raise
    dynamic = first_dynamic_tensor(subgraph)
    if static and dynamic is not None:
        raise StateError(
            "Attempting to use a delegate that only supports static-sized tensors with a graph that has "
            f"dynamic-sized tensors (tensor#{dynamic.index} is a dynamic-sized tensor). "
            f"{delegate.name}: tensor {dynamic!r} gets its shape by running"
        )
    return _Shapes.KNOWN if whole else _Shapes.SOME


class _Original:
    """A subgraph as it was before any delegate: its plan, its nodes, the tensors' number and types."""

    __slots__ = ("_node_count", "_plan", "_types")

    def __init__(self, subgraph: PreparedGraph) -> None:
        self._plan = list(subgraph.execution_plan)
        self._node_count = len(subgraph.nodes)
        self._types = [tensor.type for tensor in subgraph.tensors]

    def restore(self, subgraph: PreparedGraph) -> None:
        for node in subgraph.nodes[self._node_count :]:
            free_node(subgraph, node)
            for t in node.outputs:
                free_handle(subgraph, subgraph.tensors[t])
                subgraph.tensors[t].delegate = None
        del subgraph.nodes[self._node_count :]
        subgraph.execution_plan = self._plan
        for tensor, type in zip(subgraph.tensors, self._types, strict=False):
            if tensor.type != type:
                tensor.type = type
                tensor.bind(None)
        subgraph.forget_tensors(len(self._types))


def first_dynamic_tensor(subgraph: PreparedGraph) -> Tensor | None:
    """An output of the execution plan's nodes whose shape is known only by running."""
    written = (t for n in subgraph.execution_plan for t in subgraph.nodes[n].outputs if t >= 0)
    dynamic = (subgraph.tensors[t] for t in written if subgraph.tensors[t].is_dynamic)
    return next((tensor for tensor in dynamic if tensor.type not in _HANDLE_TYPES), None)


def _check_whole(subgraph: PreparedGraph, delegate: Delegate) -> None:
    if not delegate.flags & _WHOLE:
        return
    left = [n for n in subgraph.execution_plan if subgraph.nodes[n].delegate is not delegate]
    if left or len(subgraph.execution_plan) > 1:
        which = f"{subgraph.where(subgraph.nodes[left[0]])} is left out" if left else "it takes several nodes"
        raise PrepareError(f"the graph is not fully delegated to a single node: {which}")
