"""What targets compute: digests of the corpus's outputs, on this machine or on an emulated one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from numlite.kernels.compiled.language.targets import TARGETS
from numlite.tests.shared_folder import SHARED

from .emulated import REPOSITORY, emulated

CORPUS = SHARED / "corpus"
NUMERICS = ("AUTO", "BUILTIN_REF")
# What is said of a case for which there is no kernel.
REFUSED = "UnsupportedError"
_SCRIPT = REPOSITORY / "tests" / "corpus_digests.py"
# All that runs when a case is replayed lies in these, or in the pack.
_FOLDERS = ("schema", "lite", "kernels", "delegates")


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
    place: Place, cases: Iterable[str], numerics: str, pack: str, corpus: Path = CORPUS, kept: str = ""
) -> dict[str, str]:
    """What tests/corpus_digests.py says of each case there, with a pack for the place's target.

    As many processes replay cases as there are processors. A folder `kept` has what the same pack, sources
    and corpus gave before, and gets what they give now, case by case: a run that was ended goes on.
    """
    wanted = list(cases)
    with nullcontext(kept) if kept else tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{place}-{numerics}-{_state(Path(pack), corpus)}.digests")
        known = _lines(path)
        path.write_text("".join(f"{case} {found}\n" for case, found in known.items()))
        missing = [case for case in wanted if case not in known]
        command, environment = _process(place, numerics, pack, corpus)

        def replay(names: list[str]) -> None:
            with path.open("a") as file:
                subprocess.run(
                    command, input="\n".join(names), env=environment, stdout=file, text=True, check=True
                )

        count = min(len(missing), os.cpu_count() or 1)
        with ThreadPoolExecutor(count or 1) as processes:
            list(processes.map(replay, (missing[first::count] for first in range(count))))
        known = _lines(path)
    return {case: known[case] for case in wanted}


def _process(place: Place, numerics: str, pack: str, corpus: Path) -> tuple[list[str], dict[str, str]]:
    """The command that replays the cases that it reads, and its variables."""
    arguments = ["-P", str(_SCRIPT), "--child", str(corpus), numerics]
    if place.cpu:
        machine = emulated()
        environment = machine.environment("runtime", "types", NUMLITE_PACK=pack)
        return machine.command(place.cpu, arguments), environment
    left_out = ("PYTHONPATH", "NUMLITE_CPU")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    return [sys.executable, *arguments], environment | {"NUMLITE_PACK": pack, "NUMLITE_PREPARED": "off"}


def _state(pack: Path, corpus: Path) -> str:
    """A digest of all that a replay's results come from, but the processor."""
    files = [*REPOSITORY.glob("*.py"), _SCRIPT, pack, corpus / "index.json"]
    files += [file for folder in _FOLDERS for file in (REPOSITORY / folder).rglob("*.py")]
    each = (sha256(file.read_bytes()).hexdigest() for file in sorted(files))
    return sha256("".join(each).encode()).hexdigest()[:16]


def _lines(path: Path) -> dict[str, str]:
    """What was written of cases, without a line that was not ended."""
    text = path.read_text() if path.exists() else ""
    return dict(re.findall(r"^(\S+) (\w+(?: [0-9a-f]{16})?)\n", text, re.MULTILINE))


def differences(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """The cases whose digests differ, or that one of them lacks."""
    return [case for case in one | other if one.get(case) != other.get(case)]


def integer_differences(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """The cases of both whose outputs in integers differ, or that one was refused."""
    return [case for case in one if one[case].split(" ")[1:] != other[case].split(" ")[1:]]
