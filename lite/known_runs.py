"""KnownRuns: runs through several stages that were seen before, gone through again in native code."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..schema.named_tuple import NamedTuple
from . import preparation
from .native_blocks import FOLLOWER_WORDS, KNOWN_RUN, KNOWN_STAGE, field_offset
from .native_plan import NativePlan
from .plan import NativeSegment
from .preparation import may_be_kept, stage_preparation

if TYPE_CHECKING:
    from .kernel_call import KernelCall
    from .node_context import NodeContext
    from .preparation import Key, Preparation
    from .prepared_graph import PreparedGraph
    from .stage import Stage
    from .tensor import Shape, Tensor

_MOST_STAGES = 64
_MOST_BYTES = 16 << 20
_NOTHING_RAN = 0


class Stopped(NamedTuple):
    """Where a run has left what is known: the number of the stage that ran last, and its plan's status."""

    number: int
    status: int


class KnownRuns:
    """Stages by what they were prepared for, and which one follows for each size that a stage finds.

    A stage is in here, or in a graph's other preparations, never in both. All belong to one preparation of
    the first stage.
    """

    def __init__(self, context: NodeContext) -> None:
        self._known: dict[Key, _KnownStage] = {}
        self._by_address: dict[int, _KnownStage] = {}
        self._head = np.zeros(1, KNOWN_RUN)
        self._words = self._head.view(np.int64)
        self._last = field_offset(KNOWN_RUN, "last") // 8
        self._status = field_offset(KNOWN_RUN, "status") // 8
        context.library.load({"control_flow": {"run_known"}})
        kernel = context.library.address("control_flow", "run_known")
        rows = np.array([[kernel, self._head.ctypes.data, 1, 1]], np.int64)
        self._plan = NativePlan(rows, context.library, None, context.cancellation)
        self._run = self._plan.invoke
        self._head["runner"] = self._plan.runner

    def run(self, graph: PreparedGraph) -> Stopped | None:
        """Run the graph as far as the way is known; None where that is to the end.

        The graph has the stages that ran, as it would have them without this. A number of -1: none ran.
        """
        words = self._words
        words[self._last] = _NOTHING_RAN
        status = self._run()
        last = words.item(self._last)
        if last == _NOTHING_RAN:
            return Stopped(-1, status)
        known = self._by_address[last]
        if graph.stages[-1] is not known.stage:
            self.leave(graph.stages[-1])
            known.settle(graph)
        return Stopped(len(graph.stages) - 1, words.item(self._status)) if status else None

    def saw(self, graph: PreparedGraph) -> None:
        """Know the run that the graph has just made, where all its stages can run so."""
        stages = []
        for number, stage in enumerate(graph.stages):
            known = self._known.get(stage.found)
            if known is None:
                known = _known_stage(graph, number)
            if known is None or known.stage is not stage:
                return
            stages.append(known)
        for before, after in pairwise(stages):
            if after.way is None:
                after.lead(before)
        self._known |= {known.stage.found: known for known in stages}
        self._by_address |= {known.address: known for known in stages}
        self._head["first"] = stages[0].address

    def leave(self, stage: Stage) -> bool:
        """Note how a stage is that another one takes the place of; False where it is not known."""
        known = self._known.get(stage.found)
        if known is None or known.stage is not stage:
            return False
        known.leave()
        return True

    def restore(self, graph: PreparedGraph, key: Key) -> bool:
        """Append the stage that was prepared for this.

        False where there is none, or where the stages before it have given their results other memory.
        """
        known = self._known.get(key)
        if known is None or not all(stage.is_entered for stage in known.chain[1:]):
            return False
        graph.stages.append(known.stage)
        known.restore(graph)
        return True

    @property
    def is_full(self) -> bool:
        return len(self._known) > _MOST_STAGES or sum(self.held.values()) > _MOST_BYTES

    @property
    def held(self) -> dict[int, int]:
        """What it holds, by identity: the bytes."""
        return {array: size for known in self._known.values() for array, size in known.held.items()}


class _Result(NamedTuple):
    """A tensor that has got its size by running, and how it was then."""

    tensor: Tensor
    shape: Shape
    data: np.ndarray | None
    address: int

    def take(self) -> None:
        t, t.shape, t.data, t.address = self.tensor, self.shape, self.data, self.address


