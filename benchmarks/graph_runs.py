"""What run_graph(optimize=True) buys, and what GraphRunner itself costs beside its kernels.

    python benchmarks/graph_runs.py nets [--match keras] [--seconds 0.5]   # nets as they are and optimized
    python benchmarks/graph_runs.py node                                   # chains of 1000 ops on 4 numbers
    python benchmarks/graph_runs.py control_flow                           # If, Case, While and lowered ones

All take the least CPU time of many runs, in turns, with one thread for products of matrices.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.append(str(Path(__file__).resolve().parents[1]))

import numpy as np
from numlite.converter.execution.graph_runner import GraphRunner
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.optimizers.optimize import optimize
from numlite.converter.transforms.lower_control_flow import FUNCTIONAL, MARK
from numlite.schema.graph_def import GraphDef

GRAPHS = Path(__file__).resolve().parents[2] / "shared/convert/graphs"
# Below it a graph counts as slower.
SLOWER = 0.95
CHAIN = 1000
BARE: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "Identity": lambda x, one: x,
    "Neg": lambda x, one: np.negative(x),
    "AddV2": np.add,
    "Mul": np.multiply,
}


def microseconds(call: Callable[[], object]) -> float:
    start = time.process_time_ns()
    call()
    return (time.process_time_ns() - start) / 1e3


def in_turns(calls: list[Callable[[], object]], seconds: float, least: int = 5) -> list[float]:
    """The least CPU time of each call in microseconds."""
    best, rounds, end = [math.inf] * len(calls), 0, time.monotonic() + seconds
    while time.monotonic() < end or rounds < least:
        best = [min(known, microseconds(call)) for known, call in zip(best, calls, strict=True)]
        rounds += 1
    return best


def before_and_after(path: Path, seconds: float, graphs: Sequence[GraphDef] = ()) -> list[float] | None:
    """CPU time of a run as the graph is and optimized, or of the graphs; None where the data has no plain
    inputs.
    """
    about = json.loads(path.with_suffix(".json").read_text())
    if any(each["enc"] != "raw" for each in about["inputs"]):
        return None
    with np.load(path.with_suffix(".in.npz")) as held:
        feeds = {each["name"]: held[each["key"]] for each in about["inputs"]}
    fetches = [each["name"] for each in about["outputs"]]
    runners = [GraphRunner(graph) for graph in graphs]
    runners = runners or [GraphRunner(str(path)), GraphRunner(str(path), optimize=True)]
    calls = [lambda runner=runner: runner.run(feeds, fetches) for runner in runners]
    for call in calls * 2:
        call()
    return in_turns(calls, seconds)


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def nets(arguments: argparse.Namespace) -> None:
    ratios: dict[str, float] = {}
    names = json.loads((GRAPHS.parent / "grappler2/placed.json").read_text())
    for name in names:
        if arguments.match not in name:
            continue
        times = before_and_after(GRAPHS / f"{name}.pb", arguments.seconds)
        if times is None:
            print(f"{name:45} left out: its inputs are strings")
            continue
        ratios[name] = times[0] / times[1]
        print(f"{name:45} {times[0]:10.1f} {times[1]:10.1f} us  {ratios[name]:.3f}", flush=True)
    keras = geometric_mean([ratio for name, ratio in ratios.items() if name.startswith("keras_")])
    slower = [name for name, ratio in ratios.items() if ratio < SLOWER]
    print(f"Keras nets {keras:.2f}, all {len(ratios)} {geometric_mean([*ratios.values()]):.2f} times")
    print(f"least {min(ratios.values()):.3f}; below {SLOWER}: {slower or 'none'}")


def without_marks(path: Path) -> GraphDef | None:
    """The graph, of whose If, Case and While nobody says whether they are lowered; None for one without."""
    content = path.read_bytes()
    if not any(op.encode() in content for op in FUNCTIONAL):
        return None
    graph = GraphDef.FromString(content)
    if not any(node.op in FUNCTIONAL for node in graph.node):
        return None
    for nodes in (graph.node, *(function.node_def for function in graph.library.function)):
        for node in nodes:
            if node.op in FUNCTIONAL and MARK in node.attr:
                del node.attr[MARK]
    return graph


def control_flow(arguments: argparse.Namespace) -> None:
    """The nets with functional control flow, that as it is and lowered, otherwise optimized alike."""
    lowering = {"lower_control_flow": True, "lower_functional_ops": True}
    ratios: list[float] = []
    for path in sorted(GRAPHS.glob("*.pb")):
        graph = without_marks(path) if arguments.match in path.stem else None
        if graph is None:
            continue
        about = json.loads(path.with_suffix(".json").read_text())
        names = [[each["name"] for each in about[side]] for side in ("inputs", "outputs")]
        graphs = [optimize(graph, *names, config).graph_def() for config in ({}, lowering)]
        assert not any(node.op in FUNCTIONAL for node in graphs[1].node), path.stem
        times = before_and_after(path, arguments.seconds, graphs)
        if times is None:
            print(f"{path.stem:45} left out: its inputs are strings")
            continue
        ratios.append(times[0] / times[1])
        print(f"{path.stem:45} {times[0]:10.1f} {times[1]:10.1f} us  {ratios[-1]:.3f}", flush=True)
    print(f"functional / lowered: all {len(ratios)} {geometric_mean(ratios):.2f}, ", end="")
    print(f"least {min(ratios):.2f}, most {max(ratios):.2f}")


def node(arguments: argparse.Namespace) -> None:
    x = np.ones(4, np.float32)
    for op, bare in BARE.items():
        builder = GraphBuilder()
        value = builder.placeholder("x", [4])
        more = () if op in ("Identity", "Neg") else (builder.constant("one", x),)
        for i in range(CHAIN):
            value = builder.node(op, f"n{i}", value, *more)
        runner = GraphRunner(builder.graph_def)

        def chain(bare: Callable[..., np.ndarray] = bare) -> None:
            held = x
            for _ in range(CHAIN):
                held = bare(held, x)

        def run(runner: GraphRunner = runner, fetch: str = value) -> object:
            return runner.run({"x": x}, [fetch])

        run()
        whole, without = (each / CHAIN for each in in_turns([run, chain], arguments.seconds))
        print(
            f"{op:10} {whole:.2f} us a node, NumPy alone {without:.2f}: {whole - without:.2f} us of its own"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("nets", "node", "control_flow"))
    parser.add_argument("--match", default="", help="only nets that have this in their names")
    parser.add_argument("--seconds", type=float, default=0.5, help="time for each net or chain")
    arguments = parser.parse_args()
    {"nets": nets, "node": node, "control_flow": control_flow}[arguments.what](arguments)


if __name__ == "__main__":
    main()
