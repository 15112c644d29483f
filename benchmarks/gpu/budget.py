"""Which sections there are, and how much of the time each may have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

TOTAL_SECONDS = 540.0  # that the sections are planned for
REPORT_SECONDS = 6.0  # kept for the tables
GRACE_SECONDS = 4.0  # from the end of a section's time until its process is ended


@dataclass(frozen=True)
class Section:
    """least seconds are worth beginning with, most may be taken from later ones.

    A process that says nothing for stall seconds hangs, and is ended.
    """

    name: str
    least: float
    most: float
    stall: float


SECTIONS = (
    Section("compile", 10, 150, 120),
    Section("ceilings", 20, 60, 45),
    Section("correctness", 20, 110, 45),
    Section("models", 20, 110, 45),
    Section("layers", 15, 70, 45),
    Section("peers", 30, inf, 240),
)


def sections_for(total: float) -> list[Section]:
    """The sections, each with more time where there is more than planned (on a slow device, say)."""
    factor = max(1.0, total / TOTAL_SECONDS)
    return [replace(s, most=s.most * factor, stall=s.stall * factor) for s in SECTIONS]


def seconds_for(section: Section, left: float, later: Sequence[Section]) -> float:
    """How long a section may take when so much is left for it and the later ones; 0: it is skipped.

    What is least for the later ones is kept for them, but not at the cost of this section's own least. The
    last one may take all that is left.
    """
    usable = left - REPORT_SECONDS - GRACE_SECONDS
    if usable < section.least:
        return 0.0
    kept = sum(other.least + GRACE_SECONDS for other in later)
    return min(section.most if later else inf, max(section.least, usable - kept))
