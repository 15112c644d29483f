"""The plain families together: in one model, in every precision, and what they leave to the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.delegates.cuda.delegate import CudaDelegate, CudaOptions
from numlite.delegates.cuda.families import FAMILIES
from numlite.schema import tflite

from .graphs import SAME, VALID, NetworkBuilder, Op, random_input
from .replays import STEMS, cases_of
from .simulation import (
    RESOLVERS,
    check_equal,
    interpreter_of,
    needs_triton,
    run,
    simulated,
    taken,
)

TOLERANCES = {"tf32x3": 1e-5, "float16": 1e-2, "bfloat16": 5e-2}
_LOWEST = {"int8": -128, "uint8": 0}


def _softmax(graph: NetworkBuilder, x: int, columns: int) -> int:
    quantized = {} if graph.type == "float32" else {"scale": 1 / 256, "zero_point": _LOWEST[graph.type]}
    signature = [-1, columns]
    y = graph.tensor((1, columns), np.dtype(graph.type), shape_signature=signature, **quantized)
    graph.op(Op.SOFTMAX, [x], [y], tflite.SoftmaxOptionsT(beta=1.0))
    return y


def _pooled(graph: NetworkBuilder, code: int, x: int, side: int, columns: int) -> int:
    y = graph.value((1, side // 2, side // 2, columns))
    options = tflite.Pool2DOptionsT(padding=VALID, filter_height=2, filter_width=2, stride_h=2, stride_w=2)
    graph.op(code, [x], [y], options)  # type: ignore[arg-type]
    return y


def family_model(type: str) -> bytes:
    """A padded convolution, LOGISTIC, both pools, RESIZE, TRANSPOSE, CONCATENATION, SLICE, MEAN, SOFTMAX."""
    graph = NetworkBuilder(type)
    x = graph.value((1, 6, 6, 3), name="x")
    padded = graph.value((1, 8, 8, 3))
    graph.op(Op.PAD, [x, graph.constant([[0, 0], [1, 1], [1, 1], [0, 0]])], [padded])
    a, shape = graph.conv(padded, (1, 8, 8, 3), 8, 1)
    b = graph.unary(Op.LOGISTIC, a, shape)
    largest, average = (_pooled(graph, code, b, 8, 8) for code in (Op.MAX_POOL_2D, Op.AVERAGE_POOL_2D))
    resized = graph.value((1, 7, 5, 8))
    graph.op(
        Op.RESIZE_BILINEAR, [largest, graph.constant([7, 5])], [resized], tflite.ResizeBilinearOptionsT()
    )
    turned = graph.value((1, 5, 7, 8))
    graph.op(Op.TRANSPOSE, [resized, graph.constant([0, 2, 1, 3])], [turned])
    cut = graph.value((1, 4, 4, 8))
    graph.op(Op.SLICE, [turned, graph.constant([0, 1, 2, 0]), graph.constant([-1, 4, 4, 8])], [cut])
    both = graph.value((1, 4, 4, 16))
    graph.op(Op.CONCATENATION, [cut, average], [both], tflite.ConcatenationOptionsT(axis=3))
    mean = graph.value((1, 16))
    graph.op(Op.MEAN, [both, graph.constant([1, 2])], [mean], tflite.ReducerOptionsT())
    return graph.build([x], [_softmax(graph, mean, 16), both])


@needs_triton
@pytest.mark.parametrize("numerics", RESOLVERS)
@pytest.mark.parametrize("type", ("float32", "int8", "uint8"))
def test_families_in_a_model(type: str, numerics: str) -> None:
    check_equal(family_model(type), [random_input(type, (3, 6, 6, 3))], numerics)


@needs_triton
@pytest.mark.parametrize("precision", TOLERANCES)
def test_precisions(precision: str) -> None:
    x = random_input("float32", (2, 6, 6, 3))
    check_equal(family_model("float32"), [x], precision=precision, rtol=TOLERANCES[precision])


@needs_triton
def test_another_batch_compiles_nothing() -> None:
    delegate = simulated()
    interpreter = interpreter_of(family_model("int8"), delegate)
    seen = []
    for batch in (2, 5):
        run(interpreter, [random_input("int8", (batch, 6, 6, 3))])
        seen.append({kernel for kernel in delegate.device.loaded if kernel.source != "conv"})  # type: ignore[union-attr]
    assert seen[0] == seen[1] and len(seen[0]) >= 7


@needs_triton
@pytest.mark.parametrize("type", ("float32", "int8"))
@pytest.mark.parametrize("code", (Op.AVERAGE_POOL_2D, Op.MAX_POOL_2D))
def test_windows_far_larger_than_the_image(code: int, type: str) -> None:
    """A window is walked as far as there is an image, whatever the file says."""
    graph, shape = NetworkBuilder(type), (1, 4, 5, 3)
    x, y = graph.value(shape, name="x"), graph.value((1, 2, 2, 3))
    options = tflite.Pool2DOptionsT(
        padding=SAME, filter_height=2**31 - 1, filter_width=10**6, stride_h=2, stride_w=3
    )
    graph.op(code, [x], [y], options)  # type: ignore[arg-type]
    check_equal(graph.build([x], [y]), [random_input(type, shape)])


def test_every_family_takes_something() -> None:
    """Without a device: each operator of each family is claimed in a case, so that a replay shows it."""
    missing = set(FAMILIES)
    for stem in STEMS:
        for case in cases_of(stem):
            name = case.id.partition("-")[0]
            if missing and (name in missing or name not in FAMILIES):
                missing -= _claimed(case.make())
    assert not missing


def _claimed(model: bytes) -> set[str]:
    delegate = CudaDelegate(CudaOptions(arch=90))
    interpreter = interpreter_of(model, delegate)
    interpreter.allocate_tensors()
    subgraph = interpreter.core.subgraphs[0]
    nodes = [node for node in subgraph.nodes if node.delegate is delegate]
    replaced = {n for node in nodes for n in node.options.nodes_to_replace}
    return {subgraph.nodes[n].registration.name for n in replaced}


def _alternating_tile() -> bytes:
    graph = NetworkBuilder("float32")
    shape = (2, 2, 2, 2)
    x, y = graph.value(shape), graph.value((4, 4, 4, 4))
    graph.op(Op.TILE, [x, graph.constant([2, 2, 2, 2])], [y])
    return graph.build([x], [y])


LEFT_OUT = {
    "a copy of eight loops": (_alternating_tile, [random_input("float32", (2, 2, 2, 2))], "6 loops"),
}


@needs_triton
@pytest.mark.parametrize("what", LEFT_OUT)
def test_left_to_the_cpu(what: str) -> None:
    make, inputs, why = LEFT_OUT[what]
    delegate = simulated()
    interpreter = interpreter_of(make(), delegate)
    (got,) = run(interpreter, inputs)
    assert taken(delegate, interpreter) == 0
    (reason,) = delegate._reasons.values()
    assert why in reason
    (expected,) = run(interpreter_of(make()), inputs)
    np.testing.assert_array_equal(got, expected)
