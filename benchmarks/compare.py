"""Latency of numlite against LiteRT: both in one process, one thread, one CPU, in turns.

    python benchmarks/compare.py                       # ../shared/models
    python benchmarks/compare.py models/ --openvino    # and OpenVINO, where that is installed
    python benchmarks/compare.py a.tflite models/ --seconds 5 --json result.json

Outputs are compared before anything is timed. Needs ai-edge-litert.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import click
import numpy as np
from numlite.cli.comparison import Comparison, compare, litert_version
from numlite.cli.main import one_line
from numlite.cli.model_inputs import fill_inputs, named, settable
from numlite.cli.model_options import open_interpreter
from numlite.cli.timing import Spread, in_words, time_in_turns
from openvino_reader import openvino_call, openvino_version

_COLUMNS = ("model", "LiteRT", "numlite", "ratio", "p10 - p90", "outputs")
_OF_OPENVINO = ("OpenVINO", "OpenVINO / numlite", "p10 - p90")
DEFAULT_MODELS = Path(__file__).resolve().parents[2] / "shared" / "models"


def main() -> int:
    arguments = parse_arguments()
    cpu = pin(arguments.cpu)
    paths = find_models(arguments.models or [DEFAULT_MODELS])
    if not paths:
        sys.exit("compare.py: no .tflite file found")
    peers = [f"ai-edge-litert {litert_version()}"]
    if arguments.openvino:
        peers.append(f"OpenVINO {openvino_version()}")
    if arguments.cpu_time:
        peers.append("CPU time")
    print(f"{machine()}, CPU {cpu}, {', '.join(peers)}\n")
    columns = [*_COLUMNS, *(_OF_OPENVINO if arguments.openvino else ())]
    print(f"| {' | '.join(columns)} |")
    print("|---" * len(columns) + "|")
    results: dict[str, Comparison] = {}
    failures = 0
    for path in paths:
        name = label(path)
        try:
            result = compare(str(path), arguments.seconds, seed=arguments.seed, clock=clock_of(arguments))
        except (click.ClickException, ValueError, RuntimeError) as error:
            failures += 1
            print(f"| {name} | | | | | {one_line(str(error))} |", flush=True)
            continue
        results[name] = result
        failures += not result.agrees
        cells = openvino_cells(str(path), arguments) if arguments.openvino else []
        print(" ".join([row(name, result), *(f"{cell} |" for cell in cells)]), flush=True)
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
    parser.add_argument("--cpu-time", action="store_true", help="CPU time: for a machine that is busy")
    parser.add_argument("--openvino", action="store_true", help="measure OpenVINO, too")
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


def label(path: Path) -> str:
    """The file's name; outside of the shared models with its folder, which names the network there."""
    path = path.resolve()
    return path.stem if path.parent == DEFAULT_MODELS else f"{path.parent.name}/{path.stem}"


def row(name: str, result: Comparison) -> str:
    ratio = result.ratio
    outputs = result.outputs if result.agrees else f"**{result.outputs}**"
    return (
        f"| {name} | {in_words(result.litert.median)} | {in_words(result.numlite.median)} "
        f"| {ratio.median:.2f} | {ratio.p10:.2f} - {ratio.p90:.2f} | {outputs} |"
    )


def clock_of(arguments: argparse.Namespace) -> Callable[[], int]:
    """Of the process where CPU time is asked for: OpenVINO runs in threads of its own."""
    return time.process_time_ns if arguments.cpu_time else time.perf_counter_ns


def openvino_cells(model: str, arguments: argparse.Namespace) -> list[str]:
    """OpenVINO's time, and its ratio to numlite's in turns with it; why there is none where it refuses."""
    numlite = open_interpreter(model, 1, "auto")
    numlite.allocate_tensors()
    inputs = list(fill_inputs(named(settable(numlite)), {}, arguments.seed).values())
    for detail, x in zip(settable(numlite), inputs, strict=True):
        numlite.set_tensor(detail["index"], x)
    try:
        theirs = openvino_call(model, inputs)
    except RuntimeError as error:
        return [one_line(str(error))[:60], "", ""]
    times = time_in_turns([theirs, numlite.invoke], arguments.seconds, clock=clock_of(arguments))
    ratio = Spread.of(times[:, 0] / times[:, 1])
    return [
        in_words(Spread.of(times[:, 0]).median),
        f"{ratio.median:.2f}",
        f"{ratio.p10:.2f} - {ratio.p90:.2f}",
    ]


def report_total(results: Mapping[str, Comparison]) -> None:
    if not results:
        return
    ratios = {name: result.ratio.median for name, result in results.items()}
    mean = float(np.exp(np.mean(np.log(list(ratios.values())))))
    print(f"\n{len(ratios)} models, geometric mean {mean:.2f}, smallest {min(ratios.values()):.2f}")
    slower = [name for name, ratio in ratios.items() if ratio < 1]
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


def write_json(path: Path, results: Mapping[str, Comparison]) -> None:
    content = {
        "machine": machine(),
        "litert": litert_version(),
        "results": {name: asdict(result) for name, result in results.items()},
    }
    path.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
