"""Random graphs with random lists of optimizers: equal results, names that stay, and an end of rewriting."""

import warnings
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numlite.converter.execution.graph_runner import GraphRunner
from numlite.converter.optimizers import GrapplerItem, MetaOptimizer, OptimizerConfig
from numlite.converter.optimizers.register import OPTIMIZERS

from .random_nets import random_net

# Mixed precision changes values, and auto_parallel is for graphs with variables.
NAMES = [each.name for each in OPTIMIZERS if "precision" not in each.name and each.name != "autoparallel"]
LISTS = st.one_of(st.just([]), st.lists(st.sampled_from(NAMES), min_size=1, max_size=6))
DEVICES = st.sampled_from(["", "/device:CPU:0", "/device:GPU:0"])
SEEDS = st.integers(0, 1 << 32)
TARGETS = st.sampled_from(["tensorflow", "numlite", "portable"])
# Rounds of the whole list after which nothing may change any more.
MOST_ROUNDS = 4


def run(graph: object, feeds: dict[str, np.ndarray], fetches: Iterable[str]) -> list[np.ndarray]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return GraphRunner(graph).run(feeds, list(fetches))  # type: ignore[arg-type]


def is_alike(before: np.ndarray, after: np.ndarray) -> bool:
    """Equal but for rounding, which large numbers on the way make larger; where the graph gives no number,
    folded constants may give another one (0 times infinity).
    """
    if before.shape != after.shape or before.dtype != after.dtype:
        return False
    finite = np.isfinite(before)
    a, b = before[finite].astype(np.float64), after[finite].astype(np.float64)
    wide = 1e-3 * max(1.0, float(np.abs(a).max(initial=0)))
    return bool(np.allclose(a, b, rtol=1e-3, atol=wide))


def check(seed: int, names: list[str], device: str, is_aggressive: bool, target: str) -> None:
    net = random_net(seed, device)
    config = OptimizerConfig(
        optimizers=names, min_graph_nodes=-1, fail_on_optimizer_errors=True, target=target
    ).with_options(inter_optimizer_verifier_config={"structure_verifier": 1})
    item = GrapplerItem.from_graph_def(net.graph_def, list(net.feeds), net.fetches)
    expected = run(net.graph_def, net.feeds, net.fetches)
    for round in range(MOST_ROUNDS + 1):
        result = MetaOptimizer(config.aggressive() if is_aggressive else config).optimize(item)
        made = result.graph_def()
        assert {*net.feeds, *net.fetches} <= {node.name for node in made.node}
        if round == 0:
            for before, after in zip(expected, run(made, net.feeds, net.fetches), strict=True):
                assert is_alike(before, after), (before, after)
        if not result.rewrites():
            return
        item = GrapplerItem(result.module, item.feeds, item.fetches)
    raise AssertionError(f"rules go on and on: {result.rewrites()}")


@settings(max_examples=40, derandomize=True)
@given(SEEDS, LISTS, DEVICES, st.booleans(), TARGETS)
def test_random_graphs(seed: int, names: list[str], device: str, is_aggressive: bool, target: str) -> None:
    check(seed, names, device, is_aggressive, target)


@pytest.mark.long
@settings(max_examples=2000)
@given(SEEDS, LISTS, DEVICES, st.booleans(), TARGETS)
def test_many_random_graphs(
    seed: int, names: list[str], device: str, is_aggressive: bool, target: str
) -> None:
    check(seed, names, device, is_aggressive, target)
