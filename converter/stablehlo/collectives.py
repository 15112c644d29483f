"""What several devices do together, on the one that runs a model: nothing, where each group is one device."""

from __future__ import annotations

from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_UINT32
from .step import Result, Rule, Step

_ADVICE = "; export the program for one device"


def _groups(step: Step) -> None:
    """UnsupportedError where several devices are in one group."""
    if not step.has("replica_groups"):
        return
    groups = step.array("replica_groups")
    if groups.ndim == 2 and groups.shape[1] > 1:
        raise UnsupportedError(f"a group of {groups.shape[1]} devices{_ADVICE}")


def same(step: Step) -> Result:
    """The operands, of which each group has one device's."""
    _groups(step)
    given, made = ([held.shape for held in step.operands], _shapes(step))
    if given != made:
        raise UnsupportedError(f"a result of another shape than the operand, as of several devices{_ADVICE}")
    return list(step.operands)


def _shapes(step: Step) -> list[tuple[int, ...]]:
    return [step.result_type(place).shape for place in range(len(step.operation.results))]


def permute(step: Step) -> Result:
    """The operand where the device sends to itself, zeros where nothing is sent to it."""
    pairs = step.array("source_target_pairs").reshape(-1, 2).tolist()
    if not pairs:
        return step.input(0).apply("ZerosLike")
    if pairs != [[0, 0]]:
        raise UnsupportedError(f"values that go from device to device, {pairs}{_ADVICE}")
    return step.held(0)


def number(step: Step) -> Result:
    """The number of the one device."""
    return step.body.scalar(0, DT_UINT32)


REGISTRATIONS: dict[str, Rule] = {
    "all_gather": same,
    "all_reduce": same,
    "all_to_all": same,
    "collective_broadcast": same,
    "collective_permute": permute,
    "partition_id": number,
    "reduce_scatter": same,
    "replica_id": number,
}
