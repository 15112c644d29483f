"""Random graphs of what the passes change compute the same after them."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import convert_graph, run_graph
from numlite.converter.graph_builder import GraphBuilder

from ..graphs import checked, run_numlite

SHAPE = (2, 3, 4)
UNARY = ("Relu", "Relu6", "Tanh", "Neg", "Abs", "Square", "Sigmoid")
BINARY = ("AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference")
# Numbers that some pass looks for.
NUMBERS = (0, 1, 2, -1, 0.5, 3)


class RandomGraph:
    """Nodes on top of each other, of values x and z."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.graph = GraphBuilder()
        self.values = [(self.graph.placeholder(name, SHAPE), SHAPE) for name in ("x", "z")]
        grow = (self.unary, self.with_constant, self.binary, self.transpose, self.reshape, self.reduce)
        for _ in range(self.random.integers(3, 16)):
            name, shape = self.values[self.random.integers(max(0, len(self.values) - 4), len(self.values))]
            self.values.append(self.random.choice((*grow, self.product))(name, shape))
        places = self.random.choice(np.arange(2, len(self.values)), 2)
        self.outputs = list(dict.fromkeys([self.values[-1][0], *(self.values[i][0] for i in places)]))

    def node(self, op: str, *inputs: str, **attributes: bool) -> str:
        return self.graph.node(op, f"n{len(self.graph.graph_def.node)}", *inputs, **attributes)

    def constant(self, value: np.ndarray) -> str:
        return self.graph.constant(f"c{len(self.graph.graph_def.node)}", value)

    def unary(self, x: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        return self.node(str(self.random.choice(UNARY)), x), shape

    def with_constant(self, x: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        kinds = ((), shape[-1:], shape, (1,) * len(shape))
        size = kinds[self.random.integers(len(kinds))]
        number = np.full(size, self.random.choice(NUMBERS), np.float32)
        constant = self.constant(number if self.random.random() < 0.6 else self._uniform(*size))
        operands = (x, constant) if self.random.random() < 0.6 else (constant, x)
        return self.node(str(self.random.choice(BINARY)), *operands), shape

    def binary(self, x: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        alike = [name for name, each in self.values if each == shape]
        return self.node(str(self.random.choice(BINARY)), x, str(self.random.choice(alike))), shape

    def transpose(self, x: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        order = self.random.permutation(len(shape)).astype(np.int32)
        return self.node("Transpose", x, self.constant(order)), tuple(shape[axis] for axis in order)

    def reshape(self, x: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        count = int(np.prod(shape))
        wanted = [(count,), (1, count), (count, 1)]
        wanted += [(*shape, 1), (1, *shape)] if len(shape) < 4 else []
        wanted += [(2, count // 2)] if count % 2 == 0 else []
        new = wanted[self.random.integers(len(wanted))]
        return self.node("Reshape", x, self.constant(np.array(new, np.int32))), new

    def reduce(self, x: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        axis, keep = (
            int(self.random.integers(len(shape))),
            bool(self.random.random() < 0.5) or len(shape) == 1,
        )
        left = (1,) if keep else ()
        axes = self.constant(np.array([axis], np.int32))
        op = str(self.random.choice(("Mean", "Max", "Sum")))
        return self.node(op, x, axes, keep_dims=keep), (*shape[:axis], *left, *shape[axis + 1 :])

    def product(self, x: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        if len(shape) < 2:
            return self.unary(x, shape)
        units = int(self.random.integers(1, 5))
        op = "MatMul" if len(shape) == 2 else "BatchMatMulV2"
        return self.node(op, x, self.constant(self._uniform(shape[-1], units))), (*shape[:-1], units)

    def _uniform(self, *shape: int) -> np.ndarray:
        return self.random.uniform(-1, 1, shape).astype(np.float32)


def check_seed(seed: int) -> None:
    made = RandomGraph(seed)
    inputs = {name: made.random.uniform(-2, 2, SHAPE).astype(np.float32) for name in ("x", "z")}
    definition = made.graph.graph_def
    with np.errstate(all="ignore"):
        expected = run_graph(definition, inputs, made.outputs)
    model = checked(convert_graph(definition, list(inputs), made.outputs))
    for y, wanted in zip(run_numlite(model, *inputs.values()), expected, strict=True):
        assert y.shape == wanted.shape
        # Squares of squares overflow, and differences of sums in another order leave few digits.
        finite = np.isfinite(wanted)
        np.testing.assert_allclose(y[finite], wanted[finite], rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("seed", range(40))
def test_random_graph(seed: int) -> None:
    check_seed(seed)


@pytest.mark.long
@pytest.mark.parametrize("start", range(1000, 2000, 100))
def test_many_random_graphs(start: int) -> None:
    for seed in range(start, start + 100):
        check_seed(seed)
