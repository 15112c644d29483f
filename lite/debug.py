"""What NUMLITE_DEBUG shows, on stderr: 1 plans and arenas, 2 also nodes, 3 also times, 4 also values."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from ..schema.shown import shown
from .environment import debug_level

if TYPE_CHECKING:
    from .node import Node
    from .prepared_graph import PreparedGraph
    from .stage import Stage
    from .subgraph import Subgraph
    from .tensor import Tensor

PLAN, NODES, TIMES, VALUES = 1, 2, 3, 4

_SHOWN_VALUES = 6


level = debug_level()


def say(text: str) -> None:
    print(f"numlite: {shown(text)}", file=sys.stderr)


def show_plan(subgraph: PreparedGraph, stage: Stage) -> None:
    """The stage in one line; from level 2 on also its nodes."""
    if level < PLAN:
        return
    segments = stage.plan.segments
    rows = sum(len(segment.calls) for segment in segments)
    say(
        f"subgraph {subgraph.index}: nodes {stage.first}-{stage.last}, {rows} native calls in "
        f"{len(segments)} segments, arena {stage.memory.arena_bytes:,} bytes"
    )
    if level >= NODES:
        for node in stage.plan.nodes:
            say(f"  {node_line(subgraph, node)}")


def node_line(subgraph: PreparedGraph, node: Node) -> str:
    """`3 CONV_2D(1 float32 1x8x8x3, ...) -> 7 float32 1x8x8x16 [conv_2d_f32]`."""
    inputs = ", ".join(_brief(subgraph, t) for t in node.inputs)
    outputs = ", ".join(_brief(subgraph, t) for t in node.outputs)
    calls = (
        "python" if node.calls is None else ", ".join(call.kernel for call in node.calls) or "nothing to do"
    )
    return f"{node.index} {node.registration.name}({inputs}) -> {outputs} [{calls}]"


def _brief(subgraph: PreparedGraph, index: int) -> str:
    if index < 0:
        return "none"
    tensor = subgraph.tensors[index]
    return f"{index} {tensor.type_name} {'x'.join(map(str, tensor.shape)) or 'scalar'}"


def run_stage(subgraph: Subgraph, stage: Stage) -> None:
    """Run the stage node by node and say what each took and, from level 4 on, gave."""
    from .profiler import NodeClock

    clock = NodeClock(subgraph)
    for node, segment in stage.plan.single_steps():
        time_ns = clock.run_node(node, segment)
        say(f"{time_ns / 1000:10.1f} us  {subgraph.where(node)}")
        if level >= VALUES:
            for t in node.outputs:
                if t >= 0:
                    say(f"{'':15}{values_line(subgraph.tensors[t])}")


def values_line(tensor: Tensor) -> str:
    """The tensor with its smallest, mean and largest value, and its first values."""
    try:
        values = tensor.array()
    except RuntimeError:
        return f"{tensor!r}: no values that NumPy can show"
    if not values.size or values.dtype.kind not in "biuf":
        return f"{tensor!r}: {values.ravel()[:_SHOWN_VALUES]}"
    with np.errstate(all="ignore"):
        mean = values.mean(dtype=np.float64)
    first = " ".join(f"{value:.6g}" for value in values.ravel()[:_SHOWN_VALUES])
    return f"{tensor!r}: min {values.min():.6g} mean {mean:.6g} max {values.max():.6g}; {first} ..."
