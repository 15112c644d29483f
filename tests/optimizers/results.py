"""The graphs and SavedModels of ../shared/convert, optimized and run: whether they give TensorFlow's outputs.

python -m tests.optimizers.results       # all lists, targets numlite and portable
python -m tests.optimizers.results --target numlite --list default --list constfold --match keras
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from numlite.converter.optimizers import OptimizerConfig
from numlite.converter.optimizers.register import OPTIMIZERS

from ..tensorflow_replays import Outcome, Replay, graph_replays, saved_model_replays

TARGETS = ("numlite", "portable")
# auto_parallel needs to be told how many replicas, and is for graphs that train.
LISTS = ("default", "aggressive", *(each.name for each in OPTIMIZERS if each.name != "autoparallel"))


def config_of(name: str, target: str) -> OptimizerConfig:
    """A list of optimizers: "default", "aggressive", or one alone. Declared shapes of feeds are trusted, as
    run_graph trusts them; an optimizer that fails is an error.
    """
    whole = name in ("default", "aggressive")
    config = OptimizerConfig(
        optimizers=[] if whole else [name],
        target=target,
        assume_valid_feeds=True,
        min_graph_nodes=-1,
        fail_on_optimizer_errors=True,
    )
    return config.aggressive() if name == "aggressive" else config


def replays(name: str, target: str, step: int = 1, match: str = "") -> Iterator[Replay]:
    """Each step-th graph, and the SavedModels, run after these optimizers."""
    config = config_of(name, target)
    found = chain(graph_replays(config, step), saved_model_replays(config))
    return (replay for replay in found if match in replay.name)


def outcome_of(name: str, target: str, step: int = 1, match: str = "") -> Outcome:
    outcome = Outcome()
    for replay in replays(name, target, step, match):
        outcome.add(replay)
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--target", action="append", choices=("tensorflow", *TARGETS))
    parser.add_argument("--list", action="append", choices=LISTS, dest="lists")
    parser.add_argument("--match", default="", help="only graphs that have this in their names")
    arguments = parser.parse_args()
    failed = 0
    for target in arguments.target or TARGETS:
        for name in arguments.lists or LISTS:
            start = time.process_time()
            found = outcome_of(name, target, match=arguments.match)
            others = found.wrong | found.unsupported
            count = len(found.equal) + len(others)
            seconds = time.process_time() - start
            print(f"{target:10} {name:36} {len(found.equal)} of {count} equal, {seconds:.0f} s", flush=True)
            for graph, reason in others.items():
                print(f"    {graph}: {reason[:300]}", flush=True)
            failed += len(others)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
