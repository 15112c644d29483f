"""Subgraph: one graph of the model, run stage by stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import debug
from .errors import InvokeError, StateError
from .node_errors import invoke_error
from .plan import NativeSegment
from .preparation import found
from .prepared_graph import PreparedGraph
from .stage import Stage, State, run_watched
from .variables import kept_values, restore_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from .known_runs import Stopped
    from .node import Node
    from .operator_profiler import OperatorProfiler

NOT_READY = "Invoke called on model that is not ready."


class Subgraph(PreparedGraph):
    """One graph of the model: prepared, placed in memory and run.

    Its parts: Graph is what the model says, NodeContext what nodes may ask, PreparedGraph the plans.
    """

    def invoke(self) -> None:
        """Run all nodes. Errors name the node that failed."""
        entry = self._entry
        if entry is None:
            self._invoke_stages()
            return
        status = entry()
        if status:
            segment = self._native_segment
            assert segment is not None
            self.resume(segment, status)

    def fail_as(self, row: int, status: int) -> None:
        """Raise what a run raises in which this row gives that status."""
        segment = self._native_segment
        assert segment is not None
        segment.plan.failed_at(row, status)
        self.resume(segment, status)

    @property
    def native_failure(self) -> str:
        """What failed when another plan last ran native_plan."""
        segment = self._native_segment
        assert segment is not None
        node, error = segment.failure(segment.plan.failed_status)
        return f"{self.where(node)}: {error}"

    def _invoke_stages(self) -> None:
        """Run all nodes, stage by stage, natively as far as the way from one to the next is known."""
        runs, stopped = self.earlier.runs, None
        is_ready = self.state is State.INVOKABLE and self._generation == self.resources.generation
        if runs is not None and is_ready:
            stopped = runs.run(self)
            if stopped is None:
                return
        self.run_stages(self._run_stage, stopped)
        if len(self.stages) > 1 and debug.level < debug.TIMES and not self.is_watched:
            self._keep_run()

    def _keep_run(self) -> None:
        """Keep how the stages have just followed each other."""
        earlier = self.earlier
        if earlier.runs is None or earlier.runs.is_full:
            from .known_runs import known_runs  # few graphs have later stages

            earlier.runs = known_runs(self)
        if earlier.runs is not None:
            earlier.runs.saw(self)

    def run_stages(self, run_stage: Callable[[Stage], None], stopped: Stopped | None = None) -> None:
        """Run all nodes, stage by stage, through run_stage, or those that are left of a run that stopped."""
        if self.state is not State.INVOKABLE:
            raise StateError(NOT_READY)
        if self._generation != self.resources.generation:
            self._prepare_anew()
        if not all(stage.memory.held for stage in self.stages):
            raise StateError("Non-persistent memory is not available. Call allocate_tensors() first")
        self.settle()
        self._running = True
        try:
            number = 0 if stopped is None else max(stopped.number, 0)
            while number < len(self.stages):
                stage = self.stages[number]
                self._dynamic_resized = False
                if stopped is not None and number == stopped.number:
                    self._finish(stage, stopped.status)
                else:
                    run_stage(stage)
                number += 1
                if stage.last < len(self.schedule) - 1:
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
        self.earlier.keep_stages(self, number)
        if self.earlier.restore_stage(self, found(self, stage.last + 1)):
            return
        self._running = False
        self._add_stage(stage.last + 1)
        self._running = True

    def _finish(self, stage: Stage, status: int) -> None:
        """Go on in a stage of one native segment, which has returned a status."""
        [segment] = stage.plan.steps
        if status and isinstance(segment, NativeSegment):
            self.resume(segment, status)

    def _run_stage(self, stage: Stage) -> None:
        if debug.level >= debug.TIMES:
            debug.run_stage(self, stage)
            return
        if self.runtime.watch is not None:
            run_watched(self, stage, self.runtime.watch)
            return
        for step in stage.plan.steps:
            if isinstance(step, NativeSegment):
                status = step.plan.invoke()
                if status:
                    self.resume(step, status)
            else:
                self.run_in_python(step)

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

    def run_profiled(self, node: Node, profiler: OperatorProfiler) -> None:
        """Run a node in Python whose operators tell the profiler their times."""
        self.operator_profiler = profiler
        try:
            self.run_in_python(node)
        finally:
            self.operator_profiler = None

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
