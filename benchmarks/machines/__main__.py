"""Figures of machines that are not here, and of targets below this machine's own.

    python -m numlite.benchmarks.machines instructions MODELS
    python -m numlite.benchmarks.machines turns MODELS --target x86-64-v3-vnni-evex
    python -m numlite.benchmarks.machines turns MODELS --target x86-64-v3 --openvino PYTHON
    python -m numlite.benchmarks.machines turns MODELS --numlite ../other/.venv/bin/python
    python -m numlite.benchmarks.machines loops --mca llvm-mca-19
    python -m numlite.benchmarks.machines bytes --on x86-64-v3 --on aarch64:cortex-a72 --packs kept

Instructions of an inference on emulated ARM processors beside LiteRT's; CPU time in turns with LiteRT, with
OpenVINO, which is kept to AVX2, or with another checkout of numlite; inner loops by llvm-mca; which cases of
the corpus have other outputs on another target, and which of them other integers, in both numerics.
Each prints a table and the machine's load. `bytes` exits with 1 where outputs differ.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from numlite.kernels.compiled.driver.pack_builder import build_pack
from numlite.kernels.compiled.families import all_families
from numlite.kernels.compiled.language.targets import TARGETS
from numlite.tests.corpus_digests import cases_of

from .emulated import UnavailableError
from .instructions import CPUS, counts
from .loops import LOOPS, measured
from .outputs import CORPUS, NUMERICS, REFUSED, Place, differences, digests, integer_differences
from .turns import against


def main() -> int:
    arguments = _arguments()
    print(f"load {os.getloadavg()[0]:.0f}\n")
    try:
        run: Callable[[argparse.Namespace], int] = arguments.run
        return run(arguments)
    except UnavailableError as error:
        print(error, file=sys.stderr)
        return 2


def _arguments() -> argparse.Namespace:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m numlite.benchmarks.machines", description=__doc__, formatter_class=raw
    )
    commands = parser.add_subparsers(required=True)
    counting = commands.add_parser("instructions")
    counting.add_argument("models", nargs="+", type=Path)
    counting.add_argument("--cpu", action="append", choices=list(CPUS), help="default: all")
    counting.set_defaults(run=_instructions)
    timing = commands.add_parser("turns")
    timing.add_argument("models", nargs="+", type=Path)
    timing.add_argument("--target", default="", help="what numlite is compiled for: docs/machines.md")
    peers = timing.add_mutually_exclusive_group()
    peers.add_argument("--openvino", metavar="PYTHON", help="a Python with OpenVINO instead of LiteRT here")
    peers.add_argument("--numlite", metavar="PYTHON", help="another checkout's Python instead of LiteRT here")
    timing.set_defaults(run=_turns)
    looking = commands.add_parser("loops")
    looking.add_argument("--mca", default="llvm-mca", help="the program (default: llvm-mca)")
    looking.set_defaults(run=_loops)
    comparing = commands.add_parser("bytes")
    comparing.add_argument(
        "--on",
        action="append",
        required=True,
        type=Place.read,
        metavar="TARGET[:CPU]",
        help="an emulated processor of qemu's, or this machine's",
    )
    comparing.add_argument("--corpus", type=Path, default=CORPUS)
    comparing.add_argument("--match", default="", help="only cases with this in their name")
    comparing.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth of these")
    comparing.add_argument("--numerics", action="append", choices=NUMERICS, help="default: both")
    comparing.set_defaults(run=_bytes)
    kept = "a folder that keeps packs and what was replayed: what ended goes on (default: one that goes away)"
    only = "packs of these alone, which take less to compile; cases that want others are left out"
    for command in counting, comparing:
        command.add_argument("--packs", help=kept)
        command.add_argument(
            "--families", nargs="+", default=(), choices=sorted(all_families()), metavar="FAMILY", help=only
        )
    return parser.parse_args()


def _instructions(arguments: argparse.Namespace) -> int:
    _heading("model", "processor", "numlite", "LiteRT", "numlite / LiteRT")
    for cpu in arguments.cpu or CPUS:
        ratios = list[float]()
        with _folder(arguments.packs) as packs:
            for found in counts(arguments.models, cpu, packs, arguments.families):
                ratios.append(found.ratio)
                _row(
                    _label(found.model), cpu, f"{found.numlite:,}", f"{found.litert:,}", f"{found.ratio:.3f}"
                )
        _row("geometric mean", cpu, "", "", f"{statistics.geometric_mean(ratios):.3f}")
    return 0


def _turns(arguments: argparse.Namespace) -> int:
    engine, peer = "litert", sys.executable
    if arguments.openvino:
        engine, peer = "openvino", arguments.openvino
    elif arguments.numlite:
        engine, peer = "numlite", arguments.numlite
    other = f"the other {engine}" if arguments.numlite else engine
    _heading("model", f"numlite, {arguments.target or 'own target'}", other, f"{other} / numlite", "median")
    for model in arguments.models:
        found = against(sys.executable, engine, peer, arguments.target, model)
        times = (f"{seconds * 1e6:.0f} us" for seconds in (found.numlite, found.other))
        _row(_label(model), *times, f"{found.shortest:.2f}", f"{found.median:.2f}")
    return 0


def _loops(arguments: argparse.Namespace) -> int:
    _heading("loop", "target", "processor", "products of instructions", "multiply-adds a cycle", "goal")
    for loop in LOOPS:
        found = measured(loop, arguments.mca)
        sizes = f"{found.asked} of {found.instructions}", f"{found.multiplies_a_cycle:.1f}"
        _row(loop.title, loop.target, loop.cpu, *sizes, str(loop.goal or ""))
    return 0


def _bytes(arguments: argparse.Namespace) -> int:
    _heading("numerics", "target", "and", "cases", "differ", "of them in integers", "which")
    first, *others = arguments.on
    cases = [case for case in cases_of(arguments.corpus) if arguments.match in case][:: arguments.every]
    different = 0
    with _folder(arguments.packs) as folder:
        packs = {
            place.target: build_pack(TARGETS[place.target], folder, arguments.families)[0]
            for place in arguments.on
        }
        for numerics in arguments.numerics or NUMERICS:

            def found(place: Place, names: Sequence[str], numerics: str = numerics) -> dict[str, str]:
                return digests(place, names, numerics, packs[place.target], arguments.corpus, folder)

            for place in others:
                got = found(place, cases)
                # Where there is no compiler, cases that want other families are refused.
                got = {c: said for c, said in got.items() if not arguments.families or said != REFUSED}
                expected = found(first, list(got))
                which, integers = differences(expected, got), integer_differences(expected, got)
                sizes = (str(len(names)) for names in (expected, which, integers))
                _row(numerics, str(first), str(place), *sizes, " ".join(which))
                different += len(which)
    return 1 if different else 0


def _heading(*cells: str) -> None:
    _row(*cells)
    print("|---" * len(cells) + "|", flush=True)


def _row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


@contextmanager
def _folder(kept: str | None) -> Iterator[str]:
    if kept:
        yield kept
    else:
        with tempfile.TemporaryDirectory() as made:
            yield made


def _label(model: Path) -> str:
    return f"{model.parent.name}/{model.stem}"


if __name__ == "__main__":
    sys.exit(main())
