"""CPU time that the search for a memory plan takes on hard problems, and what it reaches.

    python benchmarks/planner.py            # the eleven of ../shared/minimalloc, in 1 MiB
    python benchmarks/planner.py --steps 20000000 E.csv

A file lists allocations: id, lower, upper (not included) and size in bytes. Greedy is what a load does.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

from numlite.kernels.compiled.driver.library import Library
from numlite.lite.arena_planner import lower_bound, plan_offsets
from numlite.lite.arena_search import SEARCH_STEPS, offsets_within
from numlite.lite.lifetimes import Lifetime

PROBLEMS = Path(__file__).resolve().parents[2] / "shared" / "minimalloc"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=sorted(PROBLEMS.glob("*.csv")))
    parser.add_argument("--arena", type=int, default=1 << 20, help="bytes")
    parser.add_argument("--steps", type=int, default=SEARCH_STEPS)
    arguments = parser.parse_args()
    library = Library()
    library.load({"arena_search": {"search"}})
    print("| problem | allocations | lower bound | greedy / bound | fits | CPU s |")
    print("|---|---|---|---|---|---|")
    for path in arguments.files:
        allocations = read(path)
        bound, greedy = lower_bound(allocations), plan_offsets(allocations)[1]
        start = time.process_time()
        found = offsets_within(allocations, arguments.arena, library, arguments.steps)
        seconds = time.process_time() - start
        fits = "no plan found" if found is None else "yes"
        row = (path.stem, len(allocations), bound, f"{greedy / bound:.3f}", fits, f"{seconds:.2f}")
        print(f"| {' | '.join(map(str, row))} |", flush=True)


def read(path: Path) -> list[Lifetime]:
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return [Lifetime(n, int(r["size"]), int(r["lower"]), int(r["upper"]) - 1) for n, r in enumerate(rows)]


if __name__ == "__main__":
    main()
