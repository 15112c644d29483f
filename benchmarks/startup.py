"""CPU time from process start to the first inference, numlite against LiteRT, both warm.

    python benchmarks/startup.py                      # ../shared/models/ad01_int8.tflite
    python benchmarks/startup.py model.tflite --runs 50

Processes run in turns; the first six of each, which fill caches, do not count. The first lines
are the floor: Python and NumPy alone. Needs ai-edge-litert.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

DEFAULT_MODEL = Path(__file__).resolve().parents[2] / "shared" / "models" / "ad01_int8.tflite"

_WARM_UP = 6

FIRST_INFERENCE = """
import sys
import numpy as np
from {module} import Interpreter
interpreter = Interpreter(sys.argv[1])
interpreter.allocate_tensors()
for given in interpreter.get_input_details():
    interpreter.set_tensor(given["index"], np.zeros(given["shape"], given["dtype"]))
interpreter.invoke()
for made in interpreter.get_output_details():
    interpreter.get_tensor(made["index"])
"""
PROGRAMS = {
    "python": "pass",
    "import numpy": "import numpy",
    "LiteRT": FIRST_INFERENCE.format(module="ai_edge_litert.interpreter"),
    "numlite": FIRST_INFERENCE.format(module="numlite"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path, default=DEFAULT_MODEL)
    parser.add_argument("--runs", type=int, default=20)
    arguments = parser.parse_args()
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in PROGRAMS}
    for run in range(arguments.runs + _WARM_UP):
        # There and back, so that none always follows the one that leaves caches coldest.
        for name in (PROGRAMS, reversed(PROGRAMS))[run % 2]:
            measured = measure(PROGRAMS[name], arguments.model)
            if run >= _WARM_UP:
                times[name].append(measured)
    print(f"{arguments.model.name}, {arguments.runs} runs, ms\n")
    print("| | CPU median | CPU min | wall median | CPU / LiteRT |")
    print("|---|---|---|---|---|")
    litert = [cpu for cpu, _ in times["LiteRT"]]
    for name, pairs in times.items():
        cpu, wall = zip(*pairs, strict=True)
        ratio = statistics.median(cpu) / statistics.median(litert)
        row = (statistics.median(cpu), min(cpu), statistics.median(wall))
        print(f"| {name} | {' | '.join(f'{1e3 * value:.1f}' for value in row)} | {ratio:.2f} |")


def measure(program: str, model: Path) -> tuple[float, float]:
    """Seconds of CPU and of wall time that a new process takes for the program."""
    # Installed packages have their bytecode beside them; without it, compiling is what is measured.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(model)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    errors = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"startup.py: a process failed:\n{errors}")
    return usage.ru_utime + usage.ru_stime, wall


if __name__ == "__main__":
    main()
