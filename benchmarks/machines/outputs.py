"""What targets compute: digests of the corpus's outputs, on this machine or on an emulated one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from numlite.kernels.compiled.driver.pack_builder import build_pack
from numlite.kernels.compiled.language.targets import TARGETS

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
    place: Place, corpus: Path, match: str, numerics: str, packs: str, every: int = 1
) -> dict[str, str]:
    """The digest of each (every so manieth) case's outputs, or what it was refused with.

    An emulated machine has no Numba: its target's pack is made in a folder.
    """
    arguments = ["-P", str(_SCRIPT), "--child", str(corpus), match, numerics, str(every)]
    if place.cpu:
        machine, (pack, _) = emulated(), build_pack(TARGETS[place.target], packs)
        command = machine.command(place.cpu, arguments)
        environment = machine.environment("runtime", "types", NUMLITE_PACK=pack)
    else:
        command = [sys.executable, *arguments]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment |= {"NUMLITE_CPU": place.target, "NUMLITE_PREPARED": "off"}
    done = subprocess.run(command, cwd=corpus, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def differences(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """The cases whose digests differ, or that one of them lacks."""
    return [case for case in one | other if one.get(case) != other.get(case)]
