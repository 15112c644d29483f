"""TensorFlow's graphs and select-TF models that run, and the ops whose kernels the others wait for.

    python benchmarks/missing_kernels.py            # all
    python benchmarks/missing_kernels.py models     # one of graphs, small, savedmodels, models

Needs ../shared/convert.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from tests.tensorflow_replays import (
    graph_replays,
    kernel_graph_replays,
    outcome_of,
    saved_model_replays,
    select_tf_replays,
)

REPLAYS = {
    "graphs": graph_replays,
    "small": kernel_graph_replays,
    "savedmodels": saved_model_replays,
    "models": select_tf_replays,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kinds", nargs="*", choices=[[], *REPLAYS], metavar="kind")
    for kind in parser.parse_args().kinds or REPLAYS:
        outcome = outcome_of(REPLAYS[kind]())
        counts = f"{len(outcome.equal)} equal, {len(outcome.wrong)} wrong"
        print(f"{kind}: {counts}, {len(outcome.unsupported)} without a kernel")
        for name, what in outcome.wrong.items():
            print(f"  wrong: {name}: {what}")
        for op, count in sorted(outcome.missing.items(), key=lambda item: (-item[1], item[0])):
            print(f"  {count:4} {op}")


if __name__ == "__main__":
    main()
