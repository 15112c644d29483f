"""RANDOM_UNIFORM, RANDOM_STANDARD_NORMAL and MULTINOMIAL: numbers from a generator that the seeds start."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Shape, Tensor
from .index_vector import check_counts, check_index_type, check_sizes, integers, scalar_integer
from .operators import check_type, registration
from .philox import PhiloxStream, uniform_f64

WORDS = 4  # of a block
# counter is the address of the generator's counter, two uint64 of which the first is the lower half;
# random_f32 reads it, advance moves it behind what was read.
RANDOM = np.dtype(
    [("y", np.int64), ("size", np.int64), ("key", np.uint64), ("counter", np.int64), ("normal", np.int64)],
    align=True,
)
_ALL_BITS = (1 << 64) - 1
# What MULTINOMIAL advances the generator by, for every four samples: far more than it uses.
_RESERVED_BLOCKS = 4 * 512
_UNIFORM_NS, _NORMAL_NS = 4, 20  # a number
_AT_ONCE = 1 << 18  # samples between two looks at the cancellation, an even number


def _seeds(node: Node) -> tuple[int, int]:
    """The node's seeds as 64 bits each, of which LiteRT keeps the lower 32; random when both are 0.

    Source: LiteRT tflite/kernels/random_ops.cc.
    """
    seeds = [int(getattr(node.options, name, 0)) & _ALL_BITS for name in ("seed", "seed2")]
    if not any(seeds):
        return int.from_bytes(os.urandom(8), "little"), int.from_bytes(os.urandom(8), "little")
    first, second = (((seed & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000 & _ALL_BITS for seed in seeds)
    return first, second


def _size(context: Context, node: Node, shape_of: Callable[[Context, Node], Shape], source: Tensor) -> None:
    """Size the output now if a constant tells its shape."""
    if source.is_constant:
        context.resize_tensor(context.output(node, 0), shape_of(context, node))
    else:
        context.set_dynamic(context.output(node, 0))


class _Filling:
    """The state of a generator that compiled code moves on."""

    def __init__(self, seed: int, seed2: int, normal: bool) -> None:
        self._key = seed
        self._counter = np.array([0, seed2], np.uint64)
        self._normal = normal

    def calls(self, context: Context, y: Tensor) -> list[KernelCall]:
        if y.size == 0:
            return []
        args = np.zeros(1, RANDOM)
        args["size"], args["key"], args["normal"] = y.size, self._key, self._normal
        args["counter"] = self._counter.ctypes.data
        chunks = chunk_count(context, y.size * (_NORMAL_NS if self._normal else _UNIFORM_NS))
        return [
            KernelCall("random", "random_f32", args, {"y": y}, chunks, [self._counter]),
            KernelCall("random", "advance", args.copy(), {}, keep=[self._counter]),
        ]


def _filling(name: str, normal: bool) -> Registration:
    """An operator that fills a shape with float32 numbers, as many of a block as it has words."""

    def shape_of(context: Context, node: Node) -> Shape:
        return check_sizes(name, tuple(integers(context.input(node, 0))))

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        check_counts(name, node, 1)
        shape, y = context.input(node, 0), context.output(node, 0)
        check_index_type(name, "shape", shape)
        if len(shape.shape) != 1:
            raise PrepareError(f"{name}: shape must have 1 dimension, got {shape!r}")
        check_type(name, y)
        _size(context, node, shape_of, shape)
        node.user_data = filling = _Filling(*_seeds(node), normal)
        return filling.calls(context, y) if shape.is_constant else None

    def invoke(context: Context, node: Node) -> None:
        y, filling = context.output(node, 0), node.user_data
        assert isinstance(filling, _Filling)
        context.resize_tensor(y, shape_of(context, node))
        context.run_calls(node, filling.calls(context, y))

    return registration(name, prepare, invoke)


def _samples_shape(context: Context, node: Node) -> Shape:
    count = scalar_integer("MULTINOMIAL", "number of samples", context.input(node, 1))
    return check_sizes("MULTINOMIAL", (context.input(node, 0).shape[0], count))


def _prepare_multinomial(context: Context, node: Node) -> None:
    check_counts("MULTINOMIAL", node, 2)
    logits, count, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    check_type("MULTINOMIAL", logits)
    if len(logits.shape) != 2 or (logits.shape[0] and not logits.shape[1]):
        raise PrepareError(f"MULTINOMIAL: logits must be batch x classes, got {logits!r}")
    check_index_type("MULTINOMIAL", "output", y)
    _size(context, node, _samples_shape, count)
    node.user_data = PhiloxStream(*_seeds(node))


def _multinomial(context: Context, node: Node) -> None:
    """Draw classes by the exponentials of their logits; those that are not finite count as zero."""
    logits, y = context.input(node, 0).array(), context.output(node, 0)
    context.resize_tensor(y, _samples_shape(context, node))
    batch, count = y.shape
    stream = node.user_data
    assert isinstance(stream, PhiloxStream)
    samples = y.array().reshape(-1)
    row, totals = -1, np.empty(0)
    for begin in range(0, samples.size, _AT_ONCE):
        context.cancellation.check()
        end = min(begin + _AT_ONCE, samples.size)
        targets = uniform_f64(stream.blocks(-(-(end - begin) // 2)))
        at = begin
        while at < end:
            if row != at // count:
                row = at // count
                totals = _totals(logits[row])
            stop = min(end, (row + 1) * count)
            of_row = targets[at - begin : stop - begin] * totals[-1]
            samples[at:stop] = np.searchsorted(totals, of_row, side="right")
            at = stop
    used = -(-batch * count // 2)
    stream.skip(batch * -(-count // 4) * _RESERVED_BLOCKS - used)


def _totals(logits: np.ndarray) -> np.ndarray:
    """The weights of a row of classes, summed up."""
    row = logits.astype(np.float64)
    finite = np.isfinite(row)
    largest = row[finite].max(initial=-np.finfo(np.float32).max)
    return np.where(finite, np.exp(np.where(finite, row - largest, 0)), 0).cumsum()


REGISTRATIONS = (
    _filling("RANDOM_STANDARD_NORMAL", normal=True),
    _filling("RANDOM_UNIFORM", normal=False),
    registration("MULTINOMIAL", _prepare_multinomial, _multinomial),
)
