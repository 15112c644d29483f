"""Running an interpreter on inputs, and doing something to it once it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numlite.interpreter import Interpreter

LIMIT_S = 100  # after which a run that should have been stopped is given up


def run(interpreter: Interpreter, *inputs: np.ndarray) -> list[np.ndarray]:
    """The outputs by an interpreter of LiteRT's interface, which is given the inputs' shapes."""
    details = interpreter.get_input_details()
    for detail, value in zip(details, inputs, strict=True):
        if tuple(detail["shape"]) != value.shape:
            interpreter.resize_tensor_input(detail["index"], value.shape)
    interpreter.allocate_tensors()
    for detail, value in zip(details, inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


@contextmanager
def once_running(interpreter: Interpreter, act: Callable[[], object]) -> Iterator[None]:
    """In the block the interpreter is to run: act is called in another thread then."""
    turn = threading.Event()

    def wait() -> None:
        while not turn.wait(0.001):
            if interpreter.core.is_running:
                act()
                return

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        turn.set()
        thread.join()
