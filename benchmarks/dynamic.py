"""Loops, changing lengths and results of unknown size: numlite against LiteRT, in turns, one thread.

    python benchmarks/dynamic_models.py models/      # once, in a Python with tensorflow
    python benchmarks/dynamic.py models/
    python benchmarks/dynamic.py models/lstm.tflite --cpu-time

Times are of one call. Each call gets another input; what it takes to allocate for its shape is part of it.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from compare import clock_of, find_models, machine, pin
from numlite.cli.comparison import litert_interpreter, litert_version, outputs_agree, run
from numlite.cli.model_options import open_interpreter
from numlite.cli.timing import Spread, in_words, time_in_turns


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path, help=".tflite files or folders of them")
    parser.add_argument("--seconds", type=float, default=2.0, help="measuring time for each network")
    parser.add_argument("--cpu", type=int, help="CPU to run on (default: the last one allowed)")
    parser.add_argument("--cpu-time", action="store_true", help="CPU time: for a machine that is busy")
    arguments = parser.parse_args()
    paths = find_models(arguments.models)
    if not paths:
        sys.exit("dynamic.py: no .tflite file found")
    kind = ", CPU time" if arguments.cpu_time else ""
    print(f"{machine()}, CPU {pin(arguments.cpu)}, ai-edge-litert {litert_version()}{kind}\n")
    print("| network | LiteRT | numlite | ratio | p10 - p90 | outputs |")
    print("|---|---|---|---|---|---|")
    ratios, failures = [], 0
    for path in paths:
        with np.load(path.with_suffix(".npz")) as file:
            inputs = list(file.values())
        interpreters = [litert_interpreter(str(path), 1), open_interpreter(str(path), 1, "auto")]
        outputs, agrees = agreement(interpreters, inputs)
        failures += not agrees
        calls = [partial(run_all, interpreter, inputs) for interpreter in interpreters]
        times = time_in_turns(calls, arguments.seconds, clock=clock_of(arguments)) / len(inputs)
        theirs, ours = Spread.of(times[:, 0]), Spread.of(times[:, 1])
        ratio = Spread.of(times[:, 0] / times[:, 1])
        ratios.append(ratio.median)
        cells = [path.stem, in_words(theirs.median), in_words(ours.median), f"{ratio.median:.2f}"]
        cells += [f"{ratio.p10:.2f} - {ratio.p90:.2f}", outputs]
        print(f"| {' | '.join(cells)} |", flush=True)
    print(f"\n{len(ratios)} networks, geometric mean {np.exp(np.mean(np.log(ratios))):.2f}")
    return 1 if failures else 0


def agreement(interpreters: list[Any], inputs: list[np.ndarray]) -> tuple[str, bool]:
    """How near the outputs of all inputs are, the farthest, in words."""
    found = [
        outputs_agree(
            *(run(interpreter, interpreter.get_input_details(), [x]) for interpreter in interpreters)
        )
        for x in inputs
    ]
    return next((entry for entry in found if not entry[1]), max(found, key=lambda entry: entry[0] != "equal"))


def run_all(interpreter: Any, inputs: list[np.ndarray]) -> None:
    """Run all inputs, allocating where one has another shape than the last."""
    index, shape = interpreter.get_input_details()[0]["index"], inputs[-1].shape
    for x in inputs:
        if x.shape != shape:
            shape = x.shape
            interpreter.resize_tensor_input(index, shape)
            interpreter.allocate_tensors()
        interpreter.set_tensor(index, x)
        interpreter.invoke()


if __name__ == "__main__":
    sys.exit(main())
