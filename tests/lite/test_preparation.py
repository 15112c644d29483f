"""Shapes that inputs had before: the graph is not prepared for them again, and nothing else tells."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numlite.delegates.simple import SimpleDelegate, SimpleDelegateKernel
from numlite.interpreter import Interpreter
from numlite.lite import preparation
from numlite.lite.bound_memory import BoundMemory
from numlite.lite.errors import PrepareError
from numlite.lite.prepared_graph import PreparedGraph
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder

DEPTH = 24
WEIGHTS = np.random.default_rng(5).standard_normal((8, DEPTH)).astype(np.float32)


def flattened_model() -> bytes:
    """relu(x [n, 2, 12] as rows [n, 24] @ weights), the rows' shape put together from that of x."""
    b = ModelBuilder()
    x = b.tensor((1, 2, 12), shape_signature=[-1, 2, 12])
    shape, rest = b.tensor((3,), np.int32), b.tensor((2,), np.int32)
    b.op(BuiltinOperator.SHAPE, [x], [shape], tflite.ShapeOptionsT(out_type=tflite.TensorType.INT32))
    b.op(BuiltinOperator.GATHER, [shape, b.constant([1, 2])], [rest], tflite.GatherOptionsT())
    depth, rows = b.tensor((), np.int32), b.tensor((2,), np.int32)
    b.op(BuiltinOperator.REDUCE_PROD, [rest, b.constant([0])], [depth], tflite.ReducerOptionsT())
    first = b.constant(np.array(-1, np.int32))
    b.op(BuiltinOperator.PACK, [first, depth], [rows], tflite.PackOptionsT(values_count=2))
    flat, product, y = b.tensor((1, DEPTH)), b.tensor((1, 8)), b.tensor((1, 8))
    b.op(BuiltinOperator.RESHAPE, [x, rows], [flat])
    options = tflite.FullyConnectedOptionsT()
    b.op(BuiltinOperator.FULLY_CONNECTED, [flat, b.constant(WEIGHTS), -1], [product], options)
    b.op(BuiltinOperator.RELU, [product], [y])
    return b.build([x], [y])


MODEL = flattened_model()


def ready(model: bytes = MODEL) -> Interpreter:
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    return interpreter


def run(interpreter: Interpreter, n: int) -> np.ndarray:
    x = np.random.default_rng(n).standard_normal((n, 2, 12)).astype(np.float32)
    interpreter.resize_tensor_input(0, x.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many nodes were prepared since it was last asked."""
    names: list[str] = []
    prepare = PreparedGraph._prepare_node

    def counting(graph: PreparedGraph, node: object) -> None:
        names.append("")
        prepare(graph, node)  # type: ignore[arg-type]

    def count() -> int:
        seen = len(names)
        names.clear()
        return seen

    monkeypatch.setattr(PreparedGraph, "_prepare_node", counting)
    return count


def test_a_shape_from_before_is_not_prepared_again(prepared: Callable[[], int]) -> None:
    interpreter = ready()
    expected = {n: run(ready(), n) for n in (1, 3, 5)}
    prepared()
    for n in (3, 5, 1, 3, 5, 5, 3):
        assert np.array_equal(run(interpreter, n), expected[n])
    assert prepared() == 2 * 7  # of 3 and of 5; it was prepared for 1 when it was made
    assert interpreter.core.subgraph().native_plan is not None  # the rows' shape is known


def test_a_run_of_a_shape_from_before_puts_back_no_inner_tensor() -> None:
    interpreter = ready()
    expected = run(interpreter, 3)
    run(interpreter, 2)
    graph = interpreter.core.subgraph()
    inner, outer = graph.nodes[-1].inputs[0], graph.outputs[0]
    product = graph.tensors[inner]
    interpreter.resize_tensor_input(0, (3, 2, 12))
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.random.default_rng(3).standard_normal((3, 2, 12)).astype(np.float32))
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(outer), expected)
    assert product.shape == (2, 8)  # as the last shape left it: nobody has looked
    assert interpreter.core.tensor(inner).shape == product.shape == (3, 8)


def _details(interpreter: Interpreter) -> list[tuple[str, tuple[int, ...]]]:
    return [(detail["name"], tuple(detail["shape"])) for detail in interpreter.get_tensor_details()]


LOOKS: dict[str, Callable[[Interpreter], object]] = {
    "nothing": lambda interpreter: None,
    "details": _details,
    "plan": lambda interpreter: [
        [(call.kernel, [t.address != 0 for t in call.tensors.values()]) for call in node.calls or ()]
        for node in interpreter.core.subgraph().schedule
    ],
    "memory": lambda interpreter: [
        (t.name, t.nbytes, t.first, t.last) for t in interpreter.memory_report().tensors
    ],
    "profile": lambda interpreter: [found.op for found in interpreter.profile(1)],
    "release": lambda interpreter: (
        interpreter.release_nonpersistent_memory(),
        interpreter.allocate_tensors(),
    ),
}


@pytest.mark.parametrize("small", (0, preparation.SMALL_ARENA), ids=("arenas given back", "arenas kept"))
@pytest.mark.parametrize("seed", range(4))
def test_whoever_looks_sees_what_a_new_interpreter_has(
    seed: int, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shapes of before, new ones and one that does not fit, looked at or not, in any order."""
    monkeypatch.setattr(preparation, "SMALL_ARENA", small)
    rng, used = np.random.default_rng(seed), ready()
    for _ in range(60):
        n, look = int(rng.integers(1, 7)), list(LOOKS)[rng.integers(len(LOOKS))]
        if rng.integers(6) == 0:
            used.resize_tensor_input(0, (1, 2, 2))
            with pytest.raises(RuntimeError, match="FULLY_CONNECTED"):
                used.allocate_tensors()
        new = ready()
        assert np.array_equal(run(used, n), run(new, n))
        assert LOOKS[look](used) == LOOKS[look](new), look


def test_a_plan_that_worked_in_its_callers_memory_works_in_its_own_again() -> None:
    interpreter = ready()
    expected = [run(interpreter, n) for n in (3, 2, 3)][-1]
    graph, memory = interpreter.core.subgraph(), np.zeros(1 << 14, np.uint8)
    start = -memory.__array_interface__["data"][0] % 4096
    BoundMemory(graph).bind({graph.outputs[0]: memory[start : start + expected.nbytes]})
    run(interpreter, 2)  # which the memory was not let go for
    assert np.array_equal(run(interpreter, 3), expected)
    assert not memory.any()


def test_weights_are_packed_once_for_all_shapes() -> None:
    interpreter = ready()
    arenas = {1: interpreter.memory_report().arena_bytes}
    packed = interpreter.memory_report().packed_bytes
    assert packed > 0
    for n in (3, 4, 5, 3):
        run(interpreter, n)
        arenas[n] = interpreter.memory_report().arena_bytes
    report = interpreter.memory_report()
    assert report.packed_bytes == packed
    assert report.kept_bytes == arenas[1] + arenas[4] + arenas[5]


def test_large_arenas_are_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "SMALL_ARENA", 0)
    interpreter = ready()
    expected = run(interpreter, 3)
    for n in (4, 5, 4):
        run(interpreter, n)
    assert interpreter.memory_report().kept_bytes == 0
    assert np.array_equal(run(interpreter, 3), expected)


