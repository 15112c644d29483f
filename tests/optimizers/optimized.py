"""What tests of optimizers share: small graphs, optimized and run before and after."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numlite.converter.execution.graph_runner import GraphRunner
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.optimizers import GrapplerItem, MetaOptimizer, OptimizerConfig
from numlite.schema.graph_def import GraphDef


class Net(GraphBuilder):
    """A graph with feeds and fetches."""

    def __init__(self) -> None:
        super().__init__()
        self.feeds: dict[str, np.ndarray] = {}
        self.fetches: list[str] = []

    def x(self, *shape: int, dtype: type = np.float32) -> str:
        """A fed value; numbers from 0.5 up."""
        name = f"x{len(self.feeds)}"
        values = np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape) % 7 + 0.5
        self.feeds[name] = values.astype(dtype)
        kinds = {np.float32: 1, np.int32: 3, np.int64: 9, np.bool_: 10}
        return self.placeholder(name, list(shape), kinds[dtype])

    def c(self, value: object, dtype: type = np.float32) -> str:
        return self.constant(f"c{len(self.graph_def.node)}", np.array(value, dtype))

    def op(self, op: str, *inputs: str, **attributes: object) -> str:
        return self.node(op, f"{op}_{len(self.graph_def.node)}", *inputs, **attributes)  # type: ignore[arg-type]

    def on(self, device: str) -> "Net":
        """All nodes on one device."""
        for node in self.graph_def.node:
            node.device = device
        return self

    def out(self, *names: str) -> "Net":
        for name in names:
            self.fetches.append(self.node("Identity", f"y{len(self.fetches)}", name))
        return self


def optimized(
    graph: GraphDef, feeds: Sequence[str], fetches: Sequence[str], *names: str, **options: object
) -> GraphDef:
    """The graph after the optimizers of these names, or the default list; nothing may fail."""
    held = {"optimizers": names, "min_graph_nodes": -1, "fail_on_optimizer_errors": True, **options}
    held |= {"inter_optimizer_verifier_config": {"structure_verifier": 1}}
    item = GrapplerItem.from_graph_def(graph, feeds, fetches)
    return MetaOptimizer(OptimizerConfig.of(held)).optimize(item).graph_def()


def ops(graph: GraphDef) -> Counter[str]:
    """How many nodes there are of each op, but for those of feeds and fetches."""
    return Counter(node.op for node in graph.node if node.op not in ("Placeholder", "Identity"))


def check(net: Net, expected: Mapping[str, int] | str, *names: str, **options: object) -> GraphDef:
    """What the net becomes: its ops ("Neg Exp"), and the same results."""
    after = optimized(net.graph_def, list(net.feeds), net.fetches, *names, **options)
    assert ops(after) == (Counter(expected.split()) if isinstance(expected, str) else expected)
    for a, b in zip(values(net.graph_def, net), values(after, net), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    return after


def values(graph: GraphDef, net: Net) -> list[np.ndarray]:
    return GraphRunner(graph).run(net.feeds, net.fetches)
