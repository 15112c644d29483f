"""On emulated ARM processors, without Numba: a sample of the corpus gives x86-64's bytes.

    pytest -m qemu

Packages of Debian and wheels are fetched once (37 s), packs for two targets compiled (2 to 3 minutes on two
cores, once), and the sample then runs in some 2 minutes. The whole corpus, by hand:

    python -m numlite.benchmarks.machines bytes --on haswell --on aarch64:cortex-a72 \\
        --on aarch64-dotprod:neoverse-n1 --on aarch64-i8mm:max
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from numlite.benchmarks.machines.emulated import Emulated, UnavailableError, emulated
from numlite.benchmarks.machines.outputs import CORPUS, Place, differences, digests
from numlite.kernels.compiled.driver.pack_builder import build_pack
from numlite.kernels.compiled.language.host import host_words
from numlite.kernels.compiled.language.targets import TARGETS

pytestmark = pytest.mark.qemu

PROGRAM = Path(__file__).with_name("small_outputs.py")
CPUS = {"cortex-a72": "aarch64", "neoverse-n1": "aarch64-dotprod"}


@pytest.fixture(scope="module")
def machine() -> Emulated:
    """Skips where Debian's packages or the wheels cannot be had."""
    try:
        return emulated()
    except UnavailableError as error:
        assert re.fullmatch(r"the emulated machine: \S.*", str(error))
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def pack(machine: Emulated, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The pack of a processor's target."""
    folder = str(tmp_path_factory.mktemp("packs"))
    return cache(lambda cpu: build_pack(TARGETS[CPUS[cpu]], folder)[0])


def run(command: list[str], environment: dict[str, str]) -> dict[str, dict[str, str]]:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, str]] = json.loads(done.stdout)
    return found


def here(target: str) -> dict[str, str]:
    """What this machine computes for a target."""
    if not TARGETS[target].needs <= host_words():
        pytest.skip(f"this machine cannot run code for {target}")
    return run([sys.executable, str(PROGRAM), "1"], os.environ | {"NUMLITE_CPU": target})["digests"]


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("num_threads", [1, 4])
def test_operators_give_the_bytes_of_x86_without_a_compiler(
    machine: Emulated, pack: Callable[[str], str], cpu: str, num_threads: int
) -> None:
    environment = machine.environment("runtime", NUMLITE_PACK=pack(cpu))
    found = run(machine.command(cpu, [str(PROGRAM), str(num_threads)]), environment)
    assert found["compilers"] == []
    assert found["digests"] == here("haswell")


def test_the_machines_own_words_choose_the_target(machine: Emulated, tmp_path: Path) -> None:
    """Without a pack the error names what the processor would have got."""
    for cpu, target in CPUS.items():
        environment = machine.environment("runtime", NUMLITE_PACK="off", NUMLITE_CACHE_DIR=str(tmp_path))
        done = subprocess.run(
            machine.command(cpu, [str(PROGRAM), "1"]),
            env=environment, capture_output=True, text=True, timeout=1200,
        )  # fmt: skip
        said = done.stderr.splitlines()[-1]
        assert f"no compiled kernels for {target} here: pip install 'numlite[jit]'" in said


@pytest.mark.skipif(not CORPUS.exists(), reason="no ../shared beside the repository")
@pytest.mark.parametrize(
    ("cpu", "numerics", "every"),
    [("cortex-a72", "AUTO", 8), ("neoverse-n1", "AUTO", 16), ("cortex-a72", "BUILTIN_REF", 32)],
)
def test_a_sample_of_the_corpus_gives_the_bytes_of_x86(
    machine: Emulated, pack: Callable[[str], str], cpu: str, numerics: str, every: int
) -> None:
    if not TARGETS["haswell"].needs <= host_words():
        pytest.skip("this machine cannot run code for haswell")
    folder = str(Path(pack(cpu)).parent)
    expected = digests(Place("haswell"), CORPUS, "", numerics, folder, every)
    found = digests(Place(CPUS[cpu], cpu), CORPUS, "", numerics, folder, every)
    assert len(expected) >= 80
    assert differences(expected, found) == []
