"""Rows of bytes that meet one element each are looked up in tables that stay: what whole operands give."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter, OpResolverType
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op


def opened(
    a: tuple[int, ...], b: tuple[int, ...], dtype: type, resolver: OpResolverType, threads: int = 1
) -> Interpreter:
    zero = 3 if dtype == np.int8 else 131
    kinds = [Kind(a, dtype, 0.07, zero), Kind(b, dtype, 0.05, zero - 9)]
    y = Kind(np.broadcast_shapes(a, b), dtype, 0.4, zero - 40)
    content = single_op(BuiltinOperator.SQUARED_DIFFERENCE, kinds, y, tflite.SquaredDifferenceOptionsT(), 2)
    interpreter = Interpreter(
        model_content=content, experimental_op_resolver_type=resolver, num_threads=threads
    )
    interpreter.allocate_tensors()
    return interpreter


def result(interpreter: Interpreter, *values: np.ndarray) -> np.ndarray:
    for i, value in enumerate(values):
        interpreter.set_tensor(i, value)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def remembers(interpreter: Interpreter) -> bool:
    (call,) = interpreter.core.subgraph().nodes[0].calls or ()
    return bool(call.args["memory"][0])


SHAPES = [((197, 192), (197, 1)), ((300, 1), (300, 33)), ((3, 1, 40, 100), (3, 2, 40, 1)), ((9000,), (1,))]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("resolver", [OpResolverType.AUTO, OpResolverType.BUILTIN_REF])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_tables_give_the_bytes_of_whole_operands(
    a: tuple[int, ...], b: tuple[int, ...], dtype: type, resolver: OpResolverType, threads: int
) -> None:
    shape = np.broadcast_shapes(a, b)
    short, whole = opened(a, b, dtype, resolver, threads), opened(shape, shape, dtype, resolver)
    assert remembers(short) and not remembers(whole)
    limits, random = np.iinfo(dtype), np.random.default_rng(7)
    for _ in range(3):
        x, y = (random.integers(limits.min, limits.max, s, dtype, endpoint=True) for s in (a, b))
        expected = result(whole, np.broadcast_to(x, shape), np.broadcast_to(y, shape))
        assert len(np.unique(expected)) > 50
        np.testing.assert_array_equal(result(short, x, y), expected)


def test_small_results_and_short_rows_take_no_memory() -> None:
    for a, b in (((64, 100), (64, 1)), ((3000, 8), (3000, 1)), ((200, 100), (100,))):
        assert not remembers(opened(a, b, np.int8, OpResolverType.AUTO))