class _KnownStage:
    """A stage with the native block that says what follows it."""

    def __init__(
        self, stage: Stage, preparation: Preparation, call: KernelCall | None, loose: list[Tensor]
    ) -> None:
        self.stage = stage
        self.preparation = preparation
        self.chain: list[_KnownStage] = [self]
        self.way: _Result | None = None
        self._call = call
        # Results that get their sizes in the last stage, and how they are while another stage is there.
        self._loose = [] if call is not None else loose
        self._left: list[_Result] = []
        self._block = np.zeros(1, KNOWN_STAGE)
        self._followers = np.zeros((0, FOLLOWER_WORDS), np.int64)
        self.address: int = self._block.ctypes.data
        segment = stage.plan.steps[0]
        assert isinstance(segment, NativeSegment)
        block = self._block[0]
        block["plan"] = segment.plan.address
        if call is not None:
            assert call.sized is not None
            kernel, args = segment.plan.rows[-1, :2]
            fields = call.args.dtype
            block["kernel"], block["args"] = kernel, args
            for name, field in call.sized.fields._asdict().items():
                block[name] = args + field_offset(fields, field)

    def lead(self, before: _KnownStage) -> None:
        """Have this stage follow another one whenever that finds the size that it has found now."""
        call = before._call
        assert call is not None and call.sized is not None
        y = call.sized.tensor
        self.way = _Result(y, y.shape, y.data, y.address)
        self.chain = [*before.chain, self]
        follower = [int(call.args[call.sized.fields.size][0]), y.address, self.address]
        before._followers = np.array([*before._followers.tolist(), follower], np.int64)
        before._block["followers"] = before._followers.ctypes.data
        before._block["follower_count"] = len(before._followers)

    @property
    def is_entered(self) -> bool:
        """Whether the result before this stage lies where it lay when the stage was seen."""
        return self.way is not None and self.way.tensor.data is self.way.data

    def settle(self, graph: PreparedGraph) -> None:
        """Have the graph as it is after a run that ended with this stage."""
        stages = graph.stages
        for number, known in enumerate(self.chain):
            if number < len(stages) and stages[number] is known.stage:
                continue
            known.put_back()
            if known.way is not None:
                known.way.take()
        stages[:] = [known.stage for known in self.chain]

    def leave(self) -> None:
        self._left = [_Result(t, t.shape, t.data, t.address) for t in self._loose]

    def put_back(self) -> None:
        self.preparation.put_back()
        for left in self._left:
            left.take()

    def restore(self, graph: PreparedGraph) -> None:
        """Have the stage ready to run behind those that the graph has."""
        self.preparation.restore(graph)
        self.put_back()
        if self._call is not None and self._call.sized is not None:
            # The result is as it was when the stage was seen, the block as it was when it ran last.
            self._call.args[self._call.sized.fields.size] = -1

    @property
    def held(self) -> dict[int, int]:
        result = {} if self.way is None else {id(self.way.data): self.way.tensor.nbytes_of(self.way.shape)}
        return self.preparation.held | result


def known_runs(graph: PreparedGraph) -> KnownRuns | None:
    """Nothing known yet; None for a graph whose first stage native code does not run alone."""
    return None if _known_stage(graph, 0) is None else KnownRuns(graph)


def _known_stage(graph: PreparedGraph, number: int) -> _KnownStage | None:
    """A stage that native code may run again, or None: it needs Python, has effects, or is large."""
    stage = graph.stages[number]
    steps, nodes = stage.plan.steps, graph.schedule[stage.first : stage.last + 1]
    if len(steps) != 1 or not isinstance(steps[0], NativeSegment) or not may_be_kept(graph, nodes):
        return None
    if number and stage.memory.arena_bytes > preparation.SMALL_ARENA:
        return None
    is_last = stage.last == len(graph.schedule) - 1
    call = None if is_last else steps[0].calls[-1]
    if (call is not None and call.sized is None) or any(t.is_variable for t in graph.tensors):
        return None
    loose = [graph.tensors[t] for node in nodes for t in node.outputs if t >= 0]
    return _KnownStage(stage, stage_preparation(graph, stage), call, [t for t in loose if t.is_dynamic])
