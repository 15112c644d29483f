"""Families: the modules of a package by the names that they register."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Generic, TypeVar, cast

T = TypeVar("T")


class Families(Generic[T]):
    """What the family modules of a package register, in their REGISTRATIONS.

    names are those of each module. A module is imported when it is first asked for, because start-up time
    counts. Several modules may have one name, each for other types.
    """

    def __init__(self, package: str | None, names: Mapping[str, Sequence[str]]) -> None:
        assert package is not None
        self._package = package
        self._names = names
        self._modules: dict[str, list[str]] = {}
        for module, registered in names.items():
            for name in registered:
                self._modules.setdefault(name, []).append(module)

    def __iter__(self) -> Iterator[str]:
        """The modules."""
        return iter(self._names)

    def __contains__(self, name: str) -> bool:
        """Whether a module registers the name."""
        return name in self._modules

    def names(self, *modules: str) -> list[str]:
        """The names that these modules register, or all do, sorted."""
        return sorted({name for module in modules or self._names for name in self._names[module]})

    def modules_of(self, name: str) -> Sequence[str]:
        """The modules that register a name, in the order of the table."""
        return self._modules.get(name, ())

    def registrations(self, module: str) -> T:
        """What a module registers; it is imported now."""
        return cast(T, import_module(f".{module}", self._package).REGISTRATIONS)
