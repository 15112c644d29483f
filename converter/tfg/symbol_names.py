"""Names of functions that are made."""

from __future__ import annotations

from collections.abc import Iterable


class SymbolNames:
    """Names that are taken; a new name that is taken gets a number from one count for all."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._clashes = 0

    def unique(self, name: str) -> str:
        found = name
        while found in self._taken:
            found = f"{name}_{self._clashes}"
            self._clashes += 1
        self._taken.add(found)
        return found
