"""The passes over a lowered model, in the order in which they run."""

from __future__ import annotations

from typing import Protocol

from ..lite_graph import LiteGraph
from .activation import FuseActivation
from .arithmetic import RemoveNeutralArithmetic, SkipBroadcasts, UseCutOffs, UseSquaredDifference
from .batch_norm import FoldBatchNorm
from .behind_reshape import MoveBeforeReshape, SkipLeadingOnes
from .bias import FuseBias
from .constants import FoldConstants, ShareConstants
from .dead_code import RemoveDeadCode
from .dilation import UseDilation
from .duplicates import ShareResults
from .gelu import FuseGelu
from .hard_swish import FuseHardSwish
from .lookup import UseEmbeddingLookup
from .loop import DropBranchResults, DropLoopVariables, ShareWithLoops
from .padding import FusePadding
from .reduction import KeepReducedAxes, UseL2Normalization
from .reshape import KeepDimensions, MergeReshapes, SkipFlattening
from .scale import FoldScaleBefore
from .softmax import UseSoftmax
from .transpose import MergeTransposes, SinkTransposes
from .zero import SkipEmptyResults, SkipZeroProducts


class Pass(Protocol):
    """A change of the graph that keeps what it computes; its docstring shows Given and Result."""

    def run(self, graph: LiteGraph) -> int:
        """Make all changes that it can; returns how many."""


PASSES: tuple[Pass, ...] = (
    RemoveDeadCode(),
    DropLoopVariables(),
    DropBranchResults(),
    FoldConstants(),
    SkipEmptyResults(),
    SkipZeroProducts(),
    RemoveNeutralArithmetic(),
    SkipBroadcasts(),
    SkipLeadingOnes(),
    ShareResults(),
    ShareWithLoops(),
    UseL2Normalization(),
    UseSoftmax(),
    UseSquaredDifference(),
    UseCutOffs(),
    FuseGelu(),
    FuseHardSwish(),
    MergeReshapes(),
    MergeTransposes(),
    SinkTransposes(),
    KeepReducedAxes(),
    UseDilation(),
    MoveBeforeReshape(),
    FoldBatchNorm(),
    FuseBias(),
    UseEmbeddingLookup(),
    FoldScaleBefore(),
    FusePadding(),
    KeepDimensions(),
    SkipFlattening(),
    FuseActivation(),
)

# Once, when nothing else changes any more.
LAST_PASSES: tuple[Pass, ...] = (RemoveDeadCode(), ShareConstants())

# Every round takes out an operator, so this is never reached but by a pass that undoes another.
_MAX_ROUNDS = 1000


def optimize(graph: LiteGraph) -> None:
    """Run the passes until none changes anything."""
    for _ in range(_MAX_ROUNDS):
        if not sum(each.run(graph) for each in PASSES):
            break
    for each in LAST_PASSES:
        each.run(graph)
