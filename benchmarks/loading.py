"""CPU time of a process until a model's first result, and the memory that it then has, beside LiteRT's.

    python benchmarks/loading.py                      # ../shared/models
    python benchmarks/loading.py a.tflite folder/ --runs 20

numlite runs twice: preparing the model each time, and with what an earlier process has prepared. Processes
run in turns; the first six rounds, which fill caches, do not count. MB are of resident memory, shared
pages included. Needs ai-edge-litert, and Linux for the memory.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from compare import find_models
from startup import FIRST_INFERENCE

SHARED = Path(__file__).resolve().parents[2] / "shared" / "models"
RESIDENT = """
lines = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
print(int(lines["VmRSS"].split()[0]) / 1024)
"""
KINDS = {"LiteRT": "ai_edge_litert.interpreter", "numlite": "numlite", "prepared": "numlite"}
_WARM_UP = 6


class Load(NamedTuple):
    """Milliseconds of CPU, and MB of memory at the end."""

    cpu_ms: float
    resident_mb: float


def load(kind: str, model: Path) -> Load:
    """One process that loads the model and runs it once."""
    # Installed packages have their bytecode beside them; without it, compiling is what is measured.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["NUMLITE_PREPARED"] = "1024" if kind == "prepared" else "off"
    process = subprocess.Popen(
        [sys.executable, "-c", FIRST_INFERENCE.format(module=KINDS[kind]) + RESIDENT, str(model)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"loading.py: {kind} failed on {model}")
    return Load(1e3 * (usage.ru_utime + usage.ru_stime), float(text))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", type=Path, default=[SHARED])
    parser.add_argument("--runs", type=int, default=11)
    arguments = parser.parse_args()
    print("| model | LiteRT | numlite | prepared | numlite / LiteRT | prepared / LiteRT | MB |")
    print("|---|---|---|---|---|---|---|")
    for model in find_models(arguments.models):
        loads: dict[str, list[Load]] = {kind: [] for kind in KINDS}
        for run in range(arguments.runs + _WARM_UP):
            # There and back, so that none always follows the one that leaves caches coldest.
            for kind in (KINDS, reversed(KINDS))[run % 2]:
                measured = load(kind, model)
                if run >= _WARM_UP:
                    loads[kind].append(measured)
        print(row(model, loads), flush=True)


def row(model: Path, loads: dict[str, list[Load]]) -> str:
    cpu = {kind: statistics.median(load.cpu_ms for load in seen) for kind, seen in loads.items()}
    spread = {kind: f"{min(seen).cpu_ms:.0f} - {max(seen).cpu_ms:.0f}" for kind, seen in loads.items()}
    times = " | ".join(f"{cpu[kind]:.0f} ms ({spread[kind]})" for kind in KINDS)
    memory = ", ".join(f"{statistics.median(load.resident_mb for load in loads[kind]):.0f}" for kind in KINDS)
    ratios = " | ".join(f"{cpu[kind] / cpu['LiteRT']:.2f}" for kind in ("numlite", "prepared"))
    return f"| {model.parent.name}/{model.stem} | {times} | {ratios} | {memory} |"


if __name__ == "__main__":
    main()
