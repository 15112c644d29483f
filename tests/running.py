"""Doing something to an interpreter once it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numlite.interpreter import Interpreter

LIMIT_S = 100  # after which a run that should have been stopped is given up


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
