"""Random models on the simulated device: their values are the CPU's, and no launch leaves its operands."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numlite.delegates.cuda import lowering
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.launch import Launch
from numlite.interpreter import Interpreter
from numlite.lite.delegate import DelegateContext
from numlite.lite.node import Node

from .graphs import NetworkBuilder, Op
from .memory_checks import checked_memory
from .random_graphs import RandomGraph
from .simulation import interpreter_of, needs_triton, run, simulated, skip_unless_simulated

pytestmark = needs_triton


class Picky(CudaDelegate):
    """Leaves some operators to the CPU, which makes several partitions."""

    left_out: frozenset[int] = frozenset()

    def _fault(self, context: DelegateContext, node: Node) -> str | None:
        return "it is left out" if node.index in self.left_out else super()._fault(context, node)


def _delegate(graph: RandomGraph, numbers: random.Random) -> CudaDelegate:
    options = CudaOptions(
        precision="ieee", device="simulated", outputs=numbers.choice(("host", "host", "device"))
    )
    delegate = Picky(options)
    if numbers.random() < 0.4:
        delegate.left_out = frozenset(n for n in range(graph.operators) if numbers.random() < 0.25)
    return delegate


def _values(interpreter: Interpreter, inputs: list[np.ndarray], resizes: bool) -> list[np.ndarray]:
    details = interpreter.get_input_details()
    if resizes:
        for detail, value in zip(details, inputs, strict=True):
            interpreter.resize_tensor_input(detail["index"], value.shape)
        interpreter.allocate_tensors()
    for detail, value in zip(details, inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def check(seed: int) -> None:
    graph = RandomGraph(seed)
    numbers = random.Random(seed)
    numerics = numbers.choice(("default", "reference"))
    delegate = _delegate(graph, numbers)
    cpu = interpreter_of(graph.model, None, numerics)
    with checked_memory() as checks:
        mine = interpreter_of(graph.model, delegate, numerics)
        before = -1
        for turn, batch in enumerate([1, numbers.choice((0, 2, 3)), numbers.choice((1, 2)), 2]):
            inputs = graph.inputs_of(batch, turn)
            got = _values(mine, inputs, batch != before)
            expected = _values(cpu, inputs, batch != before)
            before = batch
            for a, b in zip(got, expected, strict=True):
                assert (a.shape, a.dtype) == (b.shape, b.dtype)
                if graph.type != "float32":
                    np.testing.assert_array_equal(a, b)
                largest = float(np.max(np.abs(b), initial=0, where=np.isfinite(b)))
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * largest)
    assert not checks.found, set(checks.found)


@pytest.mark.parametrize(
    "seed", (*range(8), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(8, 200)))
)
def test_random_graph(seed: int) -> None:
    skip_unless_simulated()
    check(seed)


@pytest.mark.parametrize("fault", ("outside its operands", "write the same place", "16 must divide"))
def test_the_checks_see_faults(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One element too many, every program twice, and a hint that is not true."""
    skip_unless_simulated()
    make = lowering.make_launch

    def wrong(
        source: str, function: str, grid: tuple[int, ...], args: Any, *rest: Any, **named: Any
    ) -> Launch:
        if fault == "outside its operands":
            args = {**args, "size": args["size"] + 1}
        launch = make(source, function, grid, args, *rest, **named)
        if fault == "write the same place":
            return replace(launch, grid=(launch.grid[0], 2, 1))
        if fault == "16 must divide":
            return replace(launch, kernel=replace(launch.kernel, divisible=("size",)))
        return launch

    monkeypatch.setattr(lowering, "make_launch", wrong)
    graph = NetworkBuilder("float32")
    x = graph.value((1, 33))
    model = graph.build([x], [graph.unary(Op.LOGISTIC, x, (1, 33))])
    with checked_memory() as checks:
        run(interpreter_of(model, simulated()), [np.zeros((1, 33), np.float32)])
    assert checks.launches == 1 and checks.found and all(fault in line for line in checks.found)
