"""What targets compute: digests of the corpus's outputs, on this machine or on an emulated one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from numlite.kernels.compiled.language.targets import TARGETS
from numlite.tests.corpus_digests import replayed

from .emulated import REPOSITORY, emulated

CORPUS = REPOSITORY.parent / "shared" / "corpus"
NUMERICS = ("AUTO", "BUILTIN_REF")
_SCRIPT = REPOSITORY / "tests" / "corpus_digests.py"


class Place(NamedTuple):
    """A target, on an emulated processor of qemu's names, or on this machine."""

    target: str
    cpu: str = ""

    @classmethod
    def read(cls, text: str) -> Place:
        """ValueError where it is no TARGET or TARGET:CPU."""
        target, _, cpu = text.partition(":")
        if target not in TARGETS:
            raise ValueError(f"target: must be one of {', '.join(TARGETS)}, got {target!r}")
        return cls(target, cpu)

    def __str__(self) -> str:
        return f"{self.target}:{self.cpu}" if self.cpu else self.target


def digests(
    place: Place, cases: Iterable[str], numerics: str, pack: str, corpus: Path = CORPUS
) -> dict[str, str]:
    """What tests/corpus_digests.py says of each case there, with a pack for the place's target."""
    arguments = ["-P", str(_SCRIPT), "--child", str(corpus), numerics]
    if place.cpu:
        machine = emulated()
        command = machine.command(place.cpu, arguments)
        environment = machine.environment("runtime", "types", NUMLITE_PACK=pack)
    else:
        command = [sys.executable, *arguments]
        left_out = ("PYTHONPATH", "NUMLITE_CPU")
        environment = {name: value for name, value in os.environ.items() if name not in left_out}
        environment |= {"NUMLITE_PACK": pack, "NUMLITE_PREPARED": "off"}
    return replayed(command, environment, cases)


def differences(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """The cases whose digests differ, or that one of them lacks."""
    return [case for case in one | other if one.get(case) != other.get(case)]


def integer_differences(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """The cases of both whose outputs in integers differ, or that one was refused."""
    return [case for case in one if one[case].split(" ")[1:] != other[case].split(" ")[1:]]
