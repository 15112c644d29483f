"""auto_parallel: replicas that take batches of their own, and one update by the mean of their gradients."""

import numpy as np
import pytest
from numlite.converter.execution.graph_runner import GraphRunner
from numlite.converter.optimizers import GrapplerItem, MetaOptimizer, OptimizerConfig
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema.graph_def import DT_FLOAT, AttrValue, GraphDef

from .optimized import Net, ops

FLOAT = AttrValue(type=DT_FLOAT)
SHAPE = AttrValue(shape={"dim": [{"size": 3}]})


def trained(kind: str = "GradientDescent", queue: bool = True) -> Net:
    """v <- v - 0.5 g with g = v * batch; a batch is fed, or comes of a queue that is filled by feeds."""
    net = Net()
    net.node("VariableV2", "v", dtype=FLOAT, shape=SHAPE)
    net.node("Assign", "init", "v", net.constant("start", np.array([1, 2, 3], np.float32)), T=FLOAT)
    net.node("Identity", "read", "v", T=FLOAT)
    batch = net.x(3)
    if queue:
        types = AttrValue(list=AttrValue.ListValue(type=[DT_FLOAT]))
        net.node("FIFOQueueV2", "queue", component_types=types)
        net.node("QueueEnqueueV2", "fill", "queue", batch, Tcomponents=types)
        batch = net.node("QueueDequeueV2", "batch", "queue", component_types=types)
    net.node("Mul", "gradient", "read", batch)
    rate = net.constant("rate", np.array(0.5, np.float32))
    operands = {"GradientDescent": ("v", rate, "gradient"), "Momentum": ("v", "m", rate, "gradient", rate)}
    if kind == "Momentum":
        net.node("VariableV2", "m", dtype=FLOAT, shape=SHAPE)
        net.node("Assign", "init_m", "m", net.constant("none", np.zeros(3, np.float32)), T=FLOAT)
    net.node(f"Apply{kind}", "update", *operands[kind], T=FLOAT)
    net.node("NoOp", "train", "^update")
    return net


def replicated(net: Net, count: int = 2, **item: object) -> GraphDef:
    config = OptimizerConfig.of(
        {"optimizers": ["autoparallel"], "auto_parallel": {"enable": True, "num_replicas": count}}
        | {"min_graph_nodes": -1, "fail_on_optimizer_errors": True}
    )
    keep = ["init", "read", *(n.name for n in net.graph_def.node if n.name in ("fill", "init_m"))]
    held = GrapplerItem.from_graph_def(net.graph_def, list(net.feeds), net.fetches, keep, **item)  # type: ignore[arg-type]
    return MetaOptimizer(config).optimize(held).graph_def()


def steps(graph: GraphDef, batches: list[list[float]], count: int) -> np.ndarray:
    """The variable after so many steps, with a queue of these batches."""
    runner = GraphRunner(graph)
    names = {node.name for node in graph.node}
    for name in {"init", "init_m"} & names:
        runner.run({}, [], [name])
    for batch in batches:
        runner.run({"x0": np.array(batch, np.float32)}, [], ["fill"])
    for _ in range(count):
        runner.run({}, [], ["train"])
    return runner.run({}, ["read"])[0]


@pytest.mark.parametrize("kind", ["GradientDescent", "Momentum"])
def test_replicas_take_batches_of_their_own(kind: str) -> None:
    net = trained(kind)
    net.fetches = ["train"]
    after = replicated(net)
    batches = [[1, 0, 1], [0, 1, 1], [1, 1, 0], [0.5, 0, 0]]
    whole = np.array(batches, np.float32).reshape(2, 2, 3).mean(1)
    assert ops(after)["QueueDequeueV2"] == 2 and ops(after)[f"Apply{kind}"] == 1
    np.testing.assert_allclose(steps(after, batches, 2), steps(net.graph_def, whole.tolist(), 2), rtol=1e-6)


def test_what_does_not_depend_on_the_batch_is_there_once() -> None:
    net = trained()
    net.fetches = ["train"]
    after = replicated(net, 3)
    found = ops(after)
    assert found["Mul"] == found["QueueDequeueV2"] == found["RealDiv"] == 3 and found["VariableV2"] == 1
    assert sum(node.op == "Identity" for node in after.node) == 1
    assert "AutoParallel-Replica-2/gradient" in {node.name for node in after.node}


def test_a_fed_batch_is_shared() -> None:
    net = trained(queue=False)
    net.fetches = ["train"]
    after = replicated(net)
    assert ops(after)["Mul"] == 2 and sum(n.op == "Placeholder" for n in after.node) == 1
    found = []
    for graph in (net.graph_def, after):
        runner = GraphRunner(graph)
        runner.run({}, [], ["init"])
        runner.run(net.feeds, [], ["train"])
        found += runner.run({}, ["read"])
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_replicas_are_spread_over_gpus() -> None:
    net = trained()
    net.fetches = ["train"]
    after = replicated(net, 3, devices=["/device:CPU:0", "/device:GPU:0", "/device:GPU:1"])
    devices = {node.name: node.device for node in after.node}
    assert devices["AutoParallel-Replica-1/batch"] == "/device:GPU:1"
    assert devices["AutoParallel-Replica-2/batch"] == "/device:GPU:0"


def test_what_tensorflow_refuses_is_refused() -> None:
    net = trained()
    net.fetches = ["train"]
    with pytest.raises(ModelError, match="num_replicas must be 2 or more, got 1"):
        replicated(net, 1)
    net.fetches = []
    with pytest.raises(ModelError, match="something must be fetched"):
        replicated(net)
    net = Net()
    net.node("Identity", "read", net.x(3))
    net.node("NoOp", "init")
    net.fetches = ["read"]
    with pytest.raises(ModelError, match="must have variables, got none"):
        replicated(net)


def test_replicas_that_would_write_are_refused() -> None:
    net = trained(queue=False)
    gradient = next(node for node in net.graph_def.node if node.name == "gradient")
    net.node("AssignAdd", "count", "v", "x0", T=FLOAT)
    gradient.input.append("^count")
    net.fetches = ["train"]
    with pytest.raises(UnsupportedError, match="must only compute, got AssignAdd"):
        replicated(net)
