"""KeptTurns: turns of a loop whose values change their shapes, run again without being prepared again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from ..lite.called_subgraph import BoundCalls, CalledSubgraph, LastingPlan
from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor
from .native_call import TURN, NativeCall, reads
from .subgraph_call import Value

TURN_FAILED = 1  # the statuses of TURN
LOOP_ENDED = 2
BODY_UNKNOWN = 3

Inputs: TypeAlias = "Sequence[Tensor | None]"
Values: TypeAlias = "Sequence[Value | None]"
_MOST_LOOPS = 8
_MOST_TURNS = 128  # of a loop
_MOST_BYTES = 16 << 20  # of a loop's arenas


class KeptTurns:
    """The latest loops of one node, by the types and shapes of the values that they begin with."""

    def __init__(self) -> None:
        self._loops: dict[tuple[tuple[int, Shape] | None, ...], Loop] = {}  # the oldest first

    def loop(self, inputs: Inputs) -> Loop:
        """What is known of the loop that begins with such values. One that is new keeps nothing yet."""
        shapes = tuple([None if x is None else (x.type, x.shape) for x in inputs])
        known = self._loops.pop(shapes, None)
        found = self._loops[shapes] = Loop() if known is None else known
        found.keeps = known is not None and found.can_keep
        if len(self._loops) > _MOST_LOOPS:
            del self._loops[next(iter(self._loops))]
        return found


class Loop:
    """The turns of a loop from its first values on, as many as were seen.

    Shapes of a turn follow from those of the turn before; how many there are, the condition says each time.
    """

    def __init__(self) -> None:
        self.keeps = False  # whether turns that are seen now are kept
        self.can_keep = True
        self._turns: list[_Turn] = []
        self._calls: BoundCalls | None = None  # a row for each turn
        self._nbytes = 0

    def replay(self, context: Context, node: Node, inputs: Inputs) -> tuple[Values | None, bool]:
        """Run the known turns; the values behind them, and whether the condition has ended the loop.

        The values are None where no turn has run; so it is when one fails: nothing is known any more then,
        and who takes the turns one by one finds out what the matter is. None has effects.
        """
        if not self._turns:
            return None, False
        if not self._turns[0].is_current:  # the others last as long
            return self._forget()
        if self._calls is None:
            self._calls = context.bound_calls(node, [turn.call() for turn in self._turns])
        if not self._turns[0].fill(inputs):
            return self._forget()
        status = self._calls.run()
        if status not in (0, LOOP_ENDED, BODY_UNKNOWN):
            context.cancellation.check()
            return self._forget()
        done = self._calls.failed_row if status else len(self._turns)
        after = self._turns[done - 1].body if done else None
        ended = status == LOOP_ENDED
        if after is None:
            return None, ended
        return [
            Value(y.type, y.shape, y.data if ended else y.dense_bytes().copy()) for y in after.outputs
        ], ended

    def saw_condition(self, condition: CalledSubgraph) -> None:
        """Keep the condition that has just run on values of a turn that is not known."""
        if self._turns and self._turns[-1].body is None:
            return
        before = self._turns[-1].body if self._turns else None
        step = self._step(condition, before)
        if step is not None:
            self._turns.append(_Turn(step, before))

    def saw_body(self, body: CalledSubgraph) -> None:
        """Keep the body that has just run behind that condition."""
        turn = self._turns[-1] if self._turns else None
        if turn is not None and turn.body is None:
            turn.body = self._step(body, turn.before)
            if self._turns[0].body is None:
                self._turns.clear()
                self.can_keep = False

    def _step(self, subgraph: CalledSubgraph, before: _Step | None) -> _Step | None:
        """The subgraph as it is; None, and nothing more is kept, where it cannot be."""
        self.keeps &= self._nbytes <= _MOST_BYTES and len(self._turns) <= _MOST_TURNS
        plan = subgraph.lasting_plan() if self.keeps else None
        step = None if plan is None else _Step(subgraph, plan)
        self.keeps = step is not None and step.may_follow(before)
        if step is None or not self.keeps:
            return None
        self._nbytes += step.plan.nbytes
        self._calls = None
        return step

    def _forget(self) -> tuple[None, bool]:
        self._turns.clear()
        self._calls = None
        self._nbytes = 0
        self.keeps = False
        return None, False


class _Step:
    """A subgraph as it is prepared now: its plan, the inputs that it reads, and its outputs."""

    def __init__(self, subgraph: CalledSubgraph, plan: LastingPlan) -> None:
        self.plan = plan
        inputs = [(i, _as_it_is(subgraph.tensor(t))) for i, t in enumerate(subgraph.inputs)]
        self.inputs = [(i, x) for i, x in inputs if reads(subgraph, x)]
        self.outputs = [_as_it_is(subgraph.tensor(t)) for t in subgraph.outputs]
        self._is_sized = all(x.has_fixed_size for x in (*(x for _, x in inputs), *self.outputs))

    def may_follow(self, before: _Step | None) -> bool:
        """Whether its inputs can be copied from where the step before it has its outputs."""
        return self._is_sized and (before is None or not self.plan.shares_memory(before.plan))

    def copies(self, before: _Step | None) -> list[tuple[Tensor, Tensor]]:
        return [] if before is None else [(before.outputs[i], x) for i, x in self.inputs]


class _Turn:
    """The condition for values of some shapes and, where it has held, the body; before is the last turn's."""

    def __init__(self, condition: _Step, before: _Step | None) -> None:
        self.condition = condition
        self.before = before
        self.body: _Step | None = None
        self._targets: list[tuple[int, np.ndarray]] = []

    @property
    def is_current(self) -> bool:
        return self.condition.plan.is_current and (self.body is None or self.body.plan.is_current)

    def call(self) -> KernelCall:
        condition, body = self.condition, self.body
        call = NativeCall(TURN, [condition.plan.plan])
        tests = call.copies(condition.copies(self.before))
        values = call.copies([] if body is None else body.copies(self.before))
        call.head["condition_plan"] = condition.plan.plan.address
        call.head["body_plan"] = 0 if body is None else body.plan.plan.address
        call.head["condition_copies"], call.head["body_copies"] = len(tests), len(values)
        call.tensors["condition"] = condition.outputs[0]
        call.add([*tests, *values])
        inputs = [*condition.inputs, *(() if body is None else body.inputs)]
        self._targets = [(i, x.dense_bytes()) for i, x in inputs if x.nbytes]
        [made] = call.kernel_calls("run_turn")
        return made

    def fill(self, inputs: Inputs) -> bool:
        """Give the first turn the values that the loop begins with; False where one has no value.

        They have the shapes that the turn was made for.
        """
        for i, target in self._targets:
            given = inputs[i]
            if given is None or given.data is None:
                return False
            target[...] = given.data[: len(target)]
        return True


def _as_it_is(tensor: Tensor) -> Tensor:
    """A tensor that stays where the other one is now."""
    made = Tensor(tensor.index, tensor.name, tensor.type, tensor.shape)
    made.bind(tensor.data)
    return made
