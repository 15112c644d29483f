"""Runtime: what all subgraphs of one interpreter share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .cancellation import Cancellation
from .environment import processors
from .resources import Resources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .delegate import Delegate
    from .kernel_call import KernelLibrary
    from .node import Node
    from .prepared_graph import PreparedGraph
    from .prepared_models import PreparedModels
    from .settings import Settings
    from .stage import Watch
    from .subgraph import Subgraph
    from .subgraph_builder import SubgraphBuilder
    from .thread_pool import ThreadPool

_MOST_COPIES = 100  # of subgraphs; a model may call one from many places, which call others


class Runtime:
    """The settings, the resources and the subgraphs of an interpreter, which the builder makes.

    metadata gives the model's, by name. A runtime inside another one's node shares its cancellation.
    prepared_models is where what is prepared is kept.
    """

    def __init__(
        self,
        builder: SubgraphBuilder,
        library: KernelLibrary,
        settings: Settings,
        metadata: Callable[[], dict[str, bytes]] = dict,
        cancellation: Cancellation | None = None,
        prepared_models: PreparedModels | None = None,
    ) -> None:
        self.library = library
        self.settings = settings
        self.metadata = metadata
        self.cancellation = cancellation or Cancellation()
        self.num_threads = settings.num_threads
        self.resources = Resources()
        self.delegates: list[Delegate] = []
        self.offered_delegates = list(settings.offered_delegates)
        self.skippable: dict[int, Delegate] = {}  # subgraphs offered to no delegate, and who said so
        self.prepared_models = prepared_models
        # Begins and ends between the runs of a model that is there, with its delegates and values: observe().
        self.watch: Watch | None = None
        self._builder = builder
        self._claimed = {0}
        self.copies: list[Subgraph] = []  # made for callers that must not share one
        self.subgraphs = [builder.build(index, self) for index in range(builder.count)]
        for subgraph in self.subgraphs:
            subgraph.init_nodes()

    def claim(self, index: int) -> Subgraph:
        """A subgraph for one caller: the first gets the one that is listed, others get copies.

        One with variables, which all callers must see, and one that cannot be copied any more is
        the listed one, and not owned.
        """
        listed = self.subgraphs[index]
        if listed.variables:
            return listed
        if index not in self._claimed:
            self._claimed.add(index)
            listed.owned = True
            return listed
        if len(self.copies) == _MOST_COPIES:
            return listed
        copy = self._builder.build(index, self)
        copy.owned = True
        copy.init_nodes()
        self.copies.append(copy)
        if listed.delegation is not None:
            listed.delegation.hand_over(copy)
        for delegate in self.delegates:
            self.delegate_to(copy, delegate)
        return copy

    def delegate_to(self, subgraph: Subgraph, delegate: Delegate) -> None:
        """Let the delegate take nodes of one subgraph, if it has not done so yet."""
        if subgraph.index in self.skippable or subgraph.fault is not None:
            return
        from .delegation import Delegation

        if subgraph.delegation is None:
            subgraph.delegation = Delegation()
        if not any(applied is delegate for applied in subgraph.delegation.applied):
            subgraph.delegation.apply(subgraph, delegate)

    def forget_idle_delegates(self) -> None:
        """Forget delegates that no subgraph has any more, so that they may be applied again."""
        delegations = [s.delegation for s in (*self.subgraphs, *self.copies) if s.delegation is not None]
        busy = {id(delegate) for delegation in delegations for delegate in delegation.applied}
        self.delegates = [delegate for delegate in self.delegates if id(delegate) in busy]

    def instances(self, index: int) -> list[Subgraph]:
        """The subgraph of that number, and its copies."""
        return [self.subgraphs[index], *(copy for copy in self.copies if copy.index == index)]

    def pool(self) -> ThreadPool | None:
        """The threads that kernels may use besides the caller's."""
        threads = min(self.num_threads, processors())  # more would only wait for each other
        if threads == 1:
            return None
        from .thread_pool import shared_pool

        return shared_pool(threads, self.library)


class Callees:
    """Each node's subgraphs by number; the same ones each time they are asked for."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._called: dict[tuple[int, int], Subgraph] = {}

    def of(self, node: Node, index: int) -> Subgraph:
        key = node.index, index
        if key not in self._called:
            self._called[key] = self._runtime.claim(index)
        return self._called[key]

    def __iter__(self) -> Iterator[Subgraph]:
        return iter(self._called.values())

    def include(self, other: PreparedGraph) -> bool:
        """Whether one of the subgraphs, or one that they run, is the other."""
        waiting, seen = list(self._called.values()), set[int]()
        while waiting:
            called = waiting.pop()
            if called is other:
                return True
            if id(called) not in seen:
                seen.add(id(called))
                waiting.extend(called.callees)
        return False

    def release_memory(self) -> None:
        for called in self._called.values():
            if called.owned:
                called.release_nonpersistent_memory()

    def restore_memory(self) -> None:
        """Give memory back to those that were ready to run."""
        for called in self._called.values():
            if called.owned and called.is_invokable:
                called.allocate_tensors()
