"""PreparedGraph: a graph whose nodes are prepared for the present shapes, and whose tensors have memory."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from . import debug
from .errors import CancelledError, ModelError, PrepareError, StateError, TimedOutError, UnsupportedError
from .kernel_call import checked_calls
from .memory import StageMemory, check_room_for
from .node_context import NodeContext
from .node_errors import free_node, invoke_error, prepare_failure
from .plan import NativeSegment, Plan
from .preparation import EarlierShapes, found
from .shape_check import check_strict, checked_shape
from .stage import Stage, State, probed_results
from .tensor import AllocationType
from .variables import reset_variables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .delegation import Delegation
    from .graph import GraphParts
    from .kernel_call import KernelCall
    from .lasting_plan import LastingPlan
    from .native_plan import NativePlan
    from .node import Node
    from .runtime import Runtime
    from .tensor import Shape, Tensor

_ARENA = AllocationType.ARENA_RW
_DYNAMIC = AllocationType.DYNAMIC
_CONSTANT = AllocationType.MMAP_RO
_KNOWN = AllocationType.PERSISTENT_RO
_LARGE = 64 << 10  # bytes of a constant that is worth a call of the system


class PreparedGraph(NodeContext):
    """The stages of a graph: plans of prepared nodes, with their arenas."""

    def __init__(self, parts: GraphParts, runtime: Runtime) -> None:
        super().__init__(parts, runtime)
        self.state = State.UNINVOKABLE
        self._schedule: list[Node] = []
        self.stages: list[Stage] = []
        self.earlier = EarlierShapes()
        self.fault: str | None = None  # of the graph: it can be looked at, not run
        self.was_allocated = False
        self.owned = False  # by one node of another subgraph, the only one that runs it
        self.delegation: Delegation | None = None  # None until a delegate is applied
        self._generation = 0  # of the resources, when the nodes were prepared
        self._entry: Callable[[], int] | None = None  # runs all of it, where that takes no Python
        self._preparing = False

    @property
    def schedule(self) -> list[Node]:
        """What runs, stage by stage: the execution plan's nodes, fused."""
        self.settle()
        return self._schedule

    @schedule.setter
    def schedule(self, nodes: list[Node]) -> None:
        self._schedule = nodes

    def init_nodes(self) -> None:
        """Let the operators make what they keep across prepares; called once, when the graph is built.

        Those of a graph with a fault are left: nothing runs them, and their tensors may not be there.
        """
        for node in self.nodes if self.fault is None else ():
            if node.registration.init is not None:
                node.user_data = node.registration.init(self, node)

    def __del__(self) -> None:
        if not callable(free_node):
            return  # the process ends, and has taken apart the modules that hooks need
        if self.delegation is not None:
            self.delegation.release(self)
        for node in self.nodes:
            free_node(self, node)

    def resize_input(self, index: int, shape: Shape, strict: bool = False) -> None:
        """Give an input another shape; allocate_tensors must follow.

        With strict only dimensions that are -1 in the shape signature may change.
        """
        tensor = self.tensor(index)
        shape = checked_shape(tensor, shape)
        if strict:
            check_strict(tensor, shape)
        if shape == tensor.shape and tensor.data is not None:
            return
        if tensor.is_constant:
            raise StateError(f"Attempting to resize a fixed-size tensor. Tensor {tensor!r} is a constant")
        self._invalidate()
        tensor.resize(shape)
        if tensor.has_fixed_size:
            tensor.bind(None)

    def allocate_tensors(self) -> None:
        """Prepare all nodes whose shapes can be known, and place their tensors in memory."""
        if self.fault is not None:
            raise ModelError(f"subgraph {self.index} {self.name!r}: {self.fault}")
        if self._preparing:
            raise PrepareError(f"subgraph {self.index} {self.name!r}: it contains itself")
        if self.delegation is not None and self.delegation.undone:
            self.delegation.redo(self)
        if self.state is State.INVOKABLE and self._generation == self.resources.generation:
            self._restore_memory()
            return
        if self.earlier.restore(self) or self._restore_kept():
            self.state = State.INVOKABLE
            self._choose_entry()
            self.reset_variables()
            return
        first_time = not self.was_allocated
        self._preparing = self.was_allocated = True
        self.state = State.UNINVOKABLE
        try:
            while self.state is not State.INVOKABLE:
                self._generation = self.resources.generation
                self.stages.clear()
                self.schedule = self._scheduled()
                for t in self.inputs:
                    check_room_for(self.tensors[t], self.tensors[t].shape)
                self._add_stage(0)
                if self._generation == self.resources.generation:
                    self.state = State.INVOKABLE
            if self.delegation is not None:
                self.delegation.check_allocated(self)
        except Exception as error:
            if self.delegation is not None and self.delegation.fixed_shapes:
                raise self.delegation.failure(self, error) from error
            raise
        finally:
            self._preparing = False
        if first_time and self.runtime.prepared_models is not None and not self.is_watched:
            self.runtime.prepared_models.keep(self)
        self.reset_variables()

    def _restore_kept(self) -> bool:
        """Have the graph as another process has prepared it, if that was kept."""
        kept = self.runtime.prepared_models
        if kept is None or self.was_allocated or self.owned or self.delegation is not None or self.is_watched:
            return False
        self._generation = self.resources.generation
        self.stages.clear()
        self.schedule = self._scheduled()
        self.was_allocated = kept.restore(self)
        return self.was_allocated

    def unread_constants(self) -> list[Tensor]:
        """The large constants of an allocated graph that no call reads where they are: they were packed."""
        large = [t for t in self.tensors if t.allocation_type is _CONSTANT and t.nbytes >= _LARGE]
        calls = [call for node in self.schedule for call in node.calls or ()] if large else []
        read = {tensor.address for call in calls for tensor in call.tensors.values()}
        python = {t for node in self.schedule if node.calls is None for t in node.inputs}
        return [t for t in large if t.address not in read and t.index not in python]

    def match_input(self, i: int, x: Tensor) -> None:
        """Give the i-th input the type and shape of a caller's tensor; allocate_tensors must follow.

        PrepareError for a constant of the file, which no caller may write to.
        """
        tensor = self.tensor(self.inputs[i])
        if tensor.allocation_type is _CONSTANT:
            place = f"subgraph {self.index}: input {i}"
            raise PrepareError(f"{place} must not be a constant where a node runs it, got {tensor!r}")
        if tensor.type != x.type:
            if not tensor.has_fixed_size or not x.has_fixed_size:
                raise PrepareError(f"subgraph {self.index}: input {tensor!r} cannot take {x!r}")
            self._invalidate()
            tensor.type = x.type
            tensor.bind(None)
        if tensor.shape != x.shape or (tensor.has_fixed_size and tensor.data is None):
            self.resize_input(tensor.index, x.shape)

    def _invalidate(self) -> None:
        if self.state is State.INVOKABLE and self._generation == self.resources.generation:
            self.earlier.keep(self)
        self.state = State.UNINVOKABLE
        self._entry = None
        if self.delegation is not None and self.delegation.fixed_shapes:
            self.delegation.undo(self)

    def discard_stages(self) -> None:
        """Take the tensors out of memory, because the execution plan is about to change.

        So do the subgraphs that run this one: their plans hold this one's address. One that is being
        prepared or run is about to ask for it.
        """
        for stage in self.stages:
            stage.memory.release(self)
        self.stages.clear()
        self.earlier.clear()
        self.state = State.UNINVOKABLE
        self._entry = None
        for caller in (*self.runtime.subgraphs, *self.runtime.copies):
            idle = not caller._preparing and not caller._running
            if idle and caller.stages and caller.callees.include(self):
                caller.discard_stages()

    def propagate_shapes(self) -> bool:
        """Prepare nodes for their outputs' shapes; False when these are not all known without running."""
        self.schedule = [self.nodes[n] for n in self.execution_plan]
        with suppress(UnsupportedError):
            return self._prepare_from(0) == len(self.schedule) - 1
        return False

    def invalidate_if_it_calls(self, other: PreparedGraph) -> None:
        """Have allocate_tensors asked for again, because a subgraph that this one runs has changed."""
        if self.callees.include(other):
            self._invalidate()

    @property
    def is_invokable(self) -> bool:
        return self.state is State.INVOKABLE

    @property
    def is_current(self) -> bool:
        """Whether an allocated subgraph runs as it is, without being prepared anew."""
        return self.has_memory and self._generation == self.resources.generation

    @property
    def has_memory(self) -> bool:
        """Whether the subgraph is allocated, and its memory has not been given back."""
        return self.is_invokable and all(stage.memory.held for stage in self.stages)

    @property
    def is_planned(self) -> bool:
        """Whether all nodes of an allocated subgraph are prepared, which may take a run."""
        return bool(self.stages) and self.stages[-1].last == len(self._schedule) - 1

    @property
    def outputs_known(self) -> bool:
        """Whether an allocated subgraph has output shapes that no run will change."""
        return self.is_planned and not any(self.tensors[t].is_dynamic for t in self.outputs)

    def _add_stage(self, first: int) -> None:
        generation = self.resources.generation
        last = self._prepare_from(first)
        if generation != self.resources.generation:
            # Other subgraphs may read what has become loose: they look before they run again.
            for subgraph in self.runtime.subgraphs:
                subgraph._entry = None
        memory = StageMemory(self, first, last, self.runtime.settings.preserve_all_tensors)
        self.put_stage(first, last, memory)

    def put_stage(self, first: int, last: int, memory: StageMemory) -> None:
        """Append a stage of prepared nodes, ready to run."""
        memory.acquire(self)
        plan = self._plan(first, last)
        plan.blocks.bind()
        self.stages.append(Stage(first, last, memory, plan, found(self, first)))
        self._choose_entry()
        debug.show_plan(self, self.stages[-1])

    def _plan(self, first: int, last: int) -> Plan:
        nodes = self.schedule[first : last + 1]
        if self.delegation is not None:
            nodes = self.delegation.steps(self, nodes, ends_plan=last == len(self.schedule) - 1)
        runtime = self.runtime
        return Plan(nodes, runtime.library, runtime.pool(), runtime.cancellation, self._looks)

    def _looks(self, node: Node) -> Sequence[KernelCall]:
        watch = self.runtime.watch
        return () if watch is None or watch.probe is None else watch.probe(self, probed_results(self, node))

    def _scheduled(self) -> list[Node]:
        nodes = [self.nodes[n] for n in self.execution_plan]
        may_fuse = any(node.registration.fuse is not None for node in nodes)
        if not may_fuse or self.runtime.settings.preserve_all_tensors or self.is_watched:
            return nodes
        from .fusion import fused  # few operators are

        return fused(self, nodes)

    def plan_again(self) -> None:
        """Make the plans anew for nodes as they are prepared: who holds a tensor has changed."""
        self.earlier.clear()
        for stage in self.stages:
            stage.plan = self._plan(stage.first, stage.last)
            if stage.memory.held:
                stage.plan.blocks.bind()
        self._choose_entry()

    def _prepare_from(self, first: int) -> int:
        """Prepare nodes up to the first with a dynamic output; returns its position, or the last."""
        last = len(self.schedule) - 1
        for position in range(first, last + 1):
            node = self.schedule[position]
            self._check_cancellation(node)
            self._prepare_node(node)
            if position < last and self._has_dynamic_output(node):
                return position
        return last

    def _has_dynamic_output(self, node: Node) -> bool:
        return any(self.tensors[t].allocation_type is _DYNAMIC for t in node.outputs if t >= 0)

    def _check_cancellation(self, node: Node) -> None:
        """Where the run is to stop, raise what says that it has come to this node."""
        try:
            self.runtime.cancellation.check()
        except (CancelledError, TimedOutError) as error:
            raise invoke_error(f"{self.where(node)}:", node.registration.name, error) from error

    def _prepare_node(self, node: Node) -> None:
        for t in node.outputs:
            # What an earlier prepare has made dynamic or known may be neither for these shapes.
            tensor = self.tensors[t]
            if t >= 0 and tensor.allocation_type in (_DYNAMIC, _KNOWN) and tensor.has_fixed_size:
                tensor.allocation_type = _ARENA
                tensor.bind(None)
        node.temporaries.clear()
        registration = node.registration
        try:
            node.calls = checked_calls(self, node, registration.prepare(self, node))
            if node.calls and all(self.tensors[t].is_constant for t in node.inputs if t >= 0):
                from .known_values import compute_known

                compute_known(self, node)
        except Exception as error:
            raise prepare_failure(self, node, error)  # noqa: B904  # it has its cause

    def reset_variables(self) -> None:
        """Set all variables to zero bytes, but int8 ones to their zero point, as TFLite does."""
        reset_variables(self)

    def release_nonpersistent_memory(self) -> None:
        """Give the arena back; allocate_tensors brings it back without preparing anew."""
        self._entry = None
        self.earlier.clear()
        self.callees.release_memory()
        for stage in self.stages:
            stage.memory.release(self)

    def _restore_memory(self) -> None:
        if all(stage.memory.held for stage in self.stages):
            return
        self.callees.restore_memory()
        for stage in self.stages:
            stage.memory.acquire(self)
            stage.plan.blocks.bind()
        self._choose_entry()

    @property
    def native_plan(self) -> NativePlan | None:
        """The plan of an allocated subgraph that runs without Python: a row of another plan may run it."""
        segment = self._native_segment
        return None if segment is None or segment.resizes or self.is_watched else segment.plan

    def lasting_plan(self) -> LastingPlan | None:
        """The plan of an allocated subgraph for when it has other shapes; None where that cannot be."""
        from .lasting_plan import lasting_plan  # for loops only

        made = lasting_plan(self)
        if made is not None:
            self.earlier.add_lasting(made)
        return made

    @property
    def is_watched(self) -> bool:
        """Whether each node is run by itself, for someone who looks at its results."""
        return self.runtime.watch is not None

    @property
    def _native_segment(self) -> NativeSegment | None:
        if not self.is_planned or len(self.stages) != 1:
            return None
        steps = self.stages[0].plan.steps
        return steps[0] if len(steps) == 1 and isinstance(steps[0], NativeSegment) else None

    @property
    def has_nothing_to_run(self) -> bool:
        """Whether an allocated subgraph only passes tensors on."""
        return len(self.stages) == 1 and not any(node.calls is None or node.calls for node in self.schedule)

    def _choose_entry(self) -> None:
        """Whole subgraphs of one native segment, or of none, run without any Python in between."""
        self._entry = None
        if debug.level >= debug.TIMES or self.is_watched:
            return
        segment = self._native_segment
        if segment is not None:
            self._entry = segment.plan.invoke
        elif self.is_planned and self.has_nothing_to_run:
            self._entry = int  # a function without arguments that gives 0
