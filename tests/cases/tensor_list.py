"""Cases of lists of tensors: the TensorList operators, VariantAddN and VariantZerosLike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator, TensorType

from ..model_builder import ModelBuilder, SubgraphBuilder
from .case import NO_KERNEL, Case

_X = np.arange(6, dtype=np.float32).reshape(3, 2)
_ITEM = np.array([7, 8], np.float32)
_ANY = np.array(-1, np.int32)


def list_op(graph: SubgraphBuilder, name: str, inputs: Sequence[int], options: bytes = b"") -> int:
    """An operator whose output is a list: its tensor."""
    y = graph.tensor((), TensorType.VARIANT)
    graph.op(BuiltinOperator.CUSTOM, inputs, [y], custom_code=name, custom_options=options)
    return y


def read_op(
    graph: SubgraphBuilder,
    name: str,
    inputs: Sequence[int],
    dtype: type = np.float32,
    shape: Sequence[int] | None = None,
) -> int:
    """An operator whose output is no list: its tensor. Its shape is open unless given."""
    y = graph.tensor(shape or (), dtype, shape_signature=shape)
    graph.op(BuiltinOperator.CUSTOM, inputs, [y], custom_code=name)
    return y


def reserve(graph: SubgraphBuilder, element_shape: np.ndarray, length: int, dtype: TensorType) -> int:
    sizes = [graph.constant(element_shape), graph.constant(np.array(length, np.int32))]
    return list_op(graph, "TensorListReserve", sizes, bytes([dtype]))


def _shape(*sizes: int) -> np.ndarray:
    return np.array(sizes, np.int32)


def from_tensor(graph: SubgraphBuilder, x: int, element_shape: np.ndarray) -> int:
    return list_op(graph, "TensorListFromTensor", [x, graph.constant(element_shape)])


def stack(graph: SubgraphBuilder, held: int, shape: np.ndarray = _ANY, dtype: type = np.float32) -> int:
    return read_op(graph, "TensorListStack", [held, graph.constant(shape)], dtype)


def _read_all(graph: SubgraphBuilder, held: int) -> list[int]:
    """Its stacked elements, length and element shape."""
    length = read_op(graph, "TensorListLength", [held], np.int32)
    return [stack(graph, held), length, read_op(graph, "TensorListElementShape", [held], np.int32)]


def _from_tensor_model() -> bytes:
    model = ModelBuilder()
    x = model.tensor((3, 2))
    return model.build([x], _read_all(model, from_tensor(model, x, _shape(-1))))


def _set_model(dtype: type, code: TensorType, static: bool) -> bytes:
    """Four reserved places, one of which is set; that one, an unset one and all."""
    model = ModelBuilder()
    item, at = model.tensor((2,), dtype), model.tensor((), np.int32)
    held = list_op(model, "TensorListSetItem", [reserve(model, _shape(2), 4, code), at, item])
    zeroth = model.constant(np.array(0, np.int32))
    shape = (2,) if static else None
    items = [
        read_op(model, "TensorListGetItem", [held, i, model.constant(_ANY)], dtype, shape)
        for i in (at, zeroth)
    ]
    return model.build([item, at], [*items, stack(model, held, dtype=dtype)])


def _set(item: np.ndarray, at: np.ndarray) -> list[np.ndarray]:
    everything = np.zeros((max(4, int(at) + 1), 2), item.dtype)
    everything[at] = item
    return [item, everything[0], everything]


def _push_and_pop_model() -> bytes:
    """Push an item twice, pop it; the element, and what is left."""
    model = ModelBuilder()
    x, item = model.tensor((3, 2)), model.tensor((2,))
    held = from_tensor(model, x, _shape(2))
    for _ in range(2):
        held = list_op(model, "TensorListPushBack", [held, item])
    left, last = model.tensor((), TensorType.VARIANT), model.tensor((), np.float32)
    shape = model.constant(_ANY)
    model.op(BuiltinOperator.CUSTOM, [held, shape], [left, last], custom_code="TensorListPopBack")
    return model.build([x, item], [last, *_read_all(model, left)])


def _resize_model(length: int) -> bytes:
    model = ModelBuilder()
    x = model.tensor((3, 2))
    held = from_tensor(model, x, _shape(2))
    resized = list_op(model, "TensorListResize", [held, model.constant(np.array(length, np.int32))])
    return model.build([x], _read_all(model, resized))


def _resized(x: np.ndarray, length: int) -> list[np.ndarray]:
    rows = np.zeros((length, 2), x.dtype)
    rows[: len(x)] = x[:length]
    return [rows, np.int32(length), _shape(2)]


def _sum_model() -> bytes:
    """Sums with a list one place of which is set, and with zeros."""
    model = ModelBuilder()
    x, item = model.tensor((3, 2)), model.tensor((2,))
    held = from_tensor(model, x, _shape(2))
    empty = reserve(model, _shape(-1), 3, TensorType.FLOAT32)
    one = list_op(model, "TensorListSetItem", [empty, model.constant(np.array(1, np.int32)), item])
    zeros = list_op(model, "VariantZerosLike", [held])
    total = list_op(model, "VariantAddN", [held, one, zeros, held])
    return model.build([x, item], _read_all(model, total))


def _sum(x: np.ndarray, item: np.ndarray) -> list[np.ndarray]:
    total = x + x
    total[1] += item
    return [total, np.int32(3), _shape(2)]


def _scalars_model() -> bytes:
    """Elements of the shape [1] are stacked as scalars are."""
    model = ModelBuilder()
    x = model.tensor((3, 1))
    return model.build([x], [stack(model, from_tensor(model, x, _shape(1)))])


def _while_model() -> bytes:
    """(i, list, x) -> places i to 4 of a list of 5 set to x times i; the list then goes through IF."""
    model = ModelBuilder()

    def values(graph: SubgraphBuilder) -> list[int]:
        return [
            graph.tensor((), np.int32),
            graph.tensor((), TensorType.VARIANT),
            graph.tensor((2,)),
        ]

    condition = model.add_subgraph("condition")
    inputs = values(condition)
    less = condition.tensor((), np.bool_)
    condition.op(BuiltinOperator.LESS, [inputs[0], condition.constant(np.array(5, np.int32))], [less])
    condition.finish(inputs, [less])
    body = model.add_subgraph("body")
    inputs = values(body)
    i, held, x = inputs
    turn, scaled, following = body.tensor(()), body.tensor((2,)), body.tensor((), np.int32)
    body.op(BuiltinOperator.CAST, [i], [turn])
    body.op(BuiltinOperator.MUL, [x, turn], [scaled], tflite.MulOptionsT())
    changed = list_op(body, "TensorListSetItem", [held, i, scaled])
    one = body.constant(np.array(1, np.int32))
    body.op(BuiltinOperator.ADD, [i, one], [following], tflite.AddOptionsT())
    body.finish(inputs, [following, changed, x])
    branches = []
    for name in ("VariantZerosLike", None):
        branch = model.add_subgraph(f"branch {name}")
        held = branch.tensor((), TensorType.VARIANT)
        branch.finish([held], [held if name is None else list_op(branch, name, [held])])
        branches.append(branch.index)
    first, x, clear = model.tensor((), np.int32), model.tensor((2,)), model.tensor((), np.bool_)
    inputs = [first, reserve(model, _shape(2), 5, TensorType.FLOAT32), x]
    outputs = values(model)
    loop = tflite.WhileOptionsT(cond_subgraph_index=condition.index, body_subgraph_index=body.index)
    model.op(BuiltinOperator.WHILE, inputs, outputs, loop)
    chosen = model.tensor((), TensorType.VARIANT)
    choice = tflite.IfOptionsT(then_subgraph_index=branches[0], else_subgraph_index=branches[1])
    model.op(BuiltinOperator.IF, [clear, outputs[1]], [chosen], choice)
    return model.build([first, x, clear], [outputs[0], stack(model, outputs[1]), stack(model, chosen)])


def _while(first: np.ndarray, x: np.ndarray, clear: np.ndarray) -> list[np.ndarray]:
    rows = np.zeros((5, 2), np.float32)
    for i in range(int(first), 5):
        rows[i] = x * np.float32(i)
    return [np.int32(max(int(first), 5)), rows, np.zeros_like(rows) if clear else rows]


def _case(id: str, model: bytes, inputs: Sequence[np.ndarray], oracle: object) -> Case:
    assert callable(oracle)
    return Case(
        f"tensor_list-{id}",
        lambda: model,
        inputs,
        oracle,
        litert_default=NO_KERNEL,
        litert_reference=NO_KERNEL,
    )


CASES = [
    _case("from_tensor", _from_tensor_model(), [_X], lambda x: [x, np.int32(3), _shape(-1)]),
    *(
        _case(
            f"set-{np.dtype(dtype).name}-{at}{'-static' if static else ''}",
            _set_model(dtype, code, static),
            [_ITEM.astype(dtype), np.array(at, np.int32)],
            _set,
        )
        for dtype, code in (
            (np.float32, TensorType.FLOAT32),
            (np.int32, TensorType.INT32),
            (np.int64, TensorType.INT64),
            (np.bool_, TensorType.BOOL),
        )
        for at, static in ((2, False), (3, True), (6, False))
    ),
    _case(
        "push_and_pop",
        _push_and_pop_model(),
        [_X, _ITEM],
        lambda x, item: [item, np.concatenate([x, item[None]]), np.int32(4), _shape(2)],
    ),
    *(
        _case(f"resize-{length}", _resize_model(length), [_X], lambda x, n=length: _resized(x, n))
        for length in (0, 2, 5)
    ),
    _case("add_n", _sum_model(), [_X, _ITEM], _sum),
    _case("scalars", _scalars_model(), [_X[:, :1]], lambda x: x[:, 0]),
    *(
        _case(
            f"while-{first}-{clear}",
            _while_model(),
            [np.array(first, np.int32), _ITEM, np.array(clear)],
            _while,
        )
        for first in (0, 3, 7)
        for clear in (False, True)
    ),
]
