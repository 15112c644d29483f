"""What a second thread gives: numlite and LiteRT with two threads against one, in turns, in one process.

    python benchmarks/threads.py                       # ../shared/models
    python benchmarks/threads.py a.tflite models/ --seconds 5 --threads 2

First it prints what as many processes give together against one: two processors of a virtual machine may be
one core, or others may be using them, and threads cannot give more than that. The last ratio is of both with
these threads. Outputs of all threads must be those of one, byte for byte. Needs ai-edge-litert, and a system
that can pin processes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from compare import DEFAULT_MODELS, find_models, label, machine
from numlite.cli.comparison import litert_interpreter, litert_version, run
from numlite.cli.model_inputs import fill_inputs, named, settable
from numlite.cli.model_options import open_interpreter
from numlite.cli.timing import Spread, in_words, time_in_turns

_ALONE = """
import os, sys, time
import numpy as np
from numlite import Interpreter
os.sched_setaffinity(0, {int(sys.argv[2])})
interpreter = Interpreter(sys.argv[1])
interpreter.allocate_tensors()
interpreter.invoke()
print("ready", flush=True)
sys.stdin.readline()
end, runs = time.perf_counter() + float(sys.argv[3]), 0
while time.perf_counter() < end:
    interpreter.invoke()
    runs += 1
print(runs)
"""


def main() -> int:
    arguments = parse_arguments()
    paths = find_models(arguments.models or [DEFAULT_MODELS])
    cpus = sorted(os.sched_getaffinity(0))[: arguments.threads]
    if not paths or len(cpus) < 2:
        sys.exit(f"threads.py: models and 2 processors are needed, got {len(paths)} and {len(cpus)}")
    print(f"{machine()}, ai-edge-litert {litert_version()}\n")
    given = together(paths[0], cpus, arguments.seconds)
    print(f"{len(cpus)} processes, one a processor, give {given} of one's runs ({label(paths[0])})\n")
    n = arguments.threads
    columns = (f"LiteRT 1 / {n}", "1 thread", f"{n} threads", f"1 / {n}", "p10 - p90", "LiteRT / numlite")
    print(f"| model | {' | '.join(columns)} | outputs |")
    print("|---|---|---|---|---|---|---|---|")
    gains = [measured(path, arguments.threads, arguments.seconds) for path in paths]
    print(
        f"\n{len(gains)} models, geometric mean {np.exp(np.mean(np.log(gains))):.2f}, least {min(gains):.2f}"
    )
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", type=Path, help=".tflite files or folders of them")
    parser.add_argument("--seconds", type=float, default=2.0, help="measuring time for each model")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def together(model: Path, cpus: Sequence[int], seconds: float) -> str:
    """What processes on all of these processors do in the time of one, against what one does alone."""
    gains = []
    for _ in range(5):
        one = sum(runs_of(model, cpus[:1], seconds / 5))
        gains.append(sum(runs_of(model, cpus, seconds / 5)) / one)
    return f"{np.median(gains):.2f} ({min(gains):.2f} - {max(gains):.2f})"


def runs_of(model: Path, cpus: Sequence[int], seconds: float) -> list[int]:
    """How often processes, one on each processor, run the model at the same time."""
    command = [sys.executable, "-c", _ALONE, str(model)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([*command, str(cpu), str(seconds)], **pipes) for cpu in cpus]
    for process in processes:
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            sys.exit(f"threads.py: a process failed on {model}")
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return [int(process.communicate()[0]) for process in processes]


def measured(path: Path, threads: int, seconds: float) -> float:
    """Print one model's row; what the threads give on numlite."""
    ours = [open_interpreter(str(path), count, "auto") for count in (1, threads)]
    theirs = [litert_interpreter(str(path), count) for count in (1, threads)]
    for interpreter in theirs:
        interpreter.allocate_tensors()
    inputs = list(fill_inputs(named(settable(ours[0])), {}, 0).values())
    outputs = [run(interpreter, settable(interpreter), inputs) for interpreter in ours]
    same = all(a.tobytes() == b.tobytes() for a, b in zip(*outputs, strict=True))
    times = time_in_turns([interpreter.invoke for interpreter in (*theirs, *ours)], seconds)
    gain, litert = Spread.of(times[:, 2] / times[:, 3]), Spread.of(times[:, 0] / times[:, 1])
    medians = [in_words(Spread.of(times[:, k]).median) for k in (2, 3)]
    cells = [label(path), f"{litert.median:.2f}", *medians, f"{gain.median:.2f}"]
    beside = Spread.of(times[:, 1] / times[:, 3]).median
    cells += [f"{gain.p10:.2f} - {gain.p90:.2f}", f"{beside:.2f}", "equal" if same else "**differ**"]
    print(f"| {' | '.join(cells)} |", flush=True)
    if not same:
        sys.exit(f"threads.py: {path}: outputs of {threads} threads must be those of one")
    return gain.median


if __name__ == "__main__":
    sys.exit(main())
