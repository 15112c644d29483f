"""No two rules undo each other: on every graph of the data the default list comes to an end."""

import json
from pathlib import Path

import pytest
from numlite.converter.ir import read_graph
from numlite.converter.optimizers import GrapplerItem, MetaOptimizer, OptimizerConfig
from numlite.schema.graph_def import GraphDef

from ..shared_arrays import CONVERT

DATA = CONVERT / "grappler2"
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
# Rounds of the whole list after which nothing may change any more.
MOST_ROUNDS = 3
pytestmark = pytest.mark.skipif(not DATA.exists(), reason=f"{DATA} is not there")


def cases() -> list[tuple[Path, list[str] | None, list[str]]]:
    """Graphs of nets, random, training and function graphs, and of single rules; feeds (None: all
    placeholders) and fetches.
    """
    found: list[tuple[Path, list[str] | None, list[str]]] = []
    for name in json.loads((DATA / "placed.json").read_text()):
        about = json.loads((CONVERT / f"graphs/{name}.json").read_text())
        found.append((CONVERT / f"graphs/{name}.pb", None, [each["name"] for each in about["outputs"]]))
    for folder, key in (("extra", "name"), ("rules", "key")):
        listed = json.loads((DATA / folder / "index.json").read_text())
        found += [(DATA / folder / f"{case[key]}.pb", case["feeds"], case["fetches"]) for case in listed]
    return found


def rounds(graph: GraphDef, feeds: list[str] | None, fetches: list[str], config: OptimizerConfig) -> int:
    """After how many rounds nothing changes any more; one too many if it goes on."""
    fed = feeds if feeds is not None else [n.name for n in graph.node if n.op.startswith("Placeholder")]
    item = GrapplerItem.from_graph_def(graph, fed, fetches)
    for round in range(MOST_ROUNDS + 1):
        result = MetaOptimizer(config).optimize(item)
        if not result.rewrites():
            return round
        item = GrapplerItem(result.module, item.feeds, item.fetches)
    return MOST_ROUNDS + 1


def endless(step: int, is_aggressive: bool, device: str = "") -> list[str]:
    """The graphs, each step-th, on which the list goes on and on."""
    config = OptimizerConfig(min_graph_nodes=-1, fail_on_optimizer_errors=True)
    config = config.aggressive() if is_aggressive else config
    found = []
    for path, feeds, fetches in cases()[::step]:
        graph = read_graph(path)
        for node in graph.node if device else ():
            node.device = device
        if rounds(graph, feeds, fetches, config) > MOST_ROUNDS:
            found.append(path.stem)
    return found


def test_rewriting_ends_on_some_graphs() -> None:
    assert len(cases()) == 777
    assert not endless(40, is_aggressive=False)
    assert not endless(53, is_aggressive=True, device=CPU)


@pytest.mark.long
@pytest.mark.parametrize(
    ("is_aggressive", "device"), [(False, ""), (True, CPU)], ids=["default", "aggressive"]
)
def test_rewriting_ends_on_all_graphs(is_aggressive: bool, device: str) -> None:
    assert not endless(1, is_aggressive, device)