def test_a_shape_that_does_not_fit_leaves_the_others() -> None:
    interpreter = ready()
    expected = run(interpreter, 3)
    interpreter.resize_tensor_input(0, (2, 2, 2))
    with pytest.raises(RuntimeError, match="FULLY_CONNECTED"):
        interpreter.allocate_tensors()
    assert np.array_equal(run(interpreter, 3), expected)


def test_memory_that_was_given_back_comes_again() -> None:
    interpreter = ready()
    expected = run(interpreter, 3)
    run(interpreter, 2)
    interpreter.release_nonpersistent_memory()
    assert interpreter.memory_report().kept_bytes == 0
    assert np.array_equal(run(interpreter, 3), expected)
    interpreter.release_nonpersistent_memory()
    interpreter.allocate_tensors()
    assert np.array_equal(run(interpreter, 3), expected)


def test_only_the_latest_are_kept(prepared: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "_MOST", 2)
    interpreter = ready()
    for n in (2, 3, 4, 5):
        run(interpreter, n)
    prepared()
    run(interpreter, 4)
    assert prepared() == 0
    run(interpreter, 2)
    assert prepared() == 7


def test_no_more_bytes_are_kept_than_there_is_room_for(
    prepared: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "_MOST_BYTES", -1)
    interpreter = ready()
    for n in (2, 3, 2, 3):
        run(interpreter, n)
    assert prepared() == 5 * 7


class Doubles(SimpleDelegate):
    """Takes RELU, and makes twice of it."""

    def is_node_supported(self, context: object, node: object, registration: object) -> bool:
        return registration.name == "RELU"  # type: ignore[attr-defined]

    def create_kernel(self) -> SimpleDelegateKernel:
        return DoublesKernel()


class DoublesKernel(SimpleDelegateKernel):
    def invoke(self, context: object, node: object) -> None:
        x, y = context.input(node, 0), context.output(node, 0)  # type: ignore[attr-defined]
        y.array()[...] = np.maximum(x.array(), 0) * 2


def test_a_delegate_is_asked_for_each_shape() -> None:
    interpreter = ready()
    expected = {n: run(interpreter, n) for n in (2, 3)}
    interpreter.modify_graph_with_delegate(Doubles())
    for n in (2, 3, 2):
        assert np.array_equal(run(interpreter, n), expected[n] * 2)


