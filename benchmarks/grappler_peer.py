"""Our optimizers beside TensorFlow's Grappler, which a Python with TensorFlow runs.

    python benchmarks/grappler_peer.py runs         # TensorFlow imports and runs what we write
    python benchmarks/grappler_peer.py within       # CPU time within a process
    python benchmarks/grappler_peer.py process      # CPU time of whole processes, file in, file out
    python benchmarks/grappler_peer.py large        # 20 000 nodes: seconds, and memory against the import's

--tensorflow names that Python, which all but large need. --step 10 takes every tenth net, --match keras those
with it in their names.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

import numpy as np
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.ir import read_graph
from numlite.converter.optimizers import GrapplerItem, MetaOptimizer, OptimizerConfig
from numlite.schema.graph_def import GraphDef

from tests.shared_arrays import decoded, difference

GRAPHS = Path(__file__).resolve().parents[2] / "shared/convert/graphs"
CHILD = Path(__file__).with_name("grappler_child.py")


class Net:
    """One graph of the data."""

    def __init__(self, name: str) -> None:
        self.name, self.path = name, GRAPHS / f"{name}.pb"
        self.about: dict[str, Any] = json.loads((GRAPHS / f"{name}.json").read_text())
        self.feeds = [each["name"] for each in self.about["inputs"]]
        self.fetches = [each["name"] for each in self.about["outputs"]]

    def item(self, graph: GraphDef | None = None) -> GrapplerItem:
        return GrapplerItem.from_graph_def(graph or read_graph(self.path), self.feeds, self.fetches)

    def arrays(self, file: str, described: str) -> list[np.ndarray]:
        with np.load(GRAPHS / self.about[file]) as held:
            return [decoded(each, held) for each in self.about[described]]


def chosen(arguments: argparse.Namespace) -> list[Net]:
    names = [n for n in json.loads((GRAPHS.parent / "grappler2/placed.json").read_text())]
    return [Net(name) for name in names if arguments.match in name][:: arguments.step]


def asked(python: str, requests: list[list[Any]], folder: str) -> list[Any]:
    """TensorFlow's answers, all from one process."""
    listed, answers = Path(folder, "requests.json"), Path(folder, "answers.json")
    listed.write_text(json.dumps(requests))
    subprocess.run([python, str(CHILD), str(listed), str(answers)], check=True)
    found: list[Any] = json.loads(answers.read_text())
    return found


def runs(arguments: argparse.Namespace) -> None:
    nets, requests = chosen(arguments), []
    with tempfile.TemporaryDirectory() as folder:
        for net in nets:
            result = MetaOptimizer(OptimizerConfig(min_graph_nodes=-1)).optimize(net.item())
            graph, feeds, outputs = (Path(folder, f"{net.name}{end}") for end in (".pb", ".in.npz", ".npz"))
            graph.write_bytes(result.graph_def().SerializeToString())
            given = net.arrays("inputs_file", "inputs")
            np.savez(feeds, **dict(zip(net.feeds, given, strict=True)))
            requests.append(["run", str(graph), net.fetches, str(feeds), str(outputs)])
        answers = asked(arguments.tensorflow, requests, folder)
        good = 0
        for net, request, said in zip(nets, requests, answers, strict=True):
            wrong = said["error"] if isinstance(said, dict) else differing(net, request[-1])
            good += not wrong
            if wrong:
                print(net.name, wrong)
    print(f"{good} of {len(nets)} optimized graphs import into TensorFlow and give its outputs")


def differing(net: Net, outputs: str) -> str:
    wanted = net.arrays("expected_file", "outputs")
    with np.load(outputs, allow_pickle=True) as held:
        found = [held[f"o{i}"] for i in range(len(wanted))]
    pairs = zip(found, wanted, net.about["outputs"], strict=True)
    return "; ".join(
        filter(None, (difference(a, b, net.about["tol"]) for a, b, d in pairs if not d.get("ignore")))
    )


