"""Kernels of a library made for TensorFlow: whether they give TensorFlow's outputs, and how long they take.

    python benchmarks/plugin_kernels.py libitex_cpu.so nets [--match keras]    # ../shared/convert/graphs
    python benchmarks/plugin_kernels.py libitex_cpu.so graph frozen.pb x=1x224x224x3 y:0
    python benchmarks/plugin_kernels.py libitex_cpu.so call                    # of a kernel, beside its work

CPU time: of numlite's own kernels on the graph that numlite optimizes, and of the library's on the graph that
the library's optimizer leaves, with TensorFlow's ops by its kernels, too; one thread each.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
sys.path.append(str(Path(__file__).resolve().parents[1]))

import numpy as np
from numlite.converter import read_graph
from numlite.converter.execution.graph_runner import GraphRunner
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.ir.export_graph import export_graph_def
from numlite.converter.optimizers.item import GrapplerItem
from numlite.converter.plugins import PluginRegistry, load_plugin
from numlite.converter.plugins.choice import RunningPlugin
from numlite.converter.plugins.kernels import PluginKernels
from numlite.schema.graph_def import GraphDef

from tests.shared_arrays import decoded

GRAPHS = Path(__file__).resolve().parents[2] / "shared/convert/graphs"
CPU = "/device:CPU:0"


class Library:
    """The library in this process, its optimizer and its kernels."""

    def __init__(self, path: str) -> None:
        self._plugin = load_plugin(path, "none", PluginRegistry())
        self.kernels = PluginKernels([self._plugin], prefer=True)

    def optimized(self, graph: GraphDef, feeds: list[str], fetches: list[str]) -> GraphDef:
        for node in graph.node:
            node.device = CPU
        running = RunningPlugin(self._plugin, {op.name: op for op in self._plugin.ops})
        try:
            module = running.run(GrapplerItem.from_graph_def(graph, feeds, fetches))
        finally:
            running.close()
        return graph if module is None else export_graph_def(module)


def least_ms(runner: GraphRunner, feeds: dict[str, np.ndarray], fetches: list[str], seconds: float) -> float:
    best, end = float("inf"), time.monotonic() + seconds
    while True:
        start = time.process_time_ns()
        runner.run(feeds, fetches)
        best = min(best, (time.process_time_ns() - start) / 1e6)
        if time.monotonic() > end:
            return best


def compared(
    library: Library, path: Path, feeds: dict[str, np.ndarray], fetches: list[str], seconds: float
) -> tuple[list[np.ndarray], float, float]:
    """The library's outputs, and CPU time of a run by numlite's kernels and by the library's."""
    own = GraphRunner(str(path), optimize=True)
    graph = library.optimized(read_graph(path), list(feeds), fetches)
    theirs = GraphRunner(graph, library.kernels)
    outputs = theirs.run(feeds, fetches)
    own.run(feeds, fetches)
    return outputs, least_ms(own, feeds, fetches, seconds), least_ms(theirs, feeds, fetches, seconds)


def differs(found: list[np.ndarray], wanted: list[np.ndarray]) -> bool:
    for a, b in zip(found, wanted, strict=True):
        is_number = b.dtype.kind in "fc"
        if not (
            np.allclose(a, b, rtol=2e-3, atol=1e-3, equal_nan=True) if is_number else np.array_equal(a, b)
        ):
            return True
    return False


def nets(library: Library, arguments: argparse.Namespace) -> None:
    wrong, total = [], 0
    times = np.zeros(2)
    for name in json.loads((GRAPHS.parent / "grappler2/placed.json").read_text()):
        if not name.startswith(tuple(arguments.match.split(","))):
            continue
        about: dict[str, Any] = json.loads((GRAPHS / f"{name}.json").read_text())
        fetches = [each["name"] for each in about["outputs"]]
        with (
            np.load(GRAPHS / about["inputs_file"]) as inputs,
            np.load(GRAPHS / about["expected_file"]) as expected,
        ):
            feeds = {each["name"]: decoded(each, inputs) for each in about["inputs"]}
            wanted = [decoded(each, expected) for each in about["outputs"]]
        found, own, theirs = compared(library, GRAPHS / about["graph"], feeds, fetches, arguments.seconds)
        total += 1
        times += own, theirs
        if differs(found, wanted):
            wrong.append(name)
        print(f"{name:45} {own:9.3f} {theirs:9.3f} ms  {own / theirs:.2f}", flush=True)
    print(f"{total - len(wrong)} of {total} equal TensorFlow's outputs; other: {wrong or 'none'}")
    print(f"all of them: numlite's kernels {times[0]:.0f} ms, the library's {times[1]:.0f} ms")


def graph(library: Library, arguments: argparse.Namespace) -> None:
    path, *given = arguments.rest
    fetches = [text for text in given if "=" not in text]
    chance = np.random.default_rng(0)
    feeds = {}
    for text in given:
        name, found, sizes = text.partition("=")
        if found:
            feeds[name] = chance.random([int(size) for size in sizes.split("x")], np.float32)
    expected = GraphRunner(path).run(feeds, fetches)
    found, own, theirs = compared(library, Path(path), feeds, fetches, arguments.seconds)
    word = "other" if differs(found, expected) else "equal"
    print(f"{path}: {own:.1f} ms by numlite's kernels, {theirs:.1f} by the library's, {word} outputs")


def call(library: Library, arguments: argparse.Namespace) -> None:
    """A chain of Relu on four numbers, of which a kernel's work is next to nothing."""
    count = 1000
    builder = GraphBuilder()
    value = builder.placeholder("x", [4])
    for i in range(count):
        value = builder.node("Relu", f"n{i}", value)
    for node in builder.graph_def.node:
        node.device = CPU
    runner, feeds = GraphRunner(builder.graph_def, library.kernels), {"x": np.ones(4, np.float32)}
    runner.run(feeds, [value])
    whole = least_ms(runner, feeds, [value], arguments.seconds) * 1e3 / count
    print(f"{whole:.2f} us a Relu of four numbers, GraphRunner's own cost and the kernel's work in it")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library")
    parser.add_argument("what", choices=("nets", "graph", "call"))
    parser.add_argument("rest", nargs="*", help="the graph, its feeds and fetches")
    parser.add_argument("--match", default="", help="only nets that begin with one of these")
    parser.add_argument("--seconds", type=float, default=0.1, help="time for each of the two")
    arguments = parser.parse_args()
    {"nets": nets, "graph": graph, "call": call}[arguments.what](Library(arguments.library), arguments)


if __name__ == "__main__":
    main()
