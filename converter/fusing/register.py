"""The passes over a lowered model, in the order in which they run."""

from __future__ import annotations

from typing import Protocol

from ..lite_graph import LiteGraph
from .activation import FuseActivation
from .arithmetic import RemoveNeutralArithmetic, SkipBroadcasts, UseCutOffs, UseSquaredDifference
from .batch_norm import FoldBatchNorm
from .behind_reshape import MergeReshapesAround, MoveBeforeReshape, SkipLeadingOnes
from .bias import FuseBias
from .constants import FoldConstants, ShareConstants
from .dead_code import RemoveDeadCode
from .dilation import UseDilation
from .duplicates import ShareResults
from .gelu import FuseGelu
from .hard_swish import FuseHardSwish
from .join_reshapes import JoinReshapes
from .lookup import UseEmbeddingLookup
from .loop import DropBranchResults, DropLoopVariables, ShareWithLoops
from .matmul import FuseMatmulTransposes
from .number import StoreNumbersOnce
from .opposite import SkipUndone, UseOpposites
from .padding import FusePadding
from .power import SimplifyPowers, UseSubtraction
from .rectifier import UsePrelu, UseRectifiers
from .reduction import KeepReducedAxes, ReduceTransposed, UseL2Normalization
from .reshape import KeepDimensions, MergeReshapes, SkipFlattening
from .scale import FoldOffsetBefore, FoldScaleBefore
from .softmax import UseSoftmax
from .transpose import MergeTransposes, SinkTransposes, UseReshape
from .zero import SkipEmptyResults, SkipZeroProducts


class Pass(Protocol):
    """A change of the graph that keeps what it computes; its docstring shows Given and Result."""

    def run(self, graph: LiteGraph) -> int:
        """Make all changes that it can; returns how many."""


PASSES: tuple[Pass, ...] = (
    # What is not needed first: an operator that goes has no users to count.
    RemoveDeadCode(),
    DropLoopVariables(),
    DropBranchResults(),
    # What is known makes constants of which the passes below need.
    FoldConstants(),
    SkipEmptyResults(),
    SkipZeroProducts(),
    # Plain forms, before patterns are looked for. Cut-offs come before rectifiers, which are half of some,
    # and before equal operators are shared, as two of them may have one end in common.
    RemoveNeutralArithmetic(),
    SkipBroadcasts(),
    SkipLeadingOnes(),
    SimplifyPowers(),
    UseSubtraction(),
    SkipUndone(),
    UseOpposites(),
    UseCutOffs(),
    UseRectifiers(),
    ShareResults(),
    ShareWithLoops(),
    # Patterns of many operators, before a pass takes one of them.
    UseL2Normalization(),
    UseSoftmax(),
    UseSquaredDifference(),
    FuseGelu(),
    FuseHardSwish(),
    UsePrelu(),
    # What only moves data goes, or out of the way of what a convolution could take in.
    MergeReshapes(),
    MergeReshapesAround(),
    JoinReshapes(),
    UseReshape(),
    MergeTransposes(),
    SinkTransposes(),
    FuseMatmulTransposes(),
    ReduceTransposed(),
    KeepReducedAxes(),
    UseDilation(),
    MoveBeforeReshape(),
    # Into the weights: the scale behind before the bias, which it scales too, and the scale before last.
    FoldBatchNorm(),
    FuseBias(),
    UseEmbeddingLookup(),
    FoldScaleBefore(),
    FoldOffsetBefore(),
    FusePadding(),
    # Reshapes around a product go together, before the one in front goes alone.
    KeepDimensions(),
    SkipFlattening(),
    # Nothing may be fused behind an activation, so it is the last.
    FuseActivation(),
)

# Once, when nothing else changes any more.
LAST_PASSES: tuple[Pass, ...] = (RemoveDeadCode(), StoreNumbersOnce(), ShareConstants())

# Every round takes out an operator, so this is never reached but by a pass that undoes another.
_MAX_ROUNDS = 1000


def optimize(graph: LiteGraph) -> None:
    """Run the passes until none changes anything."""
    for _ in range(_MAX_ROUNDS):
        if not sum(each.run(graph) for each in PASSES):
            break
    for each in LAST_PASSES:
        each.run(graph)
