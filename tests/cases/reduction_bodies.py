"""Cases of StableHLO's reductions, scatters and sorts whose subgraphs are more than one operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder, SubgraphBuilder
from .case import Case, Differs, Refuses
from .single_op import Kind

_REFUSED = Refuses("Didn't find op|NumInputs|[Oo]nly one kernel( is)? allowed|Only update, Add")
# Bodies that LiteRT takes for ones that it knows.
_MISREAD_BODIES = (
    *(f"STABLEHLO_REDUCE_WINDOW-body-relu_sum-{size}" for size in (3, 6)),
    "STABLEHLO_SCATTER-body-first",
)
_MISREAD = Differs("LiteRT takes the body for one without an activation, or for the update")

Make = Callable[[SubgraphBuilder, list[int]], list[int]]
Join = Callable[..., Sequence[object]]


def _greater(graph: SubgraphBuilder, values: list[int]) -> list[int]:
    """(v, i, w, j) -> the greater of v and w, and its i or j."""
    v, i, w, j = values
    keeps = graph.tensor((), np.bool_)
    graph.op(BuiltinOperator.GREATER_EQUAL, [v, w], [keeps])
    best, at = graph.tensor(()), graph.tensor((), np.int32)
    graph.op(BuiltinOperator.SELECT_V2, [keeps, v, w], [best])
    graph.op(BuiltinOperator.SELECT_V2, [keeps, i, j], [at])
    return [best, at]


def _greater_join(v: float, i: int, w: float, j: int) -> Sequence[object]:
    return (v, i) if v >= w else (w, j)


def _horner(graph: SubgraphBuilder, values: list[int]) -> list[int]:
    """(a, b) -> a / 2 + b: the order counts."""
    half, total = graph.tensor(()), graph.tensor(())
    a_half = graph.constant(np.array(0.5, np.float32))
    graph.op(BuiltinOperator.MUL, [values[0], a_half], [half], tflite.MulOptionsT())
    graph.op(BuiltinOperator.ADD, [half, values[1]], [total], tflite.AddOptionsT())
    return [total]


def _difference(graph: SubgraphBuilder, values: list[int]) -> list[int]:
    """(a, b) -> a - b, by way of vectors: only scalars can be given to it."""
    shape = graph.constant(np.array([1], np.int32))
    vectors = [graph.tensor((1,)) for _ in range(3)]
    for x, vector in zip(values, vectors, strict=False):
        graph.op(BuiltinOperator.RESHAPE, [x, shape], [vector])
    graph.op(BuiltinOperator.SUB, vectors[:2], vectors[2:], tflite.SubOptionsT())
    result = graph.tensor(())
    empty = graph.constant(np.zeros(0, np.int32))
    graph.op(BuiltinOperator.RESHAPE, [vectors[2], empty], [result])
    return [result]


def _relu_sum(graph: SubgraphBuilder, values: list[int]) -> list[int]:
    """(a, b) -> max(a + b, 0): one operator, but no plain sum."""
    total = graph.tensor(())
    relu = tflite.AddOptionsT(fused_activation_function=tflite.ActivationFunctionType.RELU)
    graph.op(BuiltinOperator.ADD, values, [total], relu)
    return [total]


_F = (np.float32,)
# Body: types of its groups, how it is made, and what it does.
_BODIES: dict[str, tuple[Sequence[type], Make, Join]] = {
    "first": (_F, lambda graph, values: values[:1], lambda a, b: [a]),
    "second": (_F, lambda graph, values: values[1:], lambda a, b: [b]),
    "greater": ((np.float32, np.int32), _greater, _greater_join),
    "swapped": ((np.float32, np.float32), lambda graph, v: [v[3], v[0]], lambda a, b, c, d: [d, a]),
    "horner": (_F, _horner, lambda a, b: [np.float32(np.float32(a) * np.float32(0.5)) + b]),
    "difference": (_F, _difference, lambda a, b: [a - b]),
    "relu_sum": (_F, _relu_sum, lambda a, b: [max(a + b, np.float32(0))]),
}


def _body(model: ModelBuilder, name: str) -> int:
    types, make, _ = _BODIES[name]
    graph = model.add_subgraph("body")
    values = [graph.tensor((), dtype) for dtype in (*types, *types)]
    graph.finish(values, make(graph, values))
    return graph.index


def _joined(name: str, state: Sequence[object], elements: Sequence[object]) -> Sequence[object]:
    return _BODIES[name][2](*state, *elements)


def _arrays(name: str, shape: tuple[int, ...], seed: str) -> list[np.ndarray]:
    kinds = [Kind(shape, dtype) for dtype in _BODIES[name][0]]
    return [kind.random(f"{seed}{k}", 1) for k, kind in enumerate(kinds)]


def _case(id: str, make: Callable[[], bytes], inputs: Sequence[np.ndarray], oracle: Callable) -> Case:
    litert = (
        _MISREAD if id in _MISREAD_BODIES else None if id == "STABLEHLO_SCATTER-body-second" else _REFUSED
    )
    return Case(id, make, inputs, oracle, litert_default=litert, litert_reference=litert)


def _reduction_model(
    operator: BuiltinOperator, name: str, shape: Sequence[int], out: Sequence[int], options: TableT
) -> bytes:
    """Inputs of one shape, starts of 1, outputs."""
    model, types = ModelBuilder(), _BODIES[name][0]
    inputs = [model.tensor(shape, dtype) for dtype in types]
    starts = [model.constant(np.array(1, dtype)) for dtype in types]
    outputs = [model.tensor(out, dtype) for dtype in types]
    options.body_subgraph_index = _body(model, name)
    model.op(operator, [*inputs, *starts], outputs, options)
    return model.build(inputs, outputs)


def _ones(name: str) -> list[object]:
    return [dtype(1) for dtype in _BODIES[name][0]]


def _as_arrays(name: str, results: dict[tuple[int, ...], Sequence[object]], shape: tuple) -> list[np.ndarray]:
    arrays = [np.zeros(shape, dtype) for dtype in _BODIES[name][0]]
    for at, values in results.items():
        for array, value in zip(arrays, values, strict=True):
            array[at] = value
    return arrays


def _reduce(name: str, axes: list[int]) -> Case:
    shape = (3, 4, 2)
    kept = [d for d in range(3) if d not in axes]
    out = tuple(shape[d] for d in kept)

    def oracle(*inputs: np.ndarray) -> list[np.ndarray]:
        results = {at: _ones(name) for at in np.ndindex(*out)}
        for place in np.ndindex(*shape):
            at = tuple(place[d] for d in kept)
            results[at] = _joined(name, results[at], [x[place] for x in inputs])
        return _as_arrays(name, results, out)

    id = f"STABLEHLO_REDUCE-body-{name}-{axes}"
    options = tflite.StablehloReduceOptionsT(dimensions=axes)
    return _case(
        id,
        lambda: _reduction_model(BuiltinOperator.STABLEHLO_REDUCE, name, shape, out, options),
        _arrays(name, shape, id),
        oracle,
    )


def _window(name: str, size: int) -> Case:
    """Windows of a vector of 9, by steps of 2."""
    out = ((9 - size) // 2 + 1,)

    def oracle(*inputs: np.ndarray) -> list[np.ndarray]:
        results = {(i,): _ones(name) for i in range(out[0])}
        for i in range(out[0]):
            for k in range(2 * i, 2 * i + size):
                results[(i,)] = _joined(name, results[(i,)], [x[k] for x in inputs])
        return _as_arrays(name, results, out)

    id = f"STABLEHLO_REDUCE_WINDOW-body-{name}-{size}"
    options = tflite.StablehloReduceWindowOptionsT(window_dimensions=[size], window_strides=[2])
    return _case(
        id,
        lambda: _reduction_model(BuiltinOperator.STABLEHLO_REDUCE_WINDOW, name, (9,), out, options),
        _arrays(name, (9,), id),
        oracle,
    )


def _scatter(name: str) -> Case:
    """Rows of two elements at places of a vector of 6: some twice or more, some outside."""
    indices = np.array([[0], [1], [4], [1], [5], [-1], [1]], np.int32)
    types = _BODIES[name][0]
    id = f"STABLEHLO_SCATTER-body-{name}"
    arrays, updates = _arrays(name, (6,), id), _arrays(name, (7, 2), f"{id}u")

    def make() -> bytes:
        model = ModelBuilder()
        inputs = [model.tensor((6,), dtype) for dtype in types]
        inputs.append(model.tensor(indices.shape, np.int32))
        inputs += [model.tensor((7, 2), dtype) for dtype in types]
        outputs = [model.tensor((6,), dtype) for dtype in types]
        options = tflite.StablehloScatterOptionsT(
            update_window_dims=[1],
            scatter_dims_to_operand_dims=[0],
            index_vector_dim=1,
            update_computation_subgraph_index=_body(model, name),
        )
        model.op(BuiltinOperator.STABLEHLO_SCATTER, inputs, outputs, options)
        return model.build(inputs, outputs)

    def oracle(*inputs: np.ndarray) -> list[np.ndarray]:
        results = [x.copy() for x in inputs[: len(types)]]
        for (start,), *rows in zip(indices, *inputs[len(types) + 1 :], strict=True):
            for k in range(2):
                if 0 <= start + k < 6:
                    joined = _joined(name, [x[start + k] for x in results], [row[k] for row in rows])
                    for x, value in zip(results, joined, strict=True):
                        x[start + k] = value
        return results

    return _case(id, make, [*arrays, indices, *updates], oracle)


def _sort_model(shape: tuple[int, ...], dimension: int) -> bytes:
    """Two tensors sorted by the second, rising; where that is equal, by the first, falling."""
    model = ModelBuilder()
    graph = model.add_subgraph("comparator")
    pairs = [graph.tensor((), dtype) for dtype in (np.float32, np.float32, np.int32, np.int32)]
    a, b, i, j = pairs
    less, equal, greater, both, result = (graph.tensor((), np.bool_) for _ in range(5))
    graph.op(BuiltinOperator.LESS, [i, j], [less])
    graph.op(BuiltinOperator.EQUAL, [i, j], [equal])
    graph.op(BuiltinOperator.GREATER, [a, b], [greater])
    graph.op(BuiltinOperator.LOGICAL_AND, [equal, greater], [both])
    graph.op(BuiltinOperator.LOGICAL_OR, [less, both], [result])
    graph.finish(pairs, [result])
    inputs = [model.tensor(shape, dtype) for dtype in (np.float32, np.int32)]
    outputs = [model.tensor(shape, dtype) for dtype in (np.float32, np.int32)]
    options = tflite.StablehloSortOptionsT(
        dimension=dimension, is_stable=True, comparator_subgraph_index=graph.index
    )
    model.op(BuiltinOperator.STABLEHLO_SORT, inputs, outputs, options)
    return model.build(inputs, outputs)


def _sort(axis: int) -> Case:
    shape, id = (4, 9), f"STABLEHLO_SORT-two_keys-{axis}"
    x, keys = Kind(shape).random(id), Kind(shape, np.int32).random(id) % 3

    def oracle(x: np.ndarray, keys: np.ndarray) -> list[np.ndarray]:
        places = np.lexsort((-x, keys), axis)
        return [np.take_along_axis(x, places, axis), np.take_along_axis(keys, places, axis)]

    return _case(id, lambda: _sort_model(shape, axis), [x, keys.astype(np.int32)], oracle)


CASES = [
    *(_reduce(name, axes) for name in _BODIES for axes in ([0, 2], [1], [2, 0, 1], [])),
    *(_window(name, size) for name in _BODIES for size in (3, 6)),
    *(_scatter(name) for name in _BODIES),
    *(_sort(axis) for axis in (0, 1)),
]
