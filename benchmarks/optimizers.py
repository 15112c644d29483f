"""Node counts of optimized graphs against TensorFlow's, on the data of ../shared/convert/grappler2.

    python benchmarks/optimizers.py nets                    # 183 nets, optimizers alone and the default list
    python benchmarks/optimizers.py nets --only constfold --mode cpu --names
    python benchmarks/optimizers.py rules --match arithmetic # small graphs, one for each rewrite
    python benchmarks/optimizers.py extra                   # random graphs, training graphs, functions

--run compares what the graphs give before and after, where the data has inputs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))

from numlite.converter.execution.graph_runner import GraphRunner
from numlite.converter.ir import read_graph
from numlite.converter.optimizers import GrapplerItem, MetaOptimizer, OptimizerConfig
from numlite.converter.optimizers.register import OPTIMIZERS
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import GraphDef

DATA = Path(__file__).resolve().parents[2] / "shared/convert"
DEVICES = {
    **dict.fromkeys(("cpu", "cpu_plain"), "/job:localhost/replica:0/task:0/device:CPU:0"),
    **dict.fromkeys(("gpu", "gpu6"), "/job:localhost/replica:0/task:0/device:GPU:0"),
}
BUILT = {each.name for each in OPTIMIZERS}
# What these cases set beside their optimizer.
CPU_LAYOUTS = {
    "cpu_nchw_to_nhwc": {"cpu_layout_conversion": 1},
    "cpu_nhwc_to_nchw": {"cpu_layout_conversion": 2},
}
AGGRESSIVE = {"constfold", "arithmetic", "layout", "remap", "dependency", "loop", "shape"}


def config_of(names: Sequence[str], aggressive: bool = False, iterations: int = 1) -> OptimizerConfig:
    """The config with which TensorFlow's figures were made."""
    options: dict[str, Any] = {"optimizers": names, "min_graph_nodes": -1}
    options["meta_optimizer_iterations"] = iterations if names else 2
    options["memory_optimization"] = 0
    config = OptimizerConfig(**options)
    return config.aggressive() if aggressive else config


def gpu_of(mode: str) -> dict[str, float]:
    """The compute capability of the virtual GPU that TensorFlow had."""
    return {"compute_capability": 6.1} if mode == "gpu6" else {}


def optimized(
    graph: GraphDef, feeds: Iterable[str], fetches: Iterable[str], config: OptimizerConfig
) -> GraphDef:
    item = GrapplerItem.from_graph_def(graph, feeds, fetches)
    result = MetaOptimizer(config).optimize(item)
    failed = [str(each) for each in result.passes if each.status == "failed"]
    if failed:
        print("   FAILED", *failed[:2])
    return result.graph_def()


def placed(graph: GraphDef, mode: str) -> GraphDef:
    if mode in DEVICES:
        for node in graph.node:
            node.device = DEVICES[mode]
        for function in graph.library.function:
            for node in function.node_def:
                node.device = DEVICES[mode]
    return graph


def histogram(graph: GraphDef) -> Counter[str]:
    return Counter(node.op for node in graph.node)


