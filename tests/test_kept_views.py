"""Views and copies of tensors that outlive a resize, an allocation or their interpreter."""

from __future__ import annotations

import gc
from collections.abc import Callable

import numpy as np
import pytest
from numlite.interpreter import Interpreter

from .small_models import Op, chain

X = np.arange(4096, dtype=np.float32).reshape(1, 4096)
Y = -X


def ran() -> Interpreter:
    interpreter = Interpreter(model_content=chain((Op.ABS, Op.NEG), X.shape))
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, X)
    interpreter.invoke()
    return interpreter


def again(interpreter: Interpreter, rows: int) -> None:
    interpreter.resize_tensor_input(0, [rows, 4096])
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.full((rows, 4096), 7, np.float32))
    interpreter.invoke()


CHANGES: dict[str, Callable[[Interpreter], object]] = {
    "invoke": lambda i: i.invoke(),
    "allocate": lambda i: i.allocate_tensors(),
    "resize": lambda i: i.resize_tensor_input(0, [2, 4096]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("t", [0, 2], ids=["input", "output"])
def test_a_view_blocks_what_would_move_it(t: int, change: Callable[[Interpreter], object]) -> None:
    interpreter = ran()
    view = interpreter.tensor(t)()
    part = view[:, ::2]
    del view
    with pytest.raises(RuntimeError, match="at least 1 reference to internal data"):
        change(interpreter)
    assert np.array_equal(part, (X if t == 0 else Y)[:, ::2])
    del part
    change(interpreter)


@pytest.mark.parametrize("t", [0, 2], ids=["input", "output"])
def test_a_view_outlives_its_interpreter(t: int) -> None:
    function = ran().tensor(t)
    view = function()
    del function
    gc.collect()
    others = [ran() for _ in range(20)]
    for other in others:
        again(other, 3)
    assert np.array_equal(view, X if t == 0 else Y)
    view[...] = 5
    assert all((other.get_tensor(0) == 7).all() for other in others)


@pytest.mark.parametrize("turns", [5, pytest.param(300, marks=pytest.mark.long)])
def test_copies_stay_as_they_are(turns: int) -> None:
    kept = []
    interpreter = ran()
    for turn in range(turns):
        rows = 1 + turn * 7 % 11
        value = np.full((rows, 4096), turn, np.float32)
        interpreter.resize_tensor_input(0, value.shape)
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, value)
        interpreter.invoke()
        kept.append((turn, interpreter.get_tensor(0)[:, :8], interpreter.get_tensor(2)[:, :8]))
        del kept[:-50]
    del interpreter
    gc.collect()
    for turn, x, y in kept:
        assert (x == turn).all() and (y == -turn).all()


def test_a_function_gives_the_tensor_that_is_there_now() -> None:
    interpreter = ran()
    x, y = interpreter.tensor(0), interpreter.tensor(2)
    for rows in (1, 5, 2):
        again(interpreter, rows)
        assert x().shape == y().shape == (rows, 4096) and (x() == 7).all() and (y() == -7).all()
