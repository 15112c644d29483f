"""Cases of IF, WHILE, STABLEHLO_CASE and STABLEHLO_COMPOSITE."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder, SubgraphBuilder
from .case import NO_KERNEL, Case, Differs

_NO_ATTRIBUTES = b"\x00\x00\x01\x00\x00$\x01\x03$\x01"  # an empty map in FlexBuffers' coding
_OVERWRITES = Differs("LiteRT writes a value's next one over it before another value has taken it over")


_ADDEND = np.array([1, 0.5], np.float32)
_X = np.array([[1.5, -2.0, 3.0]], np.float32)


def unary_subgraph(model: ModelBuilder, code: BuiltinOperator, shape: tuple[int, ...]) -> int:
    """A subgraph of one operator without options; its number."""
    graph = model.add_subgraph(code.name.lower())
    x, y = graph.tensor(shape), graph.tensor(shape)
    graph.op(code, [x], [y])
    graph.finish([x], [y])
    return graph.index


def if_model(then: BuiltinOperator, other: BuiltinOperator, same: bool = False) -> bytes:
    """IF of a bool and x: `then` or `other` of x. same: both branches are one subgraph."""
    model = ModelBuilder()
    condition, x, y = model.tensor((1,), np.bool_), model.tensor((1, 3)), model.tensor((1, 3))
    first = unary_subgraph(model, then, (1, 3))
    second = first if same else unary_subgraph(model, other, (1, 3))
    options = tflite.IfOptionsT(then_subgraph_index=first, else_subgraph_index=second)
    model.op(BuiltinOperator.IF, [condition, x], [y], options)
    return model.build([condition, x], [y])


def pass_through_model() -> bytes:
    """IF whose first branch returns its inputs swapped and whose second doubles them."""
    model = ModelBuilder()
    condition = model.tensor((), np.bool_)
    inputs, outputs = [model.tensor((2,)) for _ in range(2)], [model.tensor((2,)) for _ in range(2)]
    swap = model.add_subgraph("swap")
    a, b = swap.tensor((2,)), swap.tensor((2,))
    swap.finish([a, b], [b, a])
    twice = model.add_subgraph("twice")
    a, b, a2, b2 = (twice.tensor((2,)) for _ in range(4))
    twice.op(BuiltinOperator.ADD, [a, a], [a2], tflite.AddOptionsT())
    twice.op(BuiltinOperator.ADD, [b, b], [b2], tflite.AddOptionsT())
    twice.finish([a, b], [a2, b2])
    options = tflite.IfOptionsT(then_subgraph_index=swap.index, else_subgraph_index=twice.index)
    model.op(BuiltinOperator.IF, [condition, *inputs], outputs, options)
    return model.build([condition, *inputs], outputs)


Body = Callable[[SubgraphBuilder, list[int]], list[int]]


def while_model(
    shapes: list[tuple[int, ...]],
    body_of: Body,
    signature: list[int] | None = None,
    code: BuiltinOperator = BuiltinOperator.WHILE,
) -> bytes:
    """Counts i from its input up to 5; body_of makes the other values' next ones."""
    model = ModelBuilder()

    def values(graph: SubgraphBuilder) -> list[int]:
        return [graph.tensor((1,), np.int32), *(graph.tensor(s, shape_signature=signature) for s in shapes)]

    condition = model.add_subgraph("condition")
    inputs = values(condition)
    less = condition.tensor((1,), np.bool_)
    condition.op(BuiltinOperator.LESS, [inputs[0], condition.constant([5])], [less])
    condition.finish(inputs, [less])
    body = model.add_subgraph("body")
    inputs = values(body)
    count = body.tensor((1,), np.int32)
    body.op(BuiltinOperator.ADD, [inputs[0], body.constant([1])], [count], tflite.AddOptionsT())
    body.finish(inputs, [count, *body_of(body, inputs)])
    inputs, outputs = values(model), values(model)
    table = tflite.WhileOptionsT if code == BuiltinOperator.WHILE else tflite.StablehloWhileOptionsT
    options = table(cond_subgraph_index=condition.index, body_subgraph_index=body.index)
    model.op(code, inputs, outputs, options)
    return model.build(inputs, outputs)


def _rotate(body: SubgraphBuilder, inputs: list[int]) -> list[int]:
    """(a, b, c) -> (b, c, a): all next values are inputs."""
    _, a, b, c = inputs
    return [b, c, a]


def _rotate_oracle(i: np.ndarray, *values: np.ndarray) -> list[np.ndarray]:
    turns = max(0, 5 - int(i[0]))
    return [i + turns, *(values[(k + turns) % 3] for k in range(3))]


