"""Subgraph: preparing, scratch memory, dynamic tensors, segments around Python nodes, errors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite.interpreter import InterpreterWithCustomOps
from numlite.lite.context import Context
from numlite.lite.errors import PrepareError
from numlite.lite.node import Node
from numlite.lite.plan import NativeSegment

from ..model_builder import ModelBuilder
from ..small_models import Op, chain, custom


class Custom:
    """A custom operator made of two functions; counts how often it was prepared."""

    def __init__(
        self,
        invoke: Callable[[Context, Node], None],
        prepare: Callable[[Context, Node], None] | None = None,
    ) -> None:
        self.invoke = invoke
        self.prepared = 0
        self._prepare = prepare

    def prepare(self, context: Context, node: Node) -> None:
        self.prepared += 1
        if self._prepare is not None:
            self._prepare(context, node)


def interpreter_for(content: bytes, **operators: Custom) -> Any:
    interpreter = InterpreterWithCustomOps(list(operators.items()), model_content=content)
    interpreter.allocate_tensors()
    return interpreter


def copy(context: Context, node: Node) -> None:
    context.output(node, 0).array()[...] = context.input(node, 0).array()


def make_dynamic(context: Context, node: Node) -> None:
    context.set_dynamic(context.output(node, 0))


def keep_positive(context: Context, node: Node) -> None:
    """Output shape depends on values: the positive elements."""
    x = context.input(node, 0).array()
    kept = x[x > 0]
    y = context.output(node, 0)
    context.resize_tensor(y, kept.shape)
    y.array()[...] = kept


def positive_then_negated(tail: int = 2) -> bytes:
    """Positive elements of -x, then NEG tail times."""
    model = ModelBuilder()
    x, a, b = (model.tensor([6], name=n) for n in "xab")
    model.op(Op.NEG, [x], [a])
    model.op(Op.CUSTOM, [a], [b], custom_code="Positive")
    last = b
    for n in range(tail):
        last, before = model.tensor([6], name=f"y{n}"), last
        model.op(Op.NEG, [before], [last])
    return model.build([x], [last])


def test_segments_around_a_python_node() -> None:
    interpreter = interpreter_for(custom(), Twice=Custom(copy))
    stages = interpreter.core.subgraph().stages
    kinds = [isinstance(step, NativeSegment) for step in stages[0].plan.steps]
    assert len(stages) == 1
    assert kinds == [True, False, True]


def test_shapes_that_depend_on_values() -> None:
    operator = Custom(keep_positive, make_dynamic)
    interpreter = interpreter_for(positive_then_negated(), Positive=operator)
    for values in ([1, -2, 3, -4, 5, -6], [-1, -2, -3, -4, -5, -6], [1, 2, 3, 4, 5, 6], [1, -2, 3, 4, 5, 6]):
        x = np.array(values, np.float32)
        interpreter.set_tensor(0, x)
        interpreter.invoke()
        details = interpreter.get_output_details()[0]
        result = interpreter.get_tensor(details["index"])
        assert result.tolist() == (-x)[-x > 0].tolist()
        assert details["shape"].tolist() == [result.size]
    assert operator.prepared == 1


def test_nodes_behind_a_dynamic_tensor_are_prepared_again_only_for_a_new_shape() -> None:
    later = Custom(copy, lambda c, n: c.resize_tensor(c.output(n, 0), c.input(n, 0).shape))
    model = ModelBuilder()
    x, a, y = (model.tensor([4], name=n) for n in "xay")
    model.op(Op.CUSTOM, [x], [a], custom_code="Positive")
    model.op(Op.CUSTOM, [a], [y], custom_code="Later")
    interpreter = interpreter_for(
        model.build([x], [y]), Positive=Custom(keep_positive, make_dynamic), Later=later
    )
    assert later.prepared == 0
    for values, prepared in (([1, -2, 3, -4], 1), ([-1, 2, -3, 4], 1), ([1, 2, 3, 4], 2), ([1, 2, 0, 0], 3)):
        interpreter.set_tensor(x, np.array(values, np.float32))
        interpreter.invoke()
        assert later.prepared == prepared
        assert interpreter.get_tensor(y).tolist() == [v for v in values if v > 0]


def test_resize_behind_a_dynamic_tensor() -> None:
    interpreter = interpreter_for(positive_then_negated(), Positive=Custom(keep_positive, make_dynamic))
    for size in (6, 3, 9):
        interpreter.resize_tensor_input(0, [size])
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, np.full(size, -1, np.float32))
        interpreter.invoke()
        assert interpreter.get_tensor(4).tolist() == [1] * size


def test_scratch_memory_is_aligned_zeroed_when_persistent_and_reused() -> None:
    seen: list[tuple[int, float]] = []

    def prepare(context: Context, node: Node) -> None:
        context.add_temporary(node, 100)
        context.add_persistent_temporary(node, 8)

    def invoke(context: Context, node: Node) -> None:
        scratch, kept = (context.tensor(t) for t in node.temporaries)
        assert scratch.address % 64 == kept.address % 64 == 0
        assert scratch.nbytes == 100
        counter = kept.data.view(np.int64)
        counter += 1
        seen.append((int(counter[0]), scratch.address))
        copy(context, node)

    interpreter = interpreter_for(custom(), Twice=Custom(invoke, prepare))
    for _ in range(3):
        interpreter.invoke()
    assert [count for count, _ in seen] == [1, 2, 3]
    tensors = interpreter._interpreter.NumTensors()
    interpreter.resize_tensor_input(0, [4, 4])
    interpreter.allocate_tensors()
    assert interpreter._interpreter.NumTensors() == tensors


def bad_prepare(context: Context, node: Node) -> None:
    raise PrepareError("Twice: the answer must be 42, got 41")


def wrong_shape(context: Context, node: Node) -> None:
    context.resize_tensor(context.output(node, 0), (-1,))


def overflowing(context: Context, node: Node) -> None:
    context.resize_tensor(context.output(node, 0), (1 << 31, 1 << 31, 1 << 31))


def missing_input(context: Context, node: Node) -> None:
    context.input(node, 1)


def stray(context: Context, node: Node) -> None:
    {}["key"]


def absent_subgraph(context: Context, node: Node) -> None:
    context.subgraph(1)


PREPARE_ERRORS: dict[str, tuple[Callable[[Context, Node], None], str]] = {
    "its own": (bad_prepare, "Twice: the answer must be 42, got 41"),
    "negative shape": (wrong_shape, "dimensions must not be negative"),
    "overflowing shape": (overflowing, "number of elements overflowed"),
    "missing input": (missing_input, "Twice: input 1 is missing"),
    "stray exception": (stray, "Twice: could not be prepared .KeyError: 'key'."),
    "absent subgraph": (absent_subgraph, "subgraph index must be under 1, got 1"),
}


@pytest.mark.parametrize(("prepare", "message"), PREPARE_ERRORS.values(), ids=PREPARE_ERRORS)
def test_prepare_errors_say_where(prepare: Callable[[Context, Node], None], message: str) -> None:
    with pytest.raises(PrepareError, match=rf"^node 1 \(Twice\), output 'b': .*{message}"):
        interpreter_for(custom(), Twice=Custom(copy, prepare))


def test_a_tensor_with_a_known_shape_cannot_be_resized_while_running() -> None:
    def invoke(context: Context, node: Node) -> None:
        context.resize_tensor(context.output(node, 0), (5,))

    interpreter = interpreter_for(custom(), Twice=Custom(invoke))
    with pytest.raises(RuntimeError, match="only a dynamic tensor can be resized while running"):
        interpreter.invoke()


def test_failed_prepare_can_be_mended() -> None:
    def prepare(context: Context, node: Node) -> None:
        if context.input(node, 0).shape != (3,):
            raise PrepareError("Twice: 3 elements, please")
        context.resize_tensor(context.output(node, 0), (3,))

    interpreter = InterpreterWithCustomOps([("Twice", Custom(copy, prepare))], model_content=custom())
    with pytest.raises(PrepareError):
        interpreter.allocate_tensors()
    with pytest.raises(RuntimeError, match="not ready"):
        interpreter.invoke()
    interpreter.resize_tensor_input(0, [3])
    interpreter.allocate_tensors()
    interpreter.invoke()
    assert interpreter.get_tensor(3).shape == (3,)


def test_init_and_free_are_called_once() -> None:
    events: list[str] = []

    class Stateful(Custom):
        def init(self, context: Context, node: Node) -> bytes:
            events.append("init")
            return node.custom_options

        def free(self, context: Context, node: Node) -> None:
            events.append(f"free {node.user_data!r}")

    interpreter = interpreter_for(custom(), Twice=Stateful(copy))
    interpreter.resize_tensor_input(0, [2])
    interpreter.allocate_tensors()
    assert events == ["init"]
    del interpreter
    assert events == ["init", "free b'options'"]


def test_a_subgraph_that_contains_itself() -> None:
    def prepare(context: Context, node: Node) -> None:
        context.subgraph(0).allocate_tensors()

    with pytest.raises(PrepareError, match="subgraph 0 'main': it contains itself"):
        interpreter_for(custom(), Twice=Custom(copy, prepare))


def strings(values: Sequence[str]) -> np.ndarray:
    return np.array([v.encode() for v in values], object)


def test_graph_without_nodes() -> None:
    model = ModelBuilder()
    x = model.tensor([2])
    interpreter = interpreter_for(model.build([x], [x]))
    interpreter.set_tensor(x, np.array([1, 2], np.float32))
    interpreter.invoke()
    assert interpreter.get_tensor(x).tolist() == [1, 2]


def test_string_tensors() -> None:
    def invoke(context: Context, node: Node) -> None:
        context.output(node, 0).bind(context.input(node, 0).data)

    from numlite.schema import tflite

    model = ModelBuilder()
    x, y = (model.tensor([3], tflite.TensorType.STRING, name=n) for n in "xy")
    model.op(Op.CUSTOM, [x], [y], custom_code="Same")
    interpreter = interpreter_for(model.build([x], [y]), Same=Custom(invoke))
    interpreter.set_tensor(x, strings(["", "é", "abc"]))
    interpreter.invoke()
    assert interpreter.get_tensor(y).tolist() == [b"", "é".encode(), b"abc"]
    assert interpreter.get_input_details()[0]["dtype"] is np.bytes_


ENDING = """
import sys
import numlite
from numlite.interpreter import Interpreter

content = open(sys.argv[1], "rb").read()
alive = [Interpreter(model_content=content) for _ in range(20)]
for interpreter in alive:
    interpreter.allocate_tensors()
sys._alive = numlite, alive  # of all that a process lets go of, sys's names are nearly the last
"""


def test_a_process_ends_with_interpreters_alive(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(chain([Op.NEG, Op.ABS]))
    command = [sys.executable, "-c", ENDING, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert run.stderr == ""
