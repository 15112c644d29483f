"""Compiling kernels before a model needs them."""

from __future__ import annotations

from collections.abc import Sequence

from .compiled.driver.library import Library
from .compiled.families import FAMILIES


def warmup(families: Sequence[str] | None = None) -> None:
    """Have the families (all of them, when left out) in the cache, compiling what it lacks."""
    unknown = set(families or ()) - set(FAMILIES)
    if unknown:
        raise ValueError(
            f"warmup: families must be among {', '.join(sorted(FAMILIES))}, got {', '.join(sorted(unknown))}"
        )
    Library().load({family: set() for family in (FAMILIES if families is None else families)})
