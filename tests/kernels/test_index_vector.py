"""Values that are known in prepare: sizes made from an input's shape follow it, whatever it was before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numlite.interpreter import Interpreter, OpResolverType
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.control_flow import while_model
from ..delegates.numpy_delegate import NumpyDelegate
from ..model_builder import ModelBuilder, SubgraphBuilder

LENGTHS = [4, 7, 3000, 5, 1, 2000, 4]  # 3000 numbers are too many to be known in prepare


def length_of(graph: SubgraphBuilder, x: int) -> int:
    """The first size of x, a scalar."""
    shape, n = graph.tensor((1,), np.int32), graph.tensor((), np.int32)
    graph.op(BuiltinOperator.SHAPE, [x], [shape], tflite.ShapeOptionsT(out_type=tflite.TensorType.INT32))
    options = tflite.StridedSliceOptionsT(shrink_axis_mask=1)
    bounds = [graph.constant([value]) for value in (0, 1, 1)]
    graph.op(BuiltinOperator.STRIDED_SLICE, [shape, *bounds], [n], options)
    return n


def positions(graph: SubgraphBuilder, x: int) -> int:
    """0, 1, ... as many as x is long."""
    y = graph.tensor((1,), np.int32, shape_signature=[-1])
    ends = [graph.constant(np.array(value, np.int32)) for value in (0, 1)]
    graph.op(BuiltinOperator.RANGE, [ends[0], length_of(graph, x), ends[1]], [y], tflite.RangeOptionsT())
    return y


def shape_of_column(graph: SubgraphBuilder, x: int) -> int:
    """[length of x, 1]."""
    y = graph.tensor((2,), np.int32)
    parts = [length_of(graph, x), graph.constant(np.array(1, np.int32))]
    graph.op(BuiltinOperator.PACK, parts, [y], tflite.PackOptionsT(values_count=2))
    return y


def _range(graph: SubgraphBuilder, x: int) -> int:
    return positions(graph, x)


def _reshaped(graph: SubgraphBuilder, x: int) -> int:
    y = graph.tensor((1, 1), np.int32)
    graph.op(BuiltinOperator.RESHAPE, [positions(graph, x), shape_of_column(graph, x)], [y])
    return y


def _expanded(graph: SubgraphBuilder, x: int) -> int:
    y = graph.tensor((1, 1), np.int32)
    graph.op(BuiltinOperator.EXPAND_DIMS, [positions(graph, x), graph.constant([0])], [y])
    return y


def _packed(graph: SubgraphBuilder, x: int) -> int:
    y, r = graph.tensor((1, 2), np.int32), positions(graph, x)
    graph.op(BuiltinOperator.PACK, [r, r], [y], tflite.PackOptionsT(values_count=2, axis=1))
    return y


def _joined(graph: SubgraphBuilder, x: int) -> int:
    y, r = graph.tensor((2,), np.int32), positions(graph, x)
    graph.op(BuiltinOperator.CONCATENATION, [r, r], [y], tflite.ConcatenationOptionsT())
    return y


def _gathered(graph: SubgraphBuilder, x: int) -> int:
    y, r = graph.tensor((1,), np.int32), positions(graph, x)
    graph.op(BuiltinOperator.GATHER, [r, r], [y], tflite.GatherOptionsT())
    return y


def _sliced(graph: SubgraphBuilder, x: int) -> int:
    y = graph.tensor((1,), np.int32)
    bounds = [graph.constant([0]), graph.constant([-1])]
    graph.op(BuiltinOperator.SLICE, [positions(graph, x), *bounds], [y])
    return y


def _tiled(graph: SubgraphBuilder, x: int) -> int:
    y = graph.tensor((1, 1), np.int32)
    graph.op(BuiltinOperator.TILE, [graph.constant([[0]]), shape_of_column(graph, x)], [y])
    return y


MAKERS: dict[Callable[[SubgraphBuilder, int], int], Callable[[int], np.ndarray]] = {
    _range: np.arange,
    _reshaped: lambda n: np.arange(n).reshape(n, 1),
    _expanded: lambda n: np.arange(n).reshape(1, n),
    _packed: lambda n: np.stack([np.arange(n)] * 2, 1),
    _joined: lambda n: np.tile(np.arange(n), 2),
    _gathered: np.arange,
    _sliced: np.arange,
    _tiled: lambda n: np.zeros((n, 1)),
}

RESOLVERS = [OpResolverType.AUTO, OpResolverType.BUILTIN_REF]


def ready(model: bytes, n: int, interpreter: Interpreter | None = None, **settings: object) -> Interpreter:
    """An interpreter (a new one if none is given) whose last input has n rows."""
    interpreter = interpreter or Interpreter(model_content=model, **settings)
    detail = interpreter.get_input_details()[-1]
    interpreter.resize_tensor_input(detail["index"], [n, *detail["shape"][1:]])
    interpreter.allocate_tensors()
    return interpreter


def run(interpreter: Interpreter, *values: np.ndarray) -> np.ndarray:
    """The last output."""
    for detail, value in zip(interpreter.get_input_details(), values, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[-1]["index"])


@pytest.mark.parametrize("resolver", RESOLVERS, ids=lambda resolver: resolver.name)
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_known_values_follow_the_length(
    make: Callable[[SubgraphBuilder, int], int], resolver: OpResolverType
) -> None:
    model = ModelBuilder()
    x = model.tensor((2, 3), shape_signature=[-1, 3])
    content = model.build([x], [make(model, x)])
    interpreter = None
    for n in LENGTHS:
        interpreter = ready(content, n, interpreter, experimental_op_resolver_type=resolver)
        y = run(interpreter, np.zeros((n, 3), np.float32))
        np.testing.assert_array_equal(y, MAKERS[make](n))


def counted(graph: SubgraphBuilder, x: int) -> int:
    """x plus its positions: ADD and MUL, so that there is something to delegate."""
    r, twice, y = graph.tensor((1,)), graph.tensor((1,)), graph.tensor((1,))
    options = tflite.CastOptionsT(
        in_data_type=tflite.TensorType.INT32, out_data_type=tflite.TensorType.FLOAT32
    )
    graph.op(BuiltinOperator.CAST, [positions(graph, x)], [r], options)
    graph.op(BuiltinOperator.ADD, [x, r], [twice], tflite.AddOptionsT())
    graph.op(BuiltinOperator.MUL, [twice, graph.constant(np.float32([2]))], [y], tflite.MulOptionsT())
    return y


def _plain_model() -> bytes:
    model = ModelBuilder()
    x = model.tensor((1,), shape_signature=[-1])
    return model.build([x], [counted(model, x)])


@pytest.mark.parametrize("delegated", [[], ["ADD"], ["ADD", "MUL"]])
def test_known_values_beside_a_delegate(delegated: Sequence[str]) -> None:
    delegates = [NumpyDelegate(*delegated)] if delegated else None
    interpreter = Interpreter(model_content=_plain_model(), experimental_delegates=delegates)
    for n in LENGTHS:
        x = np.linspace(0, 1, n, dtype=np.float32)
        y = run(ready(b"", n, interpreter), x)
        np.testing.assert_array_equal(y, (x + np.arange(n, dtype=np.float32)) * 2)


@pytest.mark.parametrize("resolver", RESOLVERS, ids=lambda resolver: resolver.name)
def test_known_values_in_a_loop(resolver: OpResolverType) -> None:
    model = while_model([(1,)], lambda body, inputs: [counted(body, inputs[1])], [-1])
    interpreter = None
    for n in LENGTHS:
        interpreter = ready(model, n, interpreter, experimental_op_resolver_type=resolver)
        expected = x = np.linspace(0, 1, n, dtype=np.float32)
        for _ in range(3):
            expected = (expected + np.arange(n, dtype=np.float32)) * 2
        np.testing.assert_array_equal(run(interpreter, np.array([2], np.int32), x), expected)


def _branches() -> bytes:
    model = ModelBuilder()
    branches = []
    for name, make in (("then", counted), ("else", lambda graph, x: x)):
        graph = model.add_subgraph(name)
        x = graph.tensor((1,), shape_signature=[-1])
        graph.finish([x], [make(graph, x)])
        branches.append(graph.index)
    condition, x, y = model.tensor((), np.bool_), model.tensor((1,)), model.tensor((1,))
    options = tflite.IfOptionsT(then_subgraph_index=branches[0], else_subgraph_index=branches[1])
    model.op(BuiltinOperator.IF, [condition, x], [y], options)
    return model.build([condition, x], [y])


def test_known_values_in_a_branch() -> None:
    model, interpreter = _branches(), None
    for n in LENGTHS:
        interpreter = ready(model, n, interpreter)
        x = np.linspace(0, 1, n, dtype=np.float32)
        expected = (x + np.arange(n, dtype=np.float32)) * 2
        np.testing.assert_array_equal(run(interpreter, np.array(True), x), expected)
        np.testing.assert_array_equal(run(interpreter, np.array(False), x), x)