def differs(
    before: GraphDef, after: GraphDef, feeds: dict[str, np.ndarray], fetches: Sequence[str], loose: bool
) -> str:
    """What is different, "" for nothing."""
    try:
        expected = GraphRunner(before).run(feeds, fetches)
    except Exception:
        return ""
    try:
        found = GraphRunner(after).run(feeds, fetches)
    except Exception as error:
        return f"does not run: {type(error).__name__}: {error}"[:200]
    for name, a, b in zip(fetches, expected, found, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{name}: {a.shape} {a.dtype} became {b.shape} {b.dtype}"
        if a.dtype.kind not in "fc":
            same = bool(np.array_equal(a, b))
        else:
            wide = 5e-2 if loose or a.dtype.itemsize == 2 else 1e-4
            same = np.allclose(
                a, b, rtol=wide, atol=wide * max(1.0, float(np.nanmax(np.abs(a), initial=0))), equal_nan=True
            )
        if not same:
            return f"{name}: other values"
    return ""


def feeds_of(path: Path) -> dict[str, np.ndarray]:
    file = path.with_suffix(".in.npz")
    with np.load(file, allow_pickle=True) as held:
        return {name: held[name] for name in held.files}


def nets(arguments: argparse.Namespace) -> None:
    index = json.loads((DATA / "grappler2/placed.json").read_text())
    folder = DATA / "graphs"
    wanted = [arguments.only] if arguments.only else [*sorted(BUILT), "default"]
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    worse: dict[str, list[str]] = defaultdict(list)
    seconds: Counter[str] = Counter()
    for name, modes in index.items():
        if arguments.match and arguments.match not in name:
            continue
        about = json.loads((folder / f"{name}.json").read_text())
        theirs = older(name) | modes.get(arguments.mode, {})
        graph = placed(read_graph(folder / f"{name}.pb"), arguments.mode)
        feeds = [node.name for node in graph.node if node.op.startswith("Placeholder")]
        fetches = outputs_of(about)
        for optimizer in wanted:
            if optimizer not in theirs:
                continue
            config = config_of([] if optimizer == "default" else [optimizer])
            config = config.with_options(onednn=arguments.mode != "cpu_plain", **gpu_of(arguments.mode))
            start = time.process_time()
            after = optimized(graph, feeds, fetches, config)
            seconds[optimizer] += time.process_time() - start
            mine, expected = len(after.node), theirs[optimizer]["n_nodes"]
            row = counts[optimizer]
            for i, number in enumerate((1, mine <= expected, mine, expected)):
                row[i] += number
            if mine > expected:
                worse[optimizer].append(f"{name} {mine} > {expected}")
                if arguments.names:
                    print(optimizer, worse[optimizer][-1], grown(histogram(after), theirs, optimizer))
            if arguments.run:
                found = differs(graph, after, run_feeds(folder / name, about), fetches, False)
                if found:
                    print("   DIFFERS", optimizer, name, found)
    for optimizer, (total, good, mine, expected) in counts.items():
        print(f"{optimizer:32} {good} of {total} <=, {mine} nodes to {expected}, {seconds[optimizer]:.1f} s")


def grown(mine: Counter[str], theirs: dict[str, Any], optimizer: str) -> str:
    held = theirs[optimizer].get("hist", {})
    whole = sum(held.values()) == theirs[optimizer]["n_nodes"]
    expected = Counter() if whole else Counter(theirs["before"]["hist"])
    for op, number in held.items():
        expected[op] = number
    return " ".join(
        f"{op}{mine[op] - expected[op]:+}"
        for op in sorted(set(mine) | set(expected))
        if mine[op] != expected[op]
    )


def older(name: str) -> dict[str, Any]:
    """TensorFlow's counts for the graph as it is, without devices."""
    held: dict[str, Any] = json.loads((DATA / f"grappler/{name}.json").read_text())
    return held


def outputs_of(about: dict[str, Any]) -> list[str]:
    return [each["name"] for each in about["outputs"]]


def run_feeds(path: Path, about: dict[str, Any]) -> dict[str, np.ndarray]:
    held = feeds_of(path)
    return {each["name"]: held[each["key"]] for each in about["inputs"]}


def rules(arguments: argparse.Namespace) -> None:
    folder = DATA / "grappler2/rules"
    good: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for case in json.loads((folder / "index.json").read_text()):
        if arguments.match and arguments.match not in case["key"]:
            continue
        group = "+".join(case["optimizer"]) or "default"
        graph = read_graph(folder / f"{case['key']}.pb")
        verdict, after = rule_verdict(graph, case)
        kind = group if case["changed"] or case.get("changed_aggressive") else f"{group} (stays)"
        total[kind] += 1
        good[kind] += not verdict
        if verdict and (arguments.names or arguments.match):
            print(f"{case['key']:55} {verdict}")
        if arguments.run and after is not None:
            with np.load(folder / f"{case['key']}.npz", allow_pickle=True) as held:
                names = [name for name in case["feeds"]]
                feeds = {name: held[f"in{i}"] for i, name in enumerate(names) if f"in{i}" in held.files}
            for each in after:
                loose = any("mixed_precision" in name for name in case["optimizer"])
                found = differs(graph, each, feeds, case["fetches"], loose)
                if found:
                    print("   DIFFERS", case["key"], found)
    for kind in sorted(total):
        print(f"{kind:50} {good[kind]} of {total[kind]}")
    changed = [kind for kind in total if "stays" not in kind]
    print("changed", sum(good[k] for k in changed), "of", sum(total[k] for k in changed))


def rule_verdict(graph: GraphDef, case: dict[str, Any]) -> tuple[str, list[GraphDef] | None]:
    """Why the case is not as TensorFlow's, "" when it is or is smaller; the graphs after."""
    found: list[tuple[Counter[str], Counter[str], str]] = []
    graphs = []
    for level in ("after", "after_aggressive"):
        if case.get(level) is None:
            continue
        config = config_of(case["optimizer"], level != "after", case.get("iterations", 1))
        config = config.with_options(**gpu_of(case["device"]), **CPU_LAYOUTS.get(case["name"], {}))
        try:
            after = optimized(graph, case["feeds"], case["fetches"], config)
        except UnsupportedError as error:
            return f"not built: {error}"[:60], None
        graphs.append(after)
        found.append((histogram(after), Counter(case[level]), level))
    good = [level for mine, theirs, level in found if mine == theirs or mine.total() < theirs.total()]
    if good:
        return "", graphs
    mine, theirs, _ = found[0]
    text = " ".join(
        f"{op}{mine[op] - theirs[op]:+}" for op in sorted(set(mine) | set(theirs)) if mine[op] != theirs[op]
    )
    return text, graphs


def extra(arguments: argparse.Namespace) -> None:
    folder = DATA / "grappler2/extra"
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for case in json.loads((folder / "index.json").read_text()):
        name = case["name"]
        if arguments.match and arguments.match not in name:
            continue
        mode, _, optimizer = (arguments.only or f"{arguments.mode}.default").rpartition(".")
        theirs = case.get(f"{mode or arguments.mode}.{optimizer}")
        if theirs is None or (optimizer != "default" and optimizer not in BUILT):
            continue
        graph = placed(read_graph(folder / f"{name}.pb"), mode or arguments.mode)
        config = config_of([] if optimizer == "default" else [optimizer]).with_options(
            onednn=arguments.mode != "cpu_plain", **gpu_of(arguments.mode)
        )
        after = optimized(graph, case["feeds"], case["fetches"], config)
        mine = len(after.node)
        row = counts[name.rpartition("_")[0]]
        for i, number in enumerate((1, mine <= theirs["n"], mine, theirs["n"])):
            row[i] += number
        if mine > theirs["n"] and arguments.names:
            ops, expected = histogram(after), Counter(theirs["hist"])
            print(
                name,
                mine,
                ">",
                theirs["n"],
                {op: ops[op] - expected[op] for op in {*ops, *expected} if ops[op] != expected[op]},
            )
        if arguments.run:
            with np.load(folder / f"{name}.npz", allow_pickle=True) as held:
                feeds = {
                    each: held[f"in{i}"] for i, each in enumerate(case["feeds"]) if f"in{i}" in held.files
                }
            found = differs(graph, after, feeds, case["fetches"], False)
            if found:
                print("   DIFFERS", name, found)
    for kind, (total, good, mine, expected) in counts.items():
        print(f"{kind:20} {good} of {total} <=, {mine} nodes to {expected}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("nets", "rules", "extra"))
    parser.add_argument("--only", help="one optimizer")
    parser.add_argument("--mode", default="none", choices=("none", *DEVICES))
    parser.add_argument("--match", help="only names that have this in them")
    parser.add_argument("--names", action="store_true", help="name what is larger than TensorFlow's")
    parser.add_argument("--run", action="store_true", help="compare results")
    arguments = parser.parse_args()
    {"nets": nets, "rules": rules, "extra": extra}[arguments.what](arguments)


if __name__ == "__main__":
    main()
