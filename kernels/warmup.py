"""Compiling kernels before a model needs them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from .compiled.library import Library

_FAMILY = re.compile(r"^kernels\b.* = ", re.MULTILINE)


def compiled_families() -> list[str]:
    """The names of all families of compiled kernels."""
    sources = (Path(__file__).parent / "compiled").glob("*.py")
    return sorted(source.stem for source in sources if _FAMILY.search(source.read_text(encoding="utf-8")))


def warmup(families: Sequence[str] | None = None) -> None:
    """Have the families (all of them, when left out) in the cache, compiling what it lacks."""
    known = compiled_families()
    unknown = set(families or ()) - set(known)
    if unknown:
        raise ValueError(
            f"warmup: families must be among {', '.join(known)}, got {', '.join(sorted(unknown))}"
        )
    Library().load({family: set() for family in (known if families is None else families)})
