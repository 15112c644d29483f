"""Latency of single operators, numlite against LiteRT: one process, one thread, one CPU, in turns.

    python benchmarks/operators.py                      # the models of operators_*.py
    python benchmarks/operators.py SIN MEAN --seconds 1 # those whose name begins so
    python benchmarks/operators.py --cases POW          # the small models of tests/cases instead

Sorted by the ratio, LiteRT's time / numlite's. Needs ai-edge-litert.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import ai_edge_litert.interpreter as litert
import numpy as np
from compare import machine, pin
from numlite import interpreter as numlite
from numlite.cli.comparison import litert_version, outputs_agree, run
from numlite.cli.timing import Spread, in_words, time_in_turns
from operators_data import movement, reductions
from operators_elementwise import binary, conversions, stablehlo, unary
from operators_shapes import shapes
from operators_windows import windows

sys.path.append(str(Path(__file__).resolve().parents[1]))

FAMILIES = (unary, conversions, binary, stablehlo, reductions, movement, windows, shapes)


class Work(NamedTuple):
    """A model of one operator, and values for its inputs."""

    name: str
    content: Callable[[], bytes]
    inputs: Callable[[], list[np.ndarray]]


class Measured(NamedTuple):
    """Times in ns of one invoke, and LiteRT's / numlite's round by round.

    quietest is the ratio of the two shortest times: what is left when nothing else disturbs.
    """

    name: str
    litert: Spread
    numlite: Spread
    ratio: Spread
    quietest: float
    outputs: str


def main() -> int:
    arguments = parse_arguments()
    cpu = pin(arguments.cpu)
    kind = ", CPU time" if arguments.cpu_time else ""
    print(f"{machine()}, CPU {cpu}, ai-edge-litert {litert_version()}{kind}\n", flush=True)
    clock = time.process_time_ns if arguments.cpu_time else time.perf_counter_ns
    results: list[Measured] = []
    for work in from_cases() if arguments.cases else from_models():
        if arguments.names and not work.name.startswith(tuple(arguments.names)):
            continue
        try:
            results.append(measure(work, arguments.seconds, clock))
        except (ValueError, RuntimeError) as error:
            print(f"left out: {work.name}: {str(error).splitlines()[0]}", flush=True)
    report(sorted(results, key=lambda measured: measured.ratio.median), arguments.below)
    if arguments.json:
        rows = [
            (m.name, m.litert.median, m.numlite.median, *vars(m.ratio).values(), m.quietest) for m in results
        ]
        arguments.json.write_text(json.dumps(rows, indent=0) + "\n")
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Latency of single operators against LiteRT.")
    parser.add_argument("names", nargs="*", help="beginnings of names (default: all)")
    parser.add_argument("--cases", action="store_true", help="the small models of tests/cases")
    parser.add_argument("--seconds", type=float, default=0.3, help="measuring time for each model")
    parser.add_argument("--below", type=float, default=float("inf"), help="print only smaller ratios")
    parser.add_argument("--cpu", type=int, help="CPU to run on (default: the last one allowed)")
    parser.add_argument("--cpu-time", action="store_true", help="CPU time: for a machine that is busy")
    parser.add_argument("--json", type=Path, help="write the results here, too")
    return parser.parse_args()


def from_models() -> Iterator[Work]:
    for family in FAMILIES:
        for model in family():
            yield Work(model.name, model.content, model.inputs)


def from_cases() -> Iterator[Work]:
    from tests.test_cases import CASES

    for case in CASES.values():
        yield Work(case.id, case.make, lambda case=case: list(case.inputs))


def measure(work: Work, seconds: float, clock: Callable[[], int]) -> Measured:
    """Outputs are compared before anything is timed. Raises what either interpreter refuses."""
    content, inputs = work.content(), work.inputs()
    both = [api.Interpreter(model_content=content, num_threads=1) for api in (litert, numlite)]
    theirs, ours = (run(interpreter, interpreter.get_input_details(), inputs) for interpreter in both)
    outputs, _ = outputs_agree(theirs, ours)
    times = time_in_turns([interpreter.invoke for interpreter in both], seconds, clock=clock)
    spreads = [Spread.of(times[:, 0]), Spread.of(times[:, 1]), Spread.of(times[:, 0] / times[:, 1])]
    quietest = float(times[:, 0].min() / times[:, 1].min())
    return Measured(work.name, *spreads, quietest, outputs)


def report(results: list[Measured], below: float) -> None:
    print("| operator | LiteRT | numlite | ratio | p10 - p90 | quietest | outputs |")
    print("|---|---|---|---|---|---|---|")
    for m in results:
        if m.ratio.median < below:
            times = f"{in_words(m.litert.median)} | {in_words(m.numlite.median)}"
            band = f"{m.ratio.median:.2f} | {m.ratio.p10:.2f} - {m.ratio.p90:.2f}"
            print(f"| {m.name} | {times} | {band} | {m.quietest:.2f} | {m.outputs} |")
    slower = sum(m.quietest < 1 for m in results)
    mean = float(np.exp(np.mean([np.log(m.ratio.median) for m in results]))) if results else 0.0
    print(f"\n{len(results)} models, {slower} slower than LiteRT when quiet, geometric mean {mean:.2f}")


if __name__ == "__main__":
    sys.exit(main())
