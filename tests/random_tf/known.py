"""Differences from TensorFlow that have a reason, by the kinds of cases where they are met."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """A difference: the kinds that have it (all where there are none), a pattern of its text, and why."""

    kinds: tuple[str, ...]
    pattern: str
    why: str


KNOWN = (
    Known((), r"^differs: LiteRT, run \d: [^#]*IsPowerOfTwo", "LiteRT has spectra of powers of two only"),
    Known(
        (), r"^differs: LiteRT, run \d: [^#]*segment_sum.cc", "LiteRT's SEGMENT_SUM takes ids without gaps"
    ),
    Known(
        (),
        r"^differs: LiteRT, run \d: ValueError: Invalid tensor size\. \|",
        "what LiteRT does with empty tensors hangs on its memory",
    ),
    Known(("NoOp",), "it has no outputs", "a graph without outputs is no model"),
)


def why_known(kind: str, ending: str) -> str:
    """The reason for how a case ended, "" where it has none."""
    for known in KNOWN:
        if (not known.kinds or kind in known.kinds) and re.search(known.pattern, ending):
            return known.why
    return ""
