"""What can be fuzzed: a kind of file, with valid ones to damage, ways to damage them, and what is tried."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple


class Seed(NamedTuple):
    """A valid file. The content is what the kind makes of it: bytes, a model, a folder's files."""

    name: str
    content: Any


class Mutant(NamedTuple):
    """A damaged file. must_fail says that nothing may accept it."""

    content: Any
    how: str
    must_fail: bool = False
    draw: int = 0  # a number for what a trial chooses by chance


@dataclass(frozen=True)
class Kind:
    """How one kind of file is fuzzed.

    seeds gives the valid files, from the named paths where some are given; they must be picklable and
    come in the same order each time. mutate damages one: equal random states, equal mutants. attempt
    uses a mutant as a user would, and says in a word how that ended; it raises what the library raises.
    endings are the words that are good. save writes a mutant for people to look at, and gives its path.
    runs_models tells whether the interpreter's own ValueErrors and RuntimeErrors are good answers.
    """

    name: str
    seeds: Callable[[Sequence[Path]], list[Seed]]
    mutate: Callable[[Seed, random.Random], Mutant]
    attempt: Callable[[Mutant], str]
    endings: frozenset[str] = frozenset({"invoked"})
    suffix: str = ".tflite"
    save: Callable[[Mutant, Path], None] = lambda mutant, path: _write(mutant, path)
    runs_models: bool = True

    def mutant(self, seeds: Sequence[Seed], number: int) -> tuple[Seed, Mutant]:
        """The mutant of that number, the same one each time, and what it was made of."""
        draw = random.Random(f"{self.name} {number}")
        seed = draw.choice(seeds)
        return seed, self.mutate(seed, draw)


def _write(mutant: Mutant, path: Path) -> None:
    path.write_bytes(mutant.content)
