"""What NUMLITE_DEBUG shows, on stderr: 1 the plan, 2 also nodes, 3 also times, 4 also values."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .subgraph import Stage, Subgraph

PLAN, NODES, TIMES, VALUES = 1, 2, 3, 4


def _level() -> int:
    text = os.environ.get("NUMLITE_DEBUG", "")
    return int(text) if text.isdigit() else 0


level = _level()


def say(text: str) -> None:
    print(f"numlite: {text}", file=sys.stderr)


def show_plan(subgraph: Subgraph, stage: Stage) -> None:
    """The stage in one line, then one line a node."""
    if level < PLAN:
        return
    segments = stage.plan.segments
    rows = sum(len(segment.calls) for segment in segments)
    say(
        f"subgraph {subgraph.index}: nodes {stage.first}-{stage.last}, {rows} native calls in "
        f"{len(segments)} segments, arena {stage.memory.arena_bytes:,} bytes"
    )
