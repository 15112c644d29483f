"""Running a plan with V1 loops: values go around in frames, iteration by iteration.

A frame is one run of a loop, within an iteration of the frame around it. A node runs once in each
iteration that its inputs reach; of a branch that is not taken it gets dead inputs, and gives dead
outputs. Source: TensorFlow tensorflow/core/common_runtime/propagator_state.cc.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...kernels.fallback.environment import Environment
from ...lite.errors import ModelError
from .operations import DEAD, Dead, Flow, Role
from .routes import Consumer
from .sequence import run_step

if TYPE_CHECKING:
    from .plan import Plan, Step


class _Waiting:
    """A step in one iteration, before all that it waits for has come.

    controls and data count what has not come yet, inputs holds what has (else None); of a merge that is
    only the first value that is alive, and index says which it was.
    """

    __slots__ = ("controls", "data", "index", "inputs", "is_dead")

    def __init__(self, step: Step) -> None:
        self.inputs: list[Flow | None] = [None] * len(step.inputs)
        self.data = len(step.inputs)
        self.controls = len(step.controls)
        self.is_dead = False
        self.index = -1


class _Iteration:
    """One iteration: steps that wait in it, how many run in it, and how many frames are open in it."""

    __slots__ = ("frames", "number", "running", "waiting")

    def __init__(self, number: int) -> None:
        self.number = number
        self.waiting: dict[int, _Waiting] = {}
        self.running = 0
        self.frames = 0


class _Frame:
    """One run of a loop. pending_enters counts the Enter nodes whose value has not come in yet."""

    def __init__(
        self,
        key: tuple[object, ...],
        parent: tuple[_Frame, _Iteration] | None,
        pending_enters: int,
        most_iterations: int,
    ) -> None:
        self.key = key
        self.parent = parent
        self.pending_enters = pending_enters
        self.most_iterations = most_iterations
        self.iterations = {0: _Iteration(0)}
        self.last = 0
        # Constants of the loop, which every iteration gets, and what waits for an iteration to end.
        self.constants: list[tuple[int, Flow]] = []
        self.deferred: list[tuple[int, Flow]] = []
        # Exits that were dead, and those that have given a value.
        self.dead_exits: set[int] = set()
        self.live_exits: set[int] = set()


class _Ready(NamedTuple):
    step: int
    waiting: _Waiting
    frame: _Frame
    iteration: _Iteration


class LoopRun:
    """One run of a plan."""

    def __init__(self, plan: Plan, environment: Environment) -> None:
        self._plan = plan
        self._routes = plan.routes
        self._environment = environment
        self._ready: deque[_Ready] = deque()
        self._frames: dict[tuple[object, ...], _Frame] = {}
        self._root = _Frame((), None, 0, 1)
        self._wanted = frozenset(plan.results)
        self._results: dict[int, Flow] = {}

    def run(self, given: Sequence[np.ndarray]) -> list[Flow]:
        first = self._root.iterations[0]
        # The root never ends: what comes from nowhere counts as one more that runs.
        first.running += 1
        for number, value in zip(self._plan.given, given, strict=True):
            self._send(number, value, self._root, first)
        for i, step in enumerate(self._plan.steps):
            if not step.inputs and not step.controls:
                self._start(i, _Waiting(step), self._root, first)
        while self._ready:
            ready = self._ready.popleft()
            self._propagate(ready, self._outputs(ready))
            ready.iteration.running -= 1
            self._clean(ready.frame, ready.iteration)
        return [self._results.get(number, DEAD) for number in self._plan.results]

    def _outputs(self, ready: _Ready) -> Sequence[Flow]:
        step, waiting = self._plan.steps[ready.step], ready.waiting
        if waiting.is_dead:
            return [DEAD] * len(step.outputs)
        if step.operation.role is Role.MERGE:
            # The merge may wait on for values that nobody reads; it holds none meanwhile.
            value, waiting.inputs = waiting.inputs[waiting.index], []
            assert value is not None
            return value, np.array(waiting.index, np.int32)
        inputs: list[Flow] = waiting.inputs  # type: ignore[assignment]  # all have come
        return run_step(step, inputs, self._environment)

    def _propagate(self, ready: _Ready, outputs: Sequence[Flow]) -> None:
        """Send the outputs and the token on, to the frame and iteration where they belong."""
        role = self._plan.steps[ready.step].operation.role
        if role is Role.ENTER:
            self._enter(ready, outputs[0])
        elif role is Role.EXIT:
            self._exit(ready, outputs[0])
        elif role is Role.NEXT_ITERATION:
            if not ready.waiting.is_dead:
                self._next_iteration(ready, outputs[0])
        else:
            self._activate(ready.step, outputs, ready.waiting.is_dead, ready.frame, ready.iteration)

    def _activate(
        self, i: int, outputs: Sequence[Flow], is_dead: bool, frame: _Frame, iteration: _Iteration
    ) -> None:
        step = self._plan.steps[i]
        from_dead_enter = is_dead and step.operation.role is Role.ENTER
        for number, flow in zip(step.outputs, outputs, strict=True):
            if number is not None:
                self._send(number, flow, frame, iteration, from_dead_enter)
        for successor in self._routes.successors[i]:
            self._token(successor, is_dead, frame, iteration)

    def _send(
        self,
        number: int,
        flow: Flow,
        frame: _Frame,
        iteration: _Iteration,
        from_dead_enter: bool = False,
    ) -> None:
        """Give a value to the steps that read it."""
        if frame is self._root and number in self._wanted:
            self._results[number] = flow
        for consumer in self._routes.consumers[number]:
            waiting = self._waiting(consumer.step, iteration)
            waiting.data -= 1
            if self._plan.steps[consumer.step].operation.role is not Role.MERGE:
                self._check_first(consumer, waiting)
                waiting.inputs[consumer.place] = flow
                waiting.is_dead |= isinstance(flow, Dead)
            elif isinstance(flow, Dead):
                # What a loop's Merge gets from a dead Enter is all that it will ever get.
                if from_dead_enter:
                    waiting.data = 0
            elif waiting.index < 0:
                waiting.inputs[consumer.place] = flow
                waiting.index = consumer.place
            self._start_if_complete(consumer.step, waiting, frame, iteration)

    def _check_first(self, consumer: Consumer, waiting: _Waiting) -> None:
        """ModelError when an input comes again, as when a damaged loop ends twice."""
        if waiting.inputs[consumer.place] is not None:
            node = self._plan.steps[consumer.step].node
            raise ModelError(f"{node}: input {consumer.place} must come once, got another value")

    def _token(self, i: int, is_dead: bool, frame: _Frame, iteration: _Iteration) -> None:
        """Tell a step that one of those that it comes after is done."""
        waiting = self._waiting(i, iteration)
        waiting.controls -= 1
        role = self._plan.steps[i].operation.role
        waiting.is_dead |= is_dead and role is not Role.MERGE and role is not Role.TRIGGER
        self._start_if_complete(i, waiting, frame, iteration)

    def _waiting(self, i: int, iteration: _Iteration) -> _Waiting:
        found = iteration.waiting.get(i)
        if found is None:
            found = iteration.waiting[i] = _Waiting(self._plan.steps[i])
        return found

    def _start_if_complete(self, i: int, waiting: _Waiting, frame: _Frame, iteration: _Iteration) -> None:
        if waiting.controls:
            return
        if self._plan.steps[i].operation.role is Role.MERGE:
            # Once: what comes after the first value alive is not read.
            if waiting.index < 0:
                if waiting.data:
                    return
                waiting.is_dead = True
            waiting.controls = -1
        elif waiting.data:
            return
        if waiting.data == 0:
            del iteration.waiting[i]
        self._start(i, waiting, frame, iteration)

    def _start(self, i: int, waiting: _Waiting, frame: _Frame, iteration: _Iteration) -> None:
        iteration.running += 1
        self._ready.append(_Ready(i, waiting, frame, iteration))

    def _enter(self, ready: _Ready, flow: Flow) -> None:
        """A value comes into the frame of its loop, which the first of its Enter nodes opens."""
        enter = self._routes.enters[ready.step]
        key = (*ready.frame.key, ready.iteration.number, enter.frame)
        frame = self._frames.get(key)
        if frame is None:
            parent = ready.frame, ready.iteration
            pending = self._routes.enter_counts[enter.frame]
            frame = self._frames[key] = _Frame(key, parent, pending, enter.most_iterations)
            ready.iteration.frames += 1
        frame.pending_enters -= 1
        is_dead, first = flow is DEAD, frame.iterations[0]
        if enter.is_constant:
            frame.constants.append((ready.step, flow))
            for iteration in list(frame.iterations.values()):
                self._activate(ready.step, [flow], is_dead, frame, iteration)
        else:
            self._activate(ready.step, [flow], is_dead, frame, first)
        self._clean(frame, first)

    def _exit(self, ready: _Ready, flow: Flow) -> None:
        """A value goes to the frame around; a dead one only when the loop ends without another."""
        frame = ready.frame
        if frame.parent is None:
            raise ModelError(f"{self._plan.steps[ready.step].node}: it must be in a loop")
        if flow is DEAD:
            frame.dead_exits.add(ready.step)
        else:
            frame.live_exits.add(ready.step)
            self._activate(ready.step, [flow], False, *frame.parent)

    def _next_iteration(self, ready: _Ready, flow: Flow) -> None:
        """A value goes to the next iteration, which begins unless too many are under way."""
        frame, number = ready.frame, ready.iteration.number
        if frame.parent is None:
            raise ModelError(f"{self._plan.steps[ready.step].node}: it must be in a loop")
        if number == frame.last:
            if len(frame.iterations) >= frame.most_iterations:
                frame.deferred.append((ready.step, flow))
                return
            self._advance(frame)
        self._activate(ready.step, [flow], False, frame, frame.iterations[number + 1])

    def _advance(self, frame: _Frame) -> None:
        """Begin one more iteration, with what waited for it and the loop's constants."""
        frame.last += 1
        iteration = frame.iterations[frame.last] = _Iteration(frame.last)
        deferred, frame.deferred = frame.deferred, []
        for i, flow in (*deferred, *frame.constants):
            self._activate(i, [flow], flow is DEAD, frame, iteration)

    def _clean(self, frame: _Frame, iteration: _Iteration) -> None:
        """Let go of iterations that are done, and of the frame with its last one."""
        number = iteration.number
        while self._is_done(frame, number):
            del frame.iterations[number]
            number += 1
            if frame.deferred:
                self._advance(frame)
        if not frame.iterations and frame.parent is not None:
            self._end(frame, *frame.parent)

    def _is_done(self, frame: _Frame, number: int) -> bool:
        iteration = frame.iterations.get(number)
        if iteration is None or iteration.running or iteration.frames:
            return False
        return number - 1 not in frame.iterations and (number > 0 or frame.pending_enters == 0)

    def _end(self, frame: _Frame, parent: _Frame, iteration: _Iteration) -> None:
        """Exits that have given no value give a dead one."""
        del self._frames[frame.key]
        for i in sorted(frame.dead_exits - frame.live_exits):
            self._activate(i, [DEAD], True, parent, iteration)
        iteration.frames -= 1
        self._clean(parent, iteration)