def within(arguments: argparse.Namespace) -> None:
    nets = chosen(arguments)
    with tempfile.TemporaryDirectory() as folder:
        requests = [["milliseconds", str(net.path), net.fetches, arguments.rounds] for net in nets]
        answers = asked(arguments.tensorflow, requests, folder)
    ratios = []
    for net, theirs in zip(nets, answers, strict=True):
        graph, ours = read_graph(net.path), float("inf")
        for _ in range(arguments.rounds):
            start = time.process_time_ns()
            MetaOptimizer(OptimizerConfig(min_graph_nodes=-1)).optimize(net.item(graph)).graph_def()
            ours = min(ours, (time.process_time_ns() - start) / 1e6)
        ratios.append(ours / theirs)
        print(f"{net.name:45} {ours:8.1f} ms, TensorFlow {theirs:8.1f} ms: {ratios[-1]:.2f}", flush=True)
    print(f"median {statistics.median(ratios):.2f} of TensorFlow's CPU time, worst {max(ratios):.2f}")


def seconds_of(command: list[str]) -> float:
    """CPU time of a process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def process(arguments: argparse.Namespace) -> None:
    ratios = []
    ours = [sys.executable, "-c", "from numlite.cli.main import main; main()", "optimize"]
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder, "out.pb"))
        for net in chosen(arguments):
            mine = seconds_of([*ours, str(net.path), "-o", out, "--fetches", ",".join(net.fetches)])
            theirs = seconds_of(
                [arguments.tensorflow, str(CHILD), "optimize", str(net.path), out, *net.fetches]
            )
            ratios.append(theirs / mine)
            print(
                f"{net.name:45} {mine:.2f} s, TensorFlow {theirs:.2f} s: {ratios[-1]:.1f} times", flush=True
            )
    print(
        f"least {min(ratios):.1f} times less CPU time than TensorFlow, median {statistics.median(ratios):.1f}"
    )


LARGE = 20_000


def large_graph() -> GraphDef:
    """A chain of products, sums and shapes, with much to fold, to share and to take out."""
    builder = GraphBuilder()
    value = builder.placeholder("x", [4, 8])
    while len(builder.graph_def.node) < LARGE:
        i = len(builder.graph_def.node)
        one = builder.constant(f"one{i}", np.ones(8, np.float32))
        two = builder.constant(f"two{i}", np.full(8, i % 7 + 1.5, np.float32))
        both = builder.node("Mul", f"both{i}", one, two)
        value = builder.node("AddV2", f"sum{i}", builder.node("Neg", f"neg{i}", value), both)
        value = builder.node("Identity", f"same{i}", builder.node("Relu", f"relu{i}", value))
    builder.node("Identity", "y", value)
    return builder.graph_def


def large(arguments: argparse.Namespace) -> None:
    del arguments
    graph = large_graph()
    pid = os.fork()
    if not pid:
        before = peak_mib()
        item = GrapplerItem.from_graph_def(graph, ["x"], ["y"])
        imported = peak_mib()
        start = time.process_time()
        made = MetaOptimizer(OptimizerConfig(min_graph_nodes=-1)).optimize(item).graph_def()
        seconds = time.process_time() - start
        of_import, whole = imported - before, peak_mib() - before
        print(f"{len(graph.node)} nodes become {len(made.node)} in {seconds:.1f} s of CPU time", end="; ")
        print(f"memory {whole:.0f} MiB, of the import alone {of_import:.0f}: {whole / of_import:.1f} times")
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(pid, 0)


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = {f.__name__: f for f in (runs, within, process, large)}
    parser.add_argument("what", choices=kinds)
    parser.add_argument("--tensorflow", metavar="PYTHON", help="a Python that has TensorFlow")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--match", default="")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.what != large.__name__ and arguments.tensorflow is None:
        parser.error(f"{arguments.what} needs --tensorflow")
    kinds[arguments.what](arguments)


if __name__ == "__main__":
    main()
