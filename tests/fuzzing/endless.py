"""Runs of graphs that may never end, as a user ends them: by a limit, whose error is a good answer."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType

ENDLESS = "endless"


class _Over(BaseException):
    """Time is over; no handler of errors takes it for one."""


def limited(run: Callable[[], object], seconds: float, word: str) -> str:
    """The word, or ENDLESS when Python had to stop the run."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise _Over

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        run()
    except _Over:
        return ENDLESS
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return word
