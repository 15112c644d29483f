"""What the memory optimizer does in each mode."""

from __future__ import annotations

from ...transforms.purity import CONTROL_FLOW
from ...transforms.toposort import topological_order
from ..toggle import MemoryMode
from ..turn import Turn
from .accumulation import SUMS, accumulate, sums_of
from .estimate import memory_estimate
from .recomputation import Recomputation, recompute
from .swapping import hinted, over_capacity, swap_to_host

MEMORY = (recompute, accumulate, swap_to_host)
_TARGETS = "gradients/"
# Of a device's memory so much may be needed before something is done.
_SHARE = 0.8
_Mode = MemoryMode
_RECOMPUTES = (_Mode.MANUAL, _Mode.HEURISTICS, _Mode.RECOMPUTATION_HEURISTICS)
_SCHEDULES = (_Mode.DEFAULT_MEM_OPT, _Mode.HEURISTICS, _Mode.SCHEDULING_HEURISTICS)
_SWAPS_LARGE = (_Mode.DEFAULT_MEM_OPT, _Mode.HEURISTICS, _Mode.SWAPPING_HEURISTICS)
_SWAPS = (*_SWAPS_LARGE, _Mode.MANUAL)


def save_memory(turn: Turn) -> None:
    """Recompute, add up in place, and swap, as far as the mode goes.

    MANUAL, which the optimizer has when the config names it, follows the hints that nodes have. What depends
    on the size of a device's memory is done where the config says device_memory_bytes. Graphs with control
    flow of the first version stay: a copy of a node in a branch could wait for what never runs.
    Source: TensorFlow core/grappler/optimizers/memory_optimizer.cc.
    """
    config, item = turn.config, turn.item
    mode = _Mode.MANUAL if config.optimizers else config.memory_optimization
    if any(node.op in CONTROL_FLOW for node in item.nodes()):
        return
    if mode in _RECOMPUTES:
        scope = config.memory_optimizer_target_node_name_scope or _TARGETS
        by_hint_only = mode == _Mode.MANUAL
        found = Recomputation(item.body.body, item.feed_nodes(), scope, by_hint_only)
        if found.waiting:
            turn.rewrite([recompute], shapes=False, notes={"recomputation": found})
    if mode in _SCHEDULES and config.device_memory_bytes and any(n.op in SUMS for n in item.nodes()):
        _accumulate(turn)
    if mode in _SWAPS:
        _swap(turn, mode in _SWAPS_LARGE)


def _accumulate(turn: Turn) -> None:
    estimates = memory_estimate(turn.item, turn.properties())
    found = sums_of(estimates, _SHARE * turn.config.device_memory_bytes)
    if found:
        turn.rewrite([accumulate], notes={"sums": found, "order": _order(turn)})


def _swap(turn: Turn, large_ones: bool) -> None:
    found = hinted(list(turn.item.nodes()))
    if large_ones and turn.config.device_memory_bytes:
        estimates = memory_estimate(turn.item, turn.properties())
        found = over_capacity(turn.item, estimates, _SHARE * turn.config.device_memory_bytes) | found
    if found:
        turn.rewrite([swap_to_host], shapes=False, notes={"swapped": found, "order": _order(turn)})


def _order(turn: Turn) -> dict[object, int]:
    return {node: i for i, node in enumerate(topological_order(turn.item.body.body))}
