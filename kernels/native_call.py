"""NativeCall: a kernel call that runs the plans of other subgraphs, with the copies between their tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..lite.called_subgraph import CallablePlan, CalledSubgraph
from ..lite.kernel_call import KernelCall, argument_block
from ..lite.tensor import Tensor

# A block is one of these, then what NativeCall lists behind it.
BRANCHES = argument_block("runner selector selector_bytes branches")
LOOP = np.dtype(
    [
        ("runner", np.int64),
        ("condition_plan", np.int64),
        ("body_plan", np.int64),
        ("condition", np.int64),
        ("begin_copies", np.int64),
        ("turn_copies", np.int64),
        ("end_copies", np.int64),
        ("cancellation", np.int64),
        ("cost", np.int64),  # of a turn besides its rows, as ROW counts it
    ],
    align=True,
)
TURN = argument_block("runner condition_plan body_plan condition condition_copies body_copies")
COPY_WORDS = 3  # source, target, nbytes
BRANCH_WORDS = 3  # plan, copies into its inputs, copies out of its outputs

Copies = Sequence[tuple[Tensor | None, Tensor]]


def native_plans(subgraphs: Sequence[CalledSubgraph]) -> list[CallablePlan | None] | None:
    """The plans of allocated subgraphs, None for one with nothing to run.

    There are none when a subgraph needs Python, or when others could prepare it anew for
    other shapes.
    """
    plans = []
    for subgraph in subgraphs:
        plan = subgraph.native_plan
        if not subgraph.owned or (plan is None and not subgraph.has_nothing_to_run):
            return None
        plans.append(plan)
    return plans


class Failures(Mapping[int, str]):
    """What a status means: which node of which subgraph has failed, and why."""

    def __init__(self, subgraphs: Mapping[int, CalledSubgraph]) -> None:
        self._subgraphs = subgraphs

    def __getitem__(self, status: int) -> str:
        return self._subgraphs[status].native_failure

    def __iter__(self) -> Iterator[int]:
        return iter(self._subgraphs)

    def __len__(self) -> int:
        return len(self._subgraphs)


class NativeCall:
    """Collects a block: the head record, then words (numbers, or addresses of tensors)."""

    def __init__(self, head: np.dtype, plans: Sequence[CallablePlan | None]) -> None:
        self.head = np.zeros(1, head)
        self.tensors: dict[str, Tensor] = {}
        self.failures: dict[int, CalledSubgraph] = {}
        self.head["runner"] = next((plan.runner for plan in plans if plan is not None), 0)
        self._words: list[int] = []

    def copies(self, pairs: Copies, reader: CalledSubgraph | None = None) -> list[tuple[Tensor, Tensor]]:
        """The pairs that need copying: with a reader, those whose target that subgraph reads."""
        return [
            (x, y)
            for x, y in pairs
            if x is not None and x is not y and y.nbytes and (reader is None or reads(reader, y))
        ]

    def words(self, *values: int) -> None:
        self._words.extend(values)

    def add(self, copies: Sequence[tuple[Tensor, Tensor]]) -> None:
        """List copies: source, target and nbytes of each."""
        for x, y in copies:
            at = len(self._words)
            self.tensors[f"word_{at}"] = x
            self.tensors[f"word_{at + 1}"] = y
            self._words += [0, 0, y.nbytes]

    def kernel_calls(self, kernel: str) -> list[KernelCall]:
        names = [f"word_{k}" for k in range(len(self._words))]
        head = self.head.dtype
        assert head.names is not None
        block = np.dtype([*((name, np.int64) for name in head.names), *((name, np.int64) for name in names)])
        args = np.zeros(1, block)
        args.view(np.int64)[:] = [*self.head.view(np.int64).tolist(), *self._words]
        return [KernelCall("control_flow", kernel, args, self.tensors, messages=Failures(self.failures))]


def reads(subgraph: CalledSubgraph, tensor: Tensor) -> bool:
    """Whether the subgraph does anything with one of its inputs."""
    t = tensor.index
    return t in subgraph.outputs or any(t in node.inputs for node in subgraph.nodes)
