"""Instructions of one inference on emulated ARM processors: numlite's and LiteRT's.

They do not depend on the machine or on what else runs on it, and repeat to some hundreds.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from numlite.kernels.compiled.driver.pack_builder import build_pack
from numlite.kernels.compiled.language.targets import TARGETS

from .emulated import Emulated, UnavailableError, counting_emulator, emulated

ENGINE = Path(__file__).with_name("engine.py")
# The target that a processor of qemu's gets.
CPUS = {"cortex-a72": "aarch64", "neoverse-n1": "aarch64-dotprod", "max": "aarch64-i8mm"}


class Counts(NamedTuple):
    """Instructions of an inference."""

    model: Path
    cpu: str
    numlite: int
    litert: int

    @property
    def ratio(self) -> float:
        return self.numlite / self.litert


def counts(models: Sequence[Path], cpu: str, packs: str, families: Collection[str] = ()) -> Iterator[Counts]:
    """Each model's on a processor; the pack of its target, of all families or some, is made in a folder.

    UnavailableError where the emulator cannot be had.
    """
    machine, (pack, _) = emulated(), build_pack(TARGETS[CPUS[cpu]], packs, families)
    for model in models:
        numlite = counted(machine, cpu, "numlite", model, NUMLITE_PACK=pack)
        yield Counts(model, cpu, numlite, counted(machine, cpu, "litert", model))


def counted(machine: Emulated, cpu: str, engine: str, model: Path, **variables: str) -> int:
    """Instructions of an engine's inference of a model, whose inputs are random.

    LiteRT reads /proc/cpuinfo, where this emulator shows that of the machine it runs on: it is given that of
    the other emulator, which takes a mount of its own, and so root.
    """
    command = machine.command(cpu, [str(ENGINE), engine, str(model), "count"], counting_emulator())
    environment = machine.environment("runtime", "litert", **variables)
    with tempfile.NamedTemporaryFile("w") as shown:
        if engine == "litert":
            told = machine.command(cpu, ["-c", "print(open('/proc/cpuinfo').read(), end='')"])
            shown.write(
                subprocess.run(told, env=environment, capture_output=True, text=True, check=True).stdout
            )
            shown.flush()
            mounted = 'mount --bind "$0" /proc/cpuinfo && exec "$@"'
            command = ["unshare", "-m", "sh", "-c", mounted, shown.name, *command]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        raise UnavailableError(f"{engine} on {cpu}: ended with {done.returncode}: {last}")
    return last_count(done.stderr)


def last_count(printed: str) -> int:
    """The count at the second mark: of one inference, without what came before it."""
    found = re.findall(r"^instructions (\d+)$", printed, re.MULTILINE)
    if len(found) != 2:
        raise ValueError(f"instructions: two counts must be printed, got {len(found)}")
    return int(found[1])
