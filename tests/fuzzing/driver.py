"""Feeds mutants of a kind to the library, in child processes: no crash, no hang, no strange error."""

from __future__ import annotations

import argparse
import os
import pickle
import resource
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from numlite.kernels.fallback import kernel
from numlite.lite import available_memory

from tests import guarded_memory
from tests.fuzzing.kind import Kind, Mutant, Seed
from tests.fuzzing.verdict import GOOD, judge
from tests.guarded_children import Findings, limit_memory, report, run_trials

ADDRESS_BYTES = 6 << 30
AVAILABLE_BYTES = 512 << 20  # what the machine seems to have left
PEAK_BYTES = 2 << 30  # of a process that works through mutants, one after the other
SECONDS = 20  # of silence that are a hang


def attempt(kind: Kind, seeds: Sequence[Seed], number: int) -> str:
    """How one mutant ended, in words."""
    seed, mutant = kind.mutant(seeds, number)
    outcome = ending(kind, mutant)
    return outcome if outcome in kind.endings else f"{outcome} ({mutant.how} of {seed.name})"


def ending(kind: Kind, mutant: Mutant) -> str:
    """How a trial of a file ended, in words."""
    before = peak_bytes()
    try:
        outcome = kind.attempt(mutant)
        if not guarded_memory.check_tails():
            outcome = "wrote behind the end of its memory"
        elif mutant.must_fail:
            outcome = f"accepted a {mutant.how}"
    except Exception as error:
        outcome = judge(error, kind.runs_models)
    if peak_bytes() > max(PEAK_BYTES, before):
        outcome = f"took memory: {peak_bytes() >> 20} MiB, then {outcome}"
    return outcome


def peak_bytes() -> int:
    """The most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def resident_bytes() -> int:
    """The memory that this process holds now; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def guard() -> None:
    """From now on this process has little memory, whose edges cannot be touched."""
    limit_memory(ADDRESS_BYTES)
    most = resident_bytes() + AVAILABLE_BYTES
    for module in (available_memory, kernel):
        vars(module)["available_bytes"] = lambda: max(0, most - resident_bytes())
    guarded_memory.install()


def work(kind: Kind, seeds: Sequence[Seed], first: int, last: int) -> None:
    """The child."""
    guard()
    for number in range(first, last):
        report(number, partial(attempt, kind, seeds, number), peak_bytes)


def fuzz(
    script: str, kind: Kind, seeds: Sequence[Seed], first: int, count: int, options: argparse.Namespace
) -> Findings:
    """Try count mutants, in children that run the script; those at fault are kept where options.keep says."""
    findings = Findings(GOOD | kind.endings)
    with tempfile.NamedTemporaryFile(suffix=".seeds") as file:
        pickle.dump(list(seeds), file)
        file.flush()

        def command(first: int, last: int) -> list[str]:
            place = [file.name, str(first), str(last)]
            return [sys.executable, script, "--kind", kind.name, "--work", *place]

        run_trials(command, findings, first, count, options.children, options.timeout, batch=1000)
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
        for number, _ in findings.faults:
            _, mutant = kind.mutant(seeds, number)
            kind.save(mutant, options.keep / f"{kind.name}_{number}{kind.suffix}")
    return findings


def show(kind: Kind, seeds: Sequence[Seed], number: int) -> None:
    """Try one mutant here, and leave it in the present folder."""
    seed, mutant = kind.mutant(seeds, number)
    path = Path(f"{kind.name}_{number}{kind.suffix}")
    kind.save(mutant, path)
    print(f"{mutant.how} of {seed.name}, written to {path}", flush=True)
    guard()
    print(attempt(kind, seeds, number))


def plain(kind: Kind, seeds: Sequence[Seed]) -> int:
    """Try the files here as they are, a line before and after each; the number of faults."""
    guard()
    findings = Findings(GOOD | kind.endings, lambda number: f"file {number} {seeds[number].name}")
    for number, seed in enumerate(seeds):
        print(seed.name, flush=True)
        outcome = ending(kind, Mutant(seed.content, "file"))
        print(f"  {outcome}", flush=True)
        findings.add(number, outcome)
    return len(findings.faults)


def main(script: str, kinds: Mapping[str, Kind]) -> int:
    parser = argparse.ArgumentParser(description="Feeds damaged files to numlite.")
    parser.add_argument("files", nargs="*", type=Path, help="valid files to damage, or folders of them")
    parser.add_argument("--kind", choices=["all", *kinds], default="models")
    parser.add_argument("--count", type=int, default=10_000, help="mutants of each kind")
    parser.add_argument("--seconds", type=float, help="instead of a count: of each kind, roughly")
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--children", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--timeout", type=float, default=SECONDS, help="seconds of silence that are a hang")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write the mutants at fault there")
    parser.add_argument("--show", type=int, metavar="NUMBER", help="try one mutant in this process")
    parser.add_argument("--plain", action="store_true", help="try the files as they are, in this process")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        path, first, last = options.work
        work(kinds[options.kind], pickle.loads(Path(path).read_bytes()), int(first), int(last))
        return 0
    faults = 0
    for kind in kinds.values() if options.kind == "all" else [kinds[options.kind]]:
        seeds = kind.seeds(options.files)
        if not seeds:
            print(f"{kind.name}: nothing to damage")
            faults += 1
        elif options.plain:
            faults += plain(kind, seeds)
        elif options.show is not None:
            show(kind, seeds, options.show)
        else:
            faults += _run(script, kind, seeds, options)
    return 1 if faults else 0


def _run(script: str, kind: Kind, seeds: Sequence[Seed], options: argparse.Namespace) -> int:
    """Fuzz one kind and print what came of it; the number of faults."""
    begin = time.monotonic()
    total = Findings(())
    first, count = options.first, options.count
    while True:
        slice_count = count if options.seconds is None else 1000 * options.children
        found = fuzz(script, kind, seeds, first, slice_count, options)
        total.outcomes += found.outcomes
        total.faults += found.faults
        total.peak_bytes = max(total.peak_bytes, found.peak_bytes)
        first += slice_count
        if options.seconds is None or time.monotonic() - begin > options.seconds:
            break
    print(
        f"\n{kind.name}: {total.outcomes.total()} mutants ({options.first} to {first - 1}) of {len(seeds)} "
        f"files in {time.monotonic() - begin:.0f} s, peak {total.peak_bytes >> 20} MiB"
    )
    for outcome, number in total.outcomes.most_common():
        print(f"{number:7}  {outcome}")
    return len(total.faults)