def _accumulate(body: SubgraphBuilder, inputs: list[int]) -> list[int]:
    """(a, b) -> (a + b, b)."""
    total = body.tensor((1, 3))
    body.op(BuiltinOperator.ADD, [inputs[1], inputs[2]], [total], tflite.AddOptionsT())
    return [total, inputs[2]]


def _accumulate_oracle(i: np.ndarray, a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    turns = max(0, 5 - int(i[0]))
    for _ in range(turns):
        a = a + b
    return [i + turns, a, b]


def _grow(body: SubgraphBuilder, inputs: list[int]) -> list[int]:
    """a -> a joined to itself: another shape each time."""
    longer = body.tensor((2,), shape_signature=[-1])
    body.op(BuiltinOperator.CONCATENATION, [inputs[1], inputs[1]], [longer], tflite.ConcatenationOptionsT())
    return [longer]


def _grow_oracle(i: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
    turns = max(0, 5 - int(i[0]))
    return [i + turns, np.tile(a, 2**turns)]


def nested_model() -> bytes:
    """While i < 3: i + 1, and a + b four times in a loop within."""
    model = ModelBuilder()
    less_than = [model.add_subgraph(f"less than {limit}") for limit in (3, 4)]
    for graph, limit in zip(less_than, (3, 4), strict=True):
        count, a, less = graph.tensor((1,), np.int32), graph.tensor((2,)), graph.tensor((1,), np.bool_)
        graph.op(BuiltinOperator.LESS, [count, graph.constant([limit])], [less])
        graph.finish([count, a], [less])
    inner, outer = model.add_subgraph("inner"), model.add_subgraph("outer")
    for graph in (inner, outer):
        count, a, total = graph.tensor((1,), np.int32), graph.tensor((2,)), graph.tensor((2,))
        more = graph.tensor((1,), np.int32)
        graph.op(BuiltinOperator.ADD, [count, graph.constant([1])], [more], tflite.AddOptionsT())
        if graph is inner:
            addend = graph.constant(_ADDEND)
            graph.op(BuiltinOperator.ADD, [a, addend], [total], tflite.AddOptionsT())
        else:
            ends = graph.tensor((1,), np.int32)
            options = tflite.WhileOptionsT(
                cond_subgraph_index=less_than[1].index, body_subgraph_index=inner.index
            )
            graph.op(BuiltinOperator.WHILE, [graph.constant([0]), a], [ends, total], options)
        graph.finish([count, a], [more, total])
    inputs = [model.tensor((1,), np.int32), model.tensor((2,))]
    outputs = [model.tensor((1,), np.int32), model.tensor((2,))]
    options = tflite.WhileOptionsT(cond_subgraph_index=less_than[0].index, body_subgraph_index=outer.index)
    model.op(BuiltinOperator.WHILE, inputs, outputs, options)
    return model.build(inputs, outputs)


def uneven_model() -> bytes:
    """IF whose branches have outputs of different shapes: x twice, or -x; the result negated."""
    model = ModelBuilder()
    condition, x = model.tensor((), np.bool_), model.tensor((2,))
    y, z = model.tensor((2,), shape_signature=[-1]), model.tensor((2,), shape_signature=[-1])
    twice = model.add_subgraph("twice")
    a, b = twice.tensor((2,)), twice.tensor((4,))
    twice.op(BuiltinOperator.CONCATENATION, [a, a], [b], tflite.ConcatenationOptionsT())
    twice.finish([a], [b])
    negated = unary_subgraph(model, BuiltinOperator.NEG, (2,))
    options = tflite.IfOptionsT(then_subgraph_index=twice.index, else_subgraph_index=negated)
    model.op(BuiltinOperator.IF, [condition, x], [y], options)
    model.op(BuiltinOperator.NEG, [y], [z])
    return model.build([condition, x], [z])


def case_model() -> bytes:
    model = ModelBuilder()
    index, x, y = model.tensor((), np.int32), model.tensor((1, 3)), model.tensor((1, 3))
    codes = (BuiltinOperator.NEG, BuiltinOperator.ABS, BuiltinOperator.FLOOR)
    branches = [unary_subgraph(model, code, (1, 3)) for code in codes]
    options = tflite.StablehloCaseOptionsT(branch_subgraph_indices=branches)
    model.op(BuiltinOperator.STABLEHLO_CASE, [index, x], [y], options)
    return model.build([index, x], [y])


def call_model() -> bytes:
    """Two calls of one subgraph, one after the other."""
    model = ModelBuilder()
    x, y, z = model.tensor((1, 3)), model.tensor((1, 3)), model.tensor((1, 3))
    squared = unary_subgraph(model, BuiltinOperator.SQUARE, (1, 3))
    model.op(BuiltinOperator.CALL, [x], [y], tflite.CallOptionsT(subgraph=squared))
    model.op(BuiltinOperator.CALL, [y], [z], tflite.CallOptionsT(subgraph=squared))
    return model.build([x], [y, z])


def composite_model() -> bytes:
    """Two composites with one decomposition, on inputs of different shapes."""
    model = ModelBuilder()
    x, z = model.tensor((1, 3)), model.tensor((4,))
    outputs = [model.tensor((1, 3)), model.tensor((4,))]
    negated = unary_subgraph(model, BuiltinOperator.NEG, (1, 3))
    options = tflite.StableHLOCompositeOptionsT(
        name="negated", decomposition_subgraph_index=negated, composite_attributes=_NO_ATTRIBUTES
    )
    model.op(BuiltinOperator.STABLEHLO_COMPOSITE, [x], outputs[:1], options)
    model.op(BuiltinOperator.STABLEHLO_COMPOSITE, [z], outputs[1:], options)
    return model.build([x, z], outputs)


def _count(start: int) -> np.ndarray:
    return np.array([start], np.int32)


_THREE = [np.arange(3, dtype=np.float32) + k for k in range(3)]
_PAIR = [np.array([1, 2], np.float32), np.array([-3, 4], np.float32)]
_NEG_OR_ABS = (BuiltinOperator.NEG, BuiltinOperator.ABS)

CASES = [
    *(
        Case(
            f"IF-{condition}-{same}",
            lambda same=same: if_model(*_NEG_OR_ABS, same),
            [np.array([condition]), _X],
            lambda condition, x, same=same: -x if condition[0] or same else np.abs(x),
        )
        for condition in (True, False)
        for same in (False, True)
    ),
    *(
        Case(
            f"IF-pass_through-{condition}",
            pass_through_model,
            [np.array(condition), *_PAIR],
            lambda condition, a, b: [b, a] if condition else [a + a, b + b],
        )
        for condition in (True, False)
    ),
    *(
        Case(
            f"WHILE-rotate-{start}",
            lambda: while_model([(3,)] * 3, _rotate),
            [_count(start), *_THREE],
            _rotate_oracle,
            litert_default=_OVERWRITES if start != 9 else None,
            litert_reference=_OVERWRITES if start != 9 else None,
        )
        for start in (0, 4, 9)  # 9 needs no turn
    ),
    *(
        Case(
            f"WHILE-accumulate-{start}",
            lambda: while_model([(1, 3), (1, 3)], _accumulate),
            [_count(start), _X, 2 * _X],
            _accumulate_oracle,
        )
        for start in (0, 5)
    ),
    Case(
        "WHILE-resized",
        lambda: while_model([(1, 3), (1, 3)], _accumulate),
        [_count(1), np.tile(_X, (4, 2)), np.tile(_X, (4, 2))],
        _accumulate_oracle,
    ),
    *(
        Case(
            f"WHILE-grow-{start}",
            lambda: while_model([(2,)], _grow, signature=[-1]),
            [_count(start), np.array([7, 8], np.float32)],
            _grow_oracle,
        )
        for start in (2, 5)
    ),
    *(
        Case(
            f"WHILE-nested-{start}",
            nested_model,
            [_count(start), _PAIR[0]],
            lambda i, a: [np.maximum(i, 3), a + 4 * max(0, 3 - int(i[0])) * _ADDEND],
        )
        for start in (0, 2, 6)
    ),
    *(
        Case(
            f"IF-uneven-{condition}",
            uneven_model,
            [np.array(condition), _PAIR[0]],
            lambda condition, x: -np.tile(x, 2) if condition else x,
        )
        for condition in (True, False)
    ),
    *(
        Case(
            f"STABLEHLO_CASE-{index}",
            case_model,
            [np.array(index, np.int32), _X],
            lambda index, x: [-x, np.abs(x), np.floor(x)][index if 0 <= index < 3 else 2],
            litert_reference=NO_KERNEL,
        )
        for index in (0, 1, 2, 3, -1)
    ),
    *(
        Case(
            f"STABLEHLO_WHILE-accumulate-{start}",
            lambda: while_model([(1, 3), (1, 3)], _accumulate, code=BuiltinOperator.STABLEHLO_WHILE),
            [_count(start), _X, 2 * _X],
            _accumulate_oracle,
            litert_default=NO_KERNEL,
            litert_reference=NO_KERNEL,
        )
        for start in (0, 5)
    ),
    Case(
        "CALL-twice",
        call_model,
        [_X],
        lambda x: [x * x, x**4],
        litert_default=NO_KERNEL,
        litert_reference=NO_KERNEL,
    ),
    Case(
        "STABLEHLO_COMPOSITE-shared",
        composite_model,
        [_X, np.arange(4, dtype=np.float32)],
        lambda x, z: [-x, -z],
    ),
]
