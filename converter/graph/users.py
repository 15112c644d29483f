"""Users of a value that has many of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")
# A list of more users would be searched for too long when one of them goes.
MANY = 32


class ManyUsers(Generic[Item]):
    """Users, each as often as it uses the value; none takes long to add or to remove."""

    __slots__ = ("_counts", "_total")

    def __init__(self, users: Iterable[Item]) -> None:
        self._counts: dict[Item, int] = {}
        self._total = 0
        for user in users:
            self.append(user)

    def append(self, user: Item) -> None:
        """One use more."""
        self._counts[user] = self._counts.get(user, 0) + 1
        self._total += 1

    def remove(self, user: Item) -> None:
        """One use less; KeyError where there is none."""
        if self._counts[user] == 1:
            del self._counts[user]
        else:
            self._counts[user] -= 1
        self._total -= 1

    def __len__(self) -> int:
        return self._total

    def __iter__(self) -> Iterator[Item]:
        for user, count in self._counts.items():
            for _ in range(count):
                yield user

    def __contains__(self, user: object) -> bool:
        return user in self._counts
