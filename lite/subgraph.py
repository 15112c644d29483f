"""Subgraph: the tensors and nodes of one graph, prepared, placed in memory and run."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ..schema.shown import shown
from . import debug
from .arena import allocate, check_room_for
from .callees import Callees
from .errors import (
    CancelledError,
    InvokeError,
    ModelError,
    PrepareError,
    StateError,
    TimedOutError,
    UnsupportedError,
)
from .memory import StageMemory
from .node_errors import invoke_error, prepare_error
from .node_release import free_node
from .plan import NativeSegment, Plan, run_calls
from .prepared_calls import checked_calls
from .shape_check import check_strict, checked_shape
from .shown_name import shown_name
from .stage import Stage, State
from .tensor import AllocationType, Tensor, TensorType
from .variables import kept_values, reset_variables, restore_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .cancellation import Cancellation
    from .context import Numerics
    from .delegation import Delegation
    from .kernel_call import KernelCall
    from .native_plan import NativePlan
    from .node import Node
    from .operator_profiler import OperatorProfiler
    from .resources import Resources
    from .runtime import Runtime
    from .tensor import Shape

_ARENA = AllocationType.ARENA_RW
_PERSISTENT = AllocationType.ARENA_RW_PERSISTENT
_DYNAMIC = AllocationType.DYNAMIC
_CONSTANT = AllocationType.MMAP_RO
_KNOWN = AllocationType.PERSISTENT_RO
_UINT8 = int(TensorType.UINT8)

NOT_READY = "Invoke called on model that is not ready."


class Subgraph:
    """One graph of the model. Implements Context for its nodes."""

    def __init__(
        self,
        index: int,
        name: str,
        tensors: list[Tensor],
        nodes: list[Node],
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
        runtime: Runtime,
    ) -> None:
        self.index = index
        self.name = name
        self.tensors = tensors
        self.model_tensor_count = len(tensors)  # scratch tensors come behind
        self.nodes = nodes
        self.inputs = inputs
        self.outputs = outputs
        self.execution_plan = list(range(len(nodes)))
        self.variables = [t.index for t in tensors if t.is_variable]
        self.state = State.UNINVOKABLE
        self.stages: list[Stage] = []
        self.fault: str | None = None  # of the graph: it can be looked at, not run
        self.owned = False  # by one node of another subgraph, the only one that runs it
        self.delegation: Delegation | None = None  # None until a delegate is applied
        self.operator_profiler: OperatorProfiler | None = None  # while a node is profiled that wants it
        self.runtime = runtime
        self.callees = Callees(runtime)
        self._generation = 0  # of the resources, when the nodes were prepared
        self._entry: Callable[[], int] | None = None
        self._scratch: dict[int, list[int]] = {}
        self._preparing = False
        self._running = False
        self._dynamic_resized = False

    def init_nodes(self) -> None:
        """Let the operators make what they keep across prepares; called once, when the graph is built."""
        for node in self.nodes:
            if node.registration.init is not None:
                node.user_data = node.registration.init(self, node)

    def __del__(self) -> None:
        if self.delegation is not None:
            self.delegation.release(self)
        for node in self.nodes:
            free_node(self, node)

    # --- Context: what nodes may ask

    @property
    def numerics(self) -> Numerics:
        return self.runtime.settings.numerics

    @property
    def num_threads(self) -> int:
        return self.runtime.num_threads

    @property
    def resources(self) -> Resources:
        return self.runtime.resources

    @property
    def cancellation(self) -> Cancellation:
        return self.runtime.cancellation

    def subgraph(self, index: int) -> Subgraph:
        """Another subgraph of the model; PrepareError when there is none."""
        subgraphs = self.runtime.subgraphs
        if not 0 <= index < len(subgraphs):
            raise PrepareError(f"subgraph index must be under {len(subgraphs)}, got {index}")
        return subgraphs[index]

    def called_subgraph(self, node: Node, index: int) -> Subgraph:
        """The subgraph that a node runs, the same one each time; `owned` where no other node runs it."""
        self.subgraph(index)
        return self.callees.of(node, index)

    def tensor(self, index: int) -> Tensor:
        return self.tensors[index]

    def input(self, node: Node, i: int) -> Tensor:
        tensor = self.optional_input(node, i)
        if tensor is None:
            raise PrepareError(f"{shown(node.registration.name)}: input {i} is missing")
        return tensor

    def optional_input(self, node: Node, i: int) -> Tensor | None:
        inputs = node.inputs
        return self.tensors[inputs[i]] if i < len(inputs) and inputs[i] >= 0 else None

    def output(self, node: Node, i: int) -> Tensor:
        outputs = node.outputs
        if i >= len(outputs) or outputs[i] < 0:
            raise PrepareError(f"{shown(node.registration.name)}: output {i} is missing")
        return self.tensors[outputs[i]]

    def run_calls(self, node: Node, calls: Sequence[KernelCall]) -> None:
        runtime = self.runtime
        run_calls(self, node, calls, runtime.library, runtime.pool(), runtime.cancellation)

    def resize_tensor(self, tensor: Tensor, shape: Shape) -> None:
        shape = checked_shape(tensor, shape)
        check_room_for(tensor, shape)
        kind = tensor.allocation_type
        if kind is _DYNAMIC:
            self._resize_dynamic(tensor, shape)
        elif shape != tensor.shape:
            if tensor.is_constant:
                raise PrepareError(f"tensor {tensor!r}: a constant cannot be resized to {shape}")
            if self._running:
                raise PrepareError(f"tensor {tensor!r}: only a dynamic tensor can be resized while running")
            tensor.resize(shape)

    def set_dynamic(self, tensor: Tensor) -> None:
        if tensor.is_constant:
            raise PrepareError(f"tensor {tensor!r}: a constant cannot be dynamic")
        if tensor.allocation_type is not _DYNAMIC:
            tensor.allocation_type = _DYNAMIC
            tensor.bind(None)

    def add_temporary(self, node: Node, nbytes: int) -> Tensor:
        return self._add_scratch(node, nbytes, _ARENA)

    def add_persistent_temporary(self, node: Node, nbytes: int) -> Tensor:
        return self._add_scratch(node, nbytes, _PERSISTENT)

    def _add_scratch(self, node: Node, nbytes: int, kind: AllocationType) -> Tensor:
        owned = self._scratch.setdefault(node.index, [])
        count = len(node.temporaries)
        if count == len(owned):
            tensor = Tensor(len(self.tensors), "", _UINT8, ())
            self.tensors.append(tensor)
            owned.append(tensor.index)
        tensor = self.tensors[owned[count]]
        tensor.shape = checked_shape(tensor, (nbytes,))
        tensor.allocation_type = kind
        tensor.bind(None)
        node.temporaries.append(tensor.index)
        return tensor

    def _resize_dynamic(self, tensor: Tensor, shape: Shape) -> None:
        if shape != tensor.shape:
            tensor.resize(shape)
            self._dynamic_resized = True
        if tensor.has_fixed_size and (tensor.data is None or len(tensor.data) < tensor.nbytes):
            tensor.bind(allocate(tensor.nbytes))
            self._dynamic_resized = True

    # --- preparing

    def resize_input(self, index: int, shape: Shape, strict: bool = False) -> None:
        """Give an input another shape; allocate_tensors must follow.

        With strict only dimensions that are -1 in the shape signature may change.
        """
        tensor = self.tensors[index]
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
        self._preparing = True
        self.state = State.UNINVOKABLE
        try:
            while self.state is not State.INVOKABLE:
                self._generation = self.resources.generation
                self.stages.clear()
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
        self.reset_variables()

    def match_input(self, i: int, x: Tensor) -> None:
        """Give the i-th input the type and shape of a caller's tensor; allocate_tensors must follow.

        PrepareError for a constant of the file, which no caller may write to.
        """
        tensor = self.tensors[self.inputs[i]]
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
            stage.memory.release()
        self.stages.clear()
        self.state = State.UNINVOKABLE
        self._entry = None
        for caller in (*self.runtime.subgraphs, *self.runtime.copies):
            idle = not caller._preparing and not caller._running
            if idle and caller.stages and caller.callees.include(self):
                caller.discard_stages()

    def forget_tensors(self, count: int) -> None:
        """Drop the tensors from this number on: scratch memory, and what delegates have added."""
        del self.tensors[count:]
        for owned in self._scratch.values():
            owned[:] = [t for t in owned if t < count]

    def propagate_shapes(self) -> bool:
        """Prepare nodes for their outputs' shapes; False when these are not all known without running."""
        with suppress(UnsupportedError):
            return self._prepare_from(0) == len(self.execution_plan) - 1
        return False

    def invalidate_if_it_calls(self, other: Subgraph) -> None:
        """Have allocate_tensors asked for again, because a subgraph that this one runs has changed."""
        if self.callees.include(other):
            self._invalidate()

    @property
    def is_invokable(self) -> bool:
        return self.state is State.INVOKABLE

    @property
    def has_memory(self) -> bool:
        """Whether the subgraph is allocated, and its memory has not been given back."""
        return self.is_invokable and all(stage.memory.held for stage in self.stages)

    @property
    def is_planned(self) -> bool:
        """Whether all nodes of an allocated subgraph are prepared, which may take a run."""
        return bool(self.stages) and self.stages[-1].last == len(self.execution_plan) - 1

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
        memory.acquire(self)
        plan = self._plan(first, last)
        plan.blocks.bind()
        self.stages.append(Stage(first, last, memory, plan))
        self._choose_entry()
        debug.show_plan(self, self.stages[-1])

    def _plan(self, first: int, last: int) -> Plan:
        nodes = [self.nodes[n] for n in self.execution_plan[first : last + 1]]
        if self.delegation is not None:
            nodes = self.delegation.steps(self, nodes, ends_plan=last == len(self.execution_plan) - 1)
        runtime = self.runtime
        return Plan(nodes, runtime.library, runtime.pool(), runtime.cancellation)

    def plan_again(self) -> None:
        """Make the plans anew for nodes as they are prepared: who holds a tensor has changed."""
        for stage in self.stages:
            stage.plan = self._plan(stage.first, stage.last)
            if stage.memory.held:
                stage.plan.blocks.bind()
        self._choose_entry()

    def _prepare_from(self, first: int) -> int:
        """Prepare nodes up to the first with a dynamic output; returns its position, or the last."""
        last = len(self.execution_plan) - 1
        for position in range(first, last + 1):
            node = self.nodes[self.execution_plan[position]]
            self._check_cancellation(node)
            self._prepare_node(node)
            if position < last and self._has_dynamic_output(node):
                return position
        return last

    def _has_dynamic_output(self, node: Node) -> bool:
        return any(self.tensors[t].allocation_type is _DYNAMIC for t in node.outputs if t >= 0)

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
        except Exception as error:
            raise prepare_error(f"{self.where(node)}:", registration.name, error) from error

    def where(self, node: Node) -> str:
        """How errors name a node: its number, operator and first output."""
        text = f"node {node.index} ({shown(node.registration.name)})"
        names = [self.tensors[t].name for t in node.outputs if t >= 0]
        if names:
            text += f", output {shown_name(names[0])}"
        return text if self.index == 0 else f"subgraph {self.index}, {text}"

    # --- memory

    def reset_variables(self) -> None:
        """Set all variables to zero bytes, but int8 ones to their zero point, as TFLite does."""
        reset_variables(self)

    def release_nonpersistent_memory(self) -> None:
        """Give the arena back; allocate_tensors brings it back without preparing anew."""
        self._entry = None
        self.callees.release_memory()
        for stage in self.stages:
            stage.memory.release()

    def _restore_memory(self) -> None:
        if all(stage.memory.held for stage in self.stages):
            return
        self.callees.restore_memory()
        for stage in self.stages:
            stage.memory.acquire(self)
            stage.plan.blocks.bind()
        self._choose_entry()

    # --- running

    def invoke(self) -> None:
        """Run all nodes. Errors name the node that failed."""
        entry = self._entry
        if entry is None:
            self.run_stages(self._run_stage)
            return
        status = entry()
        if status:
            segment = self._native_segment
            assert segment is not None
            self.resume(segment, status)

    @property
    def native_plan(self) -> NativePlan | None:
        """The plan of an allocated subgraph that runs without Python: a row of another plan may run it."""
        segment = self._native_segment
        return None if segment is None or segment.resizes else segment.plan

    @property
    def _native_segment(self) -> NativeSegment | None:
        if not self.is_planned or len(self.stages) != 1:
            return None
        steps = self.stages[0].plan.steps
        return steps[0] if len(steps) == 1 and isinstance(steps[0], NativeSegment) else None

    @property
    def has_nothing_to_run(self) -> bool:
        """Whether an allocated subgraph only passes tensors on."""
        return len(self.stages) == 1 and not any(
            node.calls is None or node.calls for node in (self.nodes[n] for n in self.execution_plan)
        )

    @property
    def native_failure(self) -> str:
        """What failed when another plan last ran native_plan."""
        segment = self._native_segment
        assert segment is not None
        node, error = segment.failure(segment.plan.failed_status)
        return f"{self.where(node)}: {error}"

    def _choose_entry(self) -> None:
        """Whole subgraphs of one native segment, or of none, run without any Python in between."""
        self._entry = None
        if debug.level >= debug.TIMES:
            return
        segment = self._native_segment
        if segment is not None:
            self._entry = segment.plan.invoke
        elif self.is_planned and self.has_nothing_to_run:
            self._entry = int  # a function without arguments that gives 0

    def run_stages(self, run_stage: Callable[[Stage], None]) -> None:
        """Run all nodes, stage by stage, through run_stage."""
        if self.state is not State.INVOKABLE:
            raise StateError(NOT_READY)
        if self._generation != self.resources.generation:
            self._prepare_anew()
        if not all(stage.memory.held for stage in self.stages):
            raise StateError("Non-persistent memory is not available. Call allocate_tensors() first")
        self._running = True
        try:
            number = 0
            while number < len(self.stages):
                stage = self.stages[number]
                self._dynamic_resized = False
                run_stage(stage)
                number += 1
                if stage.last < len(self.execution_plan) - 1:
                    self._continue_after(stage, number)
        finally:
            self._running = False

    def _prepare_anew(self) -> None:
        """Prepare all nodes again; inputs and variables keep their values."""
        values = kept_values(self)
        self.allocate_tensors()
        restore_values(self, values)

    def _continue_after(self, stage: Stage, number: int) -> None:
        """Prepare the nodes behind a dynamic tensor, unless that was done for the same shapes."""
        if not self._dynamic_resized and number < len(self.stages):
            return
        del self.stages[number:]
        self._running = False
        self._add_stage(stage.last + 1)
        self._running = True

    def _run_stage(self, stage: Stage) -> None:
        if debug.level >= debug.TIMES:
            debug.run_stage(self, stage)
            return
        for step in stage.plan.steps:
            if isinstance(step, NativeSegment):
                status = step.plan.invoke()
                if status:
                    self.resume(step, status)
            else:
                self.run_in_python(step)

    def _check_cancellation(self, node: Node) -> None:
        """Where the run is to stop, raise what says that it has come to this node."""
        try:
            self.runtime.cancellation.check()
        except (CancelledError, TimedOutError) as error:
            raise invoke_error(f"{self.where(node)}:", node.registration.name, error) from error

    def run_in_python(self, node: Node) -> None:
        invoke = node.registration.invoke
        assert invoke is not None
        self._check_cancellation(node)
        try:
            invoke(self, node)
            if node.delegate is not None:
                for t in node.outputs:
                    if self.tensors[t].data_is_stale:
                        node.delegate.check_handle(self.tensors[t])
        except Exception as error:
            raise invoke_error(f"{self.where(node)}:", node.registration.name, error) from error

    def resume(self, segment: NativeSegment, status: int) -> None:
        """Go on after a segment has returned a status: its last outputs want another size, or it failed."""
        node = segment.nodes[segment.plan.failed_row]
        try:
            status = segment.resume(self, status)
        except Exception as error:
            raise invoke_error(f"{self.where(node)}:", node.registration.name, error) from error
        if status:
            node, failure = segment.failure(status)
            message = f"{self.where(node)}: {failure}"
            if self.runtime.cancellation.is_stopping:
                raise self.runtime.cancellation.error(message)
            raise InvokeError(message)
