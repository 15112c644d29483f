"""What is wrong with a file: the error that it raises, and what its verification finds, and where."""

from __future__ import annotations

from collections.abc import Callable, Iterable


class ModelError(ValueError):
    """The file is damaged or says something that no valid model says.

    As text it has no control characters, which names in files may have.
    """

    def __str__(self) -> str:
        from .shown import shown_lines  # only for who reads it

        return shown_lines(super().__str__())


class Fault(Exception):
    """What is wrong, after where it is."""


class Findings:
    """Where a verification is, and what becomes of what it finds there.

    A fault keeps the file from being read. A deviation breaks a rule of the format that no reader
    here depends on: it is passed over where `tolerant`, else it counts as a fault. Where `listing`, both are
    kept in `found`, in the order of the file, and the verification goes on behind what is wrong.
    """

    def __init__(self, tolerant: bool = False, listing: bool = False) -> None:
        self.tolerant = tolerant
        self.listing = listing
        self.path: list[str | tuple[str, int]] = []
        self.found: list[str] = []
        self.unreadable = False

    def fault(self, what: str, *inside: str) -> Fault:
        """The fault to raise here, or in the field that is named."""
        names = [part if isinstance(part, str) else f"{part[0]} {part[1]}" for part in self.path]
        return Fault(f"{', '.join((*names, *inside)) or 'model'}: {what}")

    def deviation(self, what: str, *inside: str) -> None:
        """Raise, keep or pass over what no reader here depends on."""
        if self.tolerant:
            return
        fault = self.fault(what, *inside)
        if not self.listing:
            raise fault
        self.found.append(str(fault))

    def each(self, name: str, places: Iterable[int], check: Callable[[int], object]) -> None:
        """Check every item of a vector: what is found lies in `name 0`, `name 1` ..."""
        path = self.path
        depth = len(path)
        path.append(name)
        for i, place in enumerate(places):
            path[depth] = name, i
            self.guarded(check, place)
        path.pop()

    def guarded(self, check: Callable[[int], object], place: int) -> None:
        """Check one thing; a fault in it ends the verification, unless findings are listed."""
        depth = len(self.path)
        try:
            check(place)
        except Fault as fault:
            if not self.listing:
                raise
            self.unreadable = True
            self.found.append(str(fault))
            del self.path[depth:]
