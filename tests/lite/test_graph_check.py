"""Graphs that no runtime may trust: each is refused with the tensor or node named.

What only keeps a graph from being run is found when it is prepared: the model can still be looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.delegate import Delegate
from numlite.lite.errors import ModelError
from numlite.lite.strict_check import model_findings

from ..model_builder import ModelBuilder
from ..small_models import Op


def written_twice(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, y = model.tensor([2], name="x"), model.tensor([2], name="y")
    model.op(Op.NEG, [x], [y])
    model.op(Op.ABS, [x], [y])
    return [x], [y]


def own_output_read(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, y = model.tensor([2], name="x"), model.tensor([2], name="y")
    model.op(Op.ADD, [x, y], [y])
    return [x], [y]


def wrong_order(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, a, y = (model.tensor([2], name=n) for n in "xay")
    model.op(Op.NEG, [a], [y])
    model.op(Op.NEG, [x], [a])
    return [x], [y]


def input_written(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, y = model.tensor([2], name="x"), model.tensor([2], name="y")
    model.op(Op.NEG, [x], [y])
    return [x, y], [y]


def short_buffer(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, y = model.tensor([2], name="x"), model.tensor([2], name="y")
    c = model.constant(np.zeros(2, np.float32), name="c")
    model.subgraph.tensors[c].shape = [3]
    model.op(Op.ADD, [x, c], [y])
    return [x], [y]


def negative_shape(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, y = model.tensor([-2], name="x"), model.tensor([2], name="y")
    model.op(Op.NEG, [x], [y])
    return [x], [y]


def huge_shape(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, y = model.tensor([1 << 30, 1 << 30, 8], name="x"), model.tensor([2], name="y")
    model.op(Op.NEG, [x], [y])
    return [x], [y]


def variable_with_buffer(model: ModelBuilder) -> tuple[list[int], list[int]]:
    x, y = model.tensor([2], name="x"), model.tensor([2], name="y")
    v = model.tensor([2], np.float32, np.zeros(2), name="v", is_variable=True)
    model.op(Op.ADD, [x, v], [y])
    return [x], [y]


Cases = dict[str, tuple[Callable[[ModelBuilder], tuple[list[int], list[int]]], str]]

NEVER_RUN: Cases = {
    "written twice": (written_twice, r"node 1 \(ABS\).*tensor 1 'y'.*already written by node 0"),
    "own output read": (own_output_read, r"tensor 1 'y' float32 2 is both its input and its output"),
    "wrong order": (wrong_order, r"node 0 \(NEG\): it reads tensor 1 'a' float32 2 before node 1 writes it"),
    "input written": (input_written, r"tensor 1 'y' float32 2: node 0 writes this graph input"),
}

NEVER_OPENED: Cases = {
    "short buffer": (short_buffer, r"tensor 2: float32 .3. needs 12 bytes, buffer 1 has 8"),
    "negative shape": (negative_shape, "tensor 0: shape must have no negative size"),
    "huge shape": (huge_shape, "number of elements overflowed"),
    "variable with buffer": (
        variable_with_buffer,
        "tensor 2 'v' float32 2: a variable must not have a buffer",
    ),
}


@pytest.mark.parametrize(("make", "message"), NEVER_RUN.values(), ids=NEVER_RUN)
def test_opened_and_not_run(
    make: Callable[[ModelBuilder], tuple[list[int], list[int]]], message: str
) -> None:
    model = ModelBuilder()
    content = model.build(*make(model))
    interpreter = Interpreter(model_content=content)
    assert interpreter.get_input_details()[0]["name"] == "x"
    assert [tensor["name"] for tensor in interpreter.get_tensor_details()]
    with pytest.raises(ModelError, match=message):
        interpreter.allocate_tensors()
    with pytest.raises(RuntimeError, match="not ready"):
        interpreter.invoke()
    assert any(re.search(message, finding) for finding in model_findings(content))


def test_a_delegate_is_not_asked_for_a_graph_that_is_not_run() -> None:
    model = ModelBuilder()
    content = model.build(*wrong_order(model))
    with pytest.raises(RuntimeError, match="it reads tensor 1 'a' float32 2 before node 1 writes it"):
        Interpreter(model_content=content, experimental_delegates=[Delegate()])


@pytest.mark.parametrize(("make", "message"), NEVER_OPENED.values(), ids=NEVER_OPENED)
def test_refused(make: Callable[[ModelBuilder], tuple[list[int], list[int]]], message: str) -> None:
    model = ModelBuilder()
    content = model.build(*make(model))
    with pytest.raises(ModelError, match=message):
        Interpreter(model_content=content)


def test_unwritten_tensor_is_found_when_memory_is_planned() -> None:
    model = ModelBuilder()
    x, lost, y = (model.tensor([2], name=n) for n in ("x", "lost", "y"))
    model.op(Op.ADD, [x, lost], [y])
    interpreter = Interpreter(model_content=model.build([x], [y]))
    with pytest.raises(RuntimeError, match="tensor 1 'lost' float32 2: a node reads it before anything"):
        interpreter.allocate_tensors()


def test_variables_may_be_read_before_they_are_written() -> None:
    model = ModelBuilder()
    x, y = model.tensor([2], name="x"), model.tensor([2], name="y")
    v = model.tensor([2], name="v", is_variable=True)
    model.op(Op.ADD, [x, v], [y])
    interpreter = Interpreter(model_content=model.build([x], [y]))
    interpreter.allocate_tensors()
    interpreter.set_tensor(x, np.ones(2, np.float32))
    interpreter.set_tensor(v, np.full(2, 3, np.float32))
    interpreter.invoke()
    assert interpreter.get_tensor(y).tolist() == [4, 4]
    interpreter.reset_all_variables()
    interpreter.invoke()
    assert interpreter.get_tensor(y).tolist() == [1, 1]


def test_memory_that_no_machine_has() -> None:
    model = ModelBuilder()
    x, y = (model.tensor([1 << 30, 1 << 20], name=n) for n in "xy")
    model.op(Op.NEG, [x], [y])
    interpreter = Interpreter(model_content=model.build([x], [y]))
    with pytest.raises(RuntimeError, match=r"tensor 0 .x. float32 .* bytes are needed, .* are available"):
        interpreter.allocate_tensors()
