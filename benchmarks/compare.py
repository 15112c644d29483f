"""Latency of numlite against LiteRT: both in one process, one thread, one CPU, in turns.

    python benchmarks/compare.py                       # ../shared/models
    python benchmarks/compare.py a.tflite models/ --seconds 5 --json result.json

Outputs are compared before anything is timed. Needs ai-edge-litert.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numlite.cli.litert import litert_interpreter, litert_version
from numlite.cli.model_inputs import fill_inputs
from numlite.cli.run import named
from numlite.cli.timing import Spread, in_words, time_in_turns

DEFAULT_MODELS = Path(__file__).resolve().parents[2] / "shared" / "models"

# Float sums are taken in another order; relative to the largest output.
FLOAT_TOLERANCE = 1e-3
QUANTA = 1


@dataclass(frozen=True)
class Result:
    """One model: times in ns per invoke, ratio = LiteRT's time / numlite's, round by round."""

    model: str
    litert_ns: float
    numlite_ns: float
    ratio: Spread
    rounds: int
    outputs: str
    agrees: bool


def main() -> int:
    arguments = parse_arguments()
    cpu = pin(arguments.cpu)
    paths = find_models(arguments.models or [DEFAULT_MODELS])
    if not paths:
        sys.exit("compare.py: no .tflite file found")
    print(f"{machine()}, CPU {cpu}, ai-edge-litert {litert_version()}\n")
    print("| model | LiteRT | numlite | ratio | p10 - p90 | outputs |")
    print("|---|---|---|---|---|---|")
    results, failures = [], 0
    for path in paths:
        name = label(path, paths)
        try:
            result = compare(name, path, arguments.seconds, arguments.seed)
        except (ValueError, RuntimeError) as error:
            failures += 1
            print(f"| {name} | | | | | {' '.join(str(error).split())} |", flush=True)
            continue
        results.append(result)
        failures += not result.agrees
        print(row(result), flush=True)
    report_total(results)
    if arguments.json:
        write_json(arguments.json, results)
    return 1 if failures else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Latency of numlite against LiteRT.")
    parser.add_argument("models", nargs="*", type=Path, help=".tflite files or folders of them")
    parser.add_argument("--seconds", type=float, default=2.0, help="measuring time for each model")
    parser.add_argument("--cpu", type=int, help="CPU to run on (default: the last one allowed)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random inputs")
    parser.add_argument("--json", type=Path, help="write the results here, too")
    return parser.parse_args()


def pin(cpu: int | None) -> str:
    """Keep this process on one CPU; returns its number, or what stands in the way."""
    if not hasattr(os, "sched_setaffinity"):
        return "not pinned: the system cannot"
    chosen = max(os.sched_getaffinity(0)) if cpu is None else cpu
    os.sched_setaffinity(0, {chosen})
    return str(chosen)


def find_models(given: Sequence[Path]) -> list[Path]:
    return [
        path for entry in given for path in (sorted(entry.rglob("*.tflite")) if entry.is_dir() else [entry])
    ]


def label(path: Path, paths: Sequence[Path]) -> str:
    """The file's name, with its folder where that is needed to tell it from others."""
    same = [other for other in paths if other.stem == path.stem]
    return path.stem if len(same) == 1 else f"{path.parent.name}/{path.stem}"


def compare(name: str, path: Path, seconds: float, seed: int) -> Result:
    import numlite

    interpreters = [litert_interpreter(str(path), 1), numlite.Interpreter(str(path), num_threads=1)]
    details = named(interpreters[0].get_input_details())
    arrays = list(fill_inputs(details, {}, seed).values())
    for interpreter in interpreters:
        interpreter.allocate_tensors()
        for detail, array in zip(interpreter.get_input_details(), arrays, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
    outputs, agrees = agreement(*(read_outputs(interpreter) for interpreter in interpreters))
    calls: list[Callable[[], object]] = [interpreter.invoke for interpreter in interpreters]
    times = time_in_turns(calls, seconds)
    litert_ns, numlite_ns = np.median(times, axis=0)
    ratio = Spread.of(times[:, 0] / times[:, 1])
    return Result(name, float(litert_ns), float(numlite_ns), ratio, len(times), outputs, agrees)


def read_outputs(interpreter: Any) -> list[np.ndarray]:
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def agreement(theirs: Sequence[np.ndarray], ours: Sequence[np.ndarray]) -> tuple[str, bool]:
    """How near the outputs are, in words, and whether that is near enough."""
    if [(a.shape, a.dtype) for a in theirs] != [(b.shape, b.dtype) for b in ours]:
        return "shapes or types differ", False
    if all(a.tobytes() == b.tobytes() for a, b in zip(theirs, ours, strict=True)):
        return "equal", True
    quanta, relative = 0, 0.0
    for a, b in zip(theirs, ours, strict=True):
        if not a.size or a.dtype.kind not in "iuf":
            continue
        difference = float(np.abs(a.astype(np.float64) - b.astype(np.float64)).max())
        if a.dtype.kind == "f":
            relative = max(relative, difference / max(float(np.abs(a).max()), 1e-30))
        else:
            quanta = max(quanta, int(difference))
    agrees = quanta <= QUANTA and relative <= FLOAT_TOLERANCE
    words = f"{quanta} quanta off" if quanta else f"{relative:.0e} off"
    return (words if agrees else f"**{words}**"), agrees


def row(result: Result) -> str:
    ratio = result.ratio
    return (
        f"| {result.model} | {in_words(result.litert_ns)} | {in_words(result.numlite_ns)} "
        f"| {ratio.median:.2f} | {ratio.p10:.2f} - {ratio.p90:.2f} | {result.outputs} |"
    )


def report_total(results: Sequence[Result]) -> None:
    if not results:
        return
    ratios = [result.ratio.median for result in results]
    mean = float(np.exp(np.mean(np.log(ratios))))
    print(f"\n{len(ratios)} models, geometric mean {mean:.2f}, smallest {min(ratios):.2f}")
    slower = [result.model for result in results if result.ratio.median < 1]
    if slower:
        print(f"slower than LiteRT: {', '.join(slower)}")


def machine() -> str:
    """Processor, system, Python."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{name}, {platform.system()}, Python {platform.python_version()}"


def write_json(path: Path, results: Sequence[Result]) -> None:
    content = {
        "machine": machine(),
        "litert": litert_version(),
        "results": [asdict(result) for result in results],
    }
    path.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