def test_variables_start_anew() -> None:
    """As after each allocation."""
    b = ModelBuilder()
    x = b.tensor((1, 4), shape_signature=[-1, 4])
    rng = np.random.default_rng(2)
    features = b.constant(rng.standard_normal((2, 4)).astype(np.float32))
    times = b.constant(rng.standard_normal((2, 3)).astype(np.float32))
    state, y = b.tensor((1, 6), is_variable=True), b.tensor((1, 2))
    b.op(BuiltinOperator.SVDF, [x, features, times, -1, state], [y], tflite.SVDFOptionsT(rank=1))
    interpreter = ready(b.build([x], [y]))
    value = np.ones((1, 4), np.float32)

    def steps() -> list[np.ndarray]:
        interpreter.resize_tensor_input(x, (2, 4))
        with pytest.raises(RuntimeError):
            interpreter.allocate_tensors()  # the state has one row
        interpreter.resize_tensor_input(x, (1, 4))
        interpreter.allocate_tensors()
        results = []
        for _ in range(2):
            interpreter.set_tensor(x, value)
            interpreter.invoke()
            results.append(interpreter.get_tensor(y))
        return results

    first = steps()
    assert not np.array_equal(*first) and np.array_equal(first, steps())


def chosen_model() -> bytes:
    """The rows of x [n, 3] with a positive first element, doubled; and which of these have a positive sum."""
    b = ModelBuilder()
    x = b.tensor((6, 3), shape_signature=[-1, 3])
    first, positive = b.tensor((6, 1)), b.tensor((6, 1), bool)
    b.op(BuiltinOperator.SLICE, [x, b.constant([0, 0]), b.constant([-1, 1])], [first])
    zero = b.constant(np.zeros(1, np.float32))
    b.op(BuiltinOperator.GREATER, [first, zero], [positive])
    places, rows = b.tensor((1, 2), np.int64), b.tensor((1,), np.int64)
    b.op(BuiltinOperator.WHERE, [positive], [places])
    one = b.constant([1, 1])
    options = tflite.StridedSliceOptionsT(begin_mask=1, end_mask=1, shrink_axis_mask=2)
    b.op(BuiltinOperator.STRIDED_SLICE, [places, b.constant([0, 0]), one, one], [rows], options)
    found, twice, sums = b.tensor((1, 3)), b.tensor((1, 3)), b.tensor((1,))
    b.op(BuiltinOperator.GATHER, [x, rows], [found], tflite.GatherOptionsT())
    b.op(BuiltinOperator.ADD, [found, found], [twice], tflite.AddOptionsT())
    b.op(BuiltinOperator.SUM, [twice, b.constant([1])], [sums], tflite.ReducerOptionsT())
    large, where = b.tensor((1,), bool), b.tensor((1, 1), np.int64)
    b.op(BuiltinOperator.GREATER, [sums, zero], [large])
    b.op(BuiltinOperator.WHERE, [large], [where])
    return b.build([x], [twice, where])


def chosen(x: np.ndarray) -> list[np.ndarray]:
    twice = x[x[:, 0] > 0] * 2
    return [twice, np.flatnonzero(twice.sum(1) > 0)[:, np.newaxis]]


def rows(seed: int, positive: int, n: int = 6) -> np.ndarray:
    x = np.abs(np.random.default_rng(seed).standard_normal((n, 3))).astype(np.float32)
    x[positive:, 0] *= -1
    x[::2, 1] *= -3
    return x


def check_chosen(interpreter: Interpreter, x: np.ndarray) -> None:
    if tuple(interpreter.get_input_details()[0]["shape"]) != x.shape:
        interpreter.resize_tensor_input(0, x.shape)
        interpreter.allocate_tensors()
    interpreter.set_tensor(0, x)
    interpreter.invoke()
    results = [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]
    for result, expected in zip(results, chosen(x), strict=True):
        assert result.shape == expected.shape and np.allclose(result, expected, rtol=1e-6)


def test_stages_behind_results_of_unknown_size_are_not_prepared_again(prepared: Callable[[], int]) -> None:
    interpreter = ready(chosen_model())
    inputs = [rows(seed, seed % 7) for seed in range(14)]
    for x in inputs:
        check_chosen(interpreter, x)
    prepared()
    for x in [*inputs[::-1], *inputs]:
        check_chosen(interpreter, x)
    assert prepared() == 0


def test_later_stages_belong_to_the_shapes_of_the_inputs() -> None:
    interpreter = ready(chosen_model())
    for seed in range(12):
        check_chosen(interpreter, rows(seed, seed % 5, n=5 + seed % 2))


def test_a_stage_that_cannot_be_prepared_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(graph: PreparedGraph, first: int) -> None:
        raise PrepareError(f"no room for the stage at {first}")

    interpreter = ready(chosen_model())
    check_chosen(interpreter, rows(1, 3))
    check_chosen(interpreter, rows(2, 4))
    with monkeypatch.context() as patched, pytest.raises(PrepareError, match="no room"):
        patched.setattr(PreparedGraph, "_add_stage", fails)
        check_chosen(interpreter, rows(2, 5))
    for positive in (3, 4, 0, 6, 3):
        check_chosen(interpreter, rows(3, positive))


def test_large_arenas_of_stages_are_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "SMALL_ARENA", 0)
    interpreter = ready(chosen_model())
    for seed in range(12):
        check_chosen(interpreter, rows(seed, seed % 5))
