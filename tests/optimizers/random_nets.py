"""Random graphs of small tensors: ops by element, broadcasts, products, reductions, moves, control edges."""

from __future__ import annotations

import numpy as np
from numlite.schema.graph_def import AttrValue

from .optimized import Net

_UNARY = ("Neg", "Abs", "Exp", "Sqrt", "Square", "Relu", "Sigmoid", "Tanh", "Softplus", "Identity", "Rsqrt")
_BINARY = ("Add", "AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference", "RealDiv")
_REDUCTIONS = ("Sum", "Mean", "Max", "Min", "Prod")
_MOST_ELEMENTS = 400


class _Growing:
    """A net on its way: its values with their shapes, and the numbers that decide."""

    def __init__(self, seed: int) -> None:
        self.net = Net()
        self.random = np.random.default_rng(seed)
        self.values: list[tuple[str, tuple[int, ...]]] = []

    def any(self) -> tuple[str, tuple[int, ...]]:
        """A value, a late one more often."""
        return self.values[-1 - int(self.random.integers(len(self.values)) * self.random.random())]

    def one_of(self, names: tuple[str, ...]) -> str:
        return names[int(self.random.integers(len(names)))]

    def add(self, op: str, shape: tuple[int, ...], *operands: str, **attributes: object) -> None:
        waits = (f"^{self.any()[0]}",) if self.random.random() < 0.05 else ()
        self.values.append((self.net.op(op, *operands, *waits, **attributes), shape))

    def integers(self, *numbers: int) -> str:
        return self.net.c(list(numbers), np.int32)

    def constant(self) -> None:
        """Ones and zeros now and then, of a shape that fits another value."""
        shape = self.any()[1]
        kept = shape[int(self.random.integers(len(shape) + 1)) :]
        kept = tuple(1 if self.random.random() < 0.3 else size for size in kept)
        plain = self.random.random()
        array = np.full(kept, round(plain * 3)) if plain < 0.6 else self.random.uniform(0.5, 2, kept)
        self.values.append((self.net.c(array), kept))

    def unary(self) -> None:
        name, shape = self.any()
        self.add(self.one_of(_UNARY), shape, name)

    def binary(self) -> None:
        one = self.any()
        fitting = [each for each in self.values if _stretched(one[1], each[1]) is not None]
        other = fitting[int(self.random.integers(len(fitting)))]
        shape = _stretched(one[1], other[1])
        assert shape is not None
        self.add(self.one_of(_BINARY), shape, one[0], other[0])

    def total(self) -> None:
        name, shape = self.any()
        alike = [each for each, other in self.values if other == shape]
        count = int(self.random.integers(1, 5))
        chosen = [name, *(alike[int(self.random.integers(len(alike)))] for _ in range(count))]
        self.add("AddN", shape, *chosen, N=len(chosen))

    def transpose(self) -> None:
        name, shape = self.any()
        order = self.random.permutation(len(shape)).tolist()
        self.add("Transpose", tuple(shape[i] for i in order), name, self.integers(*order))

    def reshape(self) -> None:
        name, shape = self.any()
        whole = int(np.prod(shape))
        divisors = [n for n in range(1, whole + 1) if whole % n == 0]
        first = divisors[int(self.random.integers(len(divisors)))]
        sizes = (first, -1 if self.random.random() < 0.5 else whole // first)
        self.add("Reshape", (first, whole // first), name, self.integers(*sizes))

    def reduce(self) -> None:
        name, shape = self.any()
        if shape:
            axis = int(self.random.integers(len(shape)))
            left = shape[:axis] + shape[axis + 1 :]
            self.add(self.one_of(_REDUCTIONS), left, name, self.integers(axis))

    def matmul(self) -> None:
        name, shape = self.any()
        if len(shape) == 2:
            columns = int(self.random.integers(1, 5))
            weights = self.net.c(self.random.uniform(-1, 1, (shape[1], columns)))
            self.add("MatMul", (shape[0], columns), name, weights)
            if self.random.random() < 0.6:
                self.add("BiasAdd", (shape[0], columns), self.values[-1][0], self.net.c(range(columns)))

    def pack(self) -> None:
        name, shape = self.any()
        if len(shape) < 4:
            axis = int(self.random.integers(len(shape) + 1))
            self.add("Pack", (*shape[:axis], 2, *shape[axis:]), name, name, axis=axis, N=2)

    def concat(self) -> None:
        name, shape = self.any()
        if shape:
            axis = int(self.random.integers(len(shape)))
            twice = (*shape[:axis], 2 * shape[axis], *shape[axis + 1 :])
            self.add("ConcatV2", twice, name, name, self.net.c(axis, np.int32), N=2)

    def cast(self) -> None:
        name, shape = self.any()
        there, back = AttrValue(type=2), AttrValue(type=1)
        moved = self.net.op("Cast", name, DstT=there)
        if len(shape) == 2:
            shape, moved = shape[::-1], self.net.op("Transpose", moved, self.integers(1, 0))
        self.add("Cast", shape, moved, DstT=back)


def _stretched(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(one, other)
    except ValueError:
        return None


def random_net(seed: int, device: str = "") -> Net:
    """A net of 5 to 40 nodes, all on the device; some of its values are fetched."""
    growing = _Growing(seed)
    for _ in range(int(growing.random.integers(1, 4))):
        shape = tuple(int(n) for n in growing.random.integers(1, 4, int(growing.random.integers(1, 4))))
        growing.values.append((growing.net.x(*shape), shape))
    kinds = [growing.constant, growing.unary, growing.unary, growing.binary, growing.binary, growing.total]
    kinds += [growing.transpose, growing.reshape, growing.reduce, growing.matmul, growing.pack]
    kinds += [growing.concat, growing.cast]
    for _ in range(int(growing.random.integers(5, 40))):
        if int(np.prod(growing.values[-1][1])) > _MOST_ELEMENTS:
            break
        kinds[int(growing.random.integers(len(kinds)))]()
    net = growing.net
    net.out(growing.values[-1][0], growing.any()[0])
    return net.on(device)
