"""Which partitions stay on the CPU because they are too small."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numlite.delegates import load_delegate
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions

from ...model_builder import ModelBuilder
from .graphs import NetworkBuilder, Op, conv_model
from .simulation import interpreter_of, taken


def judged(model: bytes, **options: object) -> tuple[int, CudaDelegate]:
    """How many operators a delegate takes that judges partitions."""
    delegate = CudaDelegate(CudaOptions(arch=90, min_nodes=0, **options))  # type: ignore[arg-type]
    return taken(delegate, interpreter_of(model, delegate)), delegate


def matmul(depth: int) -> bytes:
    graph = NetworkBuilder("float32")
    x = graph.tensor((1, depth))
    w, b = graph.filter((depth, depth))
    y = graph.tensor((1, depth))
    graph.op(Op.FULLY_CONNECTED, [x, w, b], [y])
    return graph.build([x], [y])


def unary_chain(length: int, size: int, open_batch: bool = False) -> bytes:
    graph = ModelBuilder()
    signature = [-1, size] if open_batch else None
    values = [graph.tensor((1, size), shape_signature=signature) for _ in range(length + 1)]
    for x, y in pairwise(values):
        graph.op(Op.ABS, [x], [y])
    return graph.build([values[0]], [values[-1]])


_MODELS = {
    "a small matrix product": (lambda: matmul(32), 0),
    "a large matrix product": (lambda: matmul(2048), 1),
    "one pass over much": (lambda: unary_chain(1, 1 << 22), 0),
    "four passes over much": (lambda: unary_chain(4, 1 << 22), 4),
    "four passes over little": (lambda: unary_chain(4, 1 << 10), 0),
    "a convolution": (lambda: conv_model("int8", (1, 56, 56, 64), 64), 1),
    "a small convolution": (lambda: conv_model("int8", (1, 4, 4, 8), 8), 0),
}


@pytest.mark.parametrize("name", _MODELS)
def test_judgement(name: str) -> None:
    make, expected = _MODELS[name]
    assert judged(make(), batches=(1,))[0] == expected


def test_an_open_batch_is_judged_at_the_largest() -> None:
    model = unary_chain(8, 1 << 12, open_batch=True)
    assert judged(model, batches=(1,))[0] == 0
    assert judged(model, batches=(1, 64))[0] == 8


def test_the_reason_is_shown() -> None:
    _, delegate = judged(matmul(32))
    assert "would take longer on the device" in (delegate.why_left_out(0, 0) or "")
    assert "min_nodes=1" in (delegate.why_left_out(0, 0) or "")


def test_a_number_of_nodes_is_not_a_judgement() -> None:
    for min_nodes, expected in (("1", 3), ("3", 3), ("4", 0)):
        delegate = load_delegate("cuda", {"arch": "90", "min_nodes": min_nodes})
        assert isinstance(delegate, CudaDelegate)
        assert taken(delegate, interpreter_of(unary_chain(3, 4), delegate)) == expected


def test_texts_judge_and_the_class_does_not() -> None:
    delegate = load_delegate("cuda", {"arch": "90"})
    assert isinstance(delegate, CudaDelegate)
    assert taken(delegate, interpreter_of(unary_chain(3, 4), delegate)) == 0
    mine = CudaDelegate(CudaOptions(arch=90))
    assert taken(mine, interpreter_of(unary_chain(3, 4), mine)) == 3


def test_what_stays_on_the_device_is_no_border() -> None:
    """Two partitions that meet at a large tensor: it is not copied, so that each is worth its trip."""
    graph, shape = NetworkBuilder("float32"), (1, 64, 64, 64)
    x = graph.tensor((1, 1, 1, 64))
    wide = graph.tensor(shape)
    graph.op(Op.BROADCAST_TO, [x, graph.constant(np.array(shape, np.int32))], [wide])
    y = graph.tensor((1, 64))
    graph.op(Op.MEAN, [wide, graph.constant([1, 2])], [y])
    model = graph.build([x], [y])
    delegate = CudaDelegate(CudaOptions(arch=90, min_nodes=0))
    assert taken(delegate, interpreter_of(model, delegate)) == 2
