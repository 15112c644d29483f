"""Fault: what the verification of a file found wrong, and where."""

from __future__ import annotations


class Fault(Exception):
    """What is wrong; those who called the finder add where, from the inside out."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
        self.path: list[str] = []

    def inside(self, place: str) -> Fault:
        """The same fault, known to lie inside that place."""
        self.path.append(place)
        return self

    def __str__(self) -> str:
        return f"{', '.join(reversed(self.path)) or 'model'}: {self.what}"
