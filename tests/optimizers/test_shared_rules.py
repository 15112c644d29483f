"""TensorFlow's results for small graphs, one for each rewrite (../shared/convert/grappler2/rules)."""

import json
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from numlite.converter.execution.graph_runner import GraphRunner
from numlite.converter.ir import read_graph
from numlite.converter.optimizers import GrapplerItem, MetaOptimizer, OptimizerConfig
from numlite.schema.graph_def import GraphDef

from ..shared_arrays import CONVERT

FOLDER = CONVERT / "grappler2/rules"
INDEX = FOLDER / "index.json"
CASES: list[dict[str, Any]] = json.loads(INDEX.read_text()) if INDEX.exists() else []
# What is not as TensorFlow's, nor smaller, and why.
OTHERWISE = {
    "arithmetic.any.pow_broadcast_up": "TensorFlow's Square has another shape than the power",
    "constfold.any.pack_one": "the axis is a constant of ExpandDims, as in TensorFlow's Graph IR passes",
    "remap.cpu.leaky_from_max_negative": "TensorFlow's LeakyRelu gives other results",
    "remap.gpu.leaky_from_max_negative": "TensorFlow's LeakyRelu gives other results",
    "remap.gpu.instance_norm": "the op that TensorFlow makes has no kernel there",
}
# What these cases set beside their optimizer.
CPU_LAYOUTS = {"cpu_nchw_to_nhwc": 1, "cpu_nhwc_to_nchw": 2}
pytestmark = pytest.mark.skipif(not CASES, reason=f"{INDEX} is not there")


def optimized(graph: GraphDef, case: dict[str, Any], aggressive: bool) -> GraphDef:
    options = {"optimizers": case["optimizer"], "min_graph_nodes": -1, "fail_on_optimizer_errors": True}
    options |= {"compute_capability": 6.1 if case["device"] == "gpu6" else 8.0}
    options |= {"cpu_layout_conversion": CPU_LAYOUTS.get(case["name"], 0)}
    config = OptimizerConfig(meta_optimizer_iterations=case["iterations"], **options)
    item = GrapplerItem.from_graph_def(graph, case["feeds"], case["fetches"])
    return MetaOptimizer(config.aggressive() if aggressive else config).optimize(item).graph_def()


def histogram(graph: GraphDef) -> Counter[str]:
    return Counter(node.op for node in graph.node)


def test_each_rewrite_is_tensorflows_or_smaller() -> None:
    worse = set()
    seen: dict[str, int] = defaultdict(int)
    for case in CASES:
        if len(case["optimizer"]) != 1:
            continue
        seen[case["optimizer"][0]] += 1
        graph = read_graph(FOLDER / f"{case['key']}.pb")
        good = False
        for level in ("after", "after_aggressive"):
            if case.get(level) is not None:
                mine, theirs = histogram(optimized(graph, case, level != "after")), Counter(case[level])
                good |= mine == theirs or mine.total() < theirs.total()
        if not good:
            worse.add(case["key"])
    assert worse == set(OTHERWISE)
    assert seen["arithmetic"] == 92 and seen["constfold"] == 82 and seen["layout"] == 37


def test_results_stay() -> None:
    checked = 0
    for case in CASES:
        if len(case["optimizer"]) != 1:
            continue
        graph = read_graph(FOLDER / f"{case['key']}.pb")
        with np.load(FOLDER / f"{case['key']}.npz") as held:
            feeds = {name: held[f"in{i}"] for i, name in enumerate(case["feeds"]) if f"in{i}" in held.files}
            wanted = [held.get(f"out{i}") for i in range(len(case["fetches"]))]
        is_narrow = "mixed_precision" in case["optimizer"][0]
        for aggressive in (False, True):
            after = optimized(graph, case, aggressive)
            found = GraphRunner(after).run(feeds, case["fetches"])
            for a, b in zip(found, wanted, strict=True):
                if b is not None:
                    rtol, atol = (0.05, 0.1) if is_narrow else (1e-4, 1e-5)
                    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=case["key"])
                    checked += 1
    assert checked > 300
