"""Bodies of reductions that do not fit: an error that says what the body must be."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.errors import ModelError, PrepareError
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder, SubgraphBuilder


def _itself(body: SubgraphBuilder, a: int, b: int) -> list[int]:
    y = body.tensor(())
    options = tflite.StablehloReduceOptionsT(dimensions=[], body_subgraph_index=body.index)
    body.op(BuiltinOperator.STABLEHLO_REDUCE, [a, b], [y], options)
    return [y]


def _other_type(body: SubgraphBuilder, a: int, b: int) -> list[int]:
    y = body.tensor((), np.int32)
    body.op(BuiltinOperator.CAST, [a], [y])
    return [y]


def _vector(body: SubgraphBuilder, a: int, b: int) -> list[int]:
    y = body.tensor((2,))
    body.op(BuiltinOperator.PACK, [a, b], [y], tflite.PackOptionsT(values_count=2))
    return [y]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_itself, "calls itself"),
        (_other_type, "the body must give scalars of its inputs' types"),
        (_vector, "the body must give scalars of its inputs' types"),
        (lambda body, a, b: [a, b], "must have 2 inputs and 1 outputs, got 2 and 2"),
    ],
)
def test_bodies_that_do_not_fit(make: object, message: str) -> None:
    assert callable(make)
    model = ModelBuilder()
    body = model.add_subgraph("body")
    a, b = body.tensor(()), body.tensor(())
    body.finish([a, b], make(body, a, b))
    x, start, y = model.tensor((3,)), model.constant(np.array(0, np.float32)), model.tensor(())
    options = tflite.StablehloReduceOptionsT(dimensions=[0], body_subgraph_index=body.index)
    model.op(BuiltinOperator.STABLEHLO_REDUCE, [x, start], [y], options)
    with pytest.raises((ModelError, PrepareError), match=message):
        Interpreter(model_content=model.build([x], [y])).allocate_tensors()
