"""Python's search for unreachable objects, left out while many are made at once."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def no_collection() -> Iterator[None]:
    """Make objects that stay: a model's tensors and nodes are thousands, and are searched again and again.

    Where the search is off it stays off. Threads share it: one that ends first turns it on for all,
    which costs the others time and nothing else.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
